"""Order along a dimension against NumPy: ties, NaN, both directions, every dtype and shape."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import ShapeError

DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
FLOATS = ["float16", "float32", "float64", "bfloat16"]
NAN = float("nan")


def many_ties(dtype, shape):
    rng = np.random.default_rng(len(shape))
    return rng.integers(0, 2 if dtype == "bool" else 6, shape).astype(it.tensor(0, dtype=dtype).dtype.numpy)


@pytest.mark.parametrize("dtype", DTYPES + FLOATS)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_sort_equals_numpy(dtype, dim, device):
    array = many_ties(dtype, (5, 7, 6))
    x = it.tensor(array, device=device)
    wide = array.astype(np.float64)

    values, indices = it.sort(x, dim)
    assert indices.tolist() == np.argsort(wide, axis=dim, kind="stable").tolist()
    assert values.cpu().numpy().tolist() == np.sort(wide, axis=dim).astype(array.dtype).tolist()
    assert values.dtype is x.dtype
    assert indices.dtype is it.int64
    descending = x.sort(dim, descending=True).indices.tolist()
    assert descending == np.argsort(-wide, axis=dim, kind="stable").tolist()
    assert x.argsort(dim, descending=True).tolist() == descending
    assert x.topk(3, dim).indices.tolist() == np.take(np.asarray(descending), range(3), axis=dim).tolist()


def test_bc132_argsort_is_stable_and_nan_is_last(device):
    """BC-132."""
    assert it.tensor([1, 2, 3, 3, 2, 1], device=device).argsort().tolist() == [0, 5, 1, 4, 2, 3]
    x = it.tensor([1.0, NAN, 3.0, NAN, -0.0, 0.0, float("inf")], device=device)
    assert x.argsort().tolist() == [4, 5, 0, 2, 6, 1, 3]
    assert x.argsort(descending=True).tolist() == [1, 3, 6, 2, 0, 4, 5]
    assert x.topk(3).indices.tolist() == [1, 3, 6]
    assert x.topk(6, largest=False).indices.tolist() == [4, 5, 0, 2, 6, 1]


def test_topk_by_position_and_at_its_bounds(device):
    x = it.tensor([[3.0, 1.0, 3.0, 2.0]], device=device)

    assert x.topk(2).indices.tolist() == [[0, 2]]
    assert x.topk(3, sorted=False).indices.tolist() == [[0, 2, 3]]
    assert x.topk(3).indices.tolist() == [[0, 2, 3]]
    assert x.topk(2, largest=False, sorted=False).indices.tolist() == [[1, 3]]
    assert x.topk(2, largest=False).values.tolist() == [[1, 2]]
    assert x.topk(0).values.shape == (1, 0)
    assert it.zeros(0, 3, device=device).topk(2).values.shape == (0, 2)
    for k in (-1, 5):
        with pytest.raises(ShapeError, match=r"k in \[0, 4\]"):
            x.topk(k)
    with pytest.raises(IndexError):
        x.topk(1, 2)


def test_one_element_and_none(device):
    x = it.tensor(3.0, device=device, requires_grad=True)
    values, index = x.sort()
    assert (values.item(), index.item()) == (3, 0)
    values.backward()
    assert x.grad.item() == 1
    assert x.topk(1).indices.item() == 0
    assert it.zeros(3, 0, device=device).sort().values.shape == (3, 0)
    assert it.zeros(0, 2, device=device).sort(0).indices.shape == (0, 2)


def test_a_long_row(device):
    array = np.random.default_rng(0).standard_normal(200_001).astype(np.float32)
    array[::3] = 0.5
    x = it.tensor(array, device=device)
    assert (x.argsort().cpu().numpy() == np.argsort(array, kind="stable")).all()


def test_gradient_goes_to_where_the_values_stood(device):
    x = it.tensor([2.0, 2.0, 1.0, 2.0], device=device, requires_grad=True)
    (x.topk(2).values * it.tensor([10.0, 100.0], device=device)).sum().backward()
    assert x.grad.tolist() == [10, 100, 0, 0]


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted_equals_numpy(right, device):
    rng = np.random.default_rng(0)
    rows, wanted = np.sort(rng.integers(0, 9, (2, 3, 11)), -1), rng.integers(-1, 11, (2, 3, 7))
    side = "right" if right else "left"
    found = it.searchsorted(it.tensor(rows, device=device), it.tensor(wanted, device=device), right=right)
    expected = [
        [np.searchsorted(r, w, side) for r, w in zip(rs, ws, strict=True)] for rs, ws in zip(rows, wanted, strict=True)
    ]
    assert found.tolist() == np.asarray(expected).tolist()
    one = it.searchsorted(it.tensor([1.0, 2.0, 2.0], device=device), it.tensor(2.0, device=device), right=right)
    assert (one.shape, one.item()) == ((), 3 if right else 1)
    assert it.searchsorted(it.zeros(0, device=device), it.zeros(2, device=device), right=right).tolist() == [0, 0]
    with pytest.raises(ShapeError, match="equal leading sizes"):
        it.searchsorted(it.zeros(2, 3, device=device), it.zeros(3, 3, device=device))


def test_unique_equals_numpy(device):
    array = np.random.default_rng(0).integers(0, 5, (4, 6))
    found = it.unique_all(it.tensor(array, device=device))
    expected = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.cpu().numpy().reshape(-1).tolist() == theirs.reshape(-1).tolist()
    assert found.inverse_indices.shape == (4, 6)
    x = it.tensor([NAN, 1.0, NAN], device=device)
    assert it.unique_counts(x)[1].tolist() == [1, 1, 1]  # NaN equals nothing (array API)
    assert it.unique_values(it.zeros(0, device=device)).shape == (0,)
    assert it.unique_inverse(it.tensor([2, 1, 2], device=device))[1].tolist() == [1, 0, 1]
