"""Choosing between values: where, masked_fill, clamp, tril, triu. The branch not taken gets exactly 0."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import (
    Operand,
    Scalar,
    as_scalar,
    as_tensors,
    broadcast_shapes,
    cast_to,
    check_range,
    new_like,
    scalar_dtype,
    scalar_tensor,
    sum_to,
)
from infinitrain.ops.compare import ge, le, logical_and, lt
from infinitrain.tensor import Tensor


class Where(Op):
    """y = a where c, else b. Backward selects too: it never multiplies, so that no NaN of the other branch leaks."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Where, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        ctx.save_for_backward(condition)
        shape = broadcast_shapes(condition.shape, broadcast_shapes(a.shape, b.shape))
        y = Tensor._empty(shape, a.dtype, a.buffer.device)
        operands = [x if x.shape == shape else x.broadcast_to(shape) for x in (condition, a, b)]
        launch("WhereForward", operands, (y,))
        return y

    @staticmethod
    def backward(ctx: Where, grad: Tensor) -> Any:
        (condition,) = ctx.saved_tensors
        need = ctx.needs_input_grad
        zero = scalar_tensor(0, grad.dtype, grad)
        return (
            None,
            sum_to(Where.apply(condition, grad, zero), ctx.shapes[0]) if need[1] else None,
            sum_to(Where.apply(condition, zero, grad), ctx.shapes[1]) if need[2] else None,
        )


def where(condition: Tensor, a: Operand, b: Operand) -> Tensor:
    """Give `a` where the condition is true, else `b`; the three broadcast.

    Raises: DTypeError if the condition is not bool.
    """
    if not condition.dtype.is_bool:
        raise DTypeError(f"where: expected a bool condition, found {condition.dtype.name}")
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        first, second = as_scalar(a), as_scalar(b)
        if first is None or second is None:
            raise TypeError(f"where: expected tensors or numbers, found {type(a).__name__} and {type(b).__name__}")
        dtype = dt.result_type(first, second)
        a, b = scalar_tensor(first, dtype, condition), scalar_tensor(second, dtype, condition)
    a, b = as_tensors(a, b, "where")
    result: Tensor = Where.apply(condition, a, b)
    return result


def where_method(x: Tensor, condition: Tensor, other: Operand) -> Tensor:
    """Give `x` where the condition is true, else `other`."""
    return where(condition, x, other)


def masked_fill(x: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """Give `x` with `value` (a number or a 0-d tensor) where the mask is true.

    Raises: ShapeError if `value` is not 0-d; DTypeError if the mask is not bool.
    """
    if isinstance(value, Tensor):
        if value.shape:
            raise ShapeError(f"masked_fill: expected a number or a 0-d tensor, found shape {value.shape}")
        return where(mask, cast_to(value, x.dtype), x)
    number = as_scalar(value)
    if number is None:
        raise TypeError(f"masked_fill: expected a number, found {type(value).__name__}")
    check_range(number, x.dtype, "masked_fill")
    return where(mask, scalar_tensor(number, x.dtype, x), x)


class Clamp(Op):
    """y = x held in [low, high], NaN stays; dx = dy where low <= x <= high."""

    bounds: tuple[Scalar | None, Scalar | None]

    @staticmethod
    def forward(ctx: Clamp, x: Tensor, low: Scalar | None, high: Scalar | None, out: Tensor | None = None) -> Tensor:
        ctx.bounds = (low, high)
        ctx.save_for_backward(x)
        y = new_like(x) if out is None else out
        source: Any = x
        for kernel, bound in (("MaximumForward", low), ("MinimumForward", high)):
            if bound is not None:
                limit = scalar_tensor(bound, x.dtype, x).broadcast_to(x.shape)
                launch(kernel, (source, limit), (y,))
                source = y
        return y

    @staticmethod
    def backward(ctx: Clamp, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        low, high = ctx.bounds
        inside = None if low is None else ge(x, low)
        if high is not None:
            inside = le(x, high) if inside is None else logical_and(inside, le(x, high))
        return where(inside, grad, 0) if inside is not None else grad


def clamp(x: Tensor, min: Operand = None, max: Operand = None) -> Tensor:
    """Hold `x` between bounds, numbers or tensors, each optional; NaN stays NaN.

    Raises: ValueError without any bound.
    """
    if min is None and max is None:
        raise ValueError("clamp: expected min, max or both, found neither")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if min is not None:
            x = where(lt(x, min), *as_tensors(min, x, "clamp")[:1], x)
        if max is not None:
            x = where(lt(max, x), *as_tensors(max, x, "clamp")[:1], x)
        return x
    low, high = as_scalar(min), as_scalar(max)
    for bound in (low, high):
        if bound is not None:
            x = cast_to(x, scalar_dtype(x.dtype, bound))
            check_range(bound, x.dtype, "clamp")
    result: Tensor = Clamp.apply(x, low, high)
    return result


class Triangle(Op):
    """y = x at or below (tril), at or above (triu) a diagonal, else 0; dx likewise."""

    kernel: str
    diagonal: int

    @staticmethod
    def forward(ctx: Triangle, x: Tensor, kernel: str, diagonal: int) -> Tensor:
        ctx.kernel, ctx.diagonal = kernel, diagonal
        y = new_like(x)
        launch(kernel, (x,), (y,), diagonal=diagonal)
        return y

    @staticmethod
    def backward(ctx: Triangle, grad: Tensor) -> Any:
        return Triangle.apply(grad, ctx.kernel, ctx.diagonal)


def _triangle(x: Tensor, name: str, kernel: str, diagonal: int) -> Tensor:
    """Check that there are matrices, and run a kernel on them."""
    if len(x.shape) < 2:
        raise ShapeError(f"{name}: expected at least two dimensions, found shape {x.shape}")
    result: Tensor = Triangle.apply(x, kernel, diagonal)
    return result


def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """Keep the last two dimensions where column - row <= diagonal, 0 elsewhere."""
    return _triangle(x, "tril", "TrilForward", diagonal)


def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """Keep the last two dimensions where column - row >= diagonal, 0 elsewhere."""
    return _triangle(x, "triu", "TriuForward", diagonal)
