"""Tier 0, selections and triangles: nothing is computed, bits are moved or converted."""

from __future__ import annotations

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.number import convert, scalar

__all__: list[str] = []


def operand(case: Case, index: int) -> Array:
    """Give an operand that is present."""
    array = case.inputs[index]
    if array is None:
        raise ValueError(f"{case.label}: operand {index} is absent")
    return array


def output(case: Case, index: int = 0) -> Array:
    """Give an output's array before the launch."""
    found = case.outputs[index]
    if found is None:
        raise ValueError(f"{case.label}: output {index} is absent")
    return found.array


@reference("Cast")
def cast(case: Case) -> list[Expected | None]:
    """Y = x converted."""
    x, to = operand(case, 0), output(case).dtype
    return [Expected(convert(x, to))]


@reference("Fill")
def fill(case: Case) -> list[Expected | None]:
    """Every element is the value."""
    y = output(case)
    return [Expected(np.full(y.shape, scalar(case.attributes[0], y.dtype), y.dtype))]


@reference("Copy")
def copy(case: Case) -> list[Expected | None]:
    """Y = x."""
    return [Expected(operand(case, 0), raw=True)]


@reference("NoOpForward", "NoOpBackward")
def no_op(case: Case) -> list[Expected | None]:
    """The same elements in another shape."""
    return [Expected(operand(case, 0).reshape(output(case).shape), raw=True)]


@reference("WhereForward")
def where(case: Case) -> list[Expected | None]:
    """Select, bit for bit."""
    condition, a, b = operand(case, 0), operand(case, 1), operand(case, 2)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    chosen = np.where(condition.reshape(-1), a.reshape(-1).view(bits), b.reshape(-1).view(bits))
    return [Expected(chosen.view(a.dtype).reshape(a.shape), raw=True)]


@reference("TrilForward")
def tril(case: Case) -> list[Expected | None]:
    """Keep what is on and below a diagonal."""
    return [Expected(_triangle(case, lower=True), raw=True)]


@reference("TriuForward")
def triu(case: Case) -> list[Expected | None]:
    """Keep what is on and above a diagonal."""
    return [Expected(_triangle(case, lower=False), raw=True)]


def _triangle(case: Case, *, lower: bool) -> Array:
    x, diagonal = operand(case, 0), case.attributes[0]
    distance = np.arange(x.shape[-1])[None, :] - np.arange(x.shape[-2])[:, None]
    kept = distance <= diagonal if lower else distance >= diagonal
    result = np.zeros_like(np.ascontiguousarray(x))
    result[..., kept] = x[..., kept]
    return result
