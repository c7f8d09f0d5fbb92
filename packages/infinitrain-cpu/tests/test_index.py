"""Reading and writing by index, and triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cpu_driver import DTYPES, Cpu, CpuError, check, dtypes_of, values


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.astype(np.float64)


def indices(shape: tuple[int, ...], bound: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, bound, shape)


@pytest.mark.parametrize("dtype", dtypes_of("EmbeddingForward"))
def test_embedding(cpu: Cpu, dtype: str) -> None:
    w, index = values(dtype, (50, 33)), indices((700,), 50)
    y = cpu.new("EmbeddingForward", [index, w], (700, 33), w.dtype)

    assert y.tobytes() == w[index].tobytes()


@pytest.mark.parametrize("dtype", dtypes_of("EmbeddingBackward"))
@pytest.mark.parametrize("size", [(50, 33, 700), (1000, 1500, 30), (3, 4, 0), (7, 1, 5000)])
def test_embedding_backward(each_isa: Cpu, dtype: str, size: tuple[int, int, int]) -> None:
    rows, columns, n = size
    g, index = values(dtype, (n, columns)), indices((n,), rows)
    total, magnitude = np.zeros((rows, columns)), np.zeros((rows, columns))
    np.add.at(total, index, wide(g))
    np.add.at(magnitude, index, np.abs(wide(g)))
    for accumulate in (False, True):
        dw = values(dtype, (rows, columns), 1)
        old = wide(dw) if accumulate else np.zeros_like(total)
        each_isa.launch("EmbeddingBackward", [index, g], [dw], accumulate=accumulate)
        check("EmbeddingBackward", dtype, dw, total + old, magnitude + np.abs(old))


def test_embedding_backward_adds_in_ascending_order(cpu: Cpu) -> None:
    g = np.array([[1e8], [1.0], [-1e8], [1.0]], np.float32)
    dw = cpu.new("EmbeddingBackward", [np.zeros(4, np.int64), g], (2, 1), g.dtype)

    assert dw.tolist() == [[1.0], [0.0]]


GATHERS = [
    ((40,), (25,), 0),
    ((6, 50), (6, 20), 1),
    ((30, 40), (90, 40), 0),
    ((30, 40), (9, 7), 0),
    ((5, 6, 7), (5, 9, 7), 1),
    ((5, 6, 7), (3, 2, 20), 2),
    ((4, 5, 6, 7), (4, 5, 8, 7), 2),
    ((200, 300), (200, 3), 1),
]


def coordinates(index: np.ndarray[Any, Any], dim: int) -> tuple[np.ndarray[Any, Any], ...]:
    grid = list(np.indices(index.shape))
    grid[dim] = index
    return tuple(grid)


@pytest.mark.parametrize(("shape", "index_shape", "dim"), GATHERS)
@pytest.mark.parametrize("dtype", ["bool", "i16", "bf16", "f32", "f64"])
def test_gather_and_scatter(cpu: Cpu, dtype: str, shape: Any, index_shape: Any, dim: int) -> None:
    x, index = values(dtype, shape), indices(index_shape, shape[dim])
    where = coordinates(index, dim)
    y = cpu.new("GatherForward", [x, index], index_shape, x.dtype, dim=dim)
    assert y.tobytes() == x[where].tobytes()
    v, out = values(dtype, index_shape, 1), x.copy()
    cpu.launch("ScatterForward", [index, v], [out], dim=dim)
    want = x.copy()
    flat = np.ravel_multi_index(where, shape).ravel()
    for i, place in enumerate(flat.tolist()):  # one by one: the last of equal indices stays
        want.reshape(-1)[place] = v.reshape(-1)[i]
    assert out.tobytes() == want.tobytes()


@pytest.mark.parametrize(("shape", "index_shape", "dim"), GATHERS)
@pytest.mark.parametrize("dtype", dtypes_of("GatherBackward"))
def test_gather_backward(cpu: Cpu, dtype: str, shape: Any, index_shape: Any, dim: int) -> None:
    g, index = values(dtype, index_shape), indices(index_shape, shape[dim])
    total, magnitude = np.zeros(shape), np.zeros(shape)
    np.add.at(total, coordinates(index, dim), wide(g))
    np.add.at(magnitude, coordinates(index, dim), np.abs(wide(g)))
    for accumulate in (False, True):
        dx = values(dtype, shape, 1)
        old = wide(dx) if accumulate else np.zeros(shape)
        cpu.launch("GatherBackward", [g, index], [dx], dim=dim, accumulate=accumulate)
        check("GatherBackward", dtype, dx, total + old, magnitude + np.abs(old))


def test_indices_out_of_range_are_named_and_nothing_is_written(cpu: Cpu) -> None:
    w = values("f32", (10, 4))
    for bad in (10, -1, 2**62):
        index = np.array([0, 1, 2, bad, bad + 1])
        text = rf"OUT_OF_RANGE\] index {bad} at position 3 is outside \[0, 10\)"
        out = w.copy()
        with pytest.raises(CpuError, match=rf"\[EmbeddingForward\]\[{text}") as caught:
            cpu.new("EmbeddingForward", [index, w], (5, 4), w.dtype)
        assert caught.value.status == 13
        with pytest.raises(CpuError, match=rf"\[EmbeddingBackward\]\[{text}"):
            cpu.launch("EmbeddingBackward", [index, np.ones((5, 4), np.float32)], [out])
        column = np.ascontiguousarray(np.broadcast_to(index[:, None], (5, 1)))
        with pytest.raises(CpuError, match=rf"\[GatherForward\]\[{text}"):
            cpu.new("GatherForward", [w, column], (5, 1), w.dtype, dim=0)
        with pytest.raises(CpuError, match=rf"\[ScatterForward\]\[{text}"):
            cpu.launch("ScatterForward", [column, np.ones((5, 1), np.float32)], [out], dim=0)
        with pytest.raises(CpuError, match=rf"\[GatherBackward\]\[{text}"):
            cpu.launch("GatherBackward", [np.ones((5, 1), np.float32), column], [out], dim=0)
        assert out.tobytes() == w.tobytes()


def test_the_first_bad_index_of_many_is_named(cpu: Cpu) -> None:
    index = np.zeros(1_000_000, np.int64)
    index[[300_000, 300_001, 999_999]] = 7, 8, 9
    with pytest.raises(CpuError, match="index 7 at position 300000 is"):
        cpu.new("EmbeddingForward", [index, np.zeros((5, 1), np.uint8)], (1_000_000, 1), np.uint8)


def test_wrong_gathers_are_refused(cpu: Cpu) -> None:
    x = np.zeros((3, 4), np.float32)
    for index, dim in ((np.zeros((3,), np.int64), 0), (np.zeros((3, 4), np.int64), 2), (np.zeros((4, 4), np.int64), 1)):
        with pytest.raises(CpuError, match=r"\[GatherForward\]\[INVALID_ARGUMENT\]"):
            cpu.new("GatherForward", [x, index], index.shape, x.dtype, dim=dim)


@pytest.mark.parametrize("dtype", dtypes_of("TrilForward"))
@pytest.mark.parametrize("shape", [(7, 7), (3, 5, 9), (2, 9, 4), (300, 300)])
def test_triangles(cpu: Cpu, dtype: str, shape: tuple[int, ...]) -> None:
    x = values(dtype, shape)
    for diagonal in (0, 1, -2, 50, -50, 2**63 - 1, -(2**63)):
        near = max(min(diagonal, 1000), -1000)
        keep = np.subtract.outer(np.arange(shape[-2]), np.arange(shape[-1]))
        for name, kept in (("TrilForward", -keep <= near), ("TriuForward", -keep >= near)):
            y = cpu.new(name, [x], shape, x.dtype, diagonal=diagonal)
            assert y.tobytes() == np.where(kept, x, np.zeros((), x.dtype)).astype(DTYPES[dtype]).tobytes()
            z = x.copy()
            cpu.launch(name, [z], [z], diagonal=diagonal)
            assert z.tobytes() == y.tobytes()
