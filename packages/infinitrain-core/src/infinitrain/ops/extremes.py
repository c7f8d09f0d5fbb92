"""The larger and the smaller of two operands."""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.ops._base import Operand, as_tensors, binary, scalar_tensor, sum_to
from infinitrain.ops.arithmetic import mul
from infinitrain.ops.compare import eq, gt, logical_not, logical_or
from infinitrain.ops.select import where
from infinitrain.tensor import Tensor


class Maximum(Op):
    """y = max(a, b), NaN wins; dy goes to the larger one, half to each where they are equal."""

    kernel = "MaximumForward"
    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Maximum, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        ctx.save_for_backward(a, b)
        return binary(ctx.kernel, a, b, out)

    @staticmethod
    def backward(ctx: Maximum, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes
        first = gt(a, b) if ctx.kernel == "MaximumForward" else gt(b, a)
        first = logical_or(first, logical_not(eq(a, a)))  # a NaN in `a` is what was returned
        zero = scalar_tensor(0, grad.dtype, grad)
        half = mul(grad, 0.5)
        equal = eq(a, b)
        return (
            sum_to(where(equal, half, where(first, grad, zero)), shapes[0]) if need[0] else None,
            sum_to(where(equal, half, where(first, zero, grad)), shapes[1]) if need[1] else None,
        )


class Minimum(Maximum):
    """y = min(a, b), NaN wins; dy goes to the smaller one, half to each where they are equal."""

    kernel = "MinimumForward"


def maximum(a: Operand, b: Operand) -> Tensor:
    """Give the larger of each pair; NaN wins. A gradient is halved where they are equal."""
    result: Tensor = Maximum.apply(*as_tensors(a, b, "maximum"))
    return result


def minimum(a: Operand, b: Operand) -> Tensor:
    """Give the smaller of each pair; NaN wins. A gradient is halved where they are equal."""
    result: Tensor = Minimum.apply(*as_tensors(a, b, "minimum"))
    return result
