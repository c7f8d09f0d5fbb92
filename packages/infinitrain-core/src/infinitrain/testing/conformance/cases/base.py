"""Cases of tier 0: casts, copies, fills, reshapes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import DType, parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.elementwise import EMPTY, LARGE, SHAPES, TAILS, anything, make, shaped
from infinitrain.testing.conformance.cases.values import bits, every_pattern, specials, spread
from infinitrain.testing.conformance.layout import Array

__all__: list[str] = []


def ties(rng: np.random.Generator, dtype: DType, n: int) -> Array:
    """Give floats that lie on, just above and just below the middle between two values of shorter types."""
    base = rng.choice(np.concatenate([spread(rng, dtype, n, -6, 6), spread(rng, dtype, n, -3, 3)]), n)
    raw = base.view(f"u{dtype.numpy.itemsize}").astype(np.uint64)
    significand = {"f32": 23, "f64": 52, "f16": 10, "bf16": 7}[dtype.short]
    for kept in (7, 10, 23):
        if kept < significand:
            cut = significand - kept
            chosen = rng.random(n) < 0.4
            tie = np.uint64(1) << np.uint64(cut - 1)
            nudge = rng.integers(-1, 2, n).astype(np.uint64)
            mask = ~np.uint64((1 << cut) - 1)
            raw = np.where(chosen, (raw & mask) + tie + nudge, raw)
    return raw.astype(f"u{dtype.numpy.itemsize}").view(dtype.numpy)


def bounds(dtype: DType) -> Array:
    """Give floats around the bounds of every integer type, and halves."""
    found = [0.5, 1.5, 2.5, 0.999, 1e10, 1e20, 3e38]
    for width in (7, 8, 15, 16, 31, 32, 63, 64):
        found += [2.0**width + shift for shift in (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0)]
    return np.array([*found, *(-value for value in found)]).astype(dtype.numpy)


@cases_of("Cast")
def cast(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Every value of short types; ties, bounds and patterns of long ones."""
    dtype, rng = parse(t), rng_of(row.name, t, u)
    if dtype.bits <= 16 and not dtype.is_bool:
        yield make(row, t, u, (), [every_pattern(dtype)], "every value")
    parts = [specials(dtype), bits(rng, dtype, 2048), anything(rng, dtype, 501)]
    if dtype.is_floating_point:
        parts += [ties(rng, dtype, 2048), bounds(dtype)]
    elif dtype.bits == 64:
        high = np.uint64(1) << rng.integers(24, 63, 512).astype(np.uint64)
        for below in (8, 9, 11, 12, 24, 25, 53, 54):
            low = (high >> np.uint64(below)) + rng.integers(-1, 2, 512).astype(np.uint64)
            parts.append((high + low).view(dtype.numpy))
    yield make(row, t, u, (), [np.concatenate(parts)], "special values")
    yield from shaped(row, t, u, [anything], large=u in ("f32", "bf16"))


@cases_of("Copy")
def copy(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Any pattern."""
    yield make(row, t, u, (), [bits(rng_of(row.name, t), parse(t), 4099)], "random patterns")
    yield from shaped(row, t, u, [bits])


@cases_of("Fill")
def fill(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Whole, broken, special values; every shape."""
    dtype = parse(t)
    values: tuple[int | float | bool, ...] = (
        *(0, 1, -1, 7, 255, 300, -129, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), True, False),
        *(0.0, -0.0, 0.5, -1.5, 2.5, 1e-45, 3.1415926535, 65519.0, 65520.0, 1e10, 1e300, float("inf"), float("-inf")),
        *(float("nan"), 1.00390625, 1.01171875, 1.003906250000001, 2049.0, 2051.0, 16777217.0),
    )

    def one(value: float, shape: tuple[int, ...], *tags: str) -> Case:
        output = Output.empty(shape, dtype.numpy)
        return Case(f"value {value!r}, shape {shape}", (), (output,), (value,), frozenset(tags))

    for value in values:
        yield one(value, (3,))
    for n in TAILS:
        yield one(1, (n,))
    for shape in SHAPES:
        yield one(1, shape)
    yield one(1, (), "zero-d")
    for shape in EMPTY:
        yield one(1, shape, "empty")
    yield one(1, (LARGE,))


@cases_of("NoOpForward", "NoOpBackward")
def no_op(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """The same elements in another shape."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    shapes: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
        *(((4099,), (4099,)), ((2, 3, 5), (30,)), ((30,), (5, 6)), ((1,), ()), ((), (1, 1)), ((), ())),
        *(((0,), (3, 0, 2)), ((17,), (17,))),
    )
    for before, after in shapes:
        x = bits(rng, dtype, int(np.prod(before))).reshape(before)
        tags = {"empty"} if 0 in before else {"zero-d"} if before == () or after == () else set()
        yield Case(f"{before} to {after}", (x,), (Output.empty(after, dtype.numpy),), (), frozenset(tags))
