"""Whether operations are recorded: one switch per thread."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class _State(threading.local):
    """What autograd knows about the running thread; class attributes are each thread's start values."""

    enabled: bool = True
    inference: bool = False
    anomaly: bool = False
    check_nan: bool = True


state = _State()


class _Mode:
    """Set the switch for a block or a function, and put it back whatever happens."""

    __slots__ = ("_enabled", "_inference", "_previous")

    def __init__(self, enabled: bool, inference: bool = False) -> None:
        self._enabled = enabled
        self._inference = inference
        self._previous: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._previous.append((state.enabled, state.inference))
        state.enabled = self._enabled
        state.inference = self._inference

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.enabled, state.inference = self._previous.pop()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Run `function` in this mode at each call."""
        enabled, inference = self._enabled, self._inference

        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            with _Mode(enabled, inference):
                return function(*args, **kwargs)

        return wrapped


class no_grad(_Mode):  # noqa: N801 - torch's name
    """Record nothing and save nothing: a context manager, or a decorator."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_Mode):  # noqa: N801 - torch's name
    """Record again inside `no_grad`: a context manager, or a decorator."""

    def __init__(self) -> None:
        super().__init__(True)


class inference_mode(_Mode):  # noqa: N801 - torch's name
    """Like `no_grad`; `is_inference_mode_enabled()` is true inside.

    Tensors made inside are ordinary tensors: they may be used in recorded work afterwards.
    """

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode, mode)


class set_grad_enabled(_Mode):  # noqa: N801 - torch's name
    """Set the switch from a value, at once; as a context manager it is put back at the end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._previous.append((state.enabled, state.inference))
        state.enabled = mode

    def __enter__(self) -> None:
        """The switch was set, and the old value kept, when the object was made."""


def is_grad_enabled() -> bool:
    """Tell whether this thread records operations for backward."""
    return state.enabled


def is_inference_mode_enabled() -> bool:
    """Tell whether this thread is inside `inference_mode`."""
    return state.inference
