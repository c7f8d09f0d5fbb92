"""Cases of the families functions, rounding and bits: every special value with every other, and usual ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import DType, parse
from infinitrain.testing.conformance.case import Case
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.elementwise import (
    Values,
    _range,
    anything,
    binary_exact,
    make,
    pairs,
    shaped,
    small,
    unary_exact,
)
from infinitrain.testing.conformance.cases.values import bits, every_pattern, integers, specials, spread
from infinitrain.testing.conformance.layout import Array

__all__: list[str] = []

cases_of(
    *("SquareForward", "SignForward", "FloorForward", "CeilForward", "TruncForward", "RoundForward"),
    *("SignbitForward", "IsNanForward", "IsInfForward", "IsFiniteForward", "BitwiseNotForward"),
)(unary_exact)
cases_of(
    *("FmodForward", "CopysignForward", "NextafterForward"),
    *("BitwiseAndForward", "BitwiseOrForward", "BitwiseXorForward"),
)(binary_exact)


def _near_one(rng: np.random.Generator, dtype: DType, n: int) -> Array:
    return rng.uniform(-1, 1, n).astype(dtype.numpy)


def _sizes(low: float, high: float) -> Values:
    """Give both signs, sizes from 10^low to 10^high."""
    return lambda rng, dtype, n: spread(rng, dtype, n, low, high)


def _above(start: float, high: float) -> Values:
    return lambda rng, dtype, n: (start + np.abs(spread(rng, dtype, n, -4, high)).astype(np.float64)).astype(
        dtype.numpy
    )


FUNCTIONS: dict[str, tuple[Values, ...]] = {
    "TanForward": (_sizes(-3, 3),),
    "AsinForward": (_near_one,),
    "AcosForward": (_near_one,),
    "AtanForward": (_sizes(-4, 4),),
    "SinhForward": (_sizes(-4, 1),),
    "CoshForward": (_sizes(-4, 1),),
    "AsinhForward": (_sizes(-4, 4),),
    "AcoshForward": (_above(1, 4),),
    "AtanhForward": (_near_one,),
    "Expm1Forward": (_sizes(-5, 1),),
    "Log1pForward": (_above(-0.9, 4),),
    "Log2Forward": (_above(0, 4),),
    "Log10Forward": (_above(0, 4),),
    "ErfForward": (_sizes(-5, 1),),
    "Atan2Forward": (_sizes(-2, 2), _sizes(-2, 2)),
    "HypotForward": (_sizes(-2, 2), _sizes(-2, 2)),
    "LogaddexpForward": (_range(-30, 30), _range(-30, 30)),
}


@cases_of(*FUNCTIONS)
def function(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """The whole range of short types; special and random values of long ones."""
    dtype, rng, draw = parse(t), rng_of(row.name, t), FUNCTIONS[row.name]
    if len(draw) == 1:
        if dtype.bits == 16:
            yield make(row, t, u, (), [every_pattern(dtype)], "every value")
        yield make(row, t, u, (), [specials(dtype)], "special values")
    else:
        yield make(row, t, u, (), pairs(specials(dtype), specials(dtype)), "pairs of special values")
    yield make(row, t, u, (), [bits(rng, dtype, 4099) for _ in draw], "random patterns")
    yield make(row, t, u, (), [f(rng, dtype, 4099) for f in draw], "usual values")
    yield from shaped(row, t, u, draw)


@cases_of("SoftplusForward")
def softplus(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Both sides of the threshold, several slopes."""
    dtype, rng = parse(t), rng_of(row.name, t)
    values = np.concatenate([specials(dtype), _range(-40, 40)(rng, dtype, 4099)])
    for beta, threshold in ((1.0, 20.0), (0.5, 30.0), (2.0, 40.0)):
        yield make(row, t, u, (beta, threshold), [values], f"beta {beta}, threshold {threshold}")
    yield from shaped(row, t, u, [small], (1.0, 20.0))


@cases_of("LeakyReluForward")
def leaky_relu(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Every value of short types; slopes of both signs."""
    dtype, rng = parse(t), rng_of(row.name, t)
    values = np.concatenate([specials(dtype), bits(rng, dtype, 2048), anything(rng, dtype, 1001)])
    if dtype.bits == 16:
        values = every_pattern(dtype)
    for slope in (0.01, 0.0, -0.5, 1.0):
        yield make(row, t, u, (slope,), [values], f"slope {slope}")
    yield from shaped(row, t, u, [anything], (0.01,))


@cases_of("LeftShiftForward", "RightShiftForward")
def shifts(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Every count within the width; the width, more, and negative ones."""
    dtype, rng = parse(t), rng_of(row.name, t)
    info = np.iinfo(dtype.numpy)
    wanted = [*range(dtype.bits + 2), 63, 64, 65, 127, info.max, info.min, -1, -2, -dtype.bits]
    counts = np.array(sorted({c for c in wanted if info.min <= c <= info.max}), dtype.numpy)
    yield make(row, t, u, (), pairs(specials(dtype), counts), "special values by every count")
    yield make(row, t, u, (), pairs(integers(rng, dtype, 31), counts), "random values by every count")

    def within(rng: np.random.Generator, dtype: DType, n: int) -> Array:
        return rng.integers(0, dtype.bits, n).astype(dtype.numpy)

    yield from shaped(row, t, u, [anything, within])
