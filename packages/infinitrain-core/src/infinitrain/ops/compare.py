"""Comparisons and logic: bools, without gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinitrain import dtype as dt
from infinitrain.autograd.grad_mode import no_grad
from infinitrain.ops._base import Operand, as_scalar, as_tensors, binary, cast_to, full_like_device, is_operand, unary
from infinitrain.tensor import Tensor


def _compare(kernel: str, name: str, a: Operand, b: Operand) -> Tensor:
    """Run a comparison kernel on two operands of one dtype."""
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        decided = _beyond_range(name, a, b)
        if decided is not None:
            return decided
    with no_grad():
        a, b = as_tensors(a, b, name)
        return binary(kernel, a, b, None, dt.bool_)


def _beyond_range(name: str, a: Operand, b: Operand) -> Tensor | None:
    """Decide a comparison with an integer that the tensor's dtype cannot hold, by value."""
    tensor, number = (a, as_scalar(b)) if isinstance(a, Tensor) else (b, as_scalar(a))
    if not isinstance(tensor, Tensor) or number.__class__ is not int or not tensor.dtype.is_integer:
        return None
    info = np.iinfo(tensor.dtype.numpy)
    if number is None or info.min <= number <= info.max:
        return None
    left, right = (0, number) if isinstance(a, Tensor) else (number, 0)
    truth = {"eq": False, "ne": True, "lt": left < right, "le": left < right, "gt": left > right, "ge": left > right}
    return full_like_device(tensor.shape, truth[name], dt.bool_, tensor)


def eq(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a == b; NaN equals nothing."""
    return _compare("EqualsForward", "eq", a, b)


def ne(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a != b."""
    return logical_not(_compare("EqualsForward", "eq", a, b))


def lt(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a < b."""
    return _compare("LtForward", "lt", a, b)


def le(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a <= b."""
    return _compare("LeForward", "le", a, b)


def gt(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a > b."""
    return _compare("GtForward", "gt", a, b)


def ge(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a >= b."""
    return _compare("GeForward", "ge", a, b)


def _as_bools(x: Operand, like: Operand) -> Tensor:
    """Give bools: a tensor's x != 0, a number's truth."""
    if isinstance(x, Tensor):
        with no_grad():
            return cast_to(x, dt.bool_)
    number = as_scalar(x)
    if number is None or not isinstance(like, Tensor):
        raise TypeError(f"logic: expected tensors or numbers, found {type(x).__name__}")
    return full_like_device((), bool(number), dt.bool_, like)


def logical_and(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where both are true (not 0)."""
    return binary("AndForward", _as_bools(a, b), _as_bools(b, a), None, dt.bool_)


def logical_or(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where either is true (not 0)."""
    return binary("OrForward", _as_bools(a, b), _as_bools(b, a), None, dt.bool_)


def logical_not(x: Tensor) -> Tensor:
    """Tell, as bools, where `x` is false (0)."""
    return unary("NotForward", _as_bools(x, x), None)


def equal(a: Tensor, b: Tensor) -> bool:
    """Tell whether two tensors have the same shape and values; waits for the device."""
    if a.shape != b.shape:
        return False
    return bool(eq(a, b).all())


def _bools_only(function: Any, name: str) -> Any:
    """Make a bit operator, which is defined for bools."""

    def operator(self: Tensor, other: Operand) -> Any:
        if not is_operand(other):
            return NotImplemented
        for operand in (self, other):
            is_bool = operand.dtype.is_bool if isinstance(operand, Tensor) else isinstance(operand, bool | np.bool_)
            if not is_bool:
                raise TypeError(f"{name}: expected bools, found another dtype. Use logical_and and the like.")
        return function(self, other)

    return operator


def _invert(self: Tensor) -> Tensor:
    """Give `not x` of bools."""
    if not self.dtype.is_bool:
        raise TypeError(f"~: expected bools, found {self.dtype.name}")
    return logical_not(self)


def _guarded(function: Any) -> Any:
    """Make a comparison operator that gives NotImplemented for operands it does not know."""

    def compare(self: Tensor, other: Operand) -> Any:
        return function(self, other) if is_operand(other) else NotImplemented

    return compare


OPERATORS: dict[str, Any] = {
    "__eq__": _guarded(eq),
    "__ne__": _guarded(ne),
    "__lt__": _guarded(lt),
    "__le__": _guarded(le),
    "__gt__": _guarded(gt),
    "__ge__": _guarded(ge),
    "__and__": _bools_only(logical_and, "&"),
    "__rand__": _bools_only(logical_and, "&"),
    "__or__": _bools_only(logical_or, "|"),
    "__ror__": _bools_only(logical_or, "|"),
    "__xor__": _bools_only(ne, "^"),
    "__invert__": _invert,
}
