"""Batch normalisation against torch.nn: values, gradients and running values, step by step and then in eval()."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import infinitrain as it  # noqa: E402
from infinitrain import nn  # noqa: E402
from infinitrain.errors import ShapeError  # noqa: E402

CASES = {
    "2d": (lambda n: n.BatchNorm2d(3), (4, 3, 5, 2)),
    "2d-settings": (lambda n: n.BatchNorm2d(3, eps=1e-2, momentum=0.5), (4, 3, 5, 2)),
    "2d-cumulative": (lambda n: n.BatchNorm2d(3, momentum=None), (4, 3, 5, 2)),
    "2d-plain": (lambda n: n.BatchNorm2d(3, affine=False), (4, 3, 5, 2)),
    "2d-untracked": (lambda n: n.BatchNorm2d(3, track_running_stats=False), (4, 3, 5, 2)),
    "1d": (lambda n: n.BatchNorm1d(5), (6, 5)),
    "1d-long": (lambda n: n.BatchNorm1d(5), (2, 5, 4)),
}


def equal(found, expected):
    np.testing.assert_allclose(found.detach().cpu().numpy(), expected.detach().numpy(), rtol=3e-6, atol=3e-6)


@pytest.mark.parametrize("name", CASES)
def test_training_and_evaluation_equal_torch(device, name):
    make, shape = CASES[name]
    ours, theirs = make(nn).to(device), make(torch.nn)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    if theirs.weight is not None:
        with torch.no_grad():
            theirs.weight.copy_(torch.linspace(0.5, 2.0, shape[1]))
            theirs.bias.copy_(torch.linspace(-1.0, 1.0, shape[1]))
        ours.load_state_dict({key: it.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    rng = np.random.default_rng(0)
    for step in range(4):
        if step == 3:
            ours.eval()
            theirs.eval()
        array = (rng.standard_normal(shape) * 2 + 3).astype(np.float32)
        x, t = it.tensor(array, device=device, requires_grad=True), torch.tensor(array, requires_grad=True)
        y, expected = ours(x), theirs(t)
        (y * y * y).sum().backward()
        (expected * expected * expected).sum().backward()

        equal(y, expected)
        np.testing.assert_allclose(x.grad.cpu().numpy(), t.grad.numpy(), rtol=1e-3, atol=2e-4)
        for key, value in theirs.state_dict().items():
            equal(ours.state_dict()[key], value)
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.cpu().numpy(), q.grad.numpy(), rtol=1e-4, atol=1e-3)


def test_what_does_not_fit_is_refused(device):
    norm = nn.BatchNorm2d(3, device=device)
    with pytest.raises(ShapeError, match=r"BatchNorm2d: expected 4 dimensions with 3 channels, found shape \(2, 3\)"):
        norm(it.zeros(2, 3, device=device))
    with pytest.raises(ShapeError, match="expected more than one value a channel in training"):
        norm(it.zeros(1, 3, 1, 1, device=device))
    with pytest.raises(ShapeError, match=r"expected weight of shape \(3,\), found \(2,\)"):
        nn.functional.batch_norm(it.zeros(2, 3, device=device), None, None, it.ones(2, device=device))
