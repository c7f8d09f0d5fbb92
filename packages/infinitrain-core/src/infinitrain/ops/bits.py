"""Bit operations of integers; of bools, logic. No gradient flows.

A shift by a negative count or by at least the dtype's width is an endless shift: 0 to the left; to the right 0, or -1
for a negative number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from infinitrain.errors import DTypeError
from infinitrain.ops._base import Operand, as_tensors, binary, is_operand, unary
from infinitrain.ops.compare import logical_and, logical_not, logical_or, logical_xor
from infinitrain.tensor import Tensor


def _integers(kernel: str, name: str, a: Operand, b: Operand, of_bools: Callable[..., Tensor] | None) -> Tensor:
    """Run a kernel of two integers, or the logic of two bools.

    Raises: DTypeError for floats, and for bools where there is no logic.
    """
    a, b = as_tensors(a, b, name)
    if a.dtype.is_bool and of_bools is not None:
        return of_bools(a, b)
    if not a.dtype.is_integer:
        wanted = "integers or bools" if of_bools is not None else "integers"
        raise DTypeError(f"{name}: expected {wanted}, found {a.dtype.name}. logical_and and the like take any dtype.")
    return binary(kernel, a, b, None)


def bitwise_and(a: Operand, b: Operand) -> Tensor:
    """Give a & b, bit by bit.

    Raises: DTypeError for floats.
    """
    return _integers("BitwiseAndForward", "bitwise_and", a, b, logical_and)


def bitwise_or(a: Operand, b: Operand) -> Tensor:
    """Give a | b, bit by bit.

    Raises: DTypeError for floats.
    """
    return _integers("BitwiseOrForward", "bitwise_or", a, b, logical_or)


def bitwise_xor(a: Operand, b: Operand) -> Tensor:
    """Give a ^ b, bit by bit.

    Raises: DTypeError for floats.
    """
    return _integers("BitwiseXorForward", "bitwise_xor", a, b, logical_xor)


def bitwise_not(x: Tensor) -> Tensor:
    """Invert every bit; of a bool, the truth.

    Raises: DTypeError for floats.
    """
    if x.dtype.is_bool:
        return logical_not(x)
    if not x.dtype.is_integer:
        raise DTypeError(f"bitwise_not: expected integers or bools, found {x.dtype.name}")
    return unary("BitwiseNotForward", x, None)


def bitwise_left_shift(a: Operand, b: Operand) -> Tensor:
    """Give a * 2^b, wrapping; 0 for a negative count or one of at least the width.

    Raises: DTypeError for floats and bools.
    """
    return _integers("LeftShiftForward", "bitwise_left_shift", a, b, None)


def bitwise_right_shift(a: Operand, b: Operand) -> Tensor:
    """Give floor(a / 2^b); 0 or -1, by the sign of `a`, for a negative count or one of at least the width.

    Raises: DTypeError for floats and bools.
    """
    return _integers("RightShiftForward", "bitwise_right_shift", a, b, None)


def _operator(function: Callable[..., Tensor], reflected: bool = False) -> Any:
    """Make an operator that gives NotImplemented for operands it does not know."""

    def operator(self: Tensor, other: Operand) -> Any:
        if not is_operand(other):
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    return operator


OPERATORS: dict[str, Any] = {
    "__and__": _operator(bitwise_and),
    "__rand__": _operator(bitwise_and),
    "__or__": _operator(bitwise_or),
    "__ror__": _operator(bitwise_or),
    "__xor__": _operator(bitwise_xor),
    "__rxor__": _operator(bitwise_xor),
    "__lshift__": _operator(bitwise_left_shift),
    "__rlshift__": _operator(bitwise_left_shift, reflected=True),
    "__rshift__": _operator(bitwise_right_shift),
    "__rrshift__": _operator(bitwise_right_shift, reflected=True),
    "__invert__": bitwise_not,
}
