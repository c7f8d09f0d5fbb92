"""What a person sees of a run: a bar on a terminal, a line every few seconds elsewhere, a summary at the end."""

from __future__ import annotations

import re
import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from infinitrain.train.records import StepRecord

__all__ = ["Display"]

LINE_EVERY_S = 5.0


class Display:
    """Shows a run while it goes on.

    Args:
        total: Steps of the run.
        console: Where to print; standard error by default, so that standard output stays free.
    """

    def __init__(self, total: int, console: Console | None = None) -> None:
        """Prepare; nothing is shown before the `with` block."""
        self.console = console or Console(stderr=True, highlight=False)
        self.total = total
        self._last_line = 0.0
        self._bar: Progress | None = None
        self._task: Any = None

    def __enter__(self) -> Display:
        if self.console.is_terminal:
            self._bar = Progress(
                TextColumn("[bold]step"),
                MofNCompleteColumn(),
                BarColumn(bar_width=None),
                TextColumn("loss [bold]{task.fields[loss]}"),
                TextColumn("lr {task.fields[lr]}"),
                TextColumn("{task.fields[speed]} tok/s"),
                TextColumn("{task.fields[memory]}"),
                TextColumn("left"),
                TimeRemainingColumn(compact=True),
                console=self.console,
            )
            self._task = self._bar.add_task("train", total=self.total, loss="-", lr="-", speed="-", memory="-")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self.console.print(text, markup=False)

    def step(self, record: StepRecord, seconds: float) -> None:
        """Show a finished step; `seconds` is what it took."""
        memory = f"{record.peak_memory_bytes / 2**20:,.0f} MB"
        if self._bar is not None:
            self._bar.update(
                self._task,
                completed=record.step,
                loss=f"{record.loss:.3f}",
                lr=f"{record.lr:.1e}",
                speed=f"{record.tokens_per_s:,.0f}",
                memory=memory,
            )
        elif (
            record.val_loss is not None
            or record.step == self.total
            or time.monotonic() - self._last_line > LINE_EVERY_S
        ):
            self._last_line = time.monotonic()
            left = (self.total - record.step) * seconds
            self.console.print(
                f"step {record.step:4d}/{self.total} | train loss {record.loss:.6f} | lr {record.lr:.2e} | "
                f"norm {record.grad_norm:.4f} | ({seconds * 1e3:.2f} ms | {record.tokens_per_s:.0f} tok/s | "
                f"peak used: {memory} | left: {left:.0f} s)",
                soft_wrap=True,
            )
        if record.val_loss is not None:
            self.say(f"step {record.step:4d}/{self.total} | val loss {record.val_loss:.6f}")

    def finish(self, rows: dict[str, str], sample: str, following: str) -> None:
        """Show the result, a sample of what the model writes, and what to try next."""
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        for name, value in rows.items():
            table.add_row(Text(name, style="bold"), Text(value, overflow="fold"))
        self.console.print()
        self.console.print(table)
        shown = re.sub(r"\n{3,}", "\n\n", sample)
        self.console.print(Panel(Text(shown), title="sample", title_align="left", expand=False))
        self.console.print(Text.assemble(("next: ", "bold"), following), soft_wrap=True)
