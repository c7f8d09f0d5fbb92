"""Cases of rows over the last dimension: cross-entropy, softmax, LayerNorm."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import parse
from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import normal
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference.number import wide

__all__: list[str] = []

#: R, V.
LOGITS = ((1, 1), (3, 5), (7, 33), (2, 1001), (5, 64), (0, 5))


def _targets(rng: np.random.Generator, rows: int, bound: int, ignored: int) -> Array:
    """Targets with the first, the last and an ignored one."""
    target = rng.integers(0, bound, rows)
    if rows > 2:
        target[:3] = (0, bound - 1, ignored)
    return target.astype(np.int64)


def _logits(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], scale: float) -> Array:
    x = normal(rng, shape, dtype, scale)
    if len(x) > 3 and shape[-1] > 4:
        x[3, 1:4] = -np.inf  # masked, as a vocabulary's padding is
    return x


@cases_of("CrossEntropyForward")
def cross_entropy(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Ignored rows, large logits, another ignore_index."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    outputs = dtype.accumulator.numpy
    for (rows, bound), ignored, scale in product(LOGITS, (-100, 1), (1.0, 30.0)):
        x = normal(rng, (rows, bound), dtype.numpy, scale)
        if rows > 3 and bound > 4:
            x[3, 1:4] = -np.inf
        target = _targets(rng, rows, bound, ignored)
        if rows > 3:
            target[3] = 0
        label = f"R={rows} V={bound}, ignore_index={ignored}, logits of size {scale}"
        two = Output.empty((rows,), outputs), Output.empty((rows,), outputs)
        yield Case(label, (x, target), two, (ignored,), frozenset({"empty"} if rows == 0 else ()))
    if t in ("f32", "bf16"):
        x, target = normal(rng, (3, 50_257), dtype.numpy, 4.0), np.array([50_256, 0, -100], np.int64)
        two = Output.empty((3,), outputs), Output.empty((3,), outputs)
        yield Case("a real vocabulary", (x, target), two, (-100,))
    every = np.full(3, -100, np.int64)
    two = Output.empty((3,), outputs), Output.empty((3,), outputs)
    yield Case("every row ignored", (normal(rng, (3, 5), dtype.numpy), every), two, (-100,))


@cases_of("CrossEntropyBackward")
def cross_entropy_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """With the forward's log-sum-exp."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    for (rows, bound), ignored in product(LOGITS, (-100, 1)):
        x = _logits(rng, (rows, bound), dtype.numpy, 2.0)
        target = _targets(rng, rows, bound, ignored)
        top = wide(x).max(axis=-1, initial=-np.inf)
        lse = top + np.log(np.exp(wide(x) - top[:, None]).sum(axis=-1))
        operands = (x, target, lse.astype(dtype.accumulator.numpy), normal(rng, (rows,), dtype.accumulator.numpy))
        output = (Output.empty((rows, bound), dtype.numpy),)
        label = f"R={rows} V={bound}, ignore_index={ignored}"
        yield Case(label, operands, output, (ignored,), frozenset({"empty"} if rows == 0 else ()))


ROWS: tuple[tuple[int, ...], ...] = ((1,), (7,), (3, 5), (2, 3, 33), (4, 1), (2, 4097), (1000, 3), (0, 4), (3, 0))


@cases_of("SoftmaxForward")
def softmax(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Large values, masks, a row of -inf, NaN."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for shape, scale in product(ROWS, (1.0, 60.0)):
        tags = frozenset({"empty"} if 0 in shape else ())
        x = normal(rng, shape, dtype, scale)
        yield Case(f"{shape}, values of size {scale}", (x,), (Output.empty(shape, dtype),), (), tags)
    x = normal(rng, (5, 9), dtype)
    x[0, :4], x[1], x[2, 3], x[3] = -np.inf, -np.inf, np.nan, 7.0
    yield Case("masked, all -inf, NaN, equal", (x,), (Output.empty(x.shape, dtype),))
    x = normal(rng, (3, 601), dtype)
    x += np.array([[-400], [0], [400]]).astype(dtype)  # what a row takes from the next one shows
    yield Case("rows far apart", (x,), (Output.empty(x.shape, dtype),))


@cases_of("SoftmaxBackward")
def softmax_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Shares as the forward gives them."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for shape in ROWS:
        yield _slopes(rng, shape, dtype, ())


def _slopes(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], attributes: tuple[float, ...]
) -> Case:
    x = rng.standard_normal(shape)
    shares = np.exp(x)
    y = (shares / shares.sum(axis=-1, keepdims=True)).astype(dtype)
    tags = frozenset({"empty"} if 0 in shape else ())
    return Case(
        f"{shape} {attributes}", (y, normal(rng, shape, dtype)), (Output.empty(shape, dtype),), attributes, tags
    )


CAUSAL: tuple[tuple[int, ...], ...] = (
    (1, 1),
    (4, 4),
    (3, 7),
    (7, 3),
    (2, 3, 33, 33),
    (2, 65, 65),
    (1, 5),
    (5, 1),
    (0, 4),
    (2, 0, 3),
)


@cases_of("CausalSoftmaxForward")
def causal_softmax(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """More and fewer keys than queries; hidden elements hold what must not be read."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for shape, scale in product(CAUSAL, (1.0, 0.125)):
        x = normal(rng, shape, dtype, 4.0)
        tags = frozenset({"empty"} if 0 in shape else ())
        yield Case(f"{shape}, scale {scale}", (x,), (Output.empty(shape, dtype),), (scale,), tags)
    x = normal(rng, (5, 5), dtype)
    x[np.triu_indices(5, 1)] = np.nan
    yield Case("NaN where hidden", (x,), (Output.empty(x.shape, dtype),), (1.0,))


@cases_of("CausalSoftmaxBackward")
def causal_softmax_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Over the visible columns only."""
    del u
    dtype, rng = parse(t).numpy, rng_of(row.name, t)
    for shape, scale in product(CAUSAL, (1.0, 0.125)):
        yield _slopes(rng, shape, dtype, (scale,))


#: R, C.
NORMS = ((1, 1), (3, 5), (7, 33), (2, 1025), (65, 64), (0, 5))


@cases_of("LayerNormForward")
def layer_norm(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Each of weight and bias absent; rows far from 0, where one pass would cancel."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)

    def case(label: str, x: Array, weight: bool, bias: bool, eps: float, *tags: str) -> Case:
        rows, columns = x.shape
        others = tuple(normal(rng, (columns,), dtype.numpy) if each else None for each in (weight, bias))
        outputs = (
            Output.empty(x.shape, dtype.numpy),
            *(Output.empty((rows,), dtype.accumulator.numpy) for _ in range(2)),
        )
        label = f"{label} {x.shape}, weight={weight}, bias={bias}, eps={eps}"
        return Case(label, (x, *others), outputs, (eps,), frozenset(tags))

    for (rows, columns), (weight, bias) in product(NORMS, ((True, True), (True, False), (False, True), (False, False))):
        tags = ("empty",) if rows == 0 else ("optional",) if not (weight and bias) else ()
        yield case("rows", normal(rng, (rows, columns), dtype.numpy), weight, bias, 1e-5, *tags)
    yield case("equal values", np.full((2, 8), 3, dtype.numpy), True, True, 1e-5)
    yield case("another eps", normal(rng, (4, 16), dtype.numpy, 0.01), True, True, 1e-2)
    if t in ("f32", "f64"):
        yield case("mean 10 times the deviation", 10 + normal(rng, (3, 64), dtype.numpy), False, False, 1e-5)


@cases_of("LayerNormBackward")
def layer_norm_backward(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Each optional tensor absent, alone and together; on old gradients and without."""
    del u
    dtype, rng = parse(t), rng_of(row.name, t)
    flags = list(product((True, False), repeat=3))
    for i, ((rows, columns), (weight, dweight, dbias), accumulate) in enumerate(product(NORMS, flags, (False, True))):
        if i % 3 and (rows, columns) != (7, 33):
            continue  # every combination at one size, a third of them at the others
        x = normal(rng, (rows, columns), dtype.numpy)
        mean = wide(x).mean(axis=-1)
        rstd = 1 / np.sqrt(wide(x).var(axis=-1) + 1e-5)
        stats = (each.astype(dtype.accumulator.numpy) for each in (mean, rstd))
        scale = normal(rng, (columns,), dtype.numpy) if weight else None
        old = [
            normal(rng, (columns,), dtype.numpy) if accumulate else np.full(columns, np.nan, dtype.numpy)
            for _ in range(2)
        ]
        wanted = tuple(
            Output(each, read=True) if flag else None for each, flag in zip(old, (dweight, dbias), strict=True)
        )
        label = f"R={rows} C={columns}, weight={weight}, dweight={dweight}, dbias={dbias}, accumulate={accumulate}"
        tags = {"empty"} if rows == 0 else {"optional"} if not (weight and dweight and dbias) else set()
        inputs = (x, scale, *stats, normal(rng, x.shape, dtype.numpy))
        outputs = (Output.empty(x.shape, dtype.numpy), *wanted)
        yield Case(label, inputs, outputs, (1e-5, accumulate), frozenset(tags))
