"""Parameter: a tensor that a module owns and an optimizer changes."""

from __future__ import annotations

from infinitrain.strided import Strided
from infinitrain.tensor import Tensor

__all__ = ["Parameter", "replace_memory"]


class Parameter(Tensor):
    """A leaf over the memory of `data`; assigned to a module's attribute, it becomes one of its parameters.

    Raises: DTypeError if `requires_grad` and the dtype is not floating-point.
    """

    __slots__ = ()

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        super().__init__(data.buffer, data.shape, data.strides, data.offset, data.dtype)
        if requires_grad:
            self.requires_grad_()

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


def replace_memory(tensor: Tensor, source: Tensor) -> None:
    """Let `tensor` show the memory of `source`; the object stays, so modules and optimizers keep what they hold."""
    Strided.__init__(tensor, source.buffer, source.shape, source.strides, source.offset, source.dtype)
