"""Comparisons and logic: bools, without gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infinitrain import dtype as dt
from infinitrain.autograd.grad_mode import no_grad
from infinitrain.dispatch import launch
from infinitrain.ops._base import (
    Operand,
    Scalar,
    as_attr,
    as_scalar,
    as_tensors,
    binary,
    cast_to,
    full_like_device,
    is_operand,
    offers,
    scalar_dtype,
    unary,
)
from infinitrain.tensor import Tensor

#: By function: the kernel of two tensors, that of a tensor and a number, and the function with its operands exchanged.
KERNELS = {
    "eq": ("EqualsForward", "EqualsScalar", "eq"),
    "ne": ("NeForward", "NeScalar", "ne"),
    "lt": ("LtForward", "LtScalar", "gt"),
    "le": ("LeForward", "LeScalar", "ge"),
    "gt": ("GtForward", "GtScalar", "lt"),
    "ge": ("GeForward", "GeScalar", "le"),
}


def _compare(name: str, a: Operand, b: Operand) -> Tensor:
    """Compare two tensors of one dtype, or a tensor with a number in the dtype that both promote to."""
    if not isinstance(a, Tensor) and isinstance(b, Tensor):
        return _compare(KERNELS[name][2], b, a)
    number = None if isinstance(b, Tensor) else as_scalar(b)
    with no_grad():
        if number is None:
            a, b = as_tensors(a, b, name)
            return binary(KERNELS[name][0], a, b, None, dt.bool_)
        decided = _beyond_range(name, a, number)
        if decided is not None:
            return decided
        dtype = scalar_dtype(a.dtype, number)
        y = Tensor._empty(a.shape, dt.bool_, a.buffer.device)
        launch(KERNELS[name][1], (cast_to(a, dtype),), (y,), value=as_attr(number, dtype))
        return y


def _beyond_range(name: str, x: Tensor, number: Scalar) -> Tensor | None:
    """Decide a comparison with an integer that the tensor's dtype cannot hold, by value."""
    if number.__class__ is not int or not x.dtype.is_integer:
        return None
    info = np.iinfo(x.dtype.numpy)
    if info.min <= number <= info.max:
        return None
    truth = {"eq": False, "ne": True, "lt": number > 0, "le": number > 0, "gt": number < 0, "ge": number < 0}
    return full_like_device(x.shape, truth[name], dt.bool_, x)


def eq(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a == b; NaN equals nothing."""
    return _compare("eq", a, b)


def ne(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a != b."""
    return _compare("ne", a, b)


def lt(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a < b."""
    return _compare("lt", a, b)


def le(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a <= b."""
    return _compare("le", a, b)


def gt(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a > b."""
    return _compare("gt", a, b)


def ge(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where a >= b."""
    return _compare("ge", a, b)


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


def logical_xor(a: Operand, b: Operand) -> Tensor:
    """Tell, as bools, where one is true (not 0) and the other is not."""
    a, b = _as_bools(a, b), _as_bools(b, a)
    return binary("XorForward" if offers("XorForward", a) else "NeForward", a, b, None, dt.bool_)


def logical_not(x: Tensor) -> Tensor:
    """Tell, as bools, where `x` is false (0)."""
    return unary("NotForward", _as_bools(x, x), None)


def equal(a: Tensor, b: Tensor) -> bool:
    """Tell whether two tensors have the same shape and values; waits for the device."""
    if a.shape != b.shape:
        return False
    return bool(eq(a, b).all())


def _classify(kernel: str, x: Tensor) -> Tensor | None:
    """Run a kernel that classifies floats, where the provider has it."""
    if not offers(kernel, x):
        return None
    y = Tensor._empty(x.shape, dt.bool_, x.buffer.device)
    launch(kernel, (x,), (y,))
    return y


def isnan(x: Tensor) -> Tensor:
    """Tell, as bools, which elements are NaN."""
    found = _classify("IsNanForward", x)
    return ne(x, x) if found is None else found


def isinf(x: Tensor) -> Tensor:
    """Tell, as bools, which elements are infinite, of either sign."""
    if not x.dtype.is_floating_point:
        return full_like_device(x.shape, False, dt.bool_, x)
    found = _classify("IsInfForward", x)
    return logical_or(eq(x, math.inf), eq(x, -math.inf)) if found is None else found


def isfinite(x: Tensor) -> Tensor:
    """Tell, as bools, which elements are neither infinite nor NaN."""
    if not x.dtype.is_floating_point:
        return full_like_device(x.shape, True, dt.bool_, x)
    found = _classify("IsFiniteForward", x)
    return logical_and(lt(x, math.inf), gt(x, -math.inf)) if found is None else found


def signbit(x: Tensor) -> Tensor:
    """Tell, as bools, where the sign is set: below 0, at -0, and at a NaN that has it."""
    if not x.dtype.is_floating_point:
        return full_like_device(x.shape, False, dt.bool_, x) if x.dtype.is_bool else lt(x, 0)
    y = Tensor._empty(x.shape, dt.bool_, x.buffer.device)
    launch("SignbitForward", (x,), (y,))
    return y


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
}
