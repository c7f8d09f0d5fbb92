"""Cases of Gemm, outer products and a vocabulary's shards."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import normal

__all__: list[str] = []

#: M, N, K.
SIZES = ((1, 1, 1), (3, 5, 2), (17, 33, 9), (31, 8, 257), (65, 70, 130), (4, 3, 0), (0, 3, 2))

#: Rows, classes of the shard, its first class, classes of the vocabulary.
SHARDS = ((1, 1, 0, 1), (5, 7, 0, 21), (6, 33, 33, 80), (4, 9, 18, 25), (3, 4, 8, 8), (0, 3, 0, 3))


@cases_of("Gemm")
def gemm(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Every turn, with and without the old value, batched; NaN that beta = 0 must not read."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    leads: tuple[tuple[int, ...], ...] = ((), (3,), (2, 2))
    for turn_a, turn_b, (m, n, k) in product((False, True), (False, True), SIZES):
        for (alpha, beta), lead in zip(((1.0, 0.0), (0.5, -2.0), (-1.5, 1.0)), leads, strict=True):
            if lead and m * n > 1000:
                continue
            a = normal(rng, (*lead, *((k, m) if turn_a else (m, k))), dtype)
            b = normal(rng, (*lead, *((n, k) if turn_b else (k, n))), dtype)
            shape = (*lead, m, n)
            old = normal(rng, shape, dtype) if beta else np.full(shape, np.nan, dtype)
            tags = frozenset({"empty"} if 0 in (m, n, k) else ())
            label = f"{lead} M={m} N={n} K={k}, turned {turn_a} {turn_b}, alpha {alpha} beta {beta}"
            yield Case(label, (a, b), (Output(old, read=True),), (turn_a, turn_b, alpha, beta), tags)


@cases_of("OuterForward")
def outer(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Odd sizes and nothing."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for m, n in ((1, 1), (3, 5), (130, 71), (0, 4), (4, 0)):
        operands = (normal(rng, (m,), dtype), normal(rng, (n,), dtype))
        tags = frozenset({"empty"} if 0 in (m, n) else ())
        yield Case(f"M={m} N={n}", operands, (Output.empty((m, n), dtype),), (), tags)


@cases_of("OuterBackward")
def outer_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Both gradients."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for m, n in ((1, 1), (3, 5), (130, 71), (0, 4), (4, 0)):
        operands = (normal(rng, (m,), dtype), normal(rng, (n,), dtype), normal(rng, (m, n), dtype))
        two = (Output.empty((m,), dtype), Output.empty((n,), dtype))
        yield Case(f"M={m} N={n}", operands, two, (), frozenset({"empty"} if 0 in (m, n) else ()))


@cases_of("VocabParallelCrossEntropyBackward")
def vocab_parallel_cross_entropy_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """First, middle and last shard, padding, all of it padding, smoothing, ignored rows."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for rows, width, start, size in (
        (1, 1, 0, 1),
        (5, 7, 0, 21),
        (6, 33, 33, 80),
        (4, 9, 18, 25),
        (3, 4, 8, 8),
        (0, 3, 0, 3),
    ):
        for smoothing, ignored in ((0.0, -100), (0.1, 1)):
            shares = rng.dirichlet(np.ones(width), rows).astype(dtype.numpy).reshape(rows, width)
            target = rng.integers(0, size, rows)
            if rows > 2:
                target[:3] = (min(start, size - 1), min(start + width, size) - 1, ignored)
            grad = normal(rng, (rows,), dtype.accumulator.numpy)
            yield Case(
                f"R={rows} V={width} from {start} of {size}, smoothing {smoothing}, ignore_index {ignored}",
                (shares, target.astype(np.int64), grad),
                (Output.empty((rows, width), dtype.numpy),),
                (start, size, smoothing, ignored),
                frozenset({"empty"} if rows == 0 else ()),
            )
