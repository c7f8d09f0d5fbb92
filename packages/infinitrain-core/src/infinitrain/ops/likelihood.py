"""Losses of probabilities: binary cross-entropy and the Kullback-Leibler divergence.

Half types are computed in float32 and rounded once, after the reduction.
"""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import no_grad
from infinitrain.errors import ShapeError
from infinitrain.ops._base import broadcast_shapes, cast_to
from infinitrain.ops.compare import eq
from infinitrain.ops.distances import REDUCTIONS, check_reduction, reduced, two_wide
from infinitrain.ops.reduce import sum as reduce_sum
from infinitrain.ops.select import clamp, where
from infinitrain.ops.unary import absolute, exp, log, sigmoid
from infinitrain.tensor import Tensor

#: log(p) is held above this where p is 0, as in torch, so that one wrong certainty does not make a loss infinite.
LOWEST_LOG = -100.0


class LogSigmoid(Op):
    """y = log(1 / (1 + e^-x)) = min(x, 0) - log(1 + e^-|x|); dx = dy sigmoid(-x)."""

    @staticmethod
    def forward(ctx: LogSigmoid, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        with no_grad():
            small = exp(-absolute(x))
            one = small + 1
            # log(1 + s) without cancellation: the rounding of 1 + s cancels in s / ((1 + s) - 1).
            gap = where(eq(one, 1), 1, one - 1)
            return clamp(x, max=0) - where(eq(one, 1), small, log(one) * (small / gap))

    @staticmethod
    def backward(ctx: LogSigmoid, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * sigmoid(-x)


def logsigmoid(x: Tensor) -> Tensor:
    """Give log(1 / (1 + e^-x)), without overflow at either end."""
    result: Tensor = LogSigmoid.apply(cast_to(x, x.dtype.accumulator))
    return cast_to(result, x.dtype)


def binary_cross_entropy_with_logits(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Give -w (p t log s + (1 - t) log(1 - s)), s = sigmoid(x), without overflow for any x.

    Args:
        x: Logits, any shape.
        target: t, in [0, 1], floating-point, of that shape.
        weight: w, broadcast to that shape; 1 if None.
        reduction: mean, sum or none.
        pos_weight: p, the weight of positives, broadcast to that shape; 1 if None.

    Raises: ShapeError, DTypeError, DeviceMismatch, ValueError for what does not fit.
    """
    name = "binary_cross_entropy_with_logits"
    check_reduction(name, reduction)
    a, t = two_wide(name, x, target)
    positive: Tensor = LogSigmoid.apply(a)
    if pos_weight is not None:
        positive = positive * _fitted(name, "pos_weight", pos_weight, a)
    negative = LogSigmoid.apply(-a)
    loss = -(t * positive + (1 - t) * negative)
    return cast_to(_weighted(name, loss, weight, reduction), x.dtype)


class _ClampedLog(Op):
    """y = max(log p, -100); dp = dy / max(p, 1e-12), so that a gradient is finite at 0."""

    @staticmethod
    def forward(ctx: _ClampedLog, p: Tensor) -> Tensor:
        ctx.save_for_backward(p)
        with no_grad():
            return clamp(log(p), min=LOWEST_LOG)

    @staticmethod
    def backward(ctx: _ClampedLog, grad: Tensor) -> Any:
        (p,) = ctx.saved_tensors
        return grad / clamp(p, min=1e-12)


def binary_cross_entropy(x: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean") -> Tensor:
    """Give -w (t log x + (1 - t) log(1 - x)) of probabilities x, each logarithm held above -100.

    Prefer `binary_cross_entropy_with_logits`: a sigmoid that has rounded to 0 or 1 has lost its loss. Arguments are
    as there. A probability outside [0, 1] gives NaN; it is not looked for, which would wait for the device.
    """
    name = "binary_cross_entropy"
    check_reduction(name, reduction)
    p, t = two_wide(name, x, target)
    loss = -(t * _ClampedLog.apply(p) + (1 - t) * _ClampedLog.apply(1 - p))
    return cast_to(_weighted(name, loss, weight, reduction), x.dtype)


def kl_div(x: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Give target (log target - x), x being log-probabilities; 0 where target is 0.

    Args:
        x: log q, any shape.
        target: p, or log p if `log_target`, of that shape.
        reduction: "batchmean" is the divergence itself: the sum divided by the first dimension; "mean" divides by
            the number of elements, as in torch.
        log_target: What target holds.

    Source: Kullback and Leibler 1951.
    """
    check_reduction("kl_div", reduction, (*REDUCTIONS, "batchmean"))
    if reduction == "batchmean" and not x.shape:
        raise ShapeError("kl_div: expected at least one dimension for reduction 'batchmean', found a 0-d tensor")
    a, t = two_wide("kl_div", x, target)
    if log_target:
        loss = exp(t) * (t - a)
    else:
        zero = eq(t, 0)
        loss = where(zero, 0, t * log(where(zero, 1, t))) - t * a
    total = reduce_sum(loss) / x.shape[0] if reduction == "batchmean" else reduced(loss, reduction)
    return cast_to(total, x.dtype)


def _fitted(name: str, what: str, weight: Tensor, like: Tensor) -> Tensor:
    """Give a weight in the dtype of `like`, checked to broadcast to its shape."""
    try:
        fits = broadcast_shapes(weight.shape, like.shape) == like.shape
    except ShapeError:
        fits = False
    if not fits:
        raise ShapeError(f"{name}: expected a {what} that broadcasts to {like.shape}, found {weight.shape}")
    return cast_to(weight, like.dtype)


def _weighted(name: str, loss: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    if weight is not None:
        loss = loss * _fitted(name, "weight", weight, loss)
    return reduced(loss, reduction)
