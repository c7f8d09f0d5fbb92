"""Layer normalisation over the last dimensions. R rows, C elements in each."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from infinitrain.autograd.function import ACCUMULATED, Op
from infinitrain.autograd.grad_mode import state
from infinitrain.dispatch import launch
from infinitrain.errors import ShapeError
from infinitrain.ops._base import cast_to, require_floating
from infinitrain.ops.cast import contiguous
from infinitrain.ops.reduce import mean
from infinitrain.ops.reduce import sum as reduce_sum
from infinitrain.ops.shape import reshape
from infinitrain.ops.unary import rsqrt
from infinitrain.tensor import Tensor


class LayerNorm(Op):
    """y = (x - mean) rstd weight + bias for each row of x (R, C). Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450.

    Gradients of weight and bias are added into what is there already where autograd allows it.
    """

    eps: float

    @staticmethod
    def forward(ctx: LayerNorm, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
        ctx.eps = eps
        rows, wide, device = x.shape[0], x.dtype.accumulator, x.buffer.device
        y = Tensor._empty(x.shape, x.dtype, device)
        average, rstd = Tensor._empty((rows,), wide, device), Tensor._empty((rows,), wide, device)
        launch("LayerNormForward", (x, weight, bias), (y, average, rstd), eps=eps)
        ctx.save_for_backward(x, weight, average, rstd)
        return y

    @staticmethod
    def backward(ctx: LayerNorm, grad: Tensor) -> Any:
        x, weight, average, rstd = ctx.saved_tensors
        need = ctx.needs_input_grad
        if state.enabled:
            return _recorded(x, weight, grad, ctx.eps, need)
        dx = Tensor._empty(x.shape, x.dtype, x.buffer.device)
        # One flag for both gradients: add into both, or into none.
        totals = [ctx.accumulator(i) if need[i] else None for i in (1, 2)]
        add = all(total is not None for total, wanted in zip(totals, need[1:3], strict=True) if wanted)
        add = add and (need[1] or need[2])
        shape = x.shape[1:]
        outs = [
            (total if add else Tensor._empty(shape, x.dtype, x.buffer.device)) if wanted else None
            for total, wanted in zip(totals, need[1:3], strict=True)
        ]
        del totals
        launch("LayerNormBackward", (x, weight, average, rstd, grad), (dx, *outs), eps=ctx.eps, accumulate=add)
        if add:
            return dx, *[ACCUMULATED if out is not None else None for out in outs]
        return dx, *outs


def _recorded(x: Tensor, weight: Tensor | None, grad: Tensor, eps: float, need: tuple[bool, ...]) -> tuple[Any, ...]:
    """The gradients, by operations that can be differentiated again."""
    wide = cast_to(x, x.dtype.accumulator)
    apart = wide - mean(wide, 1, keepdim=True)
    rstd = rsqrt(mean(apart * apart, 1, keepdim=True) + eps)
    unit = apart * rstd  # (R, C), mean 0 and variance 1
    dy = cast_to(grad, x.dtype.accumulator)
    inner = dy if weight is None else dy * cast_to(weight, x.dtype.accumulator)
    dx = rstd * (inner - mean(inner, 1, keepdim=True) - unit * mean(inner * unit, 1, keepdim=True))
    return (
        cast_to(dx, x.dtype) if need[0] else None,
        cast_to(reduce_sum(dy * unit, 0), x.dtype) if need[1] else None,
        reduce_sum(grad, 0) if need[2] else None,
    )


def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Give each slice over the last dimensions mean 0 and variance 1 (biased), then scale and shift it.

    Shapes: x (..., *normalized_shape), weight and bias normalized_shape -> as x. Computed in float32 at least.

    Raises: ShapeError if the last dimensions, the weight or the bias are not `normalized_shape`; DTypeError.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or x.shape[len(x.shape) - len(shape) :] != shape or len(x.shape) < len(shape):
        raise ShapeError(f"layer_norm: expected last dimensions {shape}, found shape {x.shape}")
    for name, operand in (("weight", weight), ("bias", bias)):
        if operand is not None and operand.shape != shape:
            raise ShapeError(f"layer_norm: expected a {name} of shape {shape}, found {operand.shape}")
    require_floating(x, "layer_norm")
    width = prod(shape)
    rows = x.numel() // width if width else 0
    flat = reshape(contiguous(x), (rows, width))
    scale = weight if weight is None else reshape(weight, (width,))
    shift = bias if bias is None else reshape(bias, (width,))
    result: Tensor = LayerNorm.apply(flat, scale, shift, eps)
    return reshape(result, x.shape)
