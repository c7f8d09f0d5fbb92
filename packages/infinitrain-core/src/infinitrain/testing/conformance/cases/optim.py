"""Cases of gradient accumulation and AdamW: with and without the optional scale, from the first step on."""

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

SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (7,), (3, 5), (33, 65), (0,))


def _tags(shape: tuple[int, ...], absent: bool) -> frozenset[str]:
    tags = {"empty"} if 0 in shape else {"zero-d"} if shape == () else set()
    return frozenset(tags | ({"optional"} if absent else set()))


@cases_of("AccumulateGrad")
def accumulate(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Rates of both signs, or none."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for shape, rate in product((*SHAPES, (70_001,)), (None, 1.0, -0.125, 0.0)):
        operand = None if rate is None else np.array(rate, np.float32)
        y = Output(normal(rng, shape, dtype), read=True)
        yield Case(f"{shape}, rate {rate}", (normal(rng, shape, dtype), operand), (y,), (), _tags(shape, rate is None))


@cases_of("AdamAccumulateGrad")
def adamw(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """First and late steps, decay, other betas, a gradient scale."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    defaults = (0.9, 0.999, 1e-8, 0.0)
    settings: tuple[tuple[float, ...], ...] = (defaults, (0.9, 0.95, 1e-8, 0.1), (0.0, 0.5, 1e-6, 0.01))
    for shape, step, scale, attributes in product((*SHAPES, (70_001,)), (1, 2, 1000, 3_000_000), (None, 0.5), settings):
        if shape not in ((7,), (33, 65)) and (step != 2 or attributes is not defaults):
            continue  # every setting at two sizes
        state = dtype.accumulator.numpy
        old = step > 1
        m = normal(rng, shape, state, 0.1 if old else 0.0)
        v = np.asarray(normal(rng, shape, state, 0.1 if old else 0.0) ** 2)
        lr = np.array(1e-2, np.float32)
        inputs = (
            normal(rng, shape, dtype.numpy),
            lr,
            np.array(step, np.int64),
            None if scale is None else np.array(scale, np.float32),
        )
        outputs = tuple(Output(each, read=True) for each in (normal(rng, shape, dtype.numpy), m, v))
        label = f"{shape}, step {step}, grad_scale {scale}, {attributes}"
        yield Case(label, inputs, outputs, attributes, _tags(shape, scale is None))
