"""Conversions between the contract's dtypes, each rounded once, as `Cast` defines them."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinitrain.dtype import bfloat16, from_numpy
from infinitrain.testing.conformance.layout import Array

__all__ = ["compute", "convert", "scalar", "wide"]

BF16 = bfloat16.numpy


def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype computes in float32."""
    return dtype == BF16 or dtype == np.float16


def wide(x: Array) -> Array:
    """Give floats in float64, exactly; other types as they are."""
    return x.astype(np.float64) if from_numpy(x.dtype).is_floating_point else x


def compute(x: Array) -> Array:
    """Give an array in the type that it is computed in: float32 for the half types."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def _odd_float32(x: Array) -> Array:
    """Round float64 to float32 so that a second rounding sees what was cut off: to odd where it is not exact."""
    single = x.astype(np.float32)
    back = single.astype(np.float64)
    bits = single.view(np.uint32).copy()
    inexact = (back != x) & ~np.isnan(x)
    bits[inexact & (np.abs(back) > np.abs(x))] -= 1
    bits[inexact] |= 1
    return bits.view(np.float32)


def _float32_to_bf16(x: Array) -> Array:
    bits = x.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    kept = np.where(np.isnan(x), (bits >> np.uint32(16)) | np.uint32(0x40), rounded)
    return kept.astype(np.uint16).view(BF16)


def _integer_to_float64(x: Array) -> Array:
    """Give an integer as float64; beyond 2^53 with a last bit that tells what was cut off."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    negative = x < 0
    size = np.where(negative, np.uint64(0) - x.astype(np.uint64), x.astype(np.uint64))
    sticky = ((size & np.uint64(0x7FF)) != 0).astype(np.uint64) << np.uint64(11)
    cut = np.where(size >> np.uint64(53) != 0, (size & ~np.uint64(0x7FF)) | sticky, size).astype(np.float64)
    return np.where(negative, -cut, cut)


def _float_to_integer(x: Array, dtype: np.dtype[Any]) -> Array:
    """Cut towards zero; NaN gives 0, out of range the nearest bound."""
    info = np.iinfo(dtype)
    whole = np.trunc(np.where(np.isnan(x), 0.0, x))
    high, low = whole >= float(info.max), whole <= float(info.min)
    inside = np.where(high | low, 0.0, whole).astype(dtype)
    return np.where(high, dtype.type(info.max), np.where(low, dtype.type(info.min), inside)).astype(dtype)


@np.errstate(all="ignore")
def convert(x: Array, to: np.dtype[Any]) -> Array:
    """Convert as `Cast` does."""
    source, target = from_numpy(x.dtype), from_numpy(to)
    if source is target:
        return x
    flat = np.ascontiguousarray(x).reshape(-1)
    if target.is_bool:
        result = flat != 0
    elif source.is_floating_point and target.is_floating_point:
        value = flat.astype(np.float64)
        result = _float32_to_bf16(_odd_float32(value)) if to == BF16 else value.astype(to)
    elif source.is_floating_point:
        result = _float_to_integer(flat.astype(np.float64), to)
    elif target.is_floating_point and is_half(to):
        value = _integer_to_float64(flat if not source.is_bool else flat.astype(np.uint8))
        result = _float32_to_bf16(_odd_float32(value)) if to == BF16 else value.astype(to)
    else:
        result = flat.astype(to)
    return np.asarray(result, to).reshape(x.shape)


def scalar(value: float, to: np.dtype[Any]) -> Array:
    """Convert an attribute of kind scalar: an i64, f64 or bool value, as `Cast` converts that type."""
    if isinstance(value, bool):
        array = np.array([value])
    elif isinstance(value, int):
        array = np.array([value], np.int64)
    else:
        array = np.array([value], np.float64)
    return np.asarray(convert(array, to)[0])
