"""Cases of elementwise rows: shapes that are common to all, values that are each row's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import DType, parse
from infinitrain.testing.conformance.case import Case, Output, dtype_of
from infinitrain.testing.conformance.cases import cases_of, rng_of
from infinitrain.testing.conformance.cases.values import (
    bits,
    bool_values,
    every_pattern,
    integers,
    normal,
    specials,
    spread,
)
from infinitrain.testing.conformance.layout import Array

__all__: list[str] = []

#: Around the lengths of vector registers and of unrolled loops.
TAILS = (2, 3, 7, 8, 9, 15, 17, 31, 33, 63, 65, 127)
SHAPES: tuple[tuple[int, ...], ...] = ((1,), (1, 1, 1), (2, 3, 5), (3, 1, 4, 2), (1, 7, 1), (37, 53))
EMPTY: tuple[tuple[int, ...], ...] = ((0,), (3, 0, 2))
#: Enough for several threads.
LARGE = 70_001

Values = Callable[[np.random.Generator, DType, int], Array]


def make(
    row: KernelRow,
    t: str,
    u: str,
    attributes: tuple[int | float | bool, ...],
    inputs: list[Array],
    label: str,
    *tags: str,
) -> Case:
    """Make a case whose one output has the shape of the operands."""
    shape = inputs[0].shape
    output = Output.empty(shape, dtype_of(row.outputs[0], t, u).numpy)
    return Case(label, tuple(inputs), (output,), attributes, frozenset(tags))


def shaped(
    row: KernelRow,
    t: str,
    u: str,
    draw: Sequence[Values],
    attributes: tuple[int | float | bool, ...] = (),
    large: bool = True,
) -> Iterator[Case]:
    """Make cases of many shapes; `draw` gives n values for each operand."""
    rng = rng_of(row.name, t, u, "shapes")
    dtypes = [dtype_of(operand, t, u) for operand in row.inputs]

    def operands(shape: tuple[int, ...]) -> list[Array]:
        n = int(np.prod(shape))
        return [f(rng, dtype, n).reshape(shape) for f, dtype in zip(draw, dtypes, strict=True)]

    for n in TAILS:
        yield make(row, t, u, attributes, operands((n,)), f"{n} elements")
    for shape in SHAPES:
        yield make(row, t, u, attributes, operands(shape), f"shape {shape}")
    yield make(row, t, u, attributes, operands(()), "0-d", "zero-d")
    for shape in EMPTY:
        yield make(row, t, u, attributes, operands(shape), f"shape {shape}", "empty")
    if large and t in ("", "f32", "i64", "u8"):
        yield make(row, t, u, attributes, operands((LARGE,)), f"{LARGE} elements")
    yield make(row, t, u, attributes, broadcast(operands), "broadcast", "broadcast")


def broadcast(operands: Callable[[tuple[int, ...]], list[Array]]) -> list[Array]:
    """Spread one operand over rows, the next over columns, the next over nothing."""
    shape = (3, 4, 5)
    views = []
    for i in range(len(operands((1,)))):
        part = ((1, 4, 1), (3, 1, 5), (3, 4, 1), (1, 1, 1))[i % 4]
        views.append(np.broadcast_to(operands(part)[i], shape))
    return views


def anything(rng: np.random.Generator, dtype: DType, n: int) -> Array:
    """Every bit pattern, small numbers and special values."""
    if dtype.is_bool:
        return bool_values(rng, (n,))
    if dtype.is_floating_point:
        mixed = np.concatenate([bits(rng, dtype, n), normal(rng, (n,), dtype.numpy, 3.0), specials(dtype)])
    else:
        mixed = np.concatenate([integers(rng, dtype, n), specials(dtype)])
    return rng.permutation(mixed)[:n]


def small(rng: np.random.Generator, dtype: DType, n: int) -> Array:
    """Normal deviates, or whole numbers of one digit."""
    return normal(rng, (n,), dtype.numpy)


def pairs(a: Array, b: Array) -> list[Array]:
    """Give every value of one with every value of the other."""
    return [np.repeat(a, len(b)), np.tile(b, len(a))]


# ---- exact rows: any bit pattern -------------------------------------------------------------------

UNARY_EXACT = ("NegForward", "AbsForward", "ReciprocalForward", "SqrtForward", "ReluForward", "NotForward")
BINARY_EXACT = (
    *("AddForward", "SubForward", "MulForward", "DivForward", "RemainderForward", "MaximumForward", "MinimumForward"),
    *("ReluBackward", "EqualsForward", "LtForward", "LeForward", "GtForward", "GeForward", "AndForward", "OrForward"),
)


@cases_of(*UNARY_EXACT)
def unary_exact(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """All patterns of short types, special and random ones of long types."""
    dtype, rng = dtype_of(row.inputs[0], t, u), rng_of(row.name, t)
    if dtype.bits <= 16 and not dtype.is_bool:
        yield make(row, t, u, (), [every_pattern(dtype)], "every value")
    values = np.concatenate([specials(dtype), bits(rng, dtype, 2048), anything(rng, dtype, 1001)])
    yield make(row, t, u, (), [values], "special values")
    yield from shaped(row, t, u, [anything])


@cases_of(*BINARY_EXACT)
def binary_exact(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Special values with each other, and random patterns."""
    dtype, rng = dtype_of(row.inputs[0], t, u), rng_of(row.name, t)
    if dtype.bits == 8 and not dtype.is_bool:
        yield make(row, t, u, (), pairs(every_pattern(dtype), every_pattern(dtype)), "every pair")
    values = specials(dtype)
    yield make(row, t, u, (), pairs(values, values), "pairs of special values")
    if row.name != "RemainderForward" or not dtype.is_floating_point:
        yield make(row, t, u, (), [bits(rng, dtype, 4099), bits(rng, dtype, 4099)], "random patterns")
    yield make(row, t, u, (), [anything(rng, dtype, 1001), anything(rng, dtype, 1001)], "mixed values")
    near = anything(rng, dtype, 513)
    yield make(row, t, u, (), [near, near.copy()], "equal operands")
    yield from shaped(row, t, u, [anything, anything])


@cases_of("FloorDivideForward")
def floor_divide(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Quotients up to 2^22, which every order of the definition's steps gives alike."""
    dtype, rng = parse(t), rng_of(row.name, t)
    if not dtype.is_floating_point:
        yield from binary_exact(row, t, u)
        return
    n = 4099
    b = spread(rng, dtype, n, -2, 2)
    quotient = np.where(rng.random(n) < 0.5, rng.integers(-500, 500, n), rng.uniform(-4000, 4000, n))
    a = (quotient * b.astype(np.float64)).astype(dtype.numpy)
    yield make(row, t, u, (), [a, b], "quotients near whole numbers")
    few = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, -7.0, 0.1, np.inf, -np.inf, np.nan]).astype(dtype.numpy)
    yield make(row, t, u, (), pairs(few, few), "pairs of special values")
    yield from shaped(row, t, u, [small, small])


@cases_of("WhereForward")
def where(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Any patterns: what is not chosen does not show."""
    dtype, rng = parse(t), rng_of(row.name, t)
    operands = [bool_values(rng, (4099,)), bits(rng, dtype, 4099), bits(rng, dtype, 4099)]
    yield make(row, t, u, (), operands, "random patterns")
    yield from shaped(row, t, u, [anything, anything, anything])


@cases_of("AddScalar", "MulScalar")
def with_scalar(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Whole, broken, negative and huge numbers."""
    dtype, rng = parse(t), rng_of(row.name, t)
    values = np.concatenate([specials(dtype), anything(rng, dtype, 1001)])
    scalars: tuple[int | float | bool, ...] = (0, 1, 3, -1, 2**31 + 5, True)
    if dtype.is_floating_point:
        scalars = (*scalars, 0.1, -2.5, 1e-3, 1e30, float("inf"), float("nan"))
    for scalar in scalars:
        yield make(row, t, u, (scalar,), [values], f"value {scalar!r}")
    yield from shaped(row, t, u, [anything], (3,))


# ---- functions: where they are defined, with their ends ---------------------------------------------


def _range(low: float, high: float) -> Values:
    def draw(rng: np.random.Generator, dtype: DType, n: int) -> Array:
        return rng.uniform(low, high, n).astype(dtype.numpy)

    return draw


FUNCTIONS: dict[str, Values] = {
    "RsqrtForward": lambda rng, dtype, n: np.abs(spread(rng, dtype, n, -6, 4)),
    "ExpForward": _range(-30, 30),
    "LogForward": lambda rng, dtype, n: np.abs(spread(rng, dtype, n, -6, 4)),
    "SinForward": lambda rng, dtype, n: spread(rng, dtype, n, -3, 4),
    "CosForward": lambda rng, dtype, n: spread(rng, dtype, n, -3, 4),
    "TanhForward": lambda rng, dtype, n: spread(rng, dtype, n, -4, 1.5),
    "SigmoidForward": _range(-40, 40),
}


@cases_of(*FUNCTIONS)
def function(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """The whole range of short types; special and random values of long ones."""
    dtype, rng, draw = parse(t), rng_of(row.name, t), FUNCTIONS[row.name]
    if dtype.bits == 16:
        yield make(row, t, u, (), [every_pattern(dtype)], "every value")
    yield make(row, t, u, (), [specials(dtype)], "special values")
    yield make(row, t, u, (), [bits(rng, dtype, 4099)], "random patterns")
    yield make(row, t, u, (), [draw(rng, dtype, 4099)], "usual values")
    yield from shaped(row, t, u, [draw])


@cases_of("TanhBackward", "SigmoidBackward")
def from_output(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """The forward's output over its whole range, gradients of usual size, NaN."""
    dtype = parse(t)
    low = -1.0 if row.name == "TanhBackward" else 0.0
    grads = np.array([0.0, -0.0, 1.0, -1.5, np.nan]).astype(dtype.numpy)
    ys = np.array([low, 0.0, 0.25, 0.999, 1.0, np.nan]).astype(dtype.numpy)
    yield make(row, t, u, (), pairs(ys, grads), "ends of the range")
    yield from shaped(row, t, u, [_range(low, 1.0), small])


@cases_of("PowForward")
def power(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Integers wrap; floats with the ends of C's pow."""
    dtype, rng = parse(t), rng_of(row.name, t)
    if not dtype.is_floating_point:
        yield make(row, t, u, (), pairs(specials(dtype), specials(dtype)), "pairs of special values")
        yield from shaped(row, t, u, [anything, small], large=False)
        return
    yield make(row, t, u, (), pairs(specials(dtype), specials(dtype)), "pairs of special values")
    bases, exponents = np.abs(spread(rng, dtype, 4099, -2, 2)), _range(-6, 6)(rng, dtype, 4099)
    yield make(row, t, u, (), [bases, exponents], "usual values")
    whole = rng.integers(-9, 10, 999).astype(dtype.numpy)
    yield make(row, t, u, (), [spread(rng, dtype, 999, -1, 1), whole], "negative bases, whole exponents")
    yield from shaped(row, t, u, [lambda r, d, n: np.abs(spread(r, d, n, -1, 1)), small])


@cases_of("GeluForward", "GeluBackward")
def gelu(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Both variants; the tails, where the value is 0 or the operand itself."""
    dtype, rng = parse(t), rng_of(row.name, t)
    draw: Sequence[Values] = [lambda r, d, n: spread(r, d, n, -3, 1.3), small][: len(row.inputs)]
    # Far out the cube in the formula is beyond the computing type, and the value is not.
    most = {"f16": 3e4, "bf16": 1e30, "f32": 1e30, "f64": 1e100}[t]
    ends = np.array([0.0, -0.0, 1.0, -1.0, 5.0, -5.0, 12.0, -12.0, 100.0, -100.0, most, -most, np.nan]).astype(
        dtype.numpy
    )
    for tanh in (True, False):
        others = [np.full_like(ends, 1.5)] * (len(row.inputs) - 1)
        yield make(row, t, u, (tanh,), [ends, *others], f"ends, tanh={tanh}")
        yield make(row, t, u, (tanh,), [f(rng, dtype, 4099) for f in draw], f"usual values, tanh={tanh}")
    yield from shaped(row, t, u, draw, (True,))
    yield from (case for case in shaped(row, t, u, draw, (False,), large=False) if case.tags)


# ---- tier 0 ----------------------------------------------------------------------------------------


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
