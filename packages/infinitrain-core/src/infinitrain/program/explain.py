"""What a program does, for a person to read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infinitrain.program.program import Program
    from infinitrain.program.tape import Launch, View

__all__ = ["Explanation", "Step", "explain"]


@dataclass(frozen=True)
class Step:
    """One launch: its kernel, operands as text, bytes read and written, and where in the user's code it comes from."""

    kernel: str
    operands: str
    nbytes: int
    line: str


@dataclass(frozen=True)
class Explanation:
    """A program's launches and memory.

    Attributes:
        launches: In order.
        arena: Bytes of the one block that everything temporary lies in.
        lower_bound: The most of those bytes that are in use at once: no plan needs less.
        dropped: Launches that were recorded and that nobody needs.
        constants: Bytes that came from the host and are kept.
        draws: How many draws of random numbers are refreshed before each replay.
    """

    device: str
    launches: tuple[Step, ...]
    arena: int
    lower_bound: int
    dropped: int
    constants: int
    draws: int

    @property
    def nbytes(self) -> int:
        """Bytes that all operands have together: what a replay moves if nothing stays in a cache."""
        return sum(step.nbytes for step in self.launches)

    def counts(self) -> dict[str, int]:
        """Give the number of launches of each kernel, the most frequent first."""
        return dict(Counter(step.kernel for step in self.launches).most_common())

    def __str__(self) -> str:
        spare = self.arena / self.lower_bound - 1 if self.lower_bound else 0.0
        lines = [
            f"{len(self.launches)} launches on {self.device}, {self.nbytes / 1e6:,.1f} MB of operands; "
            f"{self.dropped} dropped",
            f"arena {self.arena / 1e6:,.2f} MB, {spare:.1%} above the {self.lower_bound / 1e6:,.2f} MB in use at once; "
            f"{self.constants} bytes of constants, {self.draws} draws",
            "",
            f"{'kernel':<28}{'launches':>9}{'MB':>12}",
        ]
        moved: Counter[str] = Counter()
        for step in self.launches:
            moved[step.kernel] += step.nbytes
        lines += [f"{name:<28}{count:>9}{moved[name] / 1e6:>12,.2f}" for name, count in self.counts().items()]
        return "\n".join(lines)


def explain(program: Program) -> Explanation:
    """Describe a program."""
    plan = program.plan
    return Explanation(
        device=str(program.device),
        launches=tuple([_step(launch) for launch in plan.launches]),
        arena=plan.arena,
        lower_bound=plan.lower_bound,
        dropped=plan.dropped,
        constants=sum(len(constant.data) for constant in plan.constants),
        draws=len(plan.draws),
    )


def _step(launch: Launch) -> Step:
    views = [view for view in launch.views if view is not None]
    operands = ", ".join("-" if view is None else _text(view) for view in launch.views)
    return Step(launch.kernel.row.name, operands, sum(_nbytes(view) for view in views), launch.line)


def _text(view: View) -> str:
    return f"{view.dtype.short}{list(view.shape)}"


def _nbytes(view: View) -> int:
    """Count the bytes that a view touches: what is repeated by stride 0 once."""
    sizes = view.shape if view.strides is None else [n for n, s in zip(view.shape, view.strides, strict=True) if s]
    return prod(sizes) * view.dtype.itemsize
