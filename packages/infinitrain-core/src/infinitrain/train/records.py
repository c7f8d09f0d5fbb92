"""What a run writes while it goes on and at its end: log.jsonl, summary.json, sample.txt, loss.png."""

from __future__ import annotations

import fcntl
import json
import os
import weakref
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from infinitrain.errors import ConfigError

__all__ = ["RunFolder", "StepRecord", "read_log"]


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One line of log.jsonl. Loss in nats a token, memory in bytes; val_loss where the step was evaluated."""

    step: int
    loss: float
    lr: float
    grad_norm: float
    tokens_per_s: float
    peak_memory_bytes: int
    val_loss: float | None = None

    def as_json(self) -> str:
        """Write the record as one line of JSON, without fields that have no value."""
        return json.dumps({name: value for name, value in asdict(self).items() if value is not None})


class RunFolder:
    """The folder of a run. Files other than the log appear whole or not at all."""

    LOG, SUMMARY, SAMPLE, CURVE, CHECKPOINT = "log.jsonl", "summary.json", "sample.txt", "loss.png", "checkpoint"

    def __init__(self, path: Path, *, resume: bool, overwrite: bool) -> None:
        """Make the folder, or take over the one that is there.

        A run that ended before its first step has left nothing to lose, and is no run.

        Raises: ConfigError if it holds a run and neither resume nor overwrite is set, if another process writes a run
            there, or if it cannot be written.
        """
        self.path = path
        log = path / self.LOG
        holds_run = self.checkpoints.exists() or (log.exists() and log.stat().st_size > 0)
        if holds_run and not (resume or overwrite):
            raise ConfigError(
                f"--out {path} already holds a run: expected an empty or new folder. Continue that run with --resume, "
                "replace it with --overwrite, or choose another --out"
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock_folder()
            if overwrite:
                self._clear()
            self._log: TextIO = log.open("a", encoding="utf-8")
        except OSError as reason:
            raise ConfigError(
                f"--out {path} cannot be written: {reason.strerror}. Choose a folder that you may write to"
            ) from None

    def _lock_folder(self) -> None:
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        self._unlock = weakref.finalize(self, os.close, folder)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._unlock()
            raise ConfigError(
                f"--out {self.path} is in use: expected a folder that no other run writes into. Wait for that run, or "
                "choose another --out"
            ) from None
        except OSError:  # a file system without locks
            pass

    @property
    def checkpoints(self) -> Path:
        """Where checkpoints are."""
        return self.path / self.CHECKPOINT

    def _clear(self) -> None:
        """Remove what an earlier run has left, and nothing else."""
        for name in (self.LOG, self.SUMMARY, self.SAMPLE, self.CURVE):
            (self.path / name).unlink(missing_ok=True)
        if self.checkpoints.is_dir():
            for folder, _, files in os.walk(self.checkpoints, topdown=False):
                for file in files:
                    os.unlink(os.path.join(folder, file))
                os.rmdir(folder)

    def keep_log_until(self, step: int) -> None:
        """Drop records behind a step: what a run wrote after the checkpoint that it is continued from."""
        kept = [record for record in read_log(self.path) if record.step <= step]
        self._log.close()
        self.write(self.LOG, "".join(record.as_json() + "\n" for record in kept))
        self._log = (self.path / self.LOG).open("a", encoding="utf-8")

    def log(self, record: StepRecord) -> None:
        """Append a record; it is on its way to the disk when the call returns.

        Raises: ConfigError when somebody has removed the folder.
        """
        if os.fstat(self._log.fileno()).st_nlink == 0:
            raise ConfigError(
                f"--out {self.path}: {self.LOG} was removed while the run was going on. Start anew, and leave the "
                "folder alone until the run has ended"
            )
        self._log.write(record.as_json() + "\n")
        self._log.flush()

    def write(self, name: str, text: str) -> None:
        """Write a file of the run aside and put it in its place."""
        aside = self.path / f".{name}.tmp"
        aside.write_text(text, encoding="utf-8")
        aside.replace(self.path / name)

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Write summary.json."""
        self.write(self.SUMMARY, json.dumps(summary, indent=2) + "\n")

    def close(self) -> None:
        """Close the log and leave the folder to others."""
        self._log.close()
        self._unlock()


def read_log(path: Path) -> Sequence[StepRecord]:
    """Read the records of a run's folder; a line that an interrupted run has not finished is left out."""
    log = path / RunFolder.LOG
    records = []
    if log.exists():
        for line in log.read_text(encoding="utf-8").splitlines():
            try:
                records.append(StepRecord(**json.loads(line)))
            except (json.JSONDecodeError, TypeError):
                continue
    return records
