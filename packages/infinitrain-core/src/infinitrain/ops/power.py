"""Powers of tensors and numbers."""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.ops._base import (
    Operand,
    as_scalar,
    as_tensors,
    binary,
    cast_to,
    full_like_device,
    scalar_dtype,
    scalar_tensor,
    sum_to,
)
from infinitrain.ops.arithmetic import guarded, mul, reflected, sub
from infinitrain.ops.cast import clone
from infinitrain.ops.compare import eq, gt, logical_and, logical_not
from infinitrain.ops.select import where
from infinitrain.ops.unary import log, reciprocal, sqrt
from infinitrain.tensor import Tensor


class Pow(Op):
    """y = a^b; da = dy b a^(b-1), 0 where b is 0; db = dy y ln a, 0 where a is 0 and b is not negative."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Pow, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        ctx.save_for_backward(a, b)
        return binary("PowForward", a, b, out)

    @staticmethod
    def backward(ctx: Pow, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes
        da = db = None
        if need[0]:
            slope = mul(b, power(a, sub(b, 1)))
            da = sum_to(mul(grad, where(eq(b, 0), scalar_tensor(0, b.dtype, b), slope)), shapes[0])
        if need[1]:
            flat = logical_and(eq(a, 0), logical_not(gt(scalar_tensor(0, b.dtype, b), b)))
            slope = mul(power(a, b), log(where(flat, scalar_tensor(1, a.dtype, a), a)))
            db = sum_to(mul(grad, where(flat, scalar_tensor(0, a.dtype, a), slope)), shapes[1])
        return da, db


def power(a: Operand, b: Operand) -> Tensor:
    """Give a to the power of b. For integers, a negative exponent gives the integer part of the true value."""
    value = as_scalar(b)
    if isinstance(a, Tensor) and value is not None:
        dtype = scalar_dtype(a.dtype, value)
        x = cast_to(a, dtype)
        if value == 1:
            return clone(x)
        if value == 2:
            return mul(x, x)
        if value == 0:  # flat everywhere, at 0 too
            return full_like_device(x.shape, 1, dtype, x)
        if dtype.is_floating_point:
            if value == 0.5:
                return sqrt(x)
            if value == -1:
                return reciprocal(x)
            exponent = float(value)
            raised: Tensor = PowScalar.apply(x, exponent)
            return raised
    result: Tensor = Pow.apply(*as_tensors(a, b, "pow"))
    return result


class PowScalar(Op):
    """y = x^p for a fixed p; dx = dy p x^(p-1)."""

    exponent: float

    @staticmethod
    def forward(ctx: PowScalar, x: Tensor, exponent: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.exponent = exponent
        return binary("PowForward", x, scalar_tensor(exponent, x.dtype, x), None)

    @staticmethod
    def backward(ctx: PowScalar, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return mul(grad, mul(power(x, ctx.exponent - 1), ctx.exponent))


OPERATORS: dict[str, Any] = {"__pow__": guarded(power), "__rpow__": reflected(power)}
