from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import ConfigError
from infinitrain.nn import Parameter
from infinitrain.optim import SGD


def reference(p, grads, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
    buffer = None
    for g in grads:
        g = g + weight_decay * p
        if momentum:
            buffer = g.copy() if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - lr * g
    return p


@pytest.mark.parametrize("dtype", [it.float32, it.float64])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"weight_decay": 0.1},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True},
    ],
)
def test_steps_equal_the_formula(device, dtype, settings):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=(4, 3)), rng.normal(size=(5, 4, 3))
    parameter = Parameter(it.tensor(start, dtype=dtype, device=device))
    optimizer = SGD([parameter], lr=0.1, **settings)
    for grad in grads:
        parameter.grad = it.tensor(grad, dtype=dtype, device=device)
        optimizer.step()
        np.testing.assert_array_equal(parameter.grad.numpy(), grad.astype(dtype.numpy))

    # Rates are float32 on the device, whatever the parameter's dtype.
    np.testing.assert_allclose(
        parameter.detach().numpy(), reference(start, grads, 0.1, **settings), rtol=2e-5, atol=1e-6
    )


def test_plain_descent_keeps_no_state(device):
    parameter = Parameter(it.ones(1, device=device))
    parameter.grad = it.ones(1, device=device)
    optimizer = SGD([parameter])
    optimizer.step()

    assert optimizer.state == {}
    assert optimizer.state_dict()["state"] == {}


def test_half_types_round_once(device):
    parameter = Parameter(it.ones(1, dtype=it.bfloat16, device=device))
    parameter.grad = it.full((1,), 1.0, dtype=it.bfloat16, device=device)
    SGD([parameter], lr=0.3).step()

    assert parameter.item() == 0.69921875  # the bfloat16 nearest to 0.7


@pytest.mark.parametrize("settings", [{"momentum": 0.0}, {"momentum": 0.9, "dampening": 0.1}])
def test_nesterov_needs_momentum_without_dampening(settings):
    with pytest.raises(ConfigError, match="with nesterov=True, found momentum"):
        SGD([Parameter(it.ones(1))], nesterov=True, **settings)


@pytest.mark.parametrize("name", ["lr", "momentum", "weight_decay"])
def test_settings_out_of_range(name):
    with pytest.raises(ConfigError, match=f"SGD: expected {name} at least 0.0, found -1.0"):
        SGD([Parameter(it.ones(1))], **{name: -1.0})
