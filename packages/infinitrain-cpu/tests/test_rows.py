"""Softmax, LayerNorm, cross-entropy, optimizers: functions of whole rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cpu_driver import DTYPES, SHORT, Cpu, CpuError, check, dtypes_of, values

FLOATS = dtypes_of("SoftmaxForward")
WIDTHS = [1, 3, 16, 63, 64, 65, 130, 1000]


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.astype(np.float64)


def accumulator(dtype: str) -> str:
    return "f64" if dtype == "f64" else "f32"


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", WIDTHS)
def test_softmax(each_isa: Cpu, dtype: str, width: int) -> None:
    x, g = values(dtype, (37, width), 0, -20, 20), values(dtype, (37, width), 1)
    y = each_isa.new("SoftmaxForward", [x], x.shape, x.dtype)
    check("SoftmaxForward", dtype, y, softmax(wide(x)))
    dx = each_isa.new("SoftmaxBackward", [y, g], x.shape, x.dtype)
    check("SoftmaxBackward", dtype, dx, wide(y) * (wide(g) - (wide(g) * wide(y)).sum(axis=-1, keepdims=True)))
    each_isa.launch("SoftmaxForward", [x], [x])
    each_isa.launch("SoftmaxBackward", [y, g], [g])
    assert x.tobytes() == y.tobytes()
    assert g.tobytes() == dx.tobytes()


def test_softmax_at_the_edges(each_isa: Cpu) -> None:
    inf = np.inf
    x = np.array([[-inf] * 3, [-inf, 0, 0], [1e30, 0, -1e30], [np.nan, 0, 0], [3e38, 3e38, -3e38]], np.float32)
    y = each_isa.new("SoftmaxForward", [x], x.shape, x.dtype)

    np.testing.assert_array_equal(
        y, np.array([[np.nan] * 3, [0, 0.5, 0.5], [1, 0, 0], [np.nan] * 3, [0.5, 0.5, 0]], "f4")
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(4, 64, 64), (2, 3, 20, 33), (3, 33, 20), (1, 5), (2, 1, 1)])
def test_causal_softmax(each_isa: Cpu, dtype: str, shape: tuple[int, ...]) -> None:
    x, g = values(dtype, shape, 0, -10, 10), values(dtype, shape, 1)
    q, k = shape[-2:]
    visible = np.tril(np.ones((q, k), bool), k - q)
    with np.errstate(invalid="ignore"):
        want = np.nan_to_num(softmax(np.where(visible, 0.25 * wide(x), -np.inf)))
    y = each_isa.new("CausalSoftmaxForward", [x], shape, x.dtype, scale=0.25)
    check("CausalSoftmaxForward", dtype, y, want)
    assert not y[..., ~visible].any()
    dx = each_isa.new("CausalSoftmaxBackward", [y, g], shape, x.dtype, scale=0.25)
    gy = np.where(visible, wide(g) * wide(y), 0).sum(axis=-1, keepdims=True)
    check("CausalSoftmaxBackward", dtype, dx, np.where(visible, 0.25 * wide(y) * (wide(g) - gy), 0))
    each_isa.launch("CausalSoftmaxForward", [x], [x], scale=0.25)
    assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(each_isa: Cpu, dtype: str, width: int, affine: bool) -> None:
    rows = 150
    x, g = values(dtype, (rows, width), 0, -2, 6), values(dtype, (rows, width), 1)
    w, b = (values(dtype, (width,), s) if affine else None for s in (2, 3))
    a = DTYPES[accumulator(dtype)]
    y, mean, rstd = np.empty_like(x), np.empty(rows, a), np.empty(rows, a)
    each_isa.launch("LayerNormForward", [x, w, b], [y, mean, rstd], eps=1e-5)
    mu, var = wide(x).mean(axis=1, keepdims=True), wide(x).var(axis=1, keepdims=True)
    r = 1 / np.sqrt(var + 1e-5)
    h = (wide(x) - mu) * r
    scale, shift = (wide(w), wide(b)) if w is not None and b is not None else (1.0, 0.0)
    if width > 1:
        check("LayerNormForward", dtype, y, h * scale + shift)
    check("LayerNormForward", accumulator(dtype), mean, mu[:, 0])
    if width > 1:
        check("LayerNormForward", accumulator(dtype), rstd, r[:, 0])
    # The backward from the forward's own statistics.
    mu, r = wide(mean)[:, None], wide(rstd)[:, None]
    h, u = (wide(x) - mu) * r, wide(g) * scale
    want = r * (u - u.mean(axis=1, keepdims=True) - h * (u * h).mean(axis=1, keepdims=True))
    size = r * (
        np.abs(u) + np.abs(u).mean(axis=1, keepdims=True) + np.abs(h) * np.abs(u * h).mean(axis=1, keepdims=True)
    )
    for accumulate in (False, True):
        dx, dw, db = np.empty_like(x), *(values(dtype, (width,), s) for s in (4, 5))
        old_w, old_b = (wide(dw), wide(db)) if accumulate else (0.0, 0.0)
        outputs = [dx, dw, db] if affine else [dx, None, None]
        each_isa.launch("LayerNormBackward", [x, w, mean, rstd, g], outputs, accumulate=accumulate)
        check("LayerNormBackward", dtype, dx, want, size)
        if affine:
            check(
                "LayerNormBackward", dtype, dw, (wide(g) * h).sum(axis=0) + old_w, np.abs(wide(g) * h).sum(axis=0) + 3
            )
            check("LayerNormBackward", dtype, db, wide(g).sum(axis=0) + old_b, np.abs(wide(g)).sum(axis=0) + 3)


def test_layer_norm_of_a_constant_row_and_of_a_large_offset(each_isa: Cpu) -> None:
    x = np.stack([np.full(100, 7.0), 1e4 + np.arange(100) % 2]).astype(np.float32)
    y, mean, rstd = np.empty_like(x), np.empty(2, np.float32), np.empty(2, np.float32)
    each_isa.launch("LayerNormForward", [x, None, None], [y, mean, rstd])

    np.testing.assert_array_equal(y[0], 0)
    np.testing.assert_allclose(y[1], np.where(np.arange(100) % 2, 1, -1), rtol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("classes", [1, 10, 1000, 5003])
def test_cross_entropy(each_isa: Cpu, dtype: str, classes: int) -> None:
    rows = 21
    x = values(dtype, (rows, classes), 0, -15, 15)
    target = np.random.default_rng(1).integers(0, classes, rows)
    target[4] = target[20] = -100
    a = DTYPES[accumulator(dtype)]
    loss, lse = np.empty(rows, a), np.empty(rows, a)
    each_isa.launch("CrossEntropyForward", [x, target], [loss, lse])
    top = wide(x).max(axis=1, keepdims=True)
    want = (top + np.log(np.exp(wide(x) - top).sum(axis=1, keepdims=True)))[:, 0]
    ignored = target == -100
    picked = wide(x)[np.arange(rows), np.where(ignored, 0, target)]
    check("CrossEntropyForward", accumulator(dtype), lse, want, np.abs(want) + np.abs(picked))
    check(
        "CrossEntropyForward",
        accumulator(dtype),
        loss,
        np.where(ignored, 0, want - picked),
        np.abs(want) + np.abs(picked),
    )
    grad = np.linspace(0.5, 2, rows).astype(a)
    one_hot = np.zeros((rows, classes))
    one_hot[np.arange(rows)[~ignored], target[~ignored]] = 1
    expected = np.where(ignored, 0, 1)[:, None] * (np.exp(wide(x) - wide(lse)[:, None]) - one_hot) * grad[:, None]
    dx = each_isa.new("CrossEntropyBackward", [x, target, lse, grad], x.shape, x.dtype)
    check("CrossEntropyBackward", dtype, dx, expected)
    each_isa.launch("CrossEntropyBackward", [x, target, lse, grad], [x])
    assert x.tobytes() == dx.tobytes()


def test_cross_entropy_at_the_edges(each_isa: Cpu) -> None:
    x = np.array([[1e38, -1e38, 0], [-np.inf, 0, -np.inf], [88, 89, 90]], np.float32)
    loss, lse = np.empty(3, np.float32), np.empty(3, np.float32)
    each_isa.launch("CrossEntropyForward", [x, np.array([0, 1, 2])], [loss, lse])

    np.testing.assert_allclose(loss, [0, 0, np.log(np.exp([-2.0, -1.0, 0]).sum())], atol=1e-5)


@pytest.mark.parametrize("bad", [-1, 5, 2**40])
def test_a_target_out_of_range_is_named(cpu: Cpu, bad: int) -> None:
    x, target = np.zeros((3, 5), np.float32), np.array([0, -7, bad])
    loss, lse = np.zeros(3, np.float32), np.zeros(3, np.float32)
    with pytest.raises(CpuError, match=rf"\[CrossEntropyForward\]\[OUT_OF_RANGE\].*{bad} at row 2.*\[0, 5\)") as caught:
        cpu.launch("CrossEntropyForward", [x, target], [loss, lse], ignore_index=-7)
    assert caught.value.status == 13
    with pytest.raises(CpuError, match=rf"\[CrossEntropyBackward\]\[OUT_OF_RANGE\].*{bad} at row 2"):
        cpu.launch("CrossEntropyBackward", [x, target, lse, loss], [x], ignore_index=-7)


@pytest.mark.parametrize("dtype", FLOATS)
def test_accumulate_grad(each_isa: Cpu, dtype: str) -> None:
    y, g = values(dtype, (70, 501)), values(dtype, (70, 501), 1)
    for rate in (None, np.array(-0.37, np.float32)):
        out = y.copy()
        each_isa.launch("AccumulateGrad", [g, rate], [out])
        check("AccumulateGrad", dtype, out, wide(y) + (1 if rate is None else float(rate)) * wide(g))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scaled", [False, True])
def test_adam(each_isa: Cpu, dtype: str, scaled: bool) -> None:
    a = DTYPES[accumulator(dtype)]
    p, g = values(dtype, (41, 503)), values(dtype, (41, 503), 1)
    m, v = values(SHORT[a], p.shape, 2, -0.1, 0.1), values(SHORT[a], p.shape, 3, 0, 0.1)
    lr, step = np.array(3e-3, np.float32), np.array(7, np.int64)
    scale = np.array(0.25, np.float32) if scaled else None
    b1, b2, eps, decay, rate = 0.9, 0.99, 1e-8, 0.1, float(lr)
    grad = wide(g) * (0.25 if scaled else 1)
    m1 = b1 * wide(m) + (1 - b1) * grad
    v1 = b2 * wide(v) + (1 - b2) * grad**2
    p1 = wide(p) * (1 - rate * decay) - rate * (m1 / (1 - b1**7)) / (np.sqrt(v1 / (1 - b2**7)) + eps)
    each_isa.launch("AdamAccumulateGrad", [g, lr, step, scale], [p, m, v], beta2=0.99, weight_decay=0.1)
    check("AdamAccumulateGrad", dtype, p, p1)
    check("AdamAccumulateGrad", accumulator(dtype), m, m1)
    check("AdamAccumulateGrad", accumulator(dtype), v, v1)
