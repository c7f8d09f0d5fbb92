"""Values that kernels stumble over, and random ones around them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from infinitrain.dtype import DType, from_numpy
from infinitrain.testing.conformance.layout import Array

__all__ = ["bits", "bool_values", "every_pattern", "integers", "normal", "specials", "spread"]


def _finfo(dtype: np.dtype[Any]) -> Any:
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def specials(dtype: DType) -> Array:
    """Give zeros, ones, halves, bounds, and for floats infinities, NaN, denormals and neighbours of 1."""
    numpy = dtype.numpy
    if dtype.is_bool:
        return np.array([False, True])
    if not dtype.is_floating_point:
        info = np.iinfo(numpy)
        wanted = {
            0,
            1,
            2,
            3,
            7,
            -1,
            -2,
            -7,
            info.max,
            info.max - 1,
            info.min,
            info.min + 1,
            info.max // 2,
            info.max // 2 + 1,
        }
        return np.array(sorted(value for value in wanted if info.min <= value <= info.max), numpy)
    info = _finfo(numpy)
    tiny, small = float(info.smallest_subnormal), float(info.smallest_normal)
    positive = [0.0, tiny, 3 * tiny, small - tiny, small, 0.1, 0.5, 1.0, 1.0 + float(info.eps), 1.5, 2.0, 2.5, 3.0, 7.0]
    positive += [100.25, float(info.max), np.inf]
    return np.array([*positive, *(-value for value in positive), np.nan], np.float64).astype(numpy)


def every_pattern(dtype: DType) -> Array:
    """Give every bit pattern of a type of 8 or 16 bits."""
    numpy = dtype.numpy
    return np.arange(2**dtype.bits).astype(f"u{numpy.itemsize}").view(numpy)


def bits(rng: np.random.Generator, dtype: DType, n: int) -> Array:
    """Give random bit patterns: every exponent, some NaNs and infinities, integers of every size."""
    if dtype.is_bool:
        return bool_values(rng, (n,))
    raw = rng.integers(0, 256, n * dtype.numpy.itemsize, np.uint8)
    return np.asarray(raw.view(dtype.numpy))


def bool_values(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Give random booleans."""
    return rng.integers(0, 2, shape).astype(bool)


def integers(rng: np.random.Generator, dtype: DType, n: int) -> Array:
    """Give integers of every number of digits."""
    whole = bits(rng, dtype, n)
    shift = rng.integers(0, dtype.bits, n).astype(whole.dtype)
    return np.asarray(np.right_shift(whole, shift))


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], scale: float = 1.0) -> Array:
    """Give normal deviates; for integers, small whole numbers; for bool, coins."""
    kind = from_numpy(dtype)
    if kind.is_bool:
        return bool_values(rng, shape)
    if not kind.is_floating_point:
        low = 0 if not kind.is_signed else -9
        return rng.integers(low, 10, shape).astype(dtype)
    return np.asarray(rng.standard_normal(shape) * scale).astype(dtype)


def spread(rng: np.random.Generator, dtype: DType, n: int, low: float = -4.0, high: float = 4.0) -> Array:
    """Give floats of both signs whose sizes spread evenly over powers of ten."""
    size = 10.0 ** rng.uniform(low, high, n)
    return np.asarray((size * rng.choice([-1.0, 1.0], n)).astype(dtype.numpy))
