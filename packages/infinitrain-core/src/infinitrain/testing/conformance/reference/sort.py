"""Order, positions and running totals, along rows and along dimensions."""

from __future__ import annotations

import numpy as np

from infinitrain.dtype import from_numpy
from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand
from infinitrain.testing.conformance.reference.number import wide

__all__: list[str] = []


def _order(x: Array, *, descending: bool) -> Array:
    """Positions in order, by NumPy's stable sort, which puts NaN last; descending by the reversed row."""
    values = wide(x)
    if not descending:
        return np.argsort(values, axis=-1, kind="stable")
    return np.flip(x.shape[-1] - 1 - np.argsort(np.flip(values, -1), axis=-1, kind="stable"), -1)


def _expected(x: Array, places: Array) -> list[Expected | None]:
    return [Expected(np.take_along_axis(x, places, -1), raw=True), Expected(places.astype(np.int64))]


@reference("SortForward")
def sort(case: Case) -> list[Expected | None]:
    """All of each row."""
    x = operand(case, 0)
    return _expected(x, _order(x, descending=bool(case.attributes[0])))


@reference("TopKForward")
def top_k(case: Case) -> list[Expected | None]:
    """The first k of each row, in order or by position."""
    x, (k, largest, in_order) = operand(case, 0), case.attributes
    places = _order(x, descending=bool(largest))[..., : int(k)]
    return _expected(x, places if in_order else np.sort(places, -1))


@reference("ArgMaxForward")
def arg_max(case: Case) -> list[Expected | None]:
    """NumPy's: NaN wins, the first position."""
    x = wide(operand(case, 0))
    return [Expected(np.argmax(x, -1).astype(np.int64).reshape(_shape(case)))]


@reference("ArgMinForward")
def arg_min(case: Case) -> list[Expected | None]:
    """NumPy's: NaN wins, the first position."""
    x = wide(operand(case, 0))
    return [Expected(np.argmin(x, -1).astype(np.int64).reshape(_shape(case)))]


def _shape(case: Case) -> tuple[int, ...]:
    found = case.outputs[0]
    return () if found is None else found.array.shape


@reference("CumSumForward")
def cumulative_sum(case: Case) -> list[Expected | None]:
    """From the front, or from the end."""
    x, (dim, reverse) = operand(case, 0), case.attributes
    axis = int(dim)
    turned = np.flip(x, axis) if reverse else x

    def back(values: Array) -> Array:
        return np.flip(values, axis) if reverse else values

    if not from_numpy(x.dtype).is_floating_point:
        return [Expected(back(np.cumsum(turned, axis, dtype=x.dtype)))]
    turned = wide(turned)
    return [Expected(back(np.cumsum(turned, axis)), back(np.cumsum(np.abs(turned), axis)))]


@reference("CumProdForward")
def cumulative_product(case: Case) -> list[Expected | None]:
    """From the front; integers wrap."""
    x, axis = operand(case, 0), int(case.attributes[0])
    if not from_numpy(x.dtype).is_floating_point:
        return [Expected(np.cumprod(x, axis, dtype=x.dtype))]
    value = np.cumprod(wide(x), axis)
    return [Expected(value, np.abs(value))]


@reference("CumProdBackward")
def cumulative_product_backward(case: Case) -> list[Expected | None]:
    """The definition: each x[k] is in every product from k on, without itself."""
    x, grad, axis = wide(operand(case, 0)), wide(operand(case, 1)), int(case.attributes[0])
    x, grad = np.moveaxis(x, axis, -1), np.moveaxis(grad, axis, -1)
    total, magnitude = np.zeros_like(x), np.zeros_like(x)
    for k in range(x.shape[-1]):
        others = x.copy()
        others[..., k] = 1.0
        terms = (grad * np.cumprod(others, -1))[..., k:]
        total[..., k], magnitude[..., k] = terms.sum(-1), np.abs(terms).sum(-1)
    return [Expected(np.moveaxis(total, -1, axis), np.moveaxis(magnitude, -1, axis))]
