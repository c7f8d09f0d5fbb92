"""Anomaly mode: a gradient that is NaN, or an error in a backward, is traced to the line of its forward."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from infinitrain.autograd.grad_mode import state
from infinitrain.errors import AutogradError
from infinitrain.tensor import Tensor

if TYPE_CHECKING:
    from infinitrain.autograd.function import Node

__all__ = ["callers", "detect_anomaly", "refuse_nan", "set_detect_anomaly"]

_OWN = str(Path(__file__).parent.parent)
#: Lines of the user's code that are shown, the innermost last.
_DEPTH = 4


class set_detect_anomaly:  # noqa: N801 - torch's name
    """Set anomaly mode from a value, at once; as a context manager it is put back at the end.

    Args:
        mode: Whether it is on.
        check_nan: Whether a gradient that holds NaN is an error; it makes the host wait for every operation.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._previous = (state.anomaly, state.check_nan)
        state.anomaly, state.check_nan = mode, check_nan

    def __enter__(self) -> None:
        """The mode was set when the object was made."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.anomaly, state.check_nan = self._previous


class detect_anomaly(set_detect_anomaly):  # noqa: N801 - torch's name
    """Trace every backward to the line of its forward; slow, for finding mistakes.

    Inside, each operation remembers where it was called. An exception in its backward then carries a note with these
    lines, and with `check_nan` a gradient that holds NaN is an AutogradError with them.
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)


def callers() -> str:
    """Give the lines of the user's code that led here, the innermost last."""
    frames = traceback.extract_stack()
    theirs = [frame for frame in frames if not frame.filename.startswith(_OWN)] or frames
    return "".join(traceback.format_list(theirs[-_DEPTH:])).rstrip()


def refuse_nan(node: Node, gradients: list[Any]) -> None:
    """Raise AutogradError if a gradient that a backward gave holds NaN."""
    for position, gradient in enumerate(gradients):
        if isinstance(gradient, Tensor) and gradient.dtype.is_floating_point and bool(gradient.isnan().any()):
            where = f"; its forward was called at\n{node._trace}" if node._trace else ", recorded outside anomaly mode"
            raise AutogradError(
                f"backward of {node.name}: gradient {position} of shape {gradient.shape} holds NaN{where}"
            )
