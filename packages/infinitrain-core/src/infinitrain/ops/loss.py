"""Losses. R rows, V classes."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import no_grad, state
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import cast_to, new_like, require_floating, require_same_device
from infinitrain.ops.cast import contiguous
from infinitrain.ops.compare import ne
from infinitrain.ops.create import arange
from infinitrain.ops.reduce import logsumexp, mean
from infinitrain.ops.reduce import sum as reduce_sum
from infinitrain.ops.select import where
from infinitrain.ops.shape import movedim, reshape, unsqueeze
from infinitrain.ops.softmax import softmax
from infinitrain.tensor import Tensor


class CrossEntropy(Op):
    """loss (R) = log-sum-exp of a row of logits (R, V) - its target's logit; 0 where the target is ignored."""

    ignored: int

    @staticmethod
    def forward(ctx: CrossEntropy, logits: Tensor, target: Tensor, ignored: int) -> Tensor:
        ctx.ignored = ignored
        wide, device = logits.dtype.accumulator, logits.buffer.device
        loss, lse = Tensor._empty(target.shape, wide, device), Tensor._empty(target.shape, wide, device)
        launch("CrossEntropyForward", (logits, target), (loss, lse), ignore_index=ignored)
        ctx.save_for_backward(logits, target, lse)
        return loss

    @staticmethod
    def backward(ctx: CrossEntropy, grad: Tensor) -> Any:
        logits, target, lse = ctx.saved_tensors
        if state.enabled:
            return _recorded(logits, target, grad, ctx.ignored)
        dlogits = new_like(logits)
        launch("CrossEntropyBackward", (logits, target, lse, grad), (dlogits,), ignore_index=ctx.ignored)
        return dlogits


def _recorded(logits: Tensor, target: Tensor, grad: Tensor, ignored: int) -> Tensor:
    """The gradient, by operations that can be differentiated again."""
    with no_grad():
        classes = arange(logits.shape[1], device=logits.device)
        onehot = cast_to(unsqueeze(target, 1) == classes, logits.dtype)
        valid = unsqueeze(ne(target, ignored), 1)
    return where(valid, (softmax(logits, 1) - onehot) * cast_to(unsqueeze(grad, 1), logits.dtype), 0)


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Give the negative log-likelihood of the target classes under softmax(logits), computed in float32 at least.

    Shapes: logits (V,), (R, V) or (R, V, ...), target of integers (), (R,) or (R, ...) -> () for "mean" and "sum",
    else the target's. The mean divides by the number of targets that are not `ignore_index`; with none it is 0, and
    so are the gradients. With `label_smoothing` s the target distribution is (1 - s) onehot + s / V.

    Raises: ShapeError, DTypeError, ValueError for an unknown reduction; IndexOutOfRange for a target outside [0, V).
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"cross_entropy: expected reduction 'mean', 'sum' or 'none', found {reduction!r}")
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"cross_entropy: expected label_smoothing in [0, 1], found {label_smoothing}")
    require_floating(logits, "cross_entropy")
    if not target.dtype.is_integer:
        raise DTypeError(f"cross_entropy: expected targets of integers (class numbers), found {target.dtype.name}")
    require_same_device("cross_entropy", logits, target)
    single = len(logits.shape) == 1
    expected = () if single else (*logits.shape[:1], *logits.shape[2:])
    if not logits.shape or target.shape != expected:
        raise ShapeError(
            f"cross_entropy: expected logits (R, V, ...) and targets (R, ...), found {logits.shape} and {target.shape}"
        )
    moved = movedim(logits, 1, -1) if len(logits.shape) > 2 else logits
    count = target.numel()
    rows = reshape(moved, (count, logits.shape[0] if single else logits.shape[1]))
    flat = contiguous(reshape(cast_to(target, dt.int64), (count,)))
    loss: Tensor = CrossEntropy.apply(rows, flat, ignore_index)
    if label_smoothing:
        wide = cast_to(rows, loss.dtype)
        even = logsumexp(wide, 1) - mean(wide, 1)  # the mean of -log p over the classes
        loss = loss * (1 - label_smoothing) + where(ne(flat, ignore_index), even, 0) * label_smoothing
    return cast_to(_reduced(loss, flat, ignore_index, reduction, target.shape), logits.dtype)


def _reduced(loss: Tensor, target: Tensor, ignored: int, reduction: str, shape: tuple[int, ...]) -> Tensor:
    """Reduce the losses of rows."""
    if reduction == "none":
        return reshape(loss, shape)
    total = reduce_sum(loss)
    if reduction == "sum":
        return total
    with no_grad():
        valid = reduce_sum(cast_to(ne(target, ignored), loss.dtype))
        divisor = where(valid > 0, valid, 1)
    return total / divisor


def nll_loss(log_probabilities: Tensor, target: Tensor, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """Give -log_probabilities[row, target[row]] of (R, V) and (R,), reduced as in `cross_entropy`."""
    if len(log_probabilities.shape) != 2 or target.shape != log_probabilities.shape[:1]:
        raise ShapeError(f"nll_loss: expected (R, V) and (R,), found {log_probabilities.shape} and {target.shape}")
    flat = cast_to(target, dt.int64)
    with no_grad():
        valid = ne(flat, ignore_index)
        safe = where(valid, flat, 0)
    picked = reshape(log_probabilities.gather(1, unsqueeze(safe, 1)), flat.shape)
    return _reduced(where(valid, -picked, 0), flat, ignore_index, reduction, flat.shape)


def mse_loss(x: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Give the squared distance, as its mean, its sum or element by element ("none").

    Raises: ShapeError unless both have one shape.
    """
    if x.shape != target.shape:
        raise ShapeError(f"mse_loss: expected two tensors of one shape, found {x.shape} and {target.shape}")
    apart = x - target
    squared = apart * apart
    if reduction == "none":
        return squared
    if reduction not in ("mean", "sum"):
        raise ValueError(f"mse_loss: expected reduction 'mean', 'sum' or 'none', found {reduction!r}")
    return mean(squared) if reduction == "mean" else reduce_sum(squared)
