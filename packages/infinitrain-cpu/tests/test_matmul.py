"""Products against float64, in every layout that the table allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cpu_driver import DTYPES, Cpu, CpuError, check, dtypes_of, values

FLOATS = dtypes_of("MatmulForward")


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.astype(np.float64)


def check_product(name: str, dtype: str, found: Any, a: Any, b: Any, old: Any = None) -> None:
    want, magnitude = wide(a) @ wide(b), np.abs(wide(a)) @ np.abs(wide(b))
    if old is not None:
        want, magnitude = want + wide(old), magnitude + np.abs(wide(old))
    check(name, dtype, found, want, magnitude)


SIZES = [
    (1, 1, 1),
    (3, 5, 7),
    (64, 64, 64),
    (256, 100, 33),
    (1, 300, 70),
    (300, 1, 70),
    (33, 2000, 17),
    (500, 700, 600),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_matmul(cpu: Cpu, dtype: str, size: tuple[int, int, int]) -> None:
    m, n, k = size
    a, b = values(dtype, (m, k)), values(dtype, (k, n), 1)
    check_product("MatmulForward", dtype, cpu.new("MatmulForward", [a, b], (m, n), a.dtype), a, b)
    old = values(dtype, (m, n), 2)
    y = old.copy()
    cpu.launch("MatmulForward", [a, b], [y], accumulate=True)
    check_product("MatmulForward", dtype, y, a, b, old)


LAYOUTS = {
    "compact": lambda x: x,
    "transposed": lambda x: np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "padded": lambda x: np.concatenate([x, x], axis=-1)[..., : x.shape[-1]],
    "padded transposed": lambda x: np.concatenate([x.swapaxes(-1, -2)] * 2, axis=-1)[..., : x.shape[-2]].swapaxes(
        -1, -2
    ),
}


@pytest.mark.parametrize("a_layout", LAYOUTS)
@pytest.mark.parametrize("b_layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16"])
def test_layouts(cpu: Cpu, dtype: str, a_layout: str, b_layout: str) -> None:
    for m, n, k in ((20, 30, 40), (300, 1, 20), (1, 70, 20), (5, 6, 1), (900, 800, 30)):
        a, b = LAYOUTS[a_layout](values(dtype, (m, k))), LAYOUTS[b_layout](values(dtype, (k, n), 1))
        check_product("MatmulForward", dtype, cpu.new("MatmulForward", [a, b], (m, n), a.dtype), a, b)


@pytest.mark.parametrize("dtype", FLOATS)
def test_batches_of_views(cpu: Cpu, dtype: str) -> None:
    """Attention's products: heads cut out of one projection, keys transposed."""
    b, t, h, d = 3, 20, 4, 16
    qkv = values(dtype, (b, t, 3, h, d))
    q, k, v = (qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    scores = cpu.new("MatmulForward", [q, k.swapaxes(-1, -2)], (b, h, t, t), q.dtype)
    check_product("MatmulForward", dtype, scores, q, k.swapaxes(-1, -2))
    check_product("MatmulForward", dtype, cpu.new("MatmulForward", [scores, v], (b, h, t, d), q.dtype), scores, v)
    turned = scores.swapaxes(-1, -2)
    check_product("MatmulForward", dtype, cpu.new("MatmulForward", [turned, v], (b, h, t, d), q.dtype), turned, v)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_broadcast_batches(cpu: Cpu, dtype: str) -> None:
    a, w = values(dtype, (5, 6, 30, 40)), values(dtype, (40, 50), 1)
    b = np.broadcast_to(w, (5, 6, 40, 50))
    check_product("MatmulForward", dtype, cpu.new("MatmulForward", [a, b], (5, 6, 30, 50), a.dtype), a, b)
    one = np.broadcast_to(a[:1, :1], a.shape)
    many = values(dtype, (5, 6, 40, 50), 2)
    check_product("MatmulForward", dtype, cpu.new("MatmulForward", [one, many], (5, 6, 30, 50), a.dtype), one, many)
    old = values(dtype, (5, 6, 30, 50), 3)
    y = old.copy()
    cpu.launch("MatmulForward", [a, b], [y], accumulate=True)
    check_product("MatmulForward", dtype, y, a, b, old)


@pytest.mark.parametrize("dtype", FLOATS)
def test_empty_sizes(cpu: Cpu, dtype: str) -> None:
    d = DTYPES[dtype]
    zeros = cpu.new("MatmulForward", [np.zeros((3, 0), d), np.zeros((0, 4), d)], (3, 4), d)
    kept = np.ones((3, 4), d)
    cpu.launch("MatmulForward", [np.zeros((3, 0), d), np.zeros((0, 4), d)], [kept], accumulate=True)
    bias = values(dtype, (4,))
    linear = cpu.new("LinearForward", [np.zeros((3, 0), d), np.zeros((4, 0), d), bias], (3, 4), d)

    assert not zeros.any()
    assert (kept == 1).all()
    np.testing.assert_array_equal(linear, np.broadcast_to(bias, (3, 4)))
    assert cpu.new("MatmulForward", [np.zeros((0, 5), d), np.zeros((5, 4), d)], (0, 4), d).size == 0
    assert cpu.new("MatmulForward", [np.zeros((0, 3, 5), d), np.zeros((0, 5, 4), d)], (0, 3, 4), d).size == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_old_garbage_does_not_leak(cpu: Cpu, dtype: str) -> None:
    y = np.full((40, 50), np.nan, DTYPES[dtype])
    a, b = values(dtype, (40, 60)), values(dtype, (60, 50), 1)
    cpu.launch("MatmulForward", [a, b], [y])
    check_product("MatmulForward", dtype, y, a, b)


def test_nan_and_infinity_spread_as_arithmetic_says(cpu: Cpu) -> None:
    a, b = np.ones((4, 4), np.float32), np.ones((4, 4), np.float32)
    a[1, 2], a[2, 0], b[0, 3] = np.nan, np.inf, 0
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(cpu.new("MatmulForward", [a, b], (4, 4), a.dtype), a @ b)


LINEAR = [(256, 768, 768), (5, 3, 4), (1, 70, 30), (300, 10, 1100)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", LINEAR)
def test_linear(cpu: Cpu, dtype: str, size: tuple[int, int, int]) -> None:
    r, i, o = size
    x, w, bias, g = (values(dtype, s, n, -1, 1) for n, s in enumerate([(r, i), (o, i), (o,), (r, o)]))
    y = cpu.new("LinearForward", [x, w, None], (r, o), x.dtype)
    check_product("LinearForward", dtype, y, x, w.T)
    y = cpu.new("LinearForward", [x, w, bias], (r, o), x.dtype)
    check_product("LinearForward", dtype, y, x, w.T, np.broadcast_to(bias, (r, o)))
    for accumulate in (False, True):
        dx, dw = values(dtype, (r, i), 7), values(dtype, (o, i), 8)
        old_dx, old_dw = (dx.copy(), dw.copy()) if accumulate else (None, None)
        cpu.launch("LinearBackwardInput", [g, w], [dx], accumulate=accumulate)
        cpu.launch("LinearBackwardWeight", [x, g], [dw], accumulate=accumulate)
        check_product("LinearBackwardInput", dtype, dx, g, w, old_dx)
        check_product("LinearBackwardWeight", dtype, dw, g.T, x, old_dw)


def test_half_types_accumulate_in_float32(cpu: Cpu) -> None:
    """A bfloat16 running sum of ones would stop at 256."""
    for dtype in ("bf16", "f16"):
        ones = np.ones((2, 2048), DTYPES[dtype])
        assert (cpu.new("MatmulForward", [ones, ones.T.copy()], (2, 2), ones.dtype).astype(np.float64) == 2048).all()


def test_wrong_launches_are_refused(cpu: Cpu) -> None:
    a = np.zeros((4, 6), np.float32)
    for inputs, y in (
        ([a, np.zeros((5, 3), np.float32)], np.zeros((4, 3), np.float32)),
        ([a, np.zeros((6, 3), np.float32)], np.zeros((4, 4), np.float32)),
        ([a[:, ::2], np.zeros((3, 3), np.float32)], np.zeros((4, 3), np.float32)),
    ):
        with pytest.raises(CpuError, match=r"\[MatmulForward\]\[INVALID_ARGUMENT\]"):
            cpu.launch("MatmulForward", inputs, [y])
    half = np.zeros((4, 4), np.float16)
    with pytest.raises(CpuError, match="expected a workspace of"):
        cpu.launch("MatmulForward", [half, half], [half.copy()], workspace=False)
