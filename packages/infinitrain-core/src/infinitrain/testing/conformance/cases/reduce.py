"""Cases of reductions: every set of dimensions, nothing to reduce, long sums, NaN."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import DType, parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import bool_values, integers, normal, specials
from infinitrain.testing.conformance.layout import Array

__all__: list[str] = []


def _values(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    n = int(np.prod(shape))
    if dtype.is_bool:
        return bool_values(rng, shape)
    return (normal(rng, (n,), dtype.numpy) if dtype.is_floating_point else integers(rng, dtype, n)).reshape(shape)


def _factors(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Floats whose products stay in every dtype's range, however many they are."""
    if not dtype.is_floating_point:
        return _values(rng, dtype, shape)
    size = np.exp(rng.normal(0, 1 / np.sqrt(max(1, int(np.prod(shape)))), shape))
    return np.asarray(size * rng.choice([-1.0, 1.0], shape)).astype(dtype.numpy)


def _case(label: str, x: Array, reduced: tuple[int, ...], *tags: str) -> Case:
    y = tuple(1 if d in reduced else size for d, size in enumerate(x.shape))
    return Case(label, (x,), (Output.empty(y, x.dtype),), (), frozenset(tags))


@cases_of("SumForward", "ProdForward", "MeanForward", "MaxForward", "MinForward")
def reductions(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Over each set of dimensions."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    values = _factors if row.name == "ProdForward" else _values
    for shape in ((5,), (17, 9), (3, 4, 5), (2, 1, 3, 4), (33, 65)):
        for chosen in product((False, True), repeat=len(shape)):
            reduced = tuple(d for d, each in enumerate(chosen) if each)
            yield _case(f"{shape} over {reduced}", values(rng, dtype, shape), reduced)
    yield _case("0-d", values(rng, dtype, ()), (), "zero-d")
    yield _case("(1,) over (0,)", values(rng, dtype, (1,)), (0,))
    yield _case("no rows", values(rng, dtype, (0, 3)), (1,), "empty")
    yield _case("no columns kept", values(rng, dtype, (3, 0)), (), "empty")
    if row.name in ("SumForward", "ProdForward", "MeanForward"):
        yield _case("nothing in each of 3", values(rng, dtype, (3, 0)), (1,), "empty")
        yield _case("nothing at all", values(rng, dtype, (0,)), (0,), "empty")
    for n in (255, 1024, 4097):
        yield _case(f"{n} elements", values(rng, dtype, (n,)), (0,))
    yield _case("1024 ones", np.ones(1024, dtype.numpy), (0,))
    if t in ("f32", "bf16", "i64", "f64"):
        yield _case("100003 elements", values(rng, dtype, (100_003,)), (0,))
        yield _case("long columns", values(rng, dtype, (20_001, 3)), (0,))
        yield _case("long rows", values(rng, dtype, (3, 20_001)), (1,))
    yield _case("broadcast rows", np.broadcast_to(values(rng, dtype, (1, 7)), (5, 7)), (1,), "broadcast")
    yield _case("broadcast columns", np.broadcast_to(values(rng, dtype, (5, 1)), (5, 7)), (0,), "broadcast")
    if dtype.is_floating_point:
        yield from _special(rng, dtype, product=row.name == "ProdForward")


def _special(rng: np.random.Generator, dtype: DType, *, product: bool) -> Iterator[Case]:
    """NaN at each place, infinities, values that cancel."""
    values = _factors if product else _values
    for place in (0, 7, 16, 32):
        x = values(rng, dtype, (3, 33))
        x[1, place] = np.nan
        yield _case(f"NaN at {place}", x, (1,))
    x = values(rng, dtype, (4, 9))
    x[0, 3], x[1, 4], x[2, 1], x[2, 5] = np.inf, -np.inf, np.inf, -np.inf
    yield _case("infinities", x, (1,))
    finite = specials(dtype)
    yield _case("each special value alone", finite.reshape(-1, 1), (1,))
    big = np.float64(np.finfo(np.float32).max if dtype.short == "bf16" else np.finfo(dtype.numpy).max) / 8
    yield _case("large values that cancel", np.array([big, -big, 1.0, big, -big, 2.0]).astype(dtype.numpy), (0,))
    if product:
        return
    yield _case("denormals", np.tile(specials(dtype)[1:4], 5), (0,))


@cases_of("SquaredNorm")
def squared_norm(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Alone and on an old value; y is 0-d."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for accumulate in (False, True):
        for shape, tags in (
            ((), ("zero-d",)),
            ((0,), ("empty",)),
            ((1,), ()),
            ((3, 5), ()),
            ((4097,), ()),
            ((100_003,), ()),
        ):
            x = normal(rng, shape, dtype.numpy)
            old = np.array(3.25 if accumulate else np.nan, dtype.accumulator.numpy)
            yield Case(
                f"{shape}, accumulate={accumulate}", (x,), (Output(old, read=True),), (accumulate,), frozenset(tags)
            )
    large = np.full(9, 200.0).astype(dtype.numpy)  # squares of 4e4: beyond float16
    yield Case(
        "squares beyond float16", (large,), (Output(np.array(np.nan, dtype.accumulator.numpy), read=True),), (False,)
    )
