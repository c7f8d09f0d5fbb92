from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import ConfigError, IndexOutOfRange
from infinitrain.nn import Embedding


def test_rows_and_counted_gradients(device):
    layer = Embedding(5, 3, device=device)
    index = np.array([[0, 4, 4], [2, 0, 4]])
    y = layer(it.tensor(index, device=device))
    y.sum().backward()

    np.testing.assert_array_equal(y.detach().numpy(), layer.weight.detach().numpy()[index])
    np.testing.assert_array_equal(layer.weight.grad.numpy(), np.outer([2, 0, 1, 0, 3], np.ones(3)))


@pytest.mark.parametrize("padding", [0, -1])
@pytest.mark.parametrize("count", [769, 5000])
def test_bc110_padding_row_gets_exactly_no_gradient(device, padding, count):
    """BC-110: whatever the number of indices, on every device."""
    layer = Embedding(10, 8, padding_idx=padding, device=device)
    index = np.random.default_rng(0).integers(0, 10, count)
    layer(it.tensor(index, device=device)).sum().backward()
    expected = np.bincount(index, minlength=10).astype("f4")
    expected[padding] = 0.0

    np.testing.assert_array_equal(layer.weight.grad.numpy(), np.outer(expected, np.ones(8)))


def test_padding_row_starts_at_zero():
    layer = Embedding(4, 3, padding_idx=-2, generator=it.Generator(0))

    assert layer.padding_idx == 2
    assert layer.weight.detach().numpy()[2].tolist() == [0.0, 0.0, 0.0]
    assert layer.weight.detach().numpy()[1].any()
    assert repr(layer) == "Embedding(4, 3, padding_idx=2)"


def test_first_values_are_normal():
    values = Embedding(300, 100, generator=it.Generator(0)).weight.detach().numpy()

    assert values.std() == pytest.approx(1.0, rel=0.02)


def test_padding_outside_the_table_is_refused():
    with pytest.raises(ConfigError, match=r"expected padding_idx in \[-4, 4\), found 4"):
        Embedding(4, 3, padding_idx=4)


@pytest.mark.parametrize("bad", [-1, 5])
def test_index_outside_names_bound_and_position(device, bad):
    layer = Embedding(5, 2, device=device)

    with pytest.raises(IndexOutOfRange, match=rf"{bad}.*position 2.*5"):
        layer(it.tensor([0, 1, bad], device=device)).detach().numpy()
