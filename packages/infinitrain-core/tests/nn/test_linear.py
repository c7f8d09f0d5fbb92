from __future__ import annotations

from math import sqrt

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import ShapeError
from infinitrain.nn import Identity, Linear


def test_values_and_gradients_match_numpy(device):
    layer = Linear(3, 2, device=device, generator=it.Generator(0))
    weight, bias = layer.weight.detach().cpu().numpy(), layer.bias.detach().cpu().numpy()
    x = np.arange(12, dtype="f4").reshape(2, 2, 3)
    y = layer(it.tensor(x, device=device))
    y.sum().backward()

    np.testing.assert_allclose(y.detach().numpy(), x @ weight.T + bias, rtol=1e-5)
    np.testing.assert_allclose(layer.weight.grad.numpy(), np.tile(x.reshape(-1, 3).sum(0), (2, 1)), rtol=1e-5)
    np.testing.assert_allclose(layer.bias.grad.numpy(), [4.0, 4.0])


def test_first_values_are_within_torchs_bound():
    layer = Linear(100, 500, generator=it.Generator(1))

    for parameter in (layer.weight, layer.bias):
        values = parameter.detach().numpy()
        assert np.abs(values).max() <= 0.1
        assert values.std() == pytest.approx(0.1 / sqrt(3.0), rel=0.05)


def test_no_bias_and_no_inputs():
    assert Linear(2, 2, bias=False).bias is None
    np.testing.assert_array_equal(Linear(0, 2)(it.zeros(3, 0)).detach().numpy(), np.zeros((3, 2)))


def test_dtype_and_device(device):
    layer = Linear(2, 2, device=device, dtype=it.bfloat16)

    assert layer.weight.dtype is layer.bias.dtype is it.bfloat16
    assert str(layer.weight.device) == str(it.Device(device))


def test_undrawn_layer_consumes_no_randomness():
    it.manual_seed(0)
    Linear(2, 2, reset=False)

    assert it.get_rng_state()["offset"] == 0


def test_wrong_width_names_both_shapes():
    with pytest.raises(ShapeError, match=r"3.*4|4.*3"):
        Linear(3, 2)(it.zeros(2, 4))


def test_identity_gives_back():
    x = it.ones(1)

    assert Identity()(x) is x
