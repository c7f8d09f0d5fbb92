"""Cases of random rows: seeds and offsets of every size, lengths that end inside a block."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import bool_values, normal

__all__: list[str] = []

SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (4,), (7,), (3, 5), (4099,), (0,))
STATES = ((0, 0), (1, 0), (42, 7), (-1, 2**33 + 3), (0x123456789ABCDEF, 2**62 + 1))


def _tags(shape: tuple[int, ...]) -> frozenset[str]:
    return frozenset({"empty"} if 0 in shape else {"zero-d"} if shape == () else ())


@cases_of("UniformForward", "NormalForward")
def draws(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Standard and shifted, from every kind of state."""
    del u
    dtype = parse(t).numpy
    standard = (0.0, 1.0)
    for (seed, offset), shape, attributes in product(STATES, SHAPES, (standard, (-2.5, 0.7))):
        if shape not in ((7,), (4099,)) and (seed, offset) != STATES[2]:
            continue
        state = np.array([seed, offset], np.int64)
        label = f"{shape}, state {seed}, {offset}, {attributes}"
        yield Case(label, (state,), (Output.empty(shape, dtype),), attributes, _tags(shape))
    if row.name == "UniformForward":
        state = np.array([3, 0], np.int64)
        yield Case("100003 elements", (state,), (Output.empty((100_003,), dtype),), standard)


@cases_of("DropoutForward")
def dropout(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Nothing, some, everything dropped."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for i, (p, shape) in enumerate(product((0.0, 0.1, 0.5, 1.0), SHAPES)):
        state = np.array(STATES[i % len(STATES)], np.int64)
        outputs = Output.empty(shape, dtype), Output.empty(shape, np.dtype(bool))
        yield Case(f"{shape}, p={p}", (normal(rng, shape, dtype), state), outputs, (p,), _tags(shape))


@cases_of("DropoutBackward")
def dropout_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """With any mask."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for p, shape in product((0.0, 0.1, 0.5, 1.0), SHAPES):
        mask = bool_values(rng, shape) if p < 1 else np.zeros(shape, bool)
        yield Case(
            f"{shape}, p={p}", (normal(rng, shape, dtype), mask), (Output.empty(shape, dtype),), (p,), _tags(shape)
        )
