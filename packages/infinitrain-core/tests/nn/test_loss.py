from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain import nn
from infinitrain.errors import ConfigError

LOGITS = np.random.default_rng(0).normal(size=(5, 4))
TARGET = np.array([0, 3, -100, 1, 2])


def by_row():
    logp = LOGITS - np.log(np.exp(LOGITS).sum(1, keepdims=True))
    return np.where(TARGET < 0, 0.0, -logp[np.arange(5), np.maximum(TARGET, 0)])


@pytest.mark.parametrize(
    ("reduction", "expected"), [("none", by_row()), ("sum", by_row().sum()), ("mean", by_row().sum() / 4)]
)
def test_cross_entropy(device, reduction, expected):
    loss = nn.CrossEntropyLoss(reduction=reduction)(it.tensor(LOGITS, device=device), it.tensor(TARGET, device=device))

    np.testing.assert_allclose(loss.numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_bc046_cross_entropy_of_nothing_is_zero_with_zero_gradients(device, reduction):
    """BC-046, with this project's answer: the loss over no valid target is 0."""
    logits = it.tensor(LOGITS, device=device, requires_grad=True)
    loss = nn.CrossEntropyLoss(reduction=reduction)(logits, it.full((5,), -100, device=device))
    loss.sum().backward()

    assert not loss.detach().numpy().any()
    assert not logits.grad.numpy().any()


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_mse(device, reduction):
    a, b = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    squares = (a - b) ** 2
    expected = {"none": squares, "sum": squares.sum(), "mean": squares.mean()}[reduction]

    np.testing.assert_allclose(
        nn.MSELoss(reduction)(it.tensor(a, device=device), it.tensor(b, device=device)).numpy(), expected
    )


def test_settings_are_checked():
    with pytest.raises(ConfigError, match="expected reduction 'mean', 'sum' or 'none', found 'max'"):
        nn.MSELoss("max")
    with pytest.raises(ConfigError, match=r"expected label_smoothing in \[0, 1\], found 2"):
        nn.CrossEntropyLoss(label_smoothing=2)
