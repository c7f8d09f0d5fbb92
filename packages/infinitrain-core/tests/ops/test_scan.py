"""Running totals and products against NumPy; gradients where there are zeros; low precision."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import AutogradError

INTS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "bool"]


@pytest.mark.parametrize("dtype", INTS)
def test_totals_of_integers_are_wide(dtype, device):
    array = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 120, (3, 5)).astype(dtype)
    x = it.tensor(array, device=device)
    wide = "uint64" if dtype.startswith("u") else "int64"

    for name in ("cumsum", "cumprod"):
        found = getattr(x, name)(1)
        assert found.dtype.name == wide
        assert found.tolist() == getattr(np, name)(array, 1, dtype=wide).tolist()
    assert x.prod(0).tolist() == np.prod(array, 0, dtype=wide).tolist()
    assert x.count_nonzero(1).tolist() == np.count_nonzero(array, 1).tolist()
    if dtype != "bool":
        assert x.cumsum(0, dtype=dtype).tolist() == np.cumsum(array, 0, dtype=dtype).tolist()


def test_bc033_running_sums_of_low_precision_do_not_stick(device):
    """BC-033."""
    for dtype in (it.bfloat16, it.float16):
        assert it.ones(4096, dtype=dtype, device=device).cumsum(0)[-1].item() == 4096
    assert it.full((600,), 2.0**-4, dtype=it.bfloat16, device=device).cumsum(0)[-1].item() == 37.5


@pytest.mark.parametrize(
    ("row", "expected"),
    [([2.0, 3.0, 4.0], [12, 8, 6]), ([2.0, 0.0, 4.0], [0, 8, 0]), ([0.0, 3.0, 0.0], [0, 0, 0]), ([5.0], [1])],
)
def test_gradient_of_a_product_with_zeros(row, expected, device):
    x = it.tensor(row, device=device, requires_grad=True)
    x.prod().backward()
    assert x.grad.tolist() == expected
    x.grad = None
    x.cumprod(0)[-1].backward()
    assert x.grad.tolist() == expected


def test_bc084_totals_of_nothing(device):
    """BC-084."""
    x = it.zeros(3, 0, device=device, requires_grad=True)
    assert x.prod(1).tolist() == [1, 1, 1]
    assert x.prod().item() == 1
    assert x.prod(0).shape == (0,)
    x.prod(1).sum().backward()
    assert x.grad.shape == (3, 0)
    assert x.cumsum(0).shape == x.cumprod(1).shape == (3, 0)
    assert x.count_nonzero().item() == 0
    zero_d = it.tensor(3.0, device=device)
    assert zero_d.cumsum(0).item() == zero_d.cumprod(-1).item() == zero_d.prod().item() == zero_d.prod(0).item() == 3
    with pytest.raises(IndexError):
        x.cumsum(2)


def test_a_second_derivative_of_running_products_is_refused(device):
    x = it.tensor([2.0, 3.0], device=device, requires_grad=True)
    (first,) = it.autograd.grad(x.cumprod(0).sum(), [x], create_graph=True)
    with pytest.raises(AutogradError, match="second one"):
        first.sum().backward()


def test_products_that_pass_through_the_range(device):
    """Partial products in another order would overflow."""
    x = it.tensor([1e200, 1e-200, 1.0, 1.0] * 8, dtype=it.float64, device=device)
    assert x.prod().item() == pytest.approx(1.0)
    assert x.cumprod(0)[-1].item() == pytest.approx(1.0)
