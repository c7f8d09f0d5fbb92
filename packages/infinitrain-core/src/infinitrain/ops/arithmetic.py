"""Elementwise operations of two operands, with broadcasting both ways; Python numbers are weak."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.ops._base import (
    Operand,
    Scalar,
    as_attr,
    as_scalar,
    as_tensors,
    binary,
    cast_to,
    check_range,
    is_operand,
    promote,
    scalar_dtype,
    sum_to,
)
from infinitrain.ops.compare import logical_and, logical_or
from infinitrain.ops.unary import neg
from infinitrain.tensor import Tensor


class Add(Op):
    """y = a + b; da = dy, db = dy, each summed over what was broadcast."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Add, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        return binary("AddForward", a, b, out)

    @staticmethod
    def backward(ctx: Add, grad: Tensor) -> Any:
        need, (a, b) = ctx.needs_input_grad, ctx.shapes
        return sum_to(grad, a) if need[0] else None, sum_to(grad, b) if need[1] else None


class Sub(Op):
    """y = a - b; da = dy, db = -dy."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Sub, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        return binary("SubForward", a, b, out)

    @staticmethod
    def backward(ctx: Sub, grad: Tensor) -> Any:
        need, (a, b) = ctx.needs_input_grad, ctx.shapes
        return sum_to(grad, a) if need[0] else None, neg(sum_to(grad, b)) if need[1] else None


class Mul(Op):
    """y = a b; da = dy b, db = dy a. Only what a gradient needs is saved."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Mul, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        need = ctx.needs_input_grad
        ctx.save_for_backward(a if need[1] else None, b if need[0] else None)
        return binary("MulForward", a, b, out)

    @staticmethod
    def backward(ctx: Mul, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes
        return (
            sum_to(mul(grad, b), shapes[0]) if need[0] else None,
            sum_to(mul(grad, a), shapes[1]) if need[1] else None,
        )


class Div(Op):
    """y = a / b; da = dy / b, db = -dy a / b^2."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Div, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        ctx.save_for_backward(a if ctx.needs_input_grad[1] else None, b)
        return binary("DivForward", a, b, out)

    @staticmethod
    def backward(ctx: Div, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes
        da = div(grad, b)
        return (
            sum_to(da, shapes[0]) if need[0] else None,
            sum_to(neg(mul(da, div(a, b))), shapes[1]) if need[1] else None,
        )


class FloorDivide(Op):
    """y = floor(a / b); flat, so that no gradient flows."""

    @staticmethod
    def forward(ctx: FloorDivide, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        return binary("FloorDivideForward", a, b, out)

    @staticmethod
    def backward(ctx: FloorDivide, grad: Tensor) -> Any:
        return None, None


class Remainder(Op):
    """y = a - b floor(a / b), with the sign of b; da = dy, db = -dy floor(a / b)."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Remainder, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        need = ctx.needs_input_grad[1]
        ctx.save_for_backward(a if need else None, b if need else None)
        return binary("RemainderForward", a, b, out)

    @staticmethod
    def backward(ctx: Remainder, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes
        return (
            sum_to(grad, shapes[0]) if need[0] else None,
            sum_to(neg(mul(grad, floor_divide(a, b))), shapes[1]) if need[1] else None,
        )


class AddScalar(Op):
    """y = x + number; dx = dy."""

    @staticmethod
    def forward(ctx: AddScalar, x: Tensor, value: Scalar, out: Tensor | None = None) -> Tensor:
        y = Tensor._empty(x.shape, x.dtype, x.buffer.device) if out is None else out
        launch("AddScalar", (x,), (y,), value=value)
        return y

    @staticmethod
    def backward(ctx: AddScalar, grad: Tensor) -> Any:
        return grad


class MulScalar(Op):
    """y = x * number; dx = dy * number."""

    value: Scalar

    @staticmethod
    def forward(ctx: MulScalar, x: Tensor, value: Scalar, out: Tensor | None = None) -> Tensor:
        ctx.value = value
        y = Tensor._empty(x.shape, x.dtype, x.buffer.device) if out is None else out
        launch("MulScalar", (x,), (y,), value=value)
        return y

    @staticmethod
    def backward(ctx: MulScalar, grad: Tensor) -> Any:
        return MulScalar.apply(grad, ctx.value)


def _with_number(op: type[Op], name: str, x: Tensor, value: Scalar) -> Tensor:
    """Run `AddScalar` or `MulScalar` in the dtype that the number asks for."""
    dtype = scalar_dtype(x.dtype, value)
    if dtype is not x.dtype:
        x = cast_to(x, dtype)
    if value.__class__ is int:
        check_range(value, dtype, name)
    result: Tensor = op.apply(x, as_attr(value, dtype))
    return result


def add(a: Operand, b: Operand, alpha: Scalar = 1) -> Tensor:
    """Give a + alpha b. Two bools give their `or`, as in NumPy."""
    if alpha != 1:
        b = mul(b, alpha)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.dtype is not b.dtype:
            a, b = promote(a, b)
        result: Tensor = logical_or(a, b) if a.dtype.is_bool else Add.apply(a, b)
        return result
    if not isinstance(a, Tensor):
        a, b = b, a
    value = as_scalar(b)
    if value is None or (isinstance(value, bool) and a.dtype.is_bool):
        return add(*as_tensors(a, b, "add"))
    return _with_number(AddScalar, "add", a, value)


def sub(a: Operand, b: Operand, alpha: Scalar = 1) -> Tensor:
    """Give a - alpha b."""
    if alpha != 1:
        b = mul(b, alpha)
    if isinstance(a, Tensor):
        value = None if isinstance(b, Tensor) else as_scalar(b)
        if value is not None and -(1 << 63) < value < 1 << 63:
            check_range(value, scalar_dtype(a.dtype, value), "sub")
            # -value may lie outside an unsigned dtype: the conversion wraps to the same result.
            dtype = scalar_dtype(a.dtype, value)
            result: Tensor = AddScalar.apply(cast_to(a, dtype), -value)
            return result
    elif isinstance(b, Tensor):
        value = as_scalar(a)
        if value is not None:
            dtype = scalar_dtype(b.dtype, value)
            if not dtype.is_bool:
                check_range(value, dtype, "sub")
                reversed_: Tensor = AddScalar.apply(neg(cast_to(b, dtype)), as_attr(value, dtype))
                return reversed_
    difference: Tensor = Sub.apply(*as_tensors(a, b, "sub"))
    return difference


def mul(a: Operand, b: Operand) -> Tensor:
    """Give a b. Two bools give their `and`, as in NumPy."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.dtype is not b.dtype:
            a, b = promote(a, b)
        result: Tensor = logical_and(a, b) if a.dtype.is_bool else Mul.apply(a, b)
        return result
    if not isinstance(a, Tensor):
        a, b = b, a
    value = as_scalar(b)
    if value is None or (isinstance(value, bool) and a.dtype.is_bool):
        return mul(*as_tensors(a, b, "mul"))
    return _with_number(MulScalar, "mul", a, value)


def div(a: Operand, b: Operand) -> Tensor:
    """Give a / b, true division: integers and bools become float32."""
    if isinstance(a, Tensor) and not a.dtype.is_floating_point:
        a = cast_to(a, b.dtype if isinstance(b, Tensor) and b.dtype.is_floating_point else dt.float32)
    if isinstance(b, Tensor) and not b.dtype.is_floating_point:
        b = cast_to(b, a.dtype if isinstance(a, Tensor) else dt.float32)
    a, b = as_tensors(a, b, "div")
    result: Tensor = Div.apply(a, b)
    return result


def floor_divide(a: Operand, b: Operand) -> Tensor:
    """Give floor(a / b) as Python does; integers by 0 give 0. No gradient flows."""
    result: Tensor = FloorDivide.apply(*as_tensors(a, b, "floor_divide"))
    return result


def remainder(a: Operand, b: Operand) -> Tensor:
    """Give the remainder with the sign of the divisor; integers by 0 give 0."""
    result: Tensor = Remainder.apply(*as_tensors(a, b, "remainder"))
    return result


def reflected(function: Any) -> Any:
    """Make the operator that Python calls when the tensor stands at the right."""

    def operator(self: Tensor, other: Operand) -> Any:
        return function(other, self) if is_operand(other) else NotImplemented

    return operator


def guarded(function: Any) -> Any:
    """Make the operator that gives NotImplemented for operands it does not know."""

    def operator(self: Tensor, other: Operand) -> Any:
        if isinstance(other, Tensor) or is_operand(other):
            return function(self, other)
        return NotImplemented

    return operator


OPERATORS: dict[str, Any] = {
    "__add__": guarded(add),
    "__radd__": guarded(add),
    "__sub__": guarded(sub),
    "__rsub__": reflected(sub),
    "__mul__": guarded(mul),
    "__rmul__": guarded(mul),
    "__truediv__": guarded(div),
    "__rtruediv__": reflected(div),
    "__floordiv__": guarded(floor_divide),
    "__rfloordiv__": reflected(floor_divide),
    "__mod__": guarded(remainder),
    "__rmod__": reflected(remainder),
}
