"""Cases of rows that follow indices: repeated, first and last ones, nothing, every dimension."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import bits, normal
from infinitrain.testing.conformance.layout import Array

__all__: list[str] = []

#: V, C, N.
TABLES = ((1, 1, 1), (5, 3, 7), (10, 1, 33), (3, 64, 5), (50, 17, 200), (4, 3, 0), (5, 0, 2))


def _index(rng: np.random.Generator, bound: int, shape: tuple[int, ...]) -> Array:
    """Indices with repeats, the first and the last among them."""
    index = rng.integers(0, bound, shape)
    if index.size > 1:
        index.flat[0], index.flat[-1] = bound - 1, 0
    return index.astype(np.int64)


@cases_of("EmbeddingForward")
def embedding(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Rows of a table, any bits."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for v, c, n in TABLES:
        weight = bits(rng, dtype, v * c).reshape(v, c)
        tags = frozenset({"empty"} if 0 in (c, n) else ())
        output = Output.empty((n, c), dtype.numpy)
        yield Case(f"V={v} C={c} N={n}", (_index(rng, v, (n,)), weight), (output,), (), tags)


@cases_of("EmbeddingBackward")
def embedding_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Repeated rows add up."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for v, c, n in (*TABLES, (3, 2, 3000)):
        for accumulate in (False, True):
            old = normal(rng, (v, c), dtype) if accumulate else np.full((v, c), np.nan, dtype)
            grad = normal(rng, (n, c), dtype, 0.5)
            label, tags = f"V={v} C={c} N={n}, accumulate={accumulate}", frozenset({"empty"} if 0 in (c, n) else ())
            yield Case(label, (_index(rng, v, (n,)), grad), (Output(old, read=True),), (accumulate,), tags)


#: Shape of x, shape of index, dim.
ALONG: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    *(
        ((5,), (9,), 0),
        ((1,), (1,), 0),
        ((4, 6), (4, 3), 1),
        ((4, 6), (7, 6), 0),
        ((4, 6), (2, 2), 1),
        ((4, 6), (2, 2), 0),
    ),
    *(((3, 4, 5), (3, 9, 5), 1), ((3, 4, 5), (2, 4, 5), 0), ((3, 4, 5), (3, 3, 17), 2), ((33, 65), (33, 1), 1)),
    *(((4, 6), (4, 0), 1), ((4, 6), (0, 6), 0)),
)


@cases_of("GatherForward")
def gather(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Along each dimension; other sizes of index may be smaller."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for shape, index_shape, dim in ALONG:
        x = bits(rng, dtype, int(np.prod(shape))).reshape(shape)
        index = _index(rng, shape[dim], index_shape)
        tags = frozenset({"empty"} if 0 in index_shape else ())
        output = Output.empty(index_shape, dtype.numpy)
        yield Case(f"{shape} by {index_shape} along {dim}", (x, index), (output,), (dim,), tags)


@cases_of("GatherBackward")
def gather_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Repeated elements add up."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for shape, index_shape, dim in ALONG:
        for accumulate in (False, True):
            old = normal(rng, shape, dtype) if accumulate else np.full(shape, np.nan, dtype)
            index = _index(rng, shape[dim], index_shape)
            inputs = (normal(rng, index_shape, dtype), index)
            tags = frozenset({"empty"} if 0 in index_shape else ())
            label = f"{shape} by {index_shape} along {dim}, accumulate={accumulate}"
            yield Case(label, inputs, (Output(old, read=True),), (dim, accumulate), tags)


@cases_of("ScatterForward")
def scatter(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """What is not named keeps its old bits."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for shape, index_shape, dim in ALONG:
        old = bits(rng, dtype, int(np.prod(shape))).reshape(shape)
        values = bits(rng, dtype, int(np.prod(index_shape))).reshape(index_shape)
        index = _index(rng, shape[dim], index_shape)
        tags = frozenset({"empty"} if 0 in index_shape else ())
        label = f"{index_shape} into {shape} along {dim}"
        yield Case(label, (index, values), (Output(old, read=True),), (dim,), tags)


@cases_of("TrilForward", "TriuForward")
def triangle(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Each diagonal, more and fewer columns than rows, batches."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for shape in ((1, 1), (4, 4), (3, 7), (7, 3), (2, 5, 6), (2, 1, 4, 4), (33, 65), (0, 3), (3, 0), (0, 4, 4)):
        for diagonal in (0, 1, -1, -2, 3, 100, -100):
            x = bits(rng, dtype, int(np.prod(shape))).reshape(shape)
            tags = frozenset({"empty"} if 0 in shape else ())
            output = Output.empty(shape, dtype.numpy)
            yield Case(f"{shape}, diagonal {diagonal}", (x,), (output,), (diagonal,), tags)
