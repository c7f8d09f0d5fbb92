"""Matrix products and the linear layer."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import DTypeError, ShapeError


def values(x):
    return x.detach().cpu().numpy()


SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 5)),
    ((2, 1, 3, 4), (7, 4, 5)),
    ((3, 0), (0, 5)),
    ((0, 4), (4, 5)),
    ((2, 0, 4), (4, 5)),
    ((1, 1), (1, 1)),
]


@pytest.mark.parametrize(("a", "b"), SHAPES, ids=str)
def test_product_equals_numpy(a, b, device):
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal(a).astype(np.float32), rng.standard_normal(b).astype(np.float32)
    expected = left.astype(np.float64) @ right.astype(np.float64)

    y = it.tensor(left, device=device) @ it.tensor(right, device=device)

    assert y.shape == expected.shape
    np.testing.assert_allclose(values(y), expected, rtol=1e-5, atol=1e-5)


def test_product_of_transposed_and_strided_views(device):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((6, 8)).astype(np.float32), rng.standard_normal((10, 6)).astype(np.float32)
    x, y = it.tensor(a, device=device), it.tensor(b, device=device)

    np.testing.assert_allclose(values(x.t() @ y.t()), a.T @ b.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values(x[:, ::2] @ y[::3, :4].t()), a[:, ::2] @ b[::3, :4].T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values(x[1].expand(5, 8) @ x.t()), np.tile(a[1], (5, 1)) @ a.T, rtol=1e-4, atol=1e-5)


def test_products_that_do_not_fit_are_refused(device):
    with pytest.raises(ShapeError, match=r"inner sizes.*\(4, 8\) @ \(6, 2\)"):
        it.ones(4, 8, device=device) @ it.ones(6, 2, device=device)
    with pytest.raises(ShapeError, match="vectors, matrices"):
        it.ones((), device=device) @ it.ones(2, device=device)
    with pytest.raises(DTypeError, match="floating"):
        it.ones(2, 2, dtype=it.int32, device=device) @ it.ones(2, 2, dtype=it.int32, device=device)
    with pytest.raises(ShapeError, match="weight"):
        it.linear(it.ones(2, 3, device=device), it.ones(4, 2, device=device))
    with pytest.raises(ShapeError, match="bias"):
        it.linear(it.ones(2, 3, device=device), it.ones(4, 3, device=device), it.ones(3, device=device))
    with pytest.raises(DTypeError, match="one dtype"):
        it.linear(it.ones(2, 3, device=device), it.ones(4, 3, dtype=it.float64, device=device))


@pytest.mark.parametrize("rows", [1, 31, 33, 1000, 4097])
@pytest.mark.parametrize("dtype", [it.bfloat16, it.float16, it.float32, it.float64], ids=lambda d: d.name)
def test_bias_gradient_is_the_column_sum(rows, dtype, device):
    """BC-104."""
    rng = np.random.default_rng(0)
    bias = it.zeros(5, dtype=dtype, device=device, requires_grad=True)
    start = rng.standard_normal((rows, 5)).astype(dtype.numpy)

    y = it.linear(it.ones(rows, 3, dtype=dtype, device=device), it.ones(5, 3, dtype=dtype, device=device), bias)
    y.backward(it.tensor(start, device=device))

    wide = start.astype(np.float64)
    rtol, atol = {
        "bfloat16": (8e-3, 4e-3),
        "float16": (1e-3, 5e-4),
        "float32": (1e-5, 2e-6),
        "float64": (1e-12, 1e-13),
    }[dtype.name]
    room = atol * np.abs(wide).sum(0) + rtol * np.abs(wide.sum(0))
    assert (np.abs(values(bias.grad).astype(np.float64) - wide.sum(0)) <= room).all()


def test_linear_of_no_rows(device):
    x = it.zeros(0, 3, device=device, requires_grad=True)
    w = it.ones(4, 3, device=device, requires_grad=True)
    b = it.ones(4, device=device, requires_grad=True)

    y = it.linear(x, w, b)
    y.sum().backward()

    assert y.shape == (0, 4)
    assert x.grad.shape == (0, 3)
    assert w.grad.tolist() == np.zeros((4, 3)).tolist()
    assert b.grad.tolist() == [0] * 4
