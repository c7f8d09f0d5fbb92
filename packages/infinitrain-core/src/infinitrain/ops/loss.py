"""Losses of classes. R rows, V classes."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import no_grad, state
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import cast_to, new_like, offers, require_floating, require_same_device
from infinitrain.ops.cast import contiguous
from infinitrain.ops.compare import ne
from infinitrain.ops.create import arange
from infinitrain.ops.distances import check_reduction, reduced
from infinitrain.ops.embedding import index_select
from infinitrain.ops.reduce import logsumexp, mean
from infinitrain.ops.reduce import sum as reduce_sum
from infinitrain.ops.select import where
from infinitrain.ops.shape import movedim, reshape, unsqueeze
from infinitrain.ops.softmax import log_softmax, softmax
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
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Give the negative log-likelihood of the target classes under softmax(logits), computed in float32 at least.

    With p = softmax(logits), classes' weights w (1 if None), smoothing s, and V classes, a row with target t has

        (1 - s) w_t (-log p_t) + s / V sum over c of w_c (-log p_c)

    Shapes: logits (V,), (R, V) or (R, V, ...), target of integers (), (R,) or (R, ...) -> () for "mean" and "sum",
    else the target's. The mean divides by the sum of w_t over the targets that are not `ignore_index`, which without
    weights is their number; with none it is 0, and so are the gradients. A floating-point target of the logits' shape
    holds the probabilities of the classes; its mean divides by the number of rows.

    Raises: ShapeError, DTypeError, ValueError for an unknown reduction; IndexOutOfRange for a target outside [0, V).
    """
    check_reduction("cross_entropy", reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"cross_entropy: expected label_smoothing in [0, 1], found {label_smoothing}")
    require_floating(logits, "cross_entropy")
    require_same_device("cross_entropy", logits, target, weight)
    single = len(logits.shape) == 1
    if target.dtype.is_floating_point and logits.shape and target.shape == logits.shape:
        weight = _class_weights("cross_entropy", weight, logits.shape[0 if single else 1])
        return _of_probabilities(logits, target, weight, reduction, label_smoothing)
    rows, flat, weight = _rows_and_targets("cross_entropy", logits, target, weight)
    loss: Tensor = CrossEntropy.apply(rows, flat, ignore_index)
    if weight is not None or label_smoothing:
        valid = ne(flat, ignore_index)
        weight = None if weight is None else cast_to(weight, loss.dtype)
    if weight is not None:
        loss = loss * _weights_of(weight, flat, valid)
    if label_smoothing:
        wide = cast_to(rows, loss.dtype)
        if weight is None:
            even = logsumexp(wide, 1) - mean(wide, 1)  # the mean of -log p over the classes
        else:
            even = mean((unsqueeze(logsumexp(wide, 1), 1) - wide) * weight, 1)
        loss = loss * (1 - label_smoothing) + where(valid, even, 0) * label_smoothing
    return cast_to(_reduced(loss, flat, ignore_index, reduction, target.shape, weight), logits.dtype)


def _class_weights(name: str, weight: Tensor | None, classes: int) -> Tensor | None:
    if weight is not None and weight.shape != (classes,):
        raise ShapeError(f"{name}: expected weights of {classes} classes, found shape {weight.shape}")
    return weight


def _rows_and_targets(
    name: str, logits: Tensor, target: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Check and give what a loss of class numbers works on: (R, V), (R,) int64, and weights (V,)."""
    if not target.dtype.is_integer:
        raise DTypeError(f"{name}: expected targets of integers (class numbers), found {target.dtype.name}")
    single = len(logits.shape) == 1
    expected = () if single else (*logits.shape[:1], *logits.shape[2:])
    if not logits.shape or target.shape != expected:
        raise ShapeError(
            f"{name}: expected logits (R, V, ...) and targets (R, ...), found {logits.shape} and {target.shape}"
        )
    classes = logits.shape[0] if single else logits.shape[1]
    moved = movedim(logits, 1, -1) if len(logits.shape) > 2 else logits
    count = target.numel()
    flat = contiguous(reshape(cast_to(target, dt.int64), (count,)))
    return reshape(moved, (count, classes)), flat, _class_weights(name, weight, classes)


def _weights_of(weight: Tensor, target: Tensor, valid: Tensor) -> Tensor:
    """Give the weight of each target, 0 where it is ignored."""
    return where(valid, index_select(weight, 0, where(valid, target, 0)), 0)


def _of_probabilities(
    logits: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    """Cross-entropy with a distribution over the classes as the target of each row."""
    single = len(logits.shape) == 1
    axis = 0 if single else 1
    classes = logits.shape[axis]
    wide = cast_to(logits, logits.dtype.accumulator)
    share = cast_to(target, wide.dtype)
    if smoothing:
        share = share * (1 - smoothing) + smoothing / classes
    terms = log_softmax(wide, axis) * share
    if weight is not None:
        terms = terms * reshape(cast_to(weight, wide.dtype), (classes,) + (1,) * max(len(logits.shape) - 2, 0))
    loss = -reduce_sum(terms, axis)
    return cast_to(reduced(loss, reduction), logits.dtype)


def _reduced(
    loss: Tensor, target: Tensor, ignored: int, reduction: str, shape: tuple[int, ...], weight: Tensor | None = None
) -> Tensor:
    """Reduce the losses of rows, weighted already."""
    if reduction == "none":
        return reshape(loss, shape)
    total = reduce_sum(loss)
    if reduction == "sum":
        return total
    with no_grad():
        valid = ne(target, ignored)
        count = reduce_sum(cast_to(valid, loss.dtype) if weight is None else _weights_of(weight, target, valid))
        divisor = where(reduce_sum(cast_to(valid, loss.dtype)) > 0, count, 1)
    return total / divisor


def nll_loss(
    log_probabilities: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Give -w_t log_probabilities[row, t], t = target[row]; shapes, weights and reduction as in `cross_entropy`."""
    check_reduction("nll_loss", reduction)
    require_floating(log_probabilities, "nll_loss")
    require_same_device("nll_loss", log_probabilities, target, weight)
    rows, flat, weight = _rows_and_targets("nll_loss", log_probabilities, target, weight)
    rows = cast_to(rows, rows.dtype.accumulator)
    with no_grad():
        valid = ne(flat, ignore_index)
        safe = where(valid, flat, 0)
    loss = where(valid, -reshape(rows.gather(1, unsqueeze(safe, 1)), flat.shape), 0)
    if weight is not None:
        weight = cast_to(weight, loss.dtype)
        loss = loss * _weights_of(weight, flat, valid)
    return cast_to(_reduced(loss, flat, ignore_index, reduction, target.shape, weight), log_probabilities.dtype)


def vocab_parallel_cross_entropy_gradient(
    softmax: Tensor,
    target: Tensor,
    grad: Tensor,
    vocab_start: int,
    vocab_size: int,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
) -> Tensor:
    """Give the gradient of cross-entropy for one shard of the vocabulary; nothing is recorded.

    Shapes: softmax (R, V) of classes vocab_start + c, normalised over all shards; target (R,) int64, classes of the
    whole vocabulary; grad (R,), one factor a row, float32 (float64 for float64) -> (R, V). Classes from vocab_size on
    are padding: their gradient is 0, as is that of rows whose target is `ignore_index`.

    Raises: ShapeError for shapes that do not fit; IndexOutOfRange for a target outside [0, vocab_size).
    Source: Shoeybi et al. 2019, arXiv:1909.08053, section 3.
    """
    if len(softmax.shape) != 2 or target.shape != softmax.shape[:1] or grad.shape != target.shape:
        raise ShapeError(
            f"vocab_parallel_cross_entropy_gradient: expected (R, V), (R,) and (R,), found {softmax.shape}, "
            f"{target.shape} and {grad.shape}"
        )
    with no_grad():
        if offers("VocabParallelCrossEntropyBackward", softmax):
            dlogits = new_like(softmax)
            launch(
                "VocabParallelCrossEntropyBackward",
                (softmax, target, grad),
                (dlogits,),
                vocab_start=vocab_start,
                vocab_size=vocab_size,
                label_smoothing=label_smoothing,
                ignore_index=ignore_index,
            )
            return dlogits
        wide = softmax.dtype.accumulator
        classes = arange(vocab_start, vocab_start + softmax.shape[1], device=softmax.device)
        goal = cast_to(unsqueeze(target, 1) == classes, wide) * (1 - label_smoothing) + label_smoothing / vocab_size
        slope = (cast_to(softmax, wide) - goal) * unsqueeze(grad, 1)
        return cast_to(
            where(unsqueeze(ne(target, ignore_index), 1), where(classes < vocab_size, slope, 0), 0), softmax.dtype
        )
