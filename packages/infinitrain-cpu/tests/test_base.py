"""Tier 0: conversions, fills, copies between layouts. Every bit is determined."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from cpu_driver import BF16, DTYPES, SPECIAL, Cpu, CpuError, to_half, values

FLOATS = ("bf16", "f16", "f32", "f64")


def source(dtype: str) -> np.ndarray[Any, Any]:
    d = DTYPES[dtype]
    if dtype not in FLOATS:
        x = values(dtype, (600,))
        if d.kind in "iu":
            info = np.iinfo(d)
            x[:6] = [info.min, info.max, 0, 1, info.max - 1, info.min + 1]
        return x
    rng = np.random.default_rng(5)
    edges = [float(2**k) + delta for k in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64) for delta in (-1, -0.5, 0, 0.5, 1)]
    ties = [
        1 + 2**-8,
        1 + 3 * 2**-8,
        1 + 2**-11,
        1 + 3 * 2**-11,
        1 + 2**-8 + 2**-30,
        1 + 2**-11 + 2**-40,
        65519.99,
        65520,
    ]
    parts = [SPECIAL, edges, np.negative(edges), ties, 10.0 ** rng.uniform(-45, 38, 200), rng.uniform(-300, 300, 300)]
    with np.errstate(over="ignore"):
        return np.concatenate(parts).astype(d)


def expected(x: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    d = DTYPES[dtype]
    from_float = x.dtype == BF16 or x.dtype.kind == "f"
    if d.kind == "b":
        return x.astype(np.float64 if from_float else x.dtype) != 0
    if d.kind in "iu" and from_float:
        info = np.iinfo(d)
        whole = [0 if np.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v)
                 for v in x.astype(np.float64).tolist()]  # fmt: skip
        return np.array(whole, dtype=d)
    if d.kind in "iu":
        return x.astype(d)
    if dtype in ("bf16", "f16"):
        digits, lowest, largest = (7, -126, 3.3895313892515355e38) if dtype == "bf16" else (10, -14, 65504.0)
        exact = x.tolist() if x.dtype.kind in "iub" else x.astype(np.float64).tolist()
        # int / Fraction arithmetic: no rounding before the one that is tested
        half = [
            to_half(v, digits, lowest, largest) if isinstance(v, float) else half_of_int(v, digits, largest)
            for v in exact
        ]
        return np.array(half)
    with np.errstate(over="ignore"):
        return x.astype(d)


def half_of_int(v: int, digits: int, largest: float) -> float:
    if v == 0:
        return 0.0
    unit = Fraction(2) ** (abs(int(v)).bit_length() - 1 - digits)
    rounded = float(round(Fraction(int(v)) / unit) * unit)
    return rounded if abs(rounded) <= largest else float(np.copysign(np.inf, v))


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cast(each_isa: Cpu, dtype: str, to: str) -> None:
    x = source(dtype)
    found = each_isa.new("Cast", [x], x.shape, DTYPES[to])
    want = expected(x, to)
    if to in FLOATS:
        np.testing.assert_array_equal(found.astype(np.float64), np.asarray(want).astype(np.float64))
    else:
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("to", ["f32", "i8", "f16"])
def test_cast_of_views(cpu: Cpu, to: str) -> None:
    x = values("i16", (50, 60))
    y = np.zeros((60, 100), DTYPES[to])
    cpu.launch("Cast", [x[:, ::-1][:, ::-1].T[::2]], [y[::2, ::2]])

    np.testing.assert_array_equal(
        y[::2, ::2].astype(np.float64), expected(x.T[::2].ravel(), to).astype(np.float64).reshape(30, 50)
    )


def test_half_types_there_and_back(each_isa: Cpu) -> None:
    """All 65536 patterns survive float32, and NaN stays NaN."""
    for dtype in ("bf16", "f16"):
        x = np.arange(65536, dtype=np.uint16).view(DTYPES[dtype])
        wide = each_isa.new("Cast", [x], x.shape, np.float32)
        back = each_isa.new("Cast", [wide], x.shape, DTYPES[dtype])
        number = ~np.isnan(x.astype(np.float32))

        np.testing.assert_array_equal(wide[number], x.astype(np.float32)[number])
        np.testing.assert_array_equal(back.view(np.uint16)[number], x.view(np.uint16)[number])
        assert np.isnan(wide[~number]).all()
        assert np.isnan(back[~number].astype(np.float32)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [0, 1, -1, 300, 2.75, -2.75, float("nan"), float("inf"), 1e30, True])
def test_fill(cpu: Cpu, dtype: str, value: Any) -> None:
    y = cpu.new("Fill", [], (3, 401), DTYPES[dtype], value=value)
    one = np.array([value], np.float64 if isinstance(value, float) else np.int64)
    want = expected(one, dtype).astype(np.float64)

    np.testing.assert_array_equal(y.astype(np.float64), np.broadcast_to(want, y.shape))


def test_fill_of_a_view_keeps_the_rest(cpu: Cpu) -> None:
    y = np.zeros((40, 60), np.float32)
    cpu.launch("Fill", [], [y.T[1::3, ::2]], value=2.5)
    want = np.zeros((40, 60), np.float32)
    want.T[1::3, ::2] = 2.5

    np.testing.assert_array_equal(y, want)


def test_fill_of_u64_with_a_negative_number_is_its_bit_pattern(cpu: Cpu) -> None:
    assert cpu.new("Fill", [], (2,), np.uint64, value=-1).tolist() == [2**64 - 1] * 2


VIEWS = {
    "compact": lambda x: x,
    "transposed": lambda x: x.transpose(2, 1, 0),
    "swapped": lambda x: x.swapaxes(0, 1),
    "last two": lambda x: x.swapaxes(1, 2),
    "steps": lambda x: x[::2, :, ::3],
    "backwards": lambda x: x[:, ::-1, ::-1],
    "broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["bool", "bf16", "f32", "i64"])
def test_copy(cpu: Cpu, view: str, dtype: str) -> None:
    base = values("u64", (33, 40, 50)).view(np.uint64)
    x = VIEWS[view]((base % 256 if dtype == "bool" else base).astype(np.uint64).astype(DTYPES[dtype]))
    y = cpu.new("Copy", [x], x.shape, x.dtype)

    assert y.tobytes() == np.ascontiguousarray(x).tobytes()


@pytest.mark.parametrize("view", ["transposed", "swapped", "last two", "steps"])
def test_copy_into_a_view(cpu: Cpu, view: str) -> None:
    base = np.zeros((33, 40, 50), np.float32)
    y = VIEWS[view](base)
    x = values("f32", y.shape)
    cpu.launch("Copy", [x], [y])

    np.testing.assert_array_equal(y, x)


def test_copy_of_nan_keeps_its_bits(cpu: Cpu) -> None:
    x = np.array([0x7F800001, 0xFFFFFFFF, 0x7FC12345], np.uint32).view(np.float32)

    assert cpu.new("Copy", [x], x.shape, x.dtype).tobytes() == x.tobytes()


def test_no_ops_copy_or_do_nothing(cpu: Cpu) -> None:
    x = values("f16", (6, 35))
    y = np.empty((210,), np.float16)
    cpu.launch("NoOpForward", [x], [y])
    dx = np.empty((6, 35), np.float16)
    cpu.launch("NoOpBackward", [y], [dx])
    cpu.launch("NoOpForward", [x], [x])

    assert y.tobytes() == dx.tobytes() == x.tobytes()
    with pytest.raises(CpuError, match=r"\[NoOpForward\]\[INVALID_ARGUMENT\] element counts differ"):
        cpu.launch("NoOpForward", [x], [y[:-1].copy()])
