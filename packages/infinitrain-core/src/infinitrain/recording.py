"""Where a running function is listened to: what allocates, launches, copies and draws says so here while one listens.

`infinitrain.program` puts a recorder in `listener`; the layers below know only this module. Nothing is paid while
nobody listens but the look at one name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from infinitrain._abi.provider import Kernel
    from infinitrain.memory import Buffer
    from infinitrain.strided import Strided
    from infinitrain.tensor import Tensor

__all__ = ["Listener", "ambient", "before_replay", "listener", "paused"]


class Listener(Protocol):
    """What a recorder hears. Calls of threads other than the recorded one are for it to leave out."""

    def allocated(self, buffer: Buffer) -> None:
        """Memory was taken."""

    def freed(self, buffer: Buffer) -> None:
        """Memory is given back; the buffer must not be kept."""

    def launched(
        self,
        kernel: Kernel,
        inputs: Sequence[Strided | None],
        outputs: Sequence[Strided | None],
        attributes: dict[str, Any],
        workspace: int,
    ) -> None:
        """A kernel was handed to the device, on operands that fit it, with so many bytes of workspace."""

    def uploaded(self, target: Strided, data: bytes) -> None:
        """Host memory was copied into a compact tensor."""

    def drawn(self, state: Strided, generator: Any, words: tuple[int, int]) -> None:
        """The (seed, offset) of a generator were uploaded into `state`."""

    def host_read(self, what: str) -> None:
        """The host is about to look at a device's values, or to do what no program can repeat."""

    def gradient(self, leaf: Tensor, *, read: bool) -> None:
        """A leaf's gradient is about to be read (or added to), or to be replaced."""

    def called(self, module: Any) -> None:
        """A module's forward begins."""

    def cell(self, key: Any, value: float | int, refresh: Callable[[], object]) -> None:
        """A number on the device was asked for; `refresh` writes it anew where it has changed."""

    def before_replay(self, action: Callable[[], object]) -> None:
        """The host did something that each repetition has to do as well, before the device's work."""

    def guard(self, state: Callable[[], object]) -> None:
        """The recording holds only while `state()` equals what it is now."""


listener: Listener | None = None
#: What changes how operations behave around a function, such as whether gradients are recorded: a program recorded
#: under one state is not replayed under another. Layers to the right add theirs.
ambient: list[Callable[[], object]] = []


@contextmanager
def paused() -> Iterator[None]:
    """Do what is not part of the recording, such as refreshing what it reads."""
    global listener
    held, listener = listener, None
    try:
        yield
    finally:
        listener = held


def before_replay(action: Callable[[], object]) -> None:
    """Do something on the host now, and before each repetition of what is being recorded."""
    action()
    if listener is not None:
        listener.before_replay(action)
