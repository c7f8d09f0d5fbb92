"""Reductions: y has the rank of x, and size 1 where x is reduced."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from infinitrain.dtype import from_numpy
from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import wide

__all__: list[str] = []


def _axes(x: Array, y: Array) -> tuple[int, ...]:
    return tuple(d for d in range(x.ndim) if x.shape[d] != y.shape[d])


@reference("SumForward")
def total(case: Case) -> list[Expected | None]:
    """The sum; integers wrap."""
    x, y = operand(case, 0), output(case)
    axes = _axes(x, y)
    if not from_numpy(x.dtype).is_floating_point:
        return [Expected(np.sum(x, axis=axes, keepdims=True, dtype=x.dtype))]
    x = wide(x)
    return [Expected(np.sum(x, axis=axes, keepdims=True), np.sum(np.abs(x), axis=axes, keepdims=True))]


@reference("ProdForward")
def product(case: Case) -> list[Expected | None]:
    """The product; integers wrap."""
    x, y = operand(case, 0), output(case)
    axes = _axes(x, y)
    if not from_numpy(x.dtype).is_floating_point:
        return [Expected(np.prod(x, axis=axes, keepdims=True, dtype=x.dtype))]
    value = np.asarray(np.prod(wide(x), axis=axes, keepdims=True))
    return [Expected(value, np.abs(value))]


@reference("MeanForward")
def mean(case: Case) -> list[Expected | None]:
    """The sum divided by the count."""
    x, y = wide(operand(case, 0)), output(case)
    axes = _axes(x, y)
    count = np.float64(np.prod([x.shape[d] for d in axes], dtype=np.int64))
    sums = np.sum(x, axis=axes, keepdims=True), np.sum(np.abs(x), axis=axes, keepdims=True)
    return [Expected(np.asarray(sums[0] / count), np.asarray(sums[1] / count))]


@reference("MaxForward")
def largest(case: Case) -> list[Expected | None]:
    """The largest; NaN wins."""
    x = operand(case, 0)
    return [Expected(_extreme(x, output(case), np.max), any_zero=True)]


@reference("MinForward")
def smallest(case: Case) -> list[Expected | None]:
    """The smallest; NaN wins."""
    x = operand(case, 0)
    return [Expected(_extreme(x, output(case), np.min), any_zero=True)]


def _extreme(x: Array, y: Array, function: Callable[..., Array]) -> Array:
    values = function(wide(x), axis=_axes(x, y), keepdims=True)
    return np.asarray(values).astype(x.dtype)


@reference("SquaredNorm")
def squared_norm(case: Case) -> list[Expected | None]:
    """The sum of squares, on the old value if it accumulates."""
    value = np.sum(wide(operand(case, 0)) ** 2)
    old = wide(output(case)) if case.attributes[0] else np.zeros(())
    return [Expected(np.asarray(value + old), np.asarray(value + np.abs(old)))]
