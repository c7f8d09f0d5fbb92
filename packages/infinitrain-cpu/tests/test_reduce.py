"""Reductions over any dimensions of any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cpu_driver import BF16, DTYPES, Cpu, CpuError, check, dtypes_of, values


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.astype(np.float64) if x.dtype == BF16 or x.dtype.kind == "f" else x


def reduced(x: np.ndarray[Any, Any], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if d in axes else n for d, n in enumerate(x.shape))


SHAPES = [
    ((1000,), (0,)),
    ((7, 1001), (1,)),
    ((1001, 7), (0,)),
    ((500, 300), (0,)),
    ((500, 300), (1,)),
    ((3, 40, 50), (0, 2)),
    ((3, 40, 50), (1,)),
    ((3, 40, 50), (0, 1, 2)),
    ((200001,), (0,)),
    ((2, 150000), (1,)),
    ((70000, 3), (0,)),
    ((1, 5, 1), (0, 2)),
    ((4, 1, 6), (1,)),
    ((), ()),
]


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
@pytest.mark.parametrize("dtype", dtypes_of("SumForward"))
def test_sum_and_mean(each_isa: Cpu, dtype: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x = values(dtype, shape)
    y = each_isa.new("SumForward", [x], reduced(x, axes), x.dtype)
    if x.dtype.kind in "iu":
        np.testing.assert_array_equal(y, x.sum(axis=axes, keepdims=True, dtype=x.dtype))
        return
    magnitude = np.abs(wide(x)).sum(axis=axes, keepdims=True)
    total = wide(x).sum(axis=axes, keepdims=True)
    check("SumForward", dtype, y, total, magnitude)
    count = max(x.size // max(y.size, 1), 1)
    mean = each_isa.new("MeanForward", [x], y.shape, x.dtype)
    check("MeanForward", dtype, mean, total / count, magnitude / count)


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
@pytest.mark.parametrize("dtype", dtypes_of("MaxForward"))
def test_largest_and_smallest(cpu: Cpu, dtype: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x = values(dtype, shape)
    for name, function in (("MaxForward", np.max), ("MinForward", np.min)):
        y = cpu.new(name, [x], reduced(x, axes), x.dtype)
        np.testing.assert_array_equal(wide(y), function(wide(x), axis=axes, keepdims=True))


@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32", "f64"])
def test_nan_wins(cpu: Cpu, dtype: str) -> None:
    x = values(dtype, (40, 33))
    x[::2, 5] = np.nan
    for name in ("MaxForward", "MinForward"):
        y = cpu.new(name, [x], (40, 1), x.dtype).astype(np.float64)
        assert np.isnan(y[::2]).all()
        assert not np.isnan(y[1::2]).any()


def test_infinities(cpu: Cpu) -> None:
    x = np.array([[np.inf, 1, 2], [-np.inf, 1, 2], [np.inf, -np.inf, 0]], np.float32)

    np.testing.assert_array_equal(cpu.new("SumForward", [x], (3, 1), x.dtype)[:, 0], [np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(cpu.new("MaxForward", [x], (3, 1), x.dtype)[:, 0], [np.inf, 2, np.inf])


VIEWS = {
    "transposed": lambda x: x.T,
    "middle": lambda x: x.swapaxes(1, 2),
    "steps": lambda x: x[::2, ::3, 1::2],
    "broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "backwards": lambda x: x[::-1, :, ::-1],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i32"])
def test_views(cpu: Cpu, view: str, axes: tuple[int, ...], dtype: str) -> None:
    x = VIEWS[view](values(dtype, (20, 30, 44)))
    y = cpu.new("SumForward", [x], reduced(x, axes), x.dtype)
    check("SumForward", dtype, y, wide(x).sum(axis=axes, keepdims=True, dtype=wide(x).dtype),
          np.abs(wide(x)).sum(axis=axes, keepdims=True))  # fmt: skip
    np.testing.assert_array_equal(
        wide(cpu.new("MaxForward", [x], y.shape, x.dtype)), wide(x).max(axis=axes, keepdims=True)
    )


def test_nothing_to_reduce(cpu: Cpu) -> None:
    x = np.zeros((3, 0), np.float32)

    np.testing.assert_array_equal(cpu.new("SumForward", [x], (3, 1), x.dtype), np.zeros((3, 1)))
    assert np.isnan(cpu.new("MeanForward", [x], (3, 1), x.dtype)).all()
    assert cpu.new("SumForward", [np.zeros((0, 3), np.int32)], (1, 3), np.int32).tolist() == [[0, 0, 0]]
    assert cpu.new("SumForward", [x], (1, 0), x.dtype).size == 0
    with pytest.raises(CpuError, match=r"\[MaxForward\]\[INVALID_ARGUMENT\] the largest and smallest of nothing"):
        cpu.new("MaxForward", [x], (3, 1), x.dtype)


def test_low_precision_sums_are_accurate(cpu: Cpu) -> None:
    for dtype in ("bf16", "f16"):
        ones = np.ones((1024,), DTYPES[dtype])
        assert float(cpu.new("SumForward", [ones], (1,), ones.dtype)[0]) == 1024
        assert float(cpu.new("SumForward", [np.ones((1024, 8), ones.dtype)], (1, 8), ones.dtype)[0, 3]) == 1024


def test_many_equal_terms_do_not_drift(cpu: Cpu) -> None:
    x = np.full((100000, 9), 0.1, np.float32)
    down = cpu.new("SumForward", [x], (1, 9), x.dtype)
    along = cpu.new("SumForward", [np.ascontiguousarray(x.T)], (9, 1), x.dtype)

    np.testing.assert_allclose(down, 1e5 * np.float64(np.float32(0.1)), rtol=1e-6)
    np.testing.assert_allclose(along, 1e5 * np.float64(np.float32(0.1)), rtol=1e-6)


@pytest.mark.parametrize("dtype", dtypes_of("SquaredNorm"))
@pytest.mark.parametrize("n", [0, 1, 1000, 300001])
def test_squared_norm(each_isa: Cpu, dtype: str, n: int) -> None:
    x = values(dtype, (n,))
    y = np.array(2.5, np.float64 if dtype == "f64" else np.float32)
    want = np.square(wide(x)).sum()
    each_isa.launch("SquaredNorm", [x], [y], accumulate=True)
    check("SquaredNorm", "f64" if dtype == "f64" else "f32", y, np.asarray(want + 2.5), want)
    each_isa.launch("SquaredNorm", [x], [y])
    check("SquaredNorm", "f64" if dtype == "f64" else "f32", y, np.asarray(want), want)


@pytest.mark.parametrize("dtype", dtypes_of("LinearBackwardBias"))
@pytest.mark.parametrize("shape", [(256, 768), (1, 5), (300, 1), (0, 4), (1000, 3)])
def test_linear_backward_bias(each_isa: Cpu, dtype: str, shape: tuple[int, int]) -> None:
    grad = values(dtype, shape)
    old = values(dtype, (shape[1],), 1)
    for accumulate in (False, True):
        y = old.copy()
        each_isa.launch("LinearBackwardBias", [grad], [y], accumulate=accumulate)
        want = wide(grad).sum(axis=0) + (wide(old) if accumulate else 0)
        check("LinearBackwardBias", dtype, y, want, np.abs(wide(grad)).sum(axis=0) + np.abs(wide(old)))


def test_wrong_shapes_are_refused(cpu: Cpu) -> None:
    with pytest.raises(CpuError, match=r"\[SumForward\]\[INVALID_ARGUMENT\]"):
        cpu.new("SumForward", [np.zeros((3, 4), np.float32)], (3, 2), np.float32)
