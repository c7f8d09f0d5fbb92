from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.nn import LayerNorm


@pytest.mark.parametrize("shape", [(8,), (3, 4)])
def test_rows_have_mean_zero_and_variance_one(device, shape):
    x = np.random.default_rng(0).normal(3.0, 5.0, (6, *shape))
    layer = LayerNorm(shape, device=device, dtype=it.float64)
    y = layer(it.tensor(x, device=device)).detach().numpy().reshape(6, -1)
    variance = x.reshape(6, -1).var(axis=1)

    np.testing.assert_allclose(y.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(y.var(axis=1), variance / (variance + 1e-5), rtol=1e-10)


def test_weight_and_bias_apply(device):
    layer = LayerNorm(4, device=device)
    with it.no_grad():
        layer.weight.fill_(0.0)
        layer.bias.copy_(it.tensor([1.0, 2.0, 3.0, 4.0], device=device))

    assert layer(it.randn(2, 4, device=device)).tolist() == [[1.0, 2.0, 3.0, 4.0]] * 2


def test_parameters_may_be_left_out():
    assert len(list(LayerNorm(4).parameters())) == 2
    assert [name for name, _ in LayerNorm(4, bias=False).named_parameters()] == ["weight"]
    assert list(LayerNorm(4, elementwise_affine=False).parameters()) == []
    assert repr(LayerNorm(4)) == "LayerNorm((4,), eps=1e-05, elementwise_affine=True)"
