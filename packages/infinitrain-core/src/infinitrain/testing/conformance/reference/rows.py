"""Rows over the last dimension: cross-entropy, softmax, LayerNorm."""

from __future__ import annotations

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import wide

__all__: list[str] = []


@reference("CrossEntropyForward")
def cross_entropy(case: Case) -> list[Expected | None]:
    """Loss and log-sum-exp of each row."""
    logits, target, ignored = wide(operand(case, 0)), operand(case, 1), case.attributes[0]
    rows = np.arange(len(target))
    top = np.max(logits, axis=-1, initial=-np.inf)
    sums = np.log(np.sum(np.exp(logits - top[:, None]), axis=-1))
    lse, counted = top + sums, target != ignored
    chosen = logits[rows, np.where(counted, target, 0)] if logits.size else np.zeros(len(rows))
    loss = np.where(counted, lse - chosen, 0.0)
    scale = np.abs(top) + np.abs(sums)
    return [Expected(loss, scale + np.abs(chosen)), Expected(lse, scale)]


@reference("CrossEntropyBackward")
def cross_entropy_backward(case: Case) -> list[Expected | None]:
    """(softmax - one-hot) times the row's gradient."""
    logits, target = wide(operand(case, 0)), operand(case, 1)
    lse, grad, ignored = wide(operand(case, 2)), wide(operand(case, 3)), case.attributes[0]
    counted = target != ignored
    slope = np.exp(logits - lse[:, None])
    rows = np.flatnonzero(counted)
    slope[rows, target[rows]] -= 1
    return [Expected(np.where(counted[:, None], slope * grad[:, None], 0.0))]


def _softmax(x: Array, visible: Array | None = None) -> Array:
    """Softmax over the last dimension; where a mask is given, hidden elements are 0."""
    if visible is not None:
        x = np.where(visible, x, -np.inf)
    top = np.max(x, axis=-1, keepdims=True, initial=-np.inf)
    if visible is not None:
        top = np.where(visible.any(axis=-1, keepdims=True), top, 0.0)
    shares = np.exp(x - top)
    total = np.sum(shares, axis=-1, keepdims=True)
    if visible is not None:
        total = np.where(visible.any(axis=-1, keepdims=True), total, 1.0)
    return np.asarray(shares / total)


def _causal(shape: tuple[int, ...]) -> Array:
    """Tell which keys a query sees: the last query sees the last key."""
    queries, keys = shape[-2:]
    return np.broadcast_to(np.arange(keys)[None, :] <= np.arange(queries)[:, None] + keys - queries, shape)


@reference("SoftmaxForward")
def softmax(case: Case) -> list[Expected | None]:
    """Shares that sum to 1."""
    return [Expected(_softmax(wide(operand(case, 0))))]


@reference("SoftmaxBackward")
def softmax_backward(case: Case) -> list[Expected | None]:
    """Y * (grad - sum(grad * y))."""
    y, grad = wide(operand(case, 0)), wide(operand(case, 1))
    return [Expected(y * (grad - np.sum(grad * y, axis=-1, keepdims=True)))]


@reference("CausalSoftmaxForward")
def causal_softmax(case: Case) -> list[Expected | None]:
    """Shares among the keys that a query sees."""
    x = wide(operand(case, 0))
    return [Expected(_softmax(x * case.attributes[0], _causal(x.shape)))]


@reference("CausalSoftmaxBackward")
def causal_softmax_backward(case: Case) -> list[Expected | None]:
    """The same over the visible columns, times scale."""
    y, grad, visible = wide(operand(case, 0)), wide(operand(case, 1)), _causal(output(case).shape)
    y, grad = np.where(visible, y, 0.0), np.where(visible, grad, 0.0)
    slope = y * (grad - np.sum(grad * y, axis=-1, keepdims=True))
    return [Expected(case.attributes[0] * slope)]


@reference("LayerNormForward")
def layer_norm(case: Case) -> list[Expected | None]:
    """Rows of mean 0 and variance 1, scaled and shifted."""
    x, eps = wide(operand(case, 0)), case.attributes[0]
    mean = x.mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + eps)
    y = (x - mean) * rstd
    if case.inputs[1] is not None:
        y = y * wide(case.inputs[1])
    if case.inputs[2] is not None:
        y = y + wide(case.inputs[2])
    return [Expected(y), Expected(mean[..., 0]), Expected(rstd[..., 0])]


@reference("LayerNormBackward")
def layer_norm_backward(case: Case) -> list[Expected | None]:
    """Gradients for x, weight and bias."""
    x, grad = wide(operand(case, 0)), wide(operand(case, 4))
    mean, rstd = wide(operand(case, 2))[:, None], wide(operand(case, 3))[:, None]
    weight = np.ones(x.shape[-1]) if case.inputs[1] is None else wide(case.inputs[1])
    unit, scaled = (x - mean) * rstd, grad * weight
    sums = scaled.mean(axis=-1, keepdims=True), (scaled * unit).mean(axis=-1, keepdims=True)
    sizes = np.abs(scaled).mean(axis=-1, keepdims=True), np.abs(scaled * unit).mean(axis=-1, keepdims=True)
    dx = rstd * (scaled - sums[0] - unit * sums[1])
    size = rstd * (np.abs(scaled) + sizes[0] + np.abs(unit) * sizes[1])
    result: list[Expected | None] = [Expected(dx, size)]
    for i, terms in ((1, grad * unit), (2, grad)):
        before = case.outputs[i]
        if before is None:
            result.append(None)
            continue
        old = wide(before.array) if case.attributes[1] else np.zeros(x.shape[-1])
        result.append(Expected(old + terms.sum(axis=0), np.abs(old) + np.abs(terms).sum(axis=0)))
    return result
