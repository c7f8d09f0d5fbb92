"""Every elementwise row in each of its dtypes against NumPy in float64 (integers: in their own type)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cpu_driver import BF16, DTYPES, ROWS, SPECIAL, Cpu, CpuError, check, dtypes_of, values

erf = np.vectorize(math.erf, otypes=[np.float64])
C = math.sqrt(2 / math.pi)


def gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(C * (x + 0.044715 * x**3)))


def gelu_tanh_slope(x: Any) -> Any:
    t = np.tanh(C * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * C * (1 + 3 * 0.044715 * x**2)


def gelu_erf(x: Any) -> Any:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_erf_slope(x: Any) -> Any:
    return 0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


UNARY = {
    "NegForward": np.negative,
    "AbsForward": np.abs,
    "ReciprocalForward": lambda x: 1 / x,
    "SqrtForward": np.sqrt,
    "RsqrtForward": lambda x: 1 / np.sqrt(x),
    "ExpForward": np.exp,
    "LogForward": np.log,
    "SinForward": np.sin,
    "CosForward": np.cos,
    "TanhForward": np.tanh,
    "SigmoidForward": lambda x: 1 / (1 + np.exp(-x)),
    "ReluForward": lambda x: np.where(x <= 0, 0, x),
}
BINARY = {
    "AddForward": np.add,
    "SubForward": np.subtract,
    "MulForward": np.multiply,
    "DivForward": np.divide,
    "MaximumForward": np.maximum,
    "MinimumForward": np.minimum,
    "TanhBackward": lambda y, g: g * (1 - y * y),
    "SigmoidBackward": lambda y, g: g * y * (1 - y),
    "ReluBackward": lambda y, g: np.where(y > 0, g, 0),
}
COMPARE = {
    "EqualsForward": np.equal,
    "LtForward": np.less,
    "LeForward": np.less_equal,
    "GtForward": np.greater,
    "GeForward": np.greater_equal,
}
GELU = [("GeluForward", True, gelu_tanh), ("GeluForward", False, gelu_erf)]


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What arithmetic is done in: float64 for floats, the type itself for the rest."""
    return x.astype(np.float64) if x.dtype == BF16 or x.dtype.kind == "f" else x


def is_float(dtype: str) -> bool:
    return dtype in ("bf16", "f16", "f32", "f64")


def sample(dtype: str, seed: int = 0) -> np.ndarray[Any, Any]:
    """Ordinary, special, tiny and huge values of a dtype, at an odd length."""
    if not is_float(dtype):
        return values(dtype, (1501,), seed)
    rng = np.random.default_rng(seed)
    parts = [SPECIAL, rng.uniform(-3, 3, 600), rng.uniform(-100, 100, 400), 10.0 ** rng.uniform(-40, 38, 401)]
    with np.errstate(over="ignore"):
        return np.concatenate(parts).astype(DTYPES[dtype])


def cases(table: Any) -> list[Any]:
    return [pytest.param(name, dtype, id=f"{name}-{dtype}") for name in table for dtype in dtypes_of(name)]


@pytest.mark.parametrize(("name", "dtype"), cases(UNARY))
def test_unary(each_isa: Cpu, name: str, dtype: str) -> None:
    x = sample(dtype)
    with np.errstate(all="ignore"):
        check(name, dtype, each_isa.new(name, [x], x.shape, x.dtype), UNARY[name](wide(x)))


@pytest.mark.parametrize(("name", "dtype"), cases(BINARY))
def test_binary(each_isa: Cpu, name: str, dtype: str) -> None:
    a, b = sample(dtype), sample(dtype, 1)
    if ROWS[name]["tolerance"] != "exact":  # a derivative of numbers that the forward gives
        a, b = values(dtype, (999,), 0, -1, 1), values(dtype, (999,), 1)
    else:
        b = np.roll(b, 5)
    with np.errstate(all="ignore"):
        check(name, dtype, each_isa.new(name, [a, b], a.shape, a.dtype), BINARY[name](wide(a), wide(b)))


@pytest.mark.parametrize(("name", "dtype"), cases(COMPARE))
def test_compare(each_isa: Cpu, name: str, dtype: str) -> None:
    a, b = sample(dtype), np.roll(sample(dtype), 3)
    b[::3] = a[::3]
    found = each_isa.new(name, [a, b], a.shape, np.bool_)

    np.testing.assert_array_equal(found, COMPARE[name](wide(a), wide(b)))


@pytest.mark.parametrize("dtype", dtypes_of("GeluForward"))
@pytest.mark.parametrize(
    ("tanh", "forward", "slope"), [(True, gelu_tanh, gelu_tanh_slope), (False, gelu_erf, gelu_erf_slope)]
)
def test_gelu(each_isa: Cpu, dtype: str, tanh: bool, forward: Any, slope: Any) -> None:
    x = np.concatenate([values(dtype, (800,), 0, -6, 6), values(dtype, (203,), 1, -30, 30)])
    g = values(dtype, x.shape, 2)
    check("GeluForward", dtype, each_isa.new("GeluForward", [x], x.shape, x.dtype, tanh=tanh), forward(wide(x)))
    found = each_isa.new("GeluBackward", [x, g], x.shape, x.dtype, tanh=tanh)
    check("GeluBackward", dtype, found, wide(g) * slope(wide(x)))


@pytest.mark.parametrize("tanh", [True, False])
def test_gelu_of_large_numbers_is_the_identity_or_zero(each_isa: Cpu, tanh: bool) -> None:
    x = np.array([1e4, -1e4, 1e15, -1e15, 3e38, -3e38], np.float32)
    y = each_isa.new("GeluForward", [x], x.shape, x.dtype, tanh=tanh)
    dx = each_isa.new("GeluBackward", [x, np.ones_like(x)], x.shape, x.dtype, tanh=tanh)

    np.testing.assert_array_equal(y, np.maximum(x, 0))
    np.testing.assert_array_equal(dx, x > 0)


def floor_and_remainder(a: Any, b: Any) -> tuple[Any, Any]:
    """Python's // and %, with the table's answers for zero divisors."""
    if isinstance(a, int):
        return (0, 0) if b == 0 else (a // b, a % b)
    if b == 0:
        with np.errstate(all="ignore"):
            return float(np.divide(a, b)), math.nan
    if not math.isfinite(a) or math.isnan(b):
        with np.errstate(all="ignore"):
            return float(np.divide(a, b)), math.nan
    return a // b, a % b


@pytest.mark.parametrize("dtype", dtypes_of("FloorDivideForward"))
def test_floor_divide_and_remainder(cpu: Cpu, dtype: str) -> None:
    d = DTYPES[dtype]
    if is_float(dtype):
        rng = np.random.default_rng(3)
        a = np.concatenate([rng.uniform(-50, 50, 500), rng.integers(-20, 20, 300), SPECIAL, [7, -7, 7, -7, 0, -0.0]])
        b = np.concatenate(
            [rng.uniform(-5, 5, 500), rng.integers(-5, 6, 300), SPECIAL[::-1], [np.inf] * 2, [-np.inf] * 3, [2]]
        )
        with np.errstate(over="ignore"):
            a, b = a.astype(d), b.astype(d)
    else:
        a, b = values(dtype, (1500,)), values(dtype, (1500,), 1)
        if d.kind == "i":
            a[:3], b[:3] = np.iinfo(d).min, (-1, 0, 1)
    pairs = [floor_and_remainder(*p) for p in zip(wide(a).tolist(), wide(b).tolist(), strict=True)]
    if is_float(dtype):
        with np.errstate(all="ignore"):
            ratio = np.divide(wide(a).astype(d), wide(b).astype(d)).astype(d)
        quotient = np.array([q for q, _ in pairs])
        quotient = np.where(np.isfinite(ratio.astype(np.float64)), quotient, ratio.astype(np.float64))
        expected = quotient, np.array([r for _, r in pairs])
    else:  # wrap as the type does
        wrap = 1 << (8 * d.itemsize)
        expected = tuple(np.array([p[i] % wrap for p in pairs], dtype=np.uint64).astype(d) for i in (0, 1))
    for name, want in zip(("FloorDivideForward", "RemainderForward"), expected, strict=True):
        check(name, dtype, cpu.new(name, [a, b], a.shape, d), want)


@pytest.mark.parametrize("dtype", dtypes_of("PowForward"))
def test_pow(cpu: Cpu, dtype: str) -> None:
    d = DTYPES[dtype]
    if is_float(dtype):
        a, b = values(dtype, (700,), 0, 0, 5), values(dtype, (700,), 1)
        a[:6], b[:6] = (-2, -2, 0, 0, np.inf, 1), (3, 0.5, 0, -1, -1, np.nan)
        with np.errstate(all="ignore"):
            expected = np.power(wide(a), wide(b))
    else:
        a, b = values(dtype, (700,)), values(dtype, (700,), 1)
        b %= np.array(7, d)
        a[:8] = [0, 1, 2, 3, 0, 1, 2, 5]
        if d.kind == "i":
            a[8:12], b[8:12], b[:4] = (-1, -1, 1, -3), (-1, -2, -3, -1), (-1, -3, -2, 0)
        wrap = 1 << (8 * d.itemsize)

        def power(x: int, y: int) -> int:
            if y >= 0:
                return pow(x, y, wrap)
            return x ** (-y % 2) if abs(x) == 1 else 0

        expected = np.array(
            [power(x, y) % wrap for x, y in zip(a.tolist(), b.tolist(), strict=True)], np.uint64
        ).astype(d)
    check("PowForward", dtype, cpu.new("PowForward", [a, b], a.shape, d), expected)


@pytest.mark.parametrize("dtype", dtypes_of("AddScalar"))
@pytest.mark.parametrize("value", [3, -2, 0.75])
def test_scalars(cpu: Cpu, dtype: str, value: float) -> None:
    d = DTYPES[dtype]
    x = values(dtype, (1003,))
    if is_float(dtype):
        typed = np.float32(value) if dtype in ("bf16", "f16") else np.asarray(value, d)
        work = x.astype(np.float32) if dtype in ("bf16", "f16") else x
        total, product = (work + typed).astype(d), (work * typed).astype(d)
    else:
        whole = int(value) if d.kind == "i" or isinstance(value, int) else max(int(value), 0)
        typed = np.array(whole % (1 << 64), np.uint64).astype(d)
        total, product = x + typed, x * typed
    np.testing.assert_array_equal(cpu.new("AddScalar", [x], x.shape, d, value=value), total)
    np.testing.assert_array_equal(cpu.new("MulScalar", [x], x.shape, d, value=value), product)


def test_logical(cpu: Cpu) -> None:
    a, b = values("bool", (1001,)), values("bool", (1001,), 1)

    np.testing.assert_array_equal(cpu.new("AndForward", [a, b], a.shape, np.bool_), a & b)
    np.testing.assert_array_equal(cpu.new("OrForward", [a, b], a.shape, np.bool_), a | b)
    np.testing.assert_array_equal(cpu.new("NotForward", [a], a.shape, np.bool_), ~a)


@pytest.mark.parametrize("dtype", dtypes_of("WhereForward"))
def test_where_selects_bits(cpu: Cpu, dtype: str) -> None:
    c, a, b = values("bool", (1501,)), sample(dtype)[:1400], sample(dtype, 1)[:1400]
    c = c[:1400]
    found = cpu.new("WhereForward", [c, a, b], a.shape, a.dtype)

    assert found.tobytes() == np.where(c, a, b).tobytes()


# ---- layouts ----------------------------------------------------------------------------------------


LAYOUTS = {
    "transposed": lambda x: x.T,
    "reversed-step": lambda x: x[:, ::2],
    "row-broadcast": lambda x: np.broadcast_to(x[0], x.shape),
    "column-broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "scalar-broadcast": lambda x: np.broadcast_to(x[0, 0], (37, 3)),
    "thin": lambda x: x.reshape(-1, 2)[:, :1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8", "f64"])
def test_strided_operands(cpu: Cpu, layout: str, dtype: str) -> None:
    a = LAYOUTS[layout](values(dtype, (62, 300)))
    b = values(dtype, a.shape, 1)
    found = cpu.new("AddForward", [a, b], a.shape, a.dtype)
    flipped = cpu.new("SubForward", [b, a], a.shape, a.dtype)

    check("AddForward", dtype, found, wide(a) + wide(b))
    check("SubForward", dtype, flipped, wide(b) - wide(a))


@pytest.mark.parametrize("dtype", ["f32", "f16", "u16"])
def test_strided_output(cpu: Cpu, dtype: str) -> None:
    a, b = values(dtype, (70, 41)), values(dtype, (70, 41), 1)
    base = np.zeros((41, 140), DTYPES[dtype])
    cpu.launch("MulForward", [a, b], [base[:, ::2].T])

    check("MulForward", dtype, base[:, ::2].T, wide(a) * wide(b))
    assert not base[:, 1::2].any()


@pytest.mark.parametrize(
    "shape", [(0,), (3, 0, 2), (), (1,), (1, 1), (1023,), (1024,), (1025,), (40001,), (5, 7, 3, 2, 1, 3)]
)
def test_shapes(cpu: Cpu, shape: tuple[int, ...]) -> None:
    a, b = values("f32", shape), values("f32", shape, 1)

    check("AddForward", "f32", cpu.new("AddForward", [a, b], shape, a.dtype), wide(a) + wide(b))


def test_an_output_may_be_an_operand(cpu: Cpu) -> None:
    for dtype in ("f32", "bf16", "i32"):
        a, b = values(dtype, (30, 777)), values(dtype, (30, 777), 1)
        expected = cpu.new("SubForward", [a, b], a.shape, a.dtype)
        y = a.copy()
        cpu.launch("SubForward", [y, b], [y])
        z = b.copy()
        cpu.launch("SubForward", [a, z], [z])

        assert y.tobytes() == z.tobytes() == expected.tobytes()


def test_shapes_that_differ_are_refused(cpu: Cpu) -> None:
    with pytest.raises(CpuError, match=r"\[AddForward\]\[INVALID_ARGUMENT\] operands of different shapes") as caught:
        cpu.launch("AddForward", [np.zeros(3, np.float32), np.zeros(4, np.float32)], [np.zeros(4, np.float32)])
    assert caught.value.status == 1
