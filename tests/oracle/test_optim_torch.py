"""Optimizers, schedules and clipping against torch.optim: every step, not only the last."""

from __future__ import annotations

import warnings
from math import inf, nan

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import infinitrain as it  # noqa: E402
from infinitrain import optim  # noqa: E402
from infinitrain.nn import Parameter  # noqa: E402

SHAPES = [(5, 3), (7,), (), (2, 0)]
LR = 2.0**-5  # float32 holds it exactly, so that float64 parameters can be compared closely

CASES = {
    "sgd": ("SGD", {}),
    "sgd-decay": ("SGD", {"weight_decay": 0.125}),
    "sgd-momentum": ("SGD", {"momentum": 0.875}),
    "sgd-dampening": ("SGD", {"momentum": 0.875, "dampening": 0.25, "weight_decay": 0.125}),
    "sgd-nesterov": ("SGD", {"momentum": 0.875, "nesterov": True, "weight_decay": 0.125}),
    "adamw": ("AdamW", {}),
    "adamw-settings": ("AdamW", {"betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.5}),
    "adam": ("Adam", {}),
    "adam-decay": ("Adam", {"weight_decay": 0.25, "betas": (0.8, 0.95)}),
}


def pairs(device, dtype, seed=0):
    """Give our parameters and PyTorch's with equal values."""
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.normal(size=shape)).astype(dtype) for shape in SHAPES]
    ours = [Parameter(it.tensor(array, device=device)) for array in arrays]
    theirs = [torch.nn.Parameter(torch.from_numpy(array.copy())) for array in arrays]
    return ours, theirs


def give_gradients(ours, theirs, step, skip=None):
    rng = np.random.default_rng(100 + step)
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        grad = np.asarray(rng.normal(size=a.shape)).astype(b.detach().numpy().dtype)
        absent = number == skip
        a.grad = None if absent else it.tensor(grad, device=a.device)
        b.grad = None if absent else torch.from_numpy(grad.copy())


def assert_equal(ours, theirs, tolerance):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.detach().cpu().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 2e-6), ("f8", 1e-12)])
@pytest.mark.parametrize("name", CASES)
def test_every_step_equals_torch(device, name, dtype, tolerance):
    kind, settings = CASES[name]
    ours, theirs = pairs(device, dtype)
    mine = getattr(optim, kind)(ours, lr=LR, **settings)
    yours = getattr(torch.optim, kind)(theirs, lr=LR, foreach=False, **settings)
    for step in range(10):
        # A parameter without gradient is skipped, and its own step counter with it.
        give_gradients(ours, theirs, step, skip=1 if step in (0, 4) else None)
        mine.step()
        yours.step()
        assert_equal(ours, theirs, tolerance)


@pytest.mark.parametrize("name", ["adamw", "sgd-nesterov"])
def test_groups_with_their_own_settings_equal_torch(device, name):
    kind, settings = CASES[name]
    ours, theirs = pairs(device, "f4")

    def groups(parameters):
        return [{"params": parameters[:2], "weight_decay": 0.5}, {"params": parameters[2:], "lr": LR / 4}]

    mine = getattr(optim, kind)(groups(ours), lr=LR, **settings)
    yours = getattr(torch.optim, kind)(groups(theirs), lr=LR, foreach=False, **settings)
    for step in range(5):
        give_gradients(ours, theirs, step)
        mine.step()
        yours.step()
        assert_equal(ours, theirs, 2e-6)


@pytest.mark.parametrize("name", ["adamw", "adam", "sgd-momentum"])
def test_state_dict_of_torch_is_taken_up(device, name):
    """The same names, numbers and shapes: a state saved by torch goes on here."""
    kind, settings = CASES[name]
    ours, theirs = pairs(device, "f4")
    mine = getattr(optim, kind)(ours, lr=1.0, **settings)
    yours = getattr(torch.optim, kind)(theirs, lr=LR, foreach=False, **settings)
    for step in range(3):
        give_gradients(ours, theirs, step)
        yours.step()
    saved = yours.state_dict()
    known = set(mine.param_groups[0])
    state = {
        number: {
            key: int(value) if key == "step" else it.tensor(value.numpy())
            for key, value in held.items()
            if value is not None
        }
        for number, held in saved["state"].items()
    }
    kept = [{key: value for key, value in group.items() if key in known} for group in saved["param_groups"]]
    mine.load_state_dict({"state": state, "param_groups": kept})
    with it.no_grad():
        for a, b in zip(ours, theirs, strict=True):
            a.copy_(it.tensor(b.detach().numpy()))
    for step in range(3, 6):
        give_gradients(ours, theirs, step)
        mine.step()
        yours.step()
        assert_equal(ours, theirs, 2e-6)


# ---- schedules ----

SCHEDULES = {
    "constant": lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=4),
    "step": lambda s, o: s.StepLR(o, step_size=3, gamma=0.5),
    "milestones": lambda s, o: s.MultiStepLR(o, [7, 3, 7], gamma=0.5),
    "exponential": lambda s, o: s.ExponentialLR(o, gamma=0.75),
    "linear": lambda s, o: s.LinearLR(o, start_factor=0.2, end_factor=0.8, total_iters=6),
    "linear-down": lambda s, o: s.LinearLR(o, start_factor=1.0, end_factor=0.0, total_iters=5),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, T_max=12, eta_min=0.01),
    "lambda": lambda s, o: s.LambdaLR(o, lambda t: 0.95**t),
    "sequence": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1.0, 3), s.CosineAnnealingLR(o, 9), s.ConstantLR(o, 0.5, 2)], [3, 8]
    ),
    "chain": lambda s, o: s.ChainedScheduler([s.LinearLR(o, 0.1, 1.0, 3), s.StepLR(o, 4), s.CosineAnnealingLR(o, 40)]),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_rate_equals_torch(name):
    """B11: our closed forms against torch's recursions."""
    ours = optim.SGD([{"params": [Parameter(it.ones(1))], "lr": lr} for lr in (0.5, 0.125)])
    theirs = torch.optim.SGD([{"params": [torch.nn.Parameter(torch.ones(1))], "lr": lr} for lr in (0.5, 0.125)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of its own use of step(epoch), and of steps without updates
        mine = SCHEDULES[name](optim.lr_scheduler, ours)
        yours = SCHEDULES[name](torch.optim.lr_scheduler, theirs)
        for step in range(12):
            expected = [group["lr"] for group in theirs.param_groups]
            np.testing.assert_allclose(mine.get_last_lr(), expected, rtol=1e-10, atol=1e-15, err_msg=str(step))
            mine.step()
            yours.step()


# ---- clipping ----


@pytest.mark.parametrize("p", [2.0, 1.0, 3.0, 0.5, -1.0, inf, -inf])
@pytest.mark.parametrize("max_norm", [0.0, 0.5, 1000.0])
def test_clip_grad_norm_equals_torch(device, p, max_norm):
    ours, theirs = pairs(device, "f4")
    ours, theirs = ours[:3], theirs[:3]
    give_gradients(ours, theirs, 0, skip=1)
    mine = optim.clip_grad_norm_(ours, max_norm, norm_type=p)
    yours = torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type=p)

    assert mine.item() == pytest.approx(yours.item(), rel=1e-5)
    for a, b in zip(ours, theirs, strict=True):
        if b.grad is not None:
            np.testing.assert_allclose(a.grad.cpu().numpy(), b.grad.numpy(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("bad", [inf, -inf, nan])
def test_bc098_nonfinite_norms_have_torchs_result(device, bad):
    """BC-098, flag off."""
    ours, theirs = pairs(device, "f4")
    ours, theirs = ours[:2], theirs[:2]
    give_gradients(ours, theirs, 0)
    grad = theirs[0].grad.numpy().copy()
    grad[1, 1] = bad
    ours[0].grad, theirs[0].grad = it.tensor(grad, device=device), torch.from_numpy(grad)
    mine, yours = optim.clip_grad_norm_(ours, 1.0), torch.nn.utils.clip_grad_norm_(theirs, 1.0)

    np.testing.assert_array_equal(mine.item(), yours.item())
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a.grad.cpu().numpy(), b.grad.numpy())


def test_clip_grad_value_equals_torch(device):
    ours, theirs = pairs(device, "f4")
    give_gradients(ours, theirs, 0)
    optim.clip_grad_value_(ours, 0.5)
    torch.nn.utils.clip_grad_value_(theirs, 0.5)

    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a.grad.cpu().numpy(), b.grad.numpy())


@pytest.mark.parametrize("p", [2.0, 1.0, inf, -inf])
def test_total_norm_and_scaling_by_it_equal_torch(device, p):
    """Two calls in place of one; they measure tensors, not the gradients of tensors."""
    ours, theirs = pairs(device, "f4")
    ours, theirs = ours[:3], theirs[:3]
    give_gradients(ours, theirs, 0)
    mine = optim.get_total_norm([each.grad for each in ours], p)
    yours = torch.nn.utils.get_total_norm([each.grad for each in theirs], p)
    optim.clip_grads_with_norm_(ours, 0.5, mine)
    torch.nn.utils.clip_grads_with_norm_(theirs, 0.5, yours)

    assert mine.item() == pytest.approx(yours.item(), rel=1e-5)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.grad.cpu().numpy(), b.grad.numpy(), rtol=1e-5, atol=1e-7)
    ours[0].grad[0, 0] = nan
    with pytest.raises(optim.NonFiniteGradient, match=r"get_total_norm: expected a finite norm, found nan .* number 0"):
        optim.get_total_norm([each.grad for each in ours], p, error_if_nonfinite=True)


def test_norm_zero_counts_elements(device):
    """That of one long vector. torch takes the norm of the norms, which counts gradients: the only p that differs."""
    ours, theirs = pairs(device, "f4")
    give_gradients(ours, theirs, 0)
    ours[0].grad[0, 0] = theirs[0].grad[0, 0] = 0.0
    norm = torch.linalg.vector_norm(torch.cat([each.grad.reshape(-1) for each in theirs]), 0)

    assert optim.get_total_norm([each.grad for each in ours], 0).item() == norm.item() == 22
    assert optim.clip_grad_norm_(ours, 11.0, 0).item() == 22
    np.testing.assert_allclose(ours[1].grad.cpu().numpy(), theirs[1].grad.numpy() / 2, rtol=1e-6)
