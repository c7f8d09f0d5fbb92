"""Cases of products: odd sizes, no inner size, accumulation on old values, NaN that must not be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import normal
from infinitrain.testing.conformance.layout import Array

__all__: list[str] = []

#: M, N, K.
SIZES = (
    *((1, 1, 1), (2, 3, 1), (1, 7, 5), (5, 1, 3), (4, 4, 4), (17, 33, 9), (64, 48, 65), (31, 8, 257)),
    *((3, 2, 4097), (130, 257, 191)),
)


def _old(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], accumulate: bool) -> Output:
    """What the output holds: numbers to add to, or NaN, which must not show."""
    return Output(normal(rng, shape, dtype) if accumulate else np.full(shape, np.nan, dtype), read=True)


@cases_of("MatmulForward")
def matmul(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Plain, batched and broadcast."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)

    def case(label: str, a: Array, b: Array, accumulate: bool, *tags: str) -> Case:
        shape = (*a.shape[:-1], b.shape[-1])
        return Case(
            f"{label} {a.shape} @ {b.shape}, accumulate={accumulate}",
            (a, b),
            (_old(rng, shape, dtype, accumulate),),
            (accumulate,),
            frozenset(tags),
        )

    for i, (m, n, k) in enumerate(SIZES):
        yield case("plain", normal(rng, (m, k), dtype), normal(rng, (k, n), dtype), i % 2 == 1)
    for lead in ((3,), (2, 3), (1, 2)):
        yield case("batched", normal(rng, (*lead, 5, 7), dtype), normal(rng, (*lead, 7, 3), dtype), len(lead) == 1)
    for accumulate in (False, True):
        yield case("no inner size", normal(rng, (3, 0), dtype), normal(rng, (0, 4), dtype), accumulate, "empty")
        yield case("no rows", normal(rng, (0, 3), dtype), normal(rng, (3, 4), dtype), accumulate, "empty")
        yield case("no columns", normal(rng, (2, 3), dtype), normal(rng, (3, 0), dtype), accumulate, "empty")
        yield case("no batch", normal(rng, (0, 2, 3), dtype), normal(rng, (0, 3, 4), dtype), accumulate, "empty")
    shared = np.broadcast_to(normal(rng, (5, 7), dtype), (4, 5, 7))
    yield case("left shared", shared, normal(rng, (4, 7, 3), dtype), False, "broadcast")
    shared = np.broadcast_to(normal(rng, (1, 7, 3), dtype), (2, 4, 7, 3))
    yield case("right shared", normal(rng, (2, 4, 5, 7), dtype), shared, True, "broadcast")
    poisoned = normal(rng, (4, 6), dtype)
    poisoned[1, 2] = np.nan
    yield case("NaN in one row", poisoned, normal(rng, (6, 5), dtype), False)
    if t in ("bf16", "f16"):
        yield case("1024 ones", np.ones((2, 1024), dtype), np.ones((1024, 3), dtype), False)


@cases_of("LinearForward")
def linear(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """With and without bias."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    sizes = [(size, ()) for size in SIZES] + [((0, 3, 4), ("empty",)), ((3, 0, 4), ("empty",)), ((3, 4, 0), ("empty",))]
    for (rows, outs, ins), tags in sizes:
        for bias in (True, False):
            operands = (normal(rng, (rows, ins), dtype), normal(rng, (outs, ins), dtype))
            third = normal(rng, (outs,), dtype) if bias else None
            label = f"R={rows} O={outs} I={ins}, bias={bias}"
            output = Output.empty((rows, outs), dtype)
            yield Case(
                label, (*operands, third), (output,), (), frozenset(tags) | ({"optional"} if not bias else set())
            )


def _backward(row: KernelRow, t: str, shapes: dict[str, tuple[str, ...]]) -> Iterator[Case]:
    """Make cases of a gradient: each operand's and the output's shape by its letters R, O, I."""
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    sizes = [(size, ()) for size in SIZES] + [((0, 3, 4), ("empty",)), ((3, 0, 4), ("empty",)), ((3, 4, 0), ("empty",))]
    *operands, output = shapes.values()
    for (rows, outs, ins), tags in sizes:
        size = {"R": rows, "O": outs, "I": ins}
        for accumulate in (False, True):
            inputs = tuple(normal(rng, tuple(size[letter] for letter in shape), dtype) for shape in operands)
            old = _old(rng, tuple(size[letter] for letter in output), dtype, accumulate)
            label = f"R={rows} O={outs} I={ins}, accumulate={accumulate}"
            yield Case(label, inputs, (old,), (accumulate,), frozenset(tags))


@cases_of("LinearBackwardInput")
def linear_backward_input(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Dx = grad @ weight."""
    del u
    yield from _backward(row, t, {"grad": ("R", "O"), "weight": ("O", "I"), "dx": ("R", "I")})


@cases_of("LinearBackwardWeight")
def linear_backward_weight(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Dweight = grad^T @ x."""
    del u
    yield from _backward(row, t, {"x": ("R", "I"), "grad": ("R", "O"), "dweight": ("O", "I")})


@cases_of("LinearBackwardBias")
def linear_backward_bias(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Dbias = column sums; long columns too."""
    del u
    yield from _backward(row, t, {"grad": ("R", "O"), "dbias": ("O",)})
    rng, dtype = rng_of(row.name, t, "long"), parse(t).numpy
    old = _old(rng, (3,), dtype, False)
    yield Case("20001 rows", (normal(rng, (20_001, 3), dtype),), (old,), (False,))
