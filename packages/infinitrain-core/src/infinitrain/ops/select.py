"""Choosing between values: where, masked_fill, clamp, tril, triu. The branch not taken gets exactly 0."""

from __future__ import annotations

import math
from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import (
    Operand,
    Scalar,
    as_attr,
    as_scalar,
    as_tensors,
    binary,
    broadcast_shapes,
    cast_to,
    check_range,
    new_like,
    scalar_dtype,
    scalar_tensor,
    sum_to,
)
from infinitrain.ops.compare import ge, gt, le, logical_and, logical_not, logical_or, lt
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
        return (
            None,
            sum_to(MaskedFill.apply(grad, logical_not(condition), 0), ctx.shapes[0]) if need[1] else None,
            sum_to(MaskedFill.apply(grad, condition, 0), ctx.shapes[1]) if need[2] else None,
        )


class MaskedFill(Op):
    """y = a number where the mask is true, else x; dx = dy where the mask is false, exactly 0 elsewhere."""

    shape: tuple[int, ...]

    @staticmethod
    def forward(ctx: MaskedFill, x: Tensor, mask: Tensor, value: Scalar, out: Tensor | None = None) -> Tensor:
        ctx.shape = x.shape
        ctx.save_for_backward(mask)
        shape = broadcast_shapes(x.shape, mask.shape)
        y = Tensor._empty(shape, x.dtype, x.buffer.device) if out is None else out
        operands = [t if t.shape == shape else t.broadcast_to(shape) for t in (x, mask)]
        launch("MaskForward", operands, (y,), value=value)
        return y

    @staticmethod
    def backward(ctx: MaskedFill, grad: Tensor) -> Any:
        (mask,) = ctx.saved_tensors
        return sum_to(MaskedFill.apply(grad, mask, 0), ctx.shape)


def _fill(name: str, x: Tensor, mask: Tensor, number: Scalar) -> Tensor:
    """Run `MaskedFill` in the dtype that the number asks for."""
    dtype = scalar_dtype(x.dtype, number)
    check_range(number, dtype, name)
    result: Tensor = MaskedFill.apply(cast_to(x, dtype), mask, as_attr(number, dtype))
    return result


def where(condition: Tensor, a: Operand, b: Operand) -> Tensor:
    """Give `a` where the condition is true, else `b`; the three broadcast.

    Raises: DTypeError if the condition is not bool.
    """
    if not condition.dtype.is_bool:
        raise DTypeError(f"where: expected a bool condition, found {condition.dtype.name}")
    first = None if isinstance(a, Tensor) else as_scalar(a)
    second = None if isinstance(b, Tensor) else as_scalar(b)
    if first is not None and second is not None:
        dtype = dt.result_type(first, second)
        a, b = scalar_tensor(first, dtype, condition), scalar_tensor(second, dtype, condition)
    elif first is not None and isinstance(b, Tensor):
        return _fill("where", b, condition, first)
    elif second is not None and isinstance(a, Tensor):
        return _fill("where", a, logical_not(condition), second)
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
    if not mask.dtype.is_bool:
        raise DTypeError(f"masked_fill: expected a bool mask, found {mask.dtype.name}")
    check_range(number, x.dtype, "masked_fill")
    result: Tensor = MaskedFill.apply(x, mask, as_attr(number, x.dtype))
    return result


class Clamp(Op):
    """y = x held in [low, high], NaN stays; dx = dy where low <= x <= high. An absent bound is infinite."""

    bounds: tuple[Scalar, Scalar]

    @staticmethod
    def forward(ctx: Clamp, x: Tensor, low: Scalar, high: Scalar, out: Tensor | None = None) -> Tensor:
        ctx.bounds = (low, high)
        ctx.save_for_backward(x)
        y = new_like(x) if out is None else out
        launch("ClampForward", (x,), (y,), min=low, max=high)
        return y

    @staticmethod
    def backward(ctx: Clamp, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        low, high = ctx.bounds
        if low == -math.inf:
            inside = le(x, high)
        elif high == math.inf:
            inside = ge(x, low)
        else:
            inside = logical_and(ge(x, low), le(x, high))
        return MaskedFill.apply(grad, logical_not(inside), 0)


class ClampBetween(Op):
    """y = min(max(x, low), high), each bound optional; dy goes to x where it lies between, else to the bound."""

    shapes: tuple[tuple[int, ...], ...]

    @staticmethod
    def forward(ctx: ClampBetween, x: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor:
        ctx.shapes = tuple([() if t is None else t.shape for t in (x, low, high)])
        ctx.save_for_backward(x, low, high)
        y = x if low is None else binary("MaximumForward", x, low, None)
        return y if high is None else binary("MinimumForward", y, high, None)

    @staticmethod
    def backward(ctx: ClampBetween, grad: Tensor) -> Any:
        x, low, high = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes

        def share(chosen: Tensor, shape: tuple[int, ...]) -> Tensor:
            return sum_to(MaskedFill.apply(grad, logical_not(chosen), 0), shape)

        inside = below = above = None
        if low is not None:
            inside, below = ge(x, low), lt(x, low)
        if high is not None:
            above = gt(x, high)
            inside = le(x, high) if inside is None else logical_and(inside, le(x, high))
            if low is not None:
                below, above = logical_and(below, lt(low, high)), logical_or(above, gt(low, high))
        return tuple(
            share(chosen, shape) if wanted and chosen is not None else None
            for chosen, shape, wanted in zip((inside, below, above), shapes, need[:3], strict=True)
        )


def clamp(x: Tensor, min: Operand = None, max: Operand = None) -> Tensor:
    """Hold `x` between bounds, numbers or tensors, each optional; NaN, in a bound too, gives NaN; `max` wins.

    Raises: ValueError without any bound.
    """
    if min is None and max is None:
        raise ValueError("clamp: expected min, max or both, found neither")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        return _clamp_between(x, min, max)
    low, high = as_scalar(min), as_scalar(max)
    for given, bound in ((min, low), (max, high)):
        if bound is None and given is not None:
            raise TypeError(f"clamp: expected numbers or tensors, found {type(given).__name__}")
        if bound is not None:
            x = cast_to(x, scalar_dtype(x.dtype, bound))
            check_range(bound, x.dtype, "clamp")
    result: Tensor = Clamp.apply(
        x,
        -math.inf if low is None else as_attr(low, x.dtype),
        math.inf if high is None else as_attr(high, x.dtype),
    )
    return result


def _clamp_between(x: Tensor, *given: Operand) -> Tensor:
    """Clamp by bounds of which at least one is a tensor, in the dtype that all promote to."""
    bounds = [None if bound is None else as_tensors(bound, x, "clamp")[0] for bound in given]
    dtype = x.dtype
    for bound in bounds:
        dtype = dtype if bound is None else dt.promote_types(dtype, bound.dtype)
    result: Tensor = ClampBetween.apply(
        cast_to(x, dtype), *[None if bound is None else cast_to(bound, dtype) for bound in bounds]
    )
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
