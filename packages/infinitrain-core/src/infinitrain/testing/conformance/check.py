"""Compare what a kernel left with what it had to leave, and say in one line where and how it differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from infinitrain_capi.table import Tolerance

from infinitrain.dtype import from_numpy
from infinitrain.testing.conformance.case import Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference.number import convert

__all__ = ["Verdict", "compare", "same_bits"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one comparison.

    Attributes:
        problem: What differs, "" where nothing does.
        worst: The largest error as a share of what the tolerance allows; 0 where every bit is determined.
    """

    problem: str = ""
    worst: float = 0.0


def _bits(x: Array) -> Array:
    return np.ascontiguousarray(x).reshape(-1).view(f"u{x.dtype.itemsize}").reshape(x.shape)


def same_bits(found: Array, expected: Array) -> bool:
    """Whether two arrays of one dtype hold the same bits."""
    return bool((_bits(found) == _bits(expected)).all())


def _exact(found: Array, expected: Expected) -> Array:
    """Tell which elements are right: same bits; a NaN is a NaN unless bits are moved; where allowed, a zero a zero."""
    same = _bits(found) == _bits(expected.value)
    if expected.raw or not from_numpy(found.dtype).is_floating_point:
        return np.asarray(same)
    same |= np.isnan(found) & np.isnan(expected.value)
    if expected.any_zero:
        same |= (found == 0) & (expected.value == 0)
    return np.asarray(same)


def _close(found: Array, expected: Expected, bounds: tuple[float, float]) -> tuple[Array, Array]:
    """Tell which elements are within atol * magnitude + rtol * |expected|, and the share of it that each uses."""
    rtol, atol = bounds
    value, wide = np.asarray(expected.value, np.float64), found.astype(np.float64)
    # Without a magnitude, or where a term is infinite, the tolerance is that of the value alone.
    scale = 1.0 if expected.magnitude is None else np.where(np.isfinite(expected.magnitude), expected.magnitude, 0.0)
    allowed = atol * scale + rtol * np.where(np.isfinite(value), np.abs(value), 0.0)
    error = np.abs(wide - value)
    right = (error <= allowed) | (wide == value) | (np.isnan(wide) & np.isnan(value))
    # What the output's dtype cannot hold is an infinity, for any value that the tolerance allows.
    reach = value + np.copysign(allowed, value)
    right |= np.isinf(wide) & (wide == convert(np.asarray(reach), found.dtype).astype(np.float64))
    share = np.where(np.isfinite(error) & (allowed > 0), error / np.where(allowed > 0, allowed, 1.0), 0.0)
    return np.asarray(right), share


def compare(found: Array, expected: Expected, tolerance: Tolerance, inputs: tuple[Array | None, ...]) -> Verdict:
    """Compare an output with what it has to hold.

    Args:
        found: The output.
        expected: What it has to hold; exact where its dtype is the output's and the tolerance allows nothing.
        tolerance: Of the row.
        inputs: The operands, quoted in the message where they have the output's shape.
    """
    dtype = from_numpy(found.dtype)
    bounds = tolerance.of(dtype.short)
    with np.errstate(all="ignore"):
        if found.dtype == expected.value.dtype and (bounds == (0.0, 0.0) or expected.raw):
            right, share = _exact(found, expected), np.zeros(found.shape)
        else:
            right, share = _close(found, expected, bounds)
        if right.all():
            return Verdict("", float(share.max(initial=0.0)))
        return Verdict(_describe(found, expected, right, bounds, inputs), float("inf"))


def _text(value: Any, dtype: np.dtype[Any]) -> str:
    bits = np.asarray(value, dtype).reshape(1).view(f"u{dtype.itemsize}")[0]
    return f"{value!s} (0x{int(bits):0{2 * dtype.itemsize}x})"


def _describe(
    found: Array, expected: Expected, right: Array, bounds: tuple[float, float], inputs: tuple[Array | None, ...]
) -> str:
    wrong = np.argwhere(~right)
    where = tuple(int(i) for i in wrong[0])
    exact = expected.value.dtype == found.dtype and bounds == (0.0, 0.0)
    wanted = _text(expected.value[where], found.dtype) if exact else f"{float(expected.value[where])!r}"
    if not exact:
        scale = "" if expected.magnitude is None else f" * {float(expected.magnitude[where]):.6g}"
        wanted += f" +- {bounds[1]:g}{scale} + {bounds[0]:g} relative"
    operands = [
        f"operand {i} is {_text(x[where], x.dtype)}"
        for i, x in enumerate(inputs)
        if x is not None and x.shape == found.shape
    ]
    context = f"; {', '.join(operands)}" if operands else ""
    return (
        f"{len(wrong)} of {found.size} elements differ, first at {list(where)}: "
        f"expected {wanted}, found {_text(found[where], found.dtype)}{context}"
    )
