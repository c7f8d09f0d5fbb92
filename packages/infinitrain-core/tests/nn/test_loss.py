from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain import nn
from infinitrain.errors import ConfigError, DTypeError, ShapeError
from infinitrain.nn import functional as F

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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.MSELoss("max"), "MSELoss: expected reduction 'mean', 'sum' or 'none', found 'max'"),
        (lambda: nn.MSELoss("batchmean"), "found 'batchmean'"),
        (lambda: nn.KLDivLoss("max"), "'none' or 'batchmean', found 'max'"),
        (lambda: nn.CrossEntropyLoss(label_smoothing=2), r"expected label_smoothing in \[0, 1\], found 2"),
        (lambda: nn.HuberLoss(delta=0.0), "HuberLoss: expected a delta above 0, found 0.0"),
        (lambda: nn.SmoothL1Loss(beta=-1.0), "SmoothL1Loss: expected a beta of at least 0, found -1.0"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, y: F.l1_loss(x, y[:1]), ShapeError, r"l1_loss: expected two tensors of one shape, found \(2, 3\)"),
        (lambda x, y: F.huber_loss(x, y, delta=-1.0), ValueError, "huber_loss: expected a delta above 0, found -1.0"),
        (lambda x, y: F.smooth_l1_loss(x, y, beta=-1.0), ValueError, "smooth_l1_loss: expected a beta of at least 0"),
        (lambda x, y: F.mse_loss(x, y > 0), DTypeError, "mse_loss: expected a target of numbers, found bool"),
        (lambda x, y: F.mse_loss(x.to(it.int64), y), DTypeError, "mse_loss: expected a floating-point tensor"),
        (lambda x, y: F.kl_div(x, y, "max"), ValueError, "kl_div: expected reduction .* or 'batchmean', found 'max'"),
        (
            lambda x, y: F.binary_cross_entropy_with_logits(x, y, pos_weight=it.ones(2, device=x.device)),
            ShapeError,
            r"expected a pos_weight that broadcasts to \(2, 3\), found \(2,\)",
        ),
        (
            lambda x, y: F.cross_entropy(x, it.tensor([0, 1], device=x.device), it.ones(2, device=x.device)),
            ShapeError,
            r"cross_entropy: expected weights of 3 classes, found shape \(2,\)",
        ),
        (lambda x, y: F.nll_loss(x, y), DTypeError, "nll_loss: expected targets of integers"),
    ],
)
def test_what_does_not_fit_is_refused(device, call, error, message):
    x = it.zeros(2, 3, device=device)

    with pytest.raises(error, match=message):
        call(x, it.zeros(2, 3, device=device))


def test_half_types_round_once(device):
    """The mean of 4096 squares of 0.1: in bfloat16 all along it would stop growing at a few percent."""
    x = it.full((4096,), 0.1, dtype=it.bfloat16, device=device)
    loss = nn.MSELoss("sum")(x, it.zeros(4096, dtype=it.bfloat16, device=device))

    assert loss.dtype is it.bfloat16
    assert loss.item() == pytest.approx(4096 * float(x[0].item()) ** 2, rel=2.0**-8)
