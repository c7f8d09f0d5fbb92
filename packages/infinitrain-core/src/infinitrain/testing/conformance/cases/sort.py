"""Cases of order and running totals: ties, NaN and both zeros, rows of every length, every dimension, nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import DType, parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import bits, normal, specials
from infinitrain.testing.conformance.layout import Array

__all__: list[str] = []

LENGTHS = (1, 2, 3, 16, 33, 257, 1000)


def _rows(rng: np.random.Generator, dtype: DType) -> Iterator[tuple[str, Array]]:
    """Rows with many ties, with any bits, with every special value twice; long ones."""
    for n in LENGTHS:
        yield f"any bits, N={n}", bits(rng, dtype, 3 * n).reshape(3, n)
        few = rng.integers(0, 2 if dtype.is_bool else 5, (2, n))
        yield f"ties, N={n}", few.astype(dtype.numpy)
    twice = np.tile(specials(dtype), 2)
    yield "special values", np.stack([rng.permutation(twice) for _ in range(4)])
    yield "equal elements", np.ones((2, 70), dtype.numpy)
    yield "three dimensions", normal(rng, (2, 3, 17), dtype.numpy)
    yield "one dimension", normal(rng, (100,), dtype.numpy)
    if dtype.is_floating_point:
        row = normal(rng, (3, 20), dtype.numpy)
        row[0], row[1, 4], row[1, 17], row[2, ::2], row[2, 1::2] = np.nan, np.nan, np.nan, 0.0, -0.0
        yield "NaN and zeros of both signs", row


def _pair(shape: tuple[int, ...], dtype: DType) -> tuple[Output, ...]:
    return Output.empty(shape, dtype.numpy), Output.empty(shape, np.dtype(np.int64))


@cases_of("SortForward")
def sort(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Both directions."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for descending in (False, True):
        for label, x in _rows(rng, dtype):
            yield Case(f"{label}, descending={descending}", (x,), _pair(x.shape, dtype), (descending,))
        for shape in ((0, 3), (3, 0), (0,)):
            x = np.zeros(shape, dtype.numpy)
            yield Case(f"{shape}", (x,), _pair(shape, dtype), (descending,), frozenset({"empty"}))
    if t in ("f32", "bf16", "i64"):
        long = rng.integers(0, 50_000, 150_001).astype(dtype.numpy)
        yield Case("150001 elements", (long,), _pair(long.shape, dtype), (True,))


@cases_of("TopKForward")
def top_k(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Each k of short rows, some of long ones; both directions, in order or by position."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for largest in (False, True):
        for in_order in (False, True):
            for label, x in _rows(rng, dtype):
                n = x.shape[-1]
                for k in sorted({1, min(2, n), min(8, n), n // 2, n}):
                    tags = frozenset({"empty"} if k == 0 else ())
                    outputs = _pair((*x.shape[:-1], k), dtype)
                    yield Case(f"{label}, k={k} {largest} {in_order}", (x,), outputs, (k, largest, in_order), tags)
    for shape, k in (((0, 3), 2), ((3, 0), 0), ((3, 4), 0)):
        x = np.zeros(shape, dtype.numpy)
        yield Case(f"{shape}, k={k}", (x,), _pair((shape[0], k), dtype), (k, True, True), frozenset({"empty"}))


@cases_of("ArgMaxForward", "ArgMinForward")
def positions(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """The last dimension gone, or of size 1."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for label, x in _rows(rng, dtype):
        for shape in (x.shape[:-1], (*x.shape[:-1], 1)):
            yield Case(f"{label} to {shape}", (x,), (Output.empty(shape, np.dtype(np.int64)),))
    x = np.zeros((0, 3), dtype.numpy)
    yield Case("no rows", (x,), (Output.empty((0,), np.dtype(np.int64)),), (), frozenset({"empty"}))


SHAPES = ((1,), (7,), (300,), (3, 5), (5, 300), (300, 5), (2, 3, 4), (9, 4, 130), (3, 0), (0, 3))


def _along(
    rng: np.random.Generator, dtype: DType, *, product: bool
) -> Iterator[tuple[str, Array, int, frozenset[str]]]:
    """Every dimension of every shape; factors near 1, so that long products stay in range."""
    for shape in SHAPES:
        for dim in range(len(shape)):
            x = normal(rng, shape, dtype.numpy)
            if product and dtype.is_floating_point:
                x = (rng.choice([-1.0, 1.0], shape) * rng.uniform(0.96, 1.04, shape)).astype(dtype.numpy)
                if x.size > 3:
                    x.flat[x.size // 2] = 0
            yield f"{shape} along {dim}", x, dim, frozenset({"empty"} if 0 in shape else ())


@cases_of("CumSumForward")
def sums(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Both directions."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for reverse in (False, True):
        for label, x, dim, tags in _along(rng, dtype, product=False):
            output = Output.empty(x.shape, dtype.numpy)
            yield Case(f"{label}, reverse={reverse}", (x,), (output,), (dim, reverse), tags)
    ones = np.ones(3000, dtype.numpy)  # float16 counts to 2048, bfloat16 to 256, unless the sum is wider
    yield Case("3000 ones", (ones,), (Output.empty(ones.shape, dtype.numpy),), (0, False))


@cases_of("CumProdForward")
def products(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """A zero, and none."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for label, x, dim, tags in _along(rng, dtype, product=True):
        yield Case(label, (x,), (Output.empty(x.shape, dtype.numpy),), (dim,), tags)


@cases_of("CumProdBackward")
def products_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """No zero, one, two, nothing but zeros."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for zeros in (0, 1, 2, 300):
        for shape, dim in (((1,), 0), ((300,), 0), ((3, 5), 1), ((5, 3), 0), ((2, 300), 1), ((4, 130), 0), ((3, 0), 1)):
            x = (rng.choice([-1.0, 1.0], shape) * rng.uniform(0.97, 1.03, shape)).astype(dtype.numpy)
            grad = normal(rng, shape, dtype.numpy)
            lines = np.moveaxis(x, dim, 0)
            lines[rng.permutation(lines.shape[0])[:zeros]] = 0
            tags = frozenset({"empty"} if 0 in shape else ())
            output = Output.empty(shape, dtype.numpy)
            yield Case(f"{shape} along {dim}, {zeros} zeros", (x, grad), (output,), (dim,), tags)
