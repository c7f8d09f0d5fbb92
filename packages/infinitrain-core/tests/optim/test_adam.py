from __future__ import annotations

from math import nan

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import ConfigError
from infinitrain.nn import Parameter
from infinitrain.optim import Adam, AdamW


def one_step(value, grad, device, dtype=it.float32, kind=AdamW, **settings):
    parameter = Parameter(it.tensor([value], dtype=dtype, device=device))
    parameter.grad = it.tensor([grad], dtype=dtype, device=device)
    kind([parameter], **settings).step()
    return parameter.item()


@pytest.mark.parametrize("kind", [AdamW, Adam])
def test_bc068_epsilon_is_added_after_the_correction(device, kind):
    """BC-068: p=1, g=1e-6: the update is 9.9010e-4 (the misplaced form gives 7.597e-4)."""
    value = one_step(1.0, 1e-6, device, it.float64, kind, lr=1e-3, weight_decay=0.0)

    assert 1.0 - value == pytest.approx(9.9009901e-4, rel=1e-6)


def test_bc138_decay_multiplies_the_old_weight(device):
    """BC-138: p=1, g=1, lr=0.1, wd=0.1: 0.8900, not 0.8910."""
    assert one_step(1.0, 1.0, device, lr=0.1, weight_decay=0.1) == pytest.approx(0.8900, abs=1e-6)


def test_adam_adds_the_decay_to_the_gradient(device):
    """With L2 the first step is lr whatever the size of the gradient."""
    assert one_step(1.0, 1.0, device, kind=Adam, lr=0.1, weight_decay=0.1) == pytest.approx(0.9, abs=1e-6)
    assert one_step(1.0, -0.1, device, kind=Adam, lr=0.1, weight_decay=0.1, eps=1e-3) == pytest.approx(1.0)


def reference(p, grads, lr, betas, eps, decay):
    m = v = np.zeros_like(p)
    for step, g in enumerate(grads, 1):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        p = p * (1 - lr * decay) - lr * (m / (1 - betas[0] ** step)) / (np.sqrt(v / (1 - betas[1] ** step)) + eps)
    return p


@pytest.mark.parametrize("dtype", [it.float64, it.float32, it.bfloat16, it.float16])
def test_steps_equal_the_formula(device, dtype):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=(7, 3)), rng.normal(size=(5, 7, 3))
    lr = 2.0**-6  # a learning rate that float32 holds exactly
    parameter = Parameter(it.tensor(start, dtype=dtype, device=device))
    optimizer = AdamW([parameter], lr=lr, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.5)
    for grad in grads:
        parameter.grad = it.tensor(grad, dtype=dtype, device=device)
        optimizer.step()
    found = parameter.detach().to(it.float64).numpy()
    wide = {it.float64: 1e-12, it.float32: 1e-5, it.bfloat16: 3e-2, it.float16: 4e-3}[dtype]

    np.testing.assert_allclose(found, reference(start, grads, lr, (0.8, 0.95), 1e-6, 0.5), rtol=wide, atol=wide)
    state = optimizer.state[parameter]
    assert state["step"] == 5
    assert type(state["step"]) is int
    assert state["exp_avg"].dtype is (it.float64 if dtype is it.float64 else it.float32)


def test_parameters_that_join_later_count_their_own_steps(device):
    a, b = (Parameter(it.ones(1, device=device)) for _ in range(2))
    optimizer = AdamW([a, b], lr=0.1, weight_decay=0.0)
    for step in range(3):
        a.grad = it.ones(1, device=device)
        b.grad = it.ones(1, device=device) if step == 2 else None
        optimizer.step()

    assert [optimizer.state[p]["step"] for p in (a, b)] == [3, 1]
    assert b.item() == pytest.approx(0.9, abs=1e-6)
    assert a.item() == pytest.approx(0.7, abs=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lr": -1.0}, "AdamW: expected lr at least 0.0, found -1.0"),
        ({"lr": nan}, "expected lr at least 0.0, found nan"),
        ({"eps": -1e-8}, "expected eps at least 0.0"),
        ({"weight_decay": -0.1}, "expected weight_decay at least 0.0"),
        ({"betas": (1.0, 0.9)}, r"expected beta1 in \[0.0, 1.0\), found 1.0"),
        ({"betas": (0.9, -0.1)}, r"expected beta2 in \[0.0, 1.0\), found -0.1"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(ConfigError, match=message):
        AdamW([Parameter(it.ones(1))], **settings)


def test_tied_parameter_is_updated_once(device):
    parameter = Parameter(it.ones(1, device=device))
    (parameter * 1.0 + parameter * 2.0).sum().backward()
    AdamW({"params": [parameter]}, lr=0.1, weight_decay=0.0).step()

    assert parameter.item() == pytest.approx(0.9, abs=1e-6)
