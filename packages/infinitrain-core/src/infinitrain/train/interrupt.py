"""Ctrl-C and SIGTERM: the step in progress is finished and a checkpoint written; a second signal ends at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupt"]


class Interrupt:
    """Inside a `with` block, remembers the first signal instead of ending the program.

    Attributes:
        received: The signal, None while there is none.
    """

    def __init__(self) -> None:
        """Begin without a signal."""
        self.received: signal.Signals | None = None
        self._previous: dict[signal.Signals, Any] = {}

    @property
    def exit_code(self) -> int:
        """The code a shell expects of a program that a signal ended: 130 for Ctrl-C, 143 for SIGTERM; else 0."""
        return 0 if self.received is None else 128 + self.received

    def __enter__(self) -> Interrupt:
        # Python delivers signals to the main thread only; elsewhere the program's own handling stays.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._remember)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
        self.received = signal.Signals(number)
