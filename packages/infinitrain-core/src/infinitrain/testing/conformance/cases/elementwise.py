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
    *(
        "ReluBackward",
        "EqualsForward",
        "NeForward",
        "XorForward",
        "LtForward",
        "LeForward",
        "GtForward",
        "GeForward",
        "AndForward",
        "OrForward",
    ),
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


@cases_of("EqualsScalar", "NeScalar", "LtScalar", "LeScalar", "GtScalar", "GeScalar")
def compare_scalar(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Numbers of which the operand holds some, exactly and rounded."""
    dtype, rng = parse(t), rng_of(row.name, t)
    scalars: tuple[int | float | bool, ...] = (True, False)
    values = np.concatenate([specials(dtype), anything(rng, dtype, 1001)])
    if not dtype.is_bool:
        scalars = (0, 1, 3, 100, *(() if not dtype.is_signed else (-1, -7)))
    if dtype.is_floating_point:
        scalars = (*scalars, 0.1, -0.0, -2.5, 1e300, -(2**53) - 1, float("inf"), float("-inf"), float("nan"))
        values = np.concatenate([values, np.array([0.1, 100.0, -2.5]).astype(dtype.numpy)])
    for scalar in scalars:
        yield make(row, t, u, (scalar,), [values], f"value {scalar!r}")
    yield from shaped(row, t, u, [anything], (1,) if not dtype.is_bool else (True,))


@cases_of("ClampForward")
def clamp(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Bounds that are there, absent, equal, crossed; NaN in operand and bounds."""
    dtype, rng = parse(t), rng_of(row.name, t)
    absent, values = float("inf"), np.concatenate([specials(dtype), anything(rng, dtype, 1001)])
    bounds: tuple[tuple[int | float, int | float], ...] = ((1, 5), (3, 3), (5, 1), (2, absent), (-absent, 2))
    bounds = (*bounds, (-absent, absent), (0, 0))
    if dtype.is_signed:
        bounds = (*bounds, (-5, 5), (-3, absent), (-absent, -3))
    if dtype.is_floating_point:
        nan = float("nan")
        bounds = (*bounds, (-0.1, 0.7), (nan, 1.0), (0.0, nan), (absent, absent), (-absent, -absent))
    for low, high in bounds:
        yield make(row, t, u, (low, high), [values], f"bounds {low!r}, {high!r}")
    yield from shaped(row, t, u, [anything], (1, 3))


@cases_of("MaskForward")
def mask(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """Any patterns, what is masked does not show; numbers exact and rounded."""
    dtype, rng = parse(t), rng_of(row.name, t)
    scalars: tuple[int | float | bool, ...] = (0, 1, 7) if not dtype.is_bool else (True, False)
    if dtype.is_floating_point:
        scalars = (*scalars, 0.1, -2.5, 1e300, float("-inf"), float("nan"))
    for scalar in scalars:
        yield make(row, t, u, (scalar,), [bits(rng, dtype, 1001), bool_values(rng, (1001,))], f"value {scalar!r}")
    yield from shaped(row, t, u, [anything, anything], (1,) if not dtype.is_bool else (True,))


@cases_of("SiluForward", "SiluBackward")
def silu(row: KernelRow, t: str, u: str) -> Iterator[Case]:
    """The tails, where the value is 0 or the operand itself."""
    dtype, rng = parse(t), rng_of(row.name, t)
    draw: Sequence[Values] = [lambda r, d, n: spread(r, d, n, -3, 1.3), small][: len(row.inputs)]
    most = {"f16": 3e4, "bf16": 1e30, "f32": 1e30, "f64": 1e100}[t]
    ends = np.array([0.0, -0.0, 1.0, -1.0, 5.0, -5.0, 20.0, -20.0, 100.0, -100.0, most, -most, np.nan]).astype(
        dtype.numpy
    )
    yield make(row, t, u, (), [ends, *[np.full_like(ends, 1.5)] * (len(row.inputs) - 1)], "ends")
    yield make(row, t, u, (), [f(rng, dtype, 4099) for f in draw], "usual values")
    yield from shaped(row, t, u, draw)


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
