"""Cases of convolutions and pools: every side of stride, padding, dilation and groups, windows at every border."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import normal
from infinitrain.testing.conformance.layout import Array

__all__: list[str] = []

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Conv:
    """Sizes of one convolution; x is (N, C, H, W)."""

    x: tuple[int, int, int, int]
    outputs: int
    kernel: Pair
    stride: Pair = (1, 1)
    pad: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1

    @property
    def attributes(self) -> tuple[int, ...]:
        return (*self.stride, *self.pad, *self.dilation, self.groups)

    @property
    def weight(self) -> tuple[int, ...]:
        return (self.outputs, self.x[1] // self.groups, *self.kernel)

    @property
    def y(self) -> tuple[int, ...]:
        sizes = [
            max(
                (self.x[2 + d] + 2 * self.pad[d] - self.dilation[d] * (self.kernel[d] - 1) - 1) // self.stride[d] + 1, 0
            )
            for d in range(2)
        ]
        return (self.x[0], self.outputs, *sizes)

    @property
    def tags(self) -> frozenset[str]:
        return frozenset({"empty"} if 0 in (*self.x, *self.weight, *self.y) else ())


CONVOLUTIONS = (
    _Conv((1, 1, 1, 1), 1, (1, 1)),
    _Conv((2, 3, 5, 7), 4, (1, 1)),
    _Conv((2, 3, 6, 5), 4, (3, 2)),
    _Conv((1, 2, 7, 9), 3, (3, 3), pad=(1, 2)),
    _Conv((2, 2, 9, 8), 5, (3, 2), stride=(2, 3), pad=(1, 0)),
    _Conv((1, 2, 11, 10), 2, (3, 2), stride=(1, 2), pad=(2, 3), dilation=(2, 4)),
    _Conv((2, 4, 6, 6), 6, (3, 3), pad=(1, 1), groups=2),
    _Conv((1, 5, 6, 4), 5, (2, 2), stride=(2, 1), groups=5),
    _Conv((1, 2, 3, 4), 2, (5, 6), pad=(2, 2)),
    _Conv((1, 1, 20, 30), 3, (3, 3), pad=(1, 1)),
    _Conv((1, 2, 2, 601), 2, (2, 3), stride=(1, 2), pad=(0, 1)),
    _Conv((1, 33, 5, 5), 17, (3, 3), pad=(1, 1)),
    _Conv((0, 2, 4, 4), 3, (3, 3)),
    _Conv((2, 2, 2, 2), 3, (3, 3)),
)


def _label(c: _Conv) -> str:
    return f"x {c.x}, weight {c.weight}, stride {c.stride}, padding {c.pad}, dilation {c.dilation}, groups {c.groups}"


@cases_of("Conv2dForward")
def conv2d(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """With and without bias."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for i, c in enumerate(CONVOLUTIONS):
        bias = normal(rng, (c.outputs,), dtype) if i % 2 else None
        operands = (normal(rng, c.x, dtype), normal(rng, c.weight, dtype), bias)
        tags = c.tags if bias is not None else c.tags | {"optional"}
        yield Case(f"{_label(c)}, bias {bias is not None}", operands, (Output.empty(c.y, dtype),), c.attributes, tags)
    c = _Conv((1, 1, 4, 4), 1, (3, 3), pad=(1, 1))
    poisoned = normal(rng, c.x, dtype)
    poisoned[0, 0, 0, 0] = np.nan
    out = (Output.empty(c.y, dtype),)
    yield Case("NaN in a corner", (poisoned, normal(rng, c.weight, dtype), None), out, c.attributes)


def _gradients(row: KernelRow, t: str, names: tuple[str, str, str]) -> Iterator[Case]:
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for c in CONVOLUTIONS:
        shapes = {"x": c.x, "weight": c.weight, "grad": c.y}
        for accumulate in (False, True):
            inputs = tuple(normal(rng, shapes[name], dtype) for name in names[:2])
            shape = shapes[names[2]]
            old = normal(rng, shape, dtype) if accumulate else np.full(shape, np.nan, dtype)
            label = f"{_label(c)}, accumulate {accumulate}"
            yield Case(label, inputs, (Output(old, read=True),), (*c.attributes, accumulate), c.tags)


@cases_of("Conv2dBackwardInput")
def conv2d_backward_input(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Positions that no output sees have 0."""
    del u
    yield from _gradients(row, t, ("grad", "weight", "x"))


@cases_of("Conv2dBackwardWeight")
def conv2d_backward_weight(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Nothing seen gives 0."""
    del u
    yield from _gradients(row, t, ("x", "grad", "weight"))


@dataclass(frozen=True, slots=True)
class _Pool:
    """Sizes of one pool; y's size is given, as a window may end outside."""

    x: tuple[int, int, int, int]
    y: Pair
    kernel: Pair
    stride: Pair = (1, 1)
    pad: Pair = (0, 0)
    dilation: Pair = (1, 1)

    @property
    def out(self) -> tuple[int, ...]:
        return (*self.x[:2], *self.y)

    @property
    def tags(self) -> frozenset[str]:
        return frozenset({"empty"} if 0 in (*self.x, *self.y) else ())


POOLS = (
    _Pool((1, 1, 1, 1), (1, 1), (1, 1)),
    _Pool((2, 3, 6, 8), (3, 4), (2, 2), (2, 2)),
    _Pool((1, 2, 7, 5), (5, 4), (3, 2)),
    _Pool((1, 2, 7, 7), (4, 4), (3, 3), (2, 2), (1, 1)),
    _Pool((2, 1, 8, 6), (3, 3), (3, 2), (3, 2), (1, 0)),
    _Pool((1, 1, 6, 7), (3, 4), (3, 2), (2, 2)),  # the last windows end outside
    _Pool((0, 2, 4, 4), (2, 2), (2, 2), (2, 2)),
)
DILATED = (_Pool((1, 2, 9, 8), (5, 3), (3, 2), (1, 2), (0, 1), (2, 4)),)


def _ties(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    """Small whole numbers, so that windows hold equals."""
    return rng.integers(-2, 3, shape).astype(np.float64).astype(dtype)


@cases_of("MaxPool2dForward")
def max_pool2d(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Equals, infinities, NaN."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for p in (*POOLS, *DILATED):
        attributes = (*p.kernel, *p.stride, *p.pad, *p.dilation)
        for kind in ("values", "equals"):
            x = (normal if kind == "values" else _ties)(rng, p.x, dtype)
            two = Output.empty(p.out, dtype), Output.empty(p.out, np.dtype(np.int64))
            yield Case(f"{kind} {p}", (x,), two, attributes, p.tags)
    x = normal(rng, (1, 2, 6, 6), dtype)
    x[0, 0, :2, :2], x[0, 0, 2, 2:4], x[0, 1, 3:, 3:] = -np.inf, np.nan, -np.inf
    two = Output.empty((1, 2, 3, 3), dtype), Output.empty((1, 2, 3, 3), np.dtype(np.int64))
    yield Case("windows of -inf and of NaN", (x,), two, (2, 2, 2, 2, 0, 0, 1, 1))


@cases_of("MaxPool2dBackward")
def max_pool2d_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Places that overlapping windows share."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for p in (*POOLS, *DILATED):
        index = np.zeros(p.out, np.int64)
        for at in np.ndindex(*p.out):
            places = [
                row * p.x[3] + column
                for row in (at[2] * p.stride[0] - p.pad[0] + v * p.dilation[0] for v in range(p.kernel[0]))
                for column in (at[3] * p.stride[1] - p.pad[1] + v * p.dilation[1] for v in range(p.kernel[1]))
                if 0 <= row < p.x[2] and 0 <= column < p.x[3]
            ]
            index[at] = rng.choice(places)
        attributes = (*p.kernel, *p.stride, *p.pad, *p.dilation)
        yield Case(f"{p}", (normal(rng, p.out, dtype), index), (Output.empty(p.x, dtype),), attributes, p.tags)


def _averages(row: KernelRow, t: str, forward: bool) -> Iterator[Case]:
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for p in POOLS:
        for count_pad, divisor in ((True, 0), (False, 0), (True, 3)):
            attributes = (*p.kernel, *p.stride, *p.pad, count_pad, divisor)
            given, made = (p.x, p.out) if forward else (p.out, p.x)
            label = f"{p}, count_include_pad {count_pad}, divisor {divisor}"
            yield Case(label, (normal(rng, given, dtype),), (Output.empty(made, dtype),), attributes, p.tags)


@cases_of("AvgPool2dForward")
def avg_pool2d(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Windows over the border, with the padding counted or not."""
    del u
    yield from _averages(row, t, True)


@cases_of("AvgPool2dBackward")
def avg_pool2d_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Positions that no output sees have 0."""
    del u
    yield from _averages(row, t, False)
