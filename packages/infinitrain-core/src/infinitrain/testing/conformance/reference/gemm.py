"""Products with turns and factors, outer products, and the gradient of one shard of a vocabulary."""

from __future__ import annotations

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import compute, convert, wide

__all__: list[str] = []


@reference("Gemm")
def gemm(case: Case) -> list[Expected | None]:
    """Alpha op(a) op(b) + beta y."""
    a, b = wide(operand(case, 0)), wide(operand(case, 1))
    turn_a, turn_b, alpha, beta = case.attributes
    a, b = (np.swapaxes(a, -2, -1) if turn_a else a), (np.swapaxes(b, -2, -1) if turn_b else b)
    value, magnitude = alpha * (a @ b), abs(alpha) * (np.abs(a) @ np.abs(b))
    if beta:
        old = wide(output(case))
        value, magnitude = value + beta * old, magnitude + np.abs(beta * old)
    return [Expected(value, magnitude)]


@reference("OuterForward")
def outer(case: Case) -> list[Expected | None]:
    """Each product rounded once."""
    a, b = compute(operand(case, 0)), compute(operand(case, 1))
    return [Expected(convert(a[:, None] * b[None, :], output(case).dtype))]


@reference("OuterBackward")
def outer_backward(case: Case) -> list[Expected | None]:
    """Grad @ b and grad^T @ a."""
    a, b, grad = (wide(operand(case, position)) for position in range(3))
    return [
        Expected(grad @ b, np.abs(grad) @ np.abs(b)),
        Expected(grad.T @ a, np.abs(grad).T @ np.abs(a)),
    ]


@reference("VocabParallelCrossEntropyBackward")
def vocab_parallel_cross_entropy_backward(case: Case) -> list[Expected | None]:
    """(softmax - smoothed one-hot) times the row's gradient, 0 in padding."""
    shares, target, grad = wide(operand(case, 0)), operand(case, 1), wide(operand(case, 2))
    start, size, smoothing, ignored = case.attributes
    classes = int(start) + np.arange(shares.shape[1])
    goal = np.where(classes[None, :] == target[:, None], 1.0 - smoothing, 0.0) + smoothing / size
    kept = (classes[None, :] < size) & (target != ignored)[:, None]
    return [Expected(np.where(kept, (shares - goal) * grad[:, None], 0.0))]
