"""Reductions: values against NumPy, low precision, nothing to reduce, NaN, ties."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import DTypeError, ShapeError


def values(x):
    return x.detach().cpu().numpy()


DIMS = [None, 0, 1, -1, (0, 2), (1, 2), (0, 1, 2), ()]


@pytest.mark.parametrize("dim", DIMS, ids=str)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "var", "std", "any", "all"])
def test_reduction_equals_numpy(name, dim, keepdim, device):
    array = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    if name in ("any", "all"):
        array = (array > 0.2).astype(np.float32)
    axis = None if dim == () else dim
    numpy_name = {"amax": "max", "amin": "min"}.get(name, name)
    extra = {"ddof": 1} if name in ("var", "std") else {}
    expected = getattr(np, numpy_name)(array.astype(np.float64), axis=axis, keepdims=keepdim, **extra)

    for layout in (lambda x: x, lambda x: x.permute(2, 0, 1).permute(1, 2, 0)):
        y = getattr(layout(it.tensor(array, device=device)), name)(dim, keepdim=keepdim)
        assert y.shape == expected.shape
        np.testing.assert_allclose(values(y), expected, rtol=1e-5, atol=1e-6)


def test_dimensions_that_are_not_there_are_refused(device):
    x = it.ones(2, 3, device=device)

    with pytest.raises(IndexError):
        x.sum(2)
    with pytest.raises(ShapeError, match="different dimensions"):
        x.sum((0, -2))
    with pytest.raises(DTypeError, match="mean"):
        it.arange(3, device=device).mean()
    assert it.tensor(3.0, device=device).sum(0).item() == 3


def test_bc033_low_precision_accumulates_in_float32(device):
    """BC-033."""
    assert it.ones(512, dtype=it.bfloat16, device=device).sum().item() == 512
    assert it.ones(1024, dtype=it.bfloat16, device=device).sum().item() == 1024
    assert it.zeros(512, dtype=it.bfloat16, device=device).softmax(0).tolist() == [1 / 512] * 512
    array = np.random.default_rng(0).random(10000).astype(it.bfloat16.numpy)
    mean = it.tensor(array, device=device).mean().item()
    assert abs(mean - array.astype(np.float64).mean()) <= 2**-9


def test_broadcast_gradient_of_a_large_sum_in_bfloat16(device):
    b = it.zeros(512, dtype=it.bfloat16, device=device, requires_grad=True)
    x = it.ones(8192, 512, dtype=it.bfloat16, device=device)

    (x + b).sum(0).sum().backward()

    assert b.grad.tolist() == [8192] * 512


def test_sums_of_integers_are_wide(device):
    assert it.full((1000,), 100, dtype=it.uint8, device=device).sum().item() == 100_000
    assert it.ones(3, dtype=it.uint8, device=device).sum().dtype is it.uint64
    assert it.ones(3, dtype=it.int8, device=device).sum().dtype is it.int64
    assert it.ones(3, dtype=it.bool, device=device).sum().item() == 3
    assert it.ones(3, device=device).sum(dtype=it.float64).dtype is it.float64


def test_bc084_nothing_to_reduce(device):
    """BC-084."""
    x = it.zeros(0, 4, device=device)

    assert x.amax(1).shape == (0,)
    assert x.max(1).values.shape == (0,)
    assert x.sum(0).tolist() == [0, 0, 0, 0]
    assert np.isnan(x.mean().item())
    assert x.sum().item() == 0
    assert it.zeros(2, 2, 0, 3, device=device).sum(2, keepdim=True).tolist() == np.zeros((2, 2, 1, 3)).tolist()
    assert not x.any().item()
    assert x.all().item()
    assert x.norm().item() == 0
    for empty in (lambda: x.max(0), lambda: x.max(), lambda: x.min(), lambda: x.argmax(), lambda: x.amin(0)):
        with pytest.raises(ShapeError, match="at least one element"):
            empty()


def test_bc132_argmax_takes_the_first(device):
    """BC-132."""
    nan = float("nan")

    assert it.tensor([3.0, 3.0, 1.0], device=device).argmax().item() == 0
    assert it.tensor([1.0, nan, 3.0, nan], device=device).argmax().item() == 1
    assert it.tensor([1, 5, 5], device=device).argmax(0).item() == 1
    assert it.tensor([[2, 1], [1, 1]], device=device).argmin().item() == 1
    assert it.tensor([[2, 1], [1, 1]], device=device).argmin(1, keepdim=True).tolist() == [[1], [0]]
    assert it.tensor([True, True], device=device).argmax().item() == 0
    assert it.tensor(4.0, device=device).argmax().item() == 0


def test_max_with_a_dimension(device):
    array = np.random.default_rng(0).integers(0, 3, (4, 5))
    values_, indices = it.tensor(array, device=device).max(1, keepdim=True)

    assert values_.tolist() == array.max(1, keepdims=True).tolist()
    assert indices.tolist() == array.argmax(1, keepdims=True).tolist()
    assert it.tensor([1, 5], device=device).max(it.tensor([3, 3], device=device)).tolist() == [3, 5]
    assert it.tensor([1, 5], device=device).min(0).indices.item() == 0


def test_bc089_norm_of_a_zero_vector_has_gradient_zero(device):
    """BC-089."""
    x = it.zeros(3, device=device, requires_grad=True)
    x.norm().backward()
    y = it.tensor([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]], device=device, requires_grad=True)
    y.norm(dim=1).sum().backward()

    assert x.grad.tolist() == [0, 0, 0]
    np.testing.assert_allclose(values(y.grad), [[0, 0, 0], [1 / 3, 2 / 3, 2 / 3]], rtol=1e-6)


def test_norms(device):
    array = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    x = it.tensor(array, device=device)

    assert x.norm().item() == pytest.approx(np.linalg.norm(array), rel=1e-6)
    assert x.norm(1).item() == pytest.approx(np.abs(array).sum(), rel=1e-6)
    assert x.norm(float("inf")).item() == np.abs(array).max()
    np.testing.assert_allclose(
        values(x.norm(dim=1, keepdim=True)), np.linalg.norm(array, axis=1, keepdims=True), rtol=1e-6
    )
    assert it.full((4,), 300.0, dtype=it.float16, device=device).norm().item() == 600  # the square is no float16
    for p in (0, 0.5, 3, float("-inf")):
        expected = np.linalg.norm(array.reshape(-1), p)
        assert x.norm(p).item() == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(values(x.norm(p, dim=0)), np.linalg.norm(array, p, axis=0), rtol=1e-5)
    with pytest.raises(ShapeError, match="at least one element"):
        it.zeros(0, device=device).norm(float("-inf"))


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, float("inf"), float("-inf")])
def test_bc089_every_norm_of_a_zero_vector_has_gradient_zero(p, device):
    """BC-089: whatever the order."""
    x = it.tensor([[0.0, 0.0], [3.0, -4.0]], device=device, requires_grad=True)
    y = x.norm(p, dim=1)
    if y.requires_grad:
        y.sum().backward()
        assert x.grad[0].tolist() == [0, 0]
        assert np.isfinite(values(x.grad)).all()
    assert y[0].item() == 0


def test_variance_keeps_its_digits_when_the_mean_is_large(device):
    array = (1000 + np.arange(16) * 1e-3).astype(np.float32)

    assert it.tensor(array, device=device).var().item() == pytest.approx(array.astype(np.float64).var(ddof=1), rel=1e-3)


def test_gradient_of_the_maximum_with_nan_goes_to_nan(device):
    x = it.tensor([1.0, float("nan"), 2.0], device=device, requires_grad=True)

    x.max().backward()

    assert x.grad.tolist() == [0, 1, 0]


def test_argmax_without_its_kernel(device, monkeypatch):
    from infinitrain.ops import reduce

    array = np.random.default_rng(0).integers(-3, 3, (3, 4, 5)).astype(np.float32)
    array[1, 2, 3] = np.nan
    x = it.tensor(array, device=device)
    with_kernel = [(f(d, k).tolist()) for f in (x.argmax, x.argmin) for d in (None, 0, 1, 2) for k in (False, True)]
    monkeypatch.setattr(reduce, "has_kernel", lambda *_: False)
    without = [(f(d, k).tolist()) for f in (x.argmax, x.argmin) for d in (None, 0, 1, 2) for k in (False, True)]

    assert without == with_kernel
    for d in (0, 1, 2):
        assert x.argmax(d).tolist() == array.argmax(d).tolist()
        assert x.argmin(d).tolist() == array.argmin(d).tolist()


def test_gradient_of_the_largest_goes_to_its_index_or_to_all_ties(device):
    x = it.tensor([[1.0, 3.0, 3.0], [3.0, 2.0, 3.0]], device=device, requires_grad=True)
    x.max(1).values.sum().backward()
    assert x.grad.tolist() == [[0, 1, 0], [1, 0, 0]]
    x.grad = None
    x.amax(1).sum().backward()
    assert x.grad.tolist() == [[0, 0.5, 0.5], [0.5, 0, 0.5]]


@pytest.mark.heavy
def test_more_elements_than_a_32_bit_number_counts():
    size = 2**31 + 9
    x = it.zeros(size, dtype=it.uint8)
    x[size - 2] = 3

    assert x.argmax().item() == size - 2
    assert x.max().item() == 3
    assert x.sum(dtype=it.uint8).item() == 3
    assert it.ones(size, dtype=it.uint8).cumsum(0, dtype=it.uint8)[-1].item() == size % 256
