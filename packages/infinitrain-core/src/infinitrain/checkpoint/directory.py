"""A directory of checkpoints, each a directory `step_00000010`, that a kill at any moment leaves usable.

A checkpoint is written aside under a name that begins with a dot, seen onto the disk, and renamed: what has its final
name is complete. One run writes into a directory at a time.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from infinitrain.errors import CheckpointError, ConfigError

__all__ = ["atomic_directory", "find", "latest_checkpoint", "list_checkpoints", "prune"]

#: The file that is written last and that every checkpoint has.
STATE_FILE = "trainer.json"
_NAME = re.compile(r"step_(\d+)")
_SAVING = ".saving-"
_REPLACED = ".replaced-"
_REMOVING = ".removing-"


def name_of(step: int) -> str:
    """Give the name of the checkpoint of a step."""
    return f"step_{step:08d}"


def list_checkpoints(root: Path | str) -> list[tuple[int, Path]]:
    """List (step, path) of the complete checkpoints in a directory, by step."""
    root = Path(root)
    found: dict[int, Path] = {}
    # A save over an existing step that was killed between two renames leaves the old one under this name.
    for prefix in (_REPLACED, ""):
        for path in root.glob(f"{prefix}step_*"):
            match = _NAME.fullmatch(path.name.removeprefix(prefix))
            if match is not None and (path / STATE_FILE).is_file():
                found[int(match[1])] = path
    return sorted(found.items())


def latest_checkpoint(root: Path | str) -> Path | None:
    """Give the checkpoint of the highest step, or None; names are compared as numbers."""
    found = list_checkpoints(root)
    return found[-1][1] if found else None


def find(path: Path | str) -> Path:
    """Give `path` itself if it is a checkpoint, else the latest one in it.

    Raises: CheckpointError if there is none.
    """
    path = Path(path)
    if (path / STATE_FILE).is_file():
        return path
    found = latest_checkpoint(path)
    if found is None:
        state = "is not there" if not path.exists() else "holds no complete checkpoint"
        raise CheckpointError(
            f"{path} {state}: expected a checkpoint, or a directory with one named like {name_of(10)}"
        )
    return found


@contextmanager
def atomic_directory(root: Path, name: str) -> Iterator[Path]:
    """Give a new directory to write into; at the end it becomes `root/name`, on an error it goes away.

    What an earlier, killed save left aside is removed. An older `root/name` stays whole until the new one is complete.
    """
    root.mkdir(parents=True, exist_ok=True)
    final, replaced = root / name, root / f"{_REPLACED}{name}"
    if replaced.exists() and not final.exists():
        replaced.rename(final)
    for leftover in (*root.glob(f"{_SAVING}*"), *root.glob(f"{_REMOVING}*"), *root.glob(f"{_REPLACED}{name}")):
        shutil.rmtree(leftover, ignore_errors=True)
    aside = root / f"{_SAVING}{name}-{os.getpid()}"
    try:
        aside.mkdir()
        yield aside
        sync_directory(aside)
        if final.exists():
            final.rename(replaced)
        aside.rename(final)
        sync_directory(root)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        if replaced.exists() and not final.exists():
            replaced.rename(final)
        raise
    shutil.rmtree(replaced, ignore_errors=True)


def sync_directory(path: Path) -> None:
    """See a directory's entries onto the disk, where the system can."""
    with suppress(PermissionError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def prune(root: Path | str, keep: int, protect: Path | None = None) -> list[Path]:
    """Remove all but the `keep` newest checkpoints (by step), and never `protect`; give what was removed.

    Raises: ConfigError for fewer than 1 to keep.
    """
    if keep < 1:
        raise ConfigError(f"checkpoints to keep: expected at least 1, found {keep}")
    removed = []
    for _, path in list_checkpoints(root)[:-keep]:
        if protect is None or path.resolve() != protect.resolve():
            aside = path.with_name(f"{_REMOVING}{path.name}")
            shutil.rmtree(aside, ignore_errors=True)
            path.rename(aside)  # a half-removed checkpoint must not look like a whole one
            shutil.rmtree(aside)
            removed.append(path)
    return removed
