"""Rows that follow indices: embedding, gather, scatter."""

from __future__ import annotations

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import wide

__all__: list[str] = []


@reference("EmbeddingForward")
def embedding(case: Case) -> list[Expected | None]:
    """Rows of the weight."""
    index, weight = operand(case, 0), operand(case, 1)
    return [Expected(weight[index], raw=True)]


@reference("EmbeddingBackward")
def embedding_backward(case: Case) -> list[Expected | None]:
    """Add each gradient row to the row that it came from."""
    index, grad = operand(case, 0), wide(operand(case, 1))
    total, magnitude = _start(case, accumulate=bool(case.attributes[0]))
    np.add.at(total, index, grad)
    np.add.at(magnitude, index, np.abs(grad))
    return [Expected(total, magnitude)]


def _start(case: Case, *, accumulate: bool) -> tuple[Array, Array]:
    """Give what a sum begins with and its magnitude: the old value, or 0."""
    old = wide(output(case))
    begin = old.copy() if accumulate else np.zeros_like(old)
    return begin, np.abs(begin)


def _along(index: Array, dim: int) -> tuple[Array, ...]:
    """Give the full index of each element of a tensor indexed along one dimension."""
    own = np.indices(index.shape)
    return tuple(index if d == dim else own[d] for d in range(index.ndim))


@reference("GatherForward")
def gather(case: Case) -> list[Expected | None]:
    """Take elements along a dimension."""
    x, index = operand(case, 0), operand(case, 1)
    return [Expected(x[_along(index, int(case.attributes[0]))], raw=True)]


@reference("GatherBackward")
def gather_backward(case: Case) -> list[Expected | None]:
    """Add each gradient element to the element that it came from."""
    grad, index = wide(operand(case, 0)), operand(case, 1)
    total, magnitude = _start(case, accumulate=bool(case.attributes[1]))
    where = _along(index, int(case.attributes[0]))
    np.add.at(total, where, grad)
    np.add.at(magnitude, where, np.abs(grad))
    return [Expected(total, magnitude)]


@reference("ScatterForward")
def scatter(case: Case) -> list[Expected | None]:
    """Put elements along a dimension; of equal indices the last one stays."""
    index, values = operand(case, 0), operand(case, 1)
    result = output(case).copy()
    where = _along(index, int(case.attributes[0]))
    for position in np.ndindex(index.shape):
        result[tuple(int(axis[position]) for axis in where)] = values[position]
    return [Expected(result, raw=True)]
