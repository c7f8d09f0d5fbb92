from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain import nn
from infinitrain.errors import ConfigError

X = np.array([-2.0, -0.5, 0.0, 1.0, 3.0])


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (nn.ReLU(), np.maximum(X, 0.0)),
        (nn.Tanh(), np.tanh(X)),
        (nn.Sigmoid(), 1.0 / (1.0 + np.exp(-X))),
        (nn.Softmax(dim=0), np.exp(X) / np.exp(X).sum()),
        (nn.LogSoftmax(dim=0), X - np.log(np.exp(X).sum())),
        (nn.GELU("tanh"), X / 2.0 * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (X + 0.044715 * X**3)))),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_values(device, module, expected):
    np.testing.assert_allclose(module(it.tensor(X, device=device)).numpy(), expected, rtol=1e-9, atol=1e-12)


def test_gelu_has_two_forms():
    a, b = nn.GELU()(it.tensor(X)).numpy(), nn.GELU("tanh")(it.tensor(X)).numpy()

    assert 1e-5 < np.abs(a - b).max() < 1e-3
    with pytest.raises(ConfigError, match="expected approximate 'none' or 'tanh', found 'fast'"):
        nn.GELU("fast")


def test_dropout_keeps_the_mean_in_training(device):
    it.manual_seed(0)
    y = nn.Dropout(0.25)(it.ones(20000, device=device)).numpy()

    assert set(np.unique(y)) == {np.float32(0.0), np.float32(1.0 / 0.75)}
    assert (y == 0.0).mean() == pytest.approx(0.25, abs=0.02)


def test_dropout_does_nothing_in_evaluation_or_at_zero():
    x = it.ones(5)

    assert nn.Dropout(0.9).eval()(x) is x
    assert nn.Dropout(0.0)(x) is x
    assert nn.Dropout(1.0)(x).tolist() == [0.0] * 5


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_dropout_refuses_what_is_no_probability(p):
    with pytest.raises(ConfigError, match=r"Dropout: expected p in \[0, 1\]"):
        nn.Dropout(p)


def test_reprs():
    assert repr(nn.GELU("tanh")) == "GELU(approximate='tanh')"
    assert repr(nn.Dropout(0.1)) == "Dropout(p=0.1)"
    assert repr(nn.Softmax(1)) == "Softmax(dim=1)"
