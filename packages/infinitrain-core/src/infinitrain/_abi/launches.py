"""What is known of a launch after it was handed over, to explain a failure that shows later.

With INFINITRAIN_DEBUG_ASYNC=1 every launch leaves a note: its kernel, its operands and the user's line. A program
that is replayed leaves one for all its launches in any case, because it knows their lines already.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["describe", "note", "note_replay", "operands_text", "user_line"]

_OWN = str(Path(__file__).parents[1])
#: Notes that are kept: more launches than any stream has in flight.
KEPT = 1 << 16
_notes: list[tuple[int, str, str] | None] = [None] * KEPT
#: (first tag, count, text of the i-th launch) of the programs that were replayed last, none of which is kept alive.
_replays: deque[tuple[int, int, weakref.WeakMethod[Callable[[int], str]]]] = deque(maxlen=256)


def user_line() -> str:
    """Give the place in the user's code that the running call comes from, or in ours if there is none."""
    frame = sys._getframe(1)
    inner = frame
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_OWN):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return f"{inner.f_code.co_filename}:{inner.f_lineno}"


def operands_text(inputs: Sequence[Any], outputs: Sequence[Any]) -> str:
    """Write the dtypes and shapes of a launch, as `float32(2, 3), none -> float32(2,)`."""
    sides = (", ".join("none" if t is None else f"{t.dtype.name}{t.shape}" for t in side) for side in (inputs, outputs))
    return " -> ".join(sides)


def note(tag: int, kernel: str, operands: str) -> None:
    """Remember a launch by its tag."""
    _notes[tag % KEPT] = (tag, f"{kernel}: {operands}", user_line())


def note_replay(first: int, count: int, text: Callable[[int], str]) -> None:
    """Remember that tags from `first` on are a program's; `text`, a method of it, describes its i-th launch."""
    _replays.append((first, count, weakref.WeakMethod(text)))


def describe(tag: int) -> str | None:
    """Say what a launch was and where it came from; None for one that left no note."""
    found = _notes[tag % KEPT]
    if found is not None and found[0] == tag:
        return f"launch {tag} was {found[1]}, at {found[2]}"
    for first, count, method in reversed(list(_replays)):
        text = method()
        if text is not None and first <= tag < first + count:
            return f"launch {tag} was {text(tag - first)}"
    return None
