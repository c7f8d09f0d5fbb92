from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import CheckpointError, ConfigError, ShapeError
from infinitrain.nn import Linear, Parameter
from infinitrain.optim import SGD, Adam, AdamW


def parameter(*values, device="cpu", grad=None):
    made = Parameter(it.tensor(list(values), device=device))
    if grad is not None:
        made.grad = it.tensor(grad, device=device)
    return made


# ---- groups ----


def test_groups_take_defaults_and_keep_their_own_settings():
    a, b = parameter(1.0), parameter(2.0)
    optimizer = AdamW([{"params": [a], "weight_decay": 0.0}, {"params": b, "lr": 0.5}], lr=0.1)

    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.0, 1e-2]
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]
    assert optimizer.param_groups[1]["params"] == [b]


def test_named_parameters_keep_their_names():
    optimizer = SGD(Linear(1, 1).named_parameters())

    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ([], "expected parameters, found none"),
        ([1.0], "expected tensors, found float"),
        ([("a", None)], "expected tensors, found NoneType"),
        ([{"params": [], "speed": 1}], "expected settings lr, .* found speed"),
    ],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(ConfigError, match=message):
        SGD(params)


def test_parameter_twice_is_refused():
    a = parameter(1.0)

    with pytest.raises(ConfigError, match="expected each parameter once, found parameter 1 twice"):
        SGD([a, a])
    with pytest.raises(ConfigError, match="expected each parameter once"):
        SGD([{"params": [a]}, {"params": [a]}])


def test_results_of_operations_are_refused():
    with pytest.raises(ConfigError, match="expected leaves, found w, the result of an operation"):
        SGD([("w", parameter(1.0) * 2.0)])


def test_named_and_unnamed_do_not_mix():
    with pytest.raises(ConfigError, match="all parameters named or none"):
        SGD([("a", parameter(1.0)), parameter(2.0)])


# ---- steps ----


@pytest.mark.parametrize("kind", [SGD, AdamW, Adam])
def test_parameters_without_gradient_are_skipped(device, kind):
    a, b = parameter(1.0, device=device, grad=[1.0]), parameter(2.0, device=device)
    optimizer = kind([a, b], lr=0.1)
    optimizer.step()

    assert a.item() != 1.0
    assert b.item() == 2.0
    assert b not in optimizer.state


@pytest.mark.parametrize("set_to_none", [True, False])
def test_zero_grad(device, set_to_none):
    a = parameter(1.0, device=device, grad=[1.0])
    SGD([a]).zero_grad(set_to_none)

    assert (a.grad is None) if set_to_none else (a.grad.tolist() == [0.0])


def test_closure_runs_with_gradients_and_gives_the_loss():
    a = parameter(3.0)
    optimizer = SGD([a], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (a * a).sum()
        loss.backward()
        return loss

    with it.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert a.item() == 0.0


def test_update_counts_as_a_write(device):
    a = parameter(1.0, device=device)
    y = (a * a).sum()
    a.grad = it.ones(1, device=device)
    SGD([a]).step()

    with pytest.raises(RuntimeError, match="SGD"):
        y.backward()


@pytest.mark.parametrize("kind", [SGD, AdamW, Adam])
def test_two_devices_step_as_one(kind):
    pytest.importorskip("infinitrain_fake", reason="needs two devices")
    values = {}
    for devices in (("cpu", "cpu"), ("fake:0", "fake:1")):
        pair = [parameter(1.0, -2.0, device=d, grad=[0.5, 0.25]) for d in devices]
        optimizer = kind(pair, lr=0.1, weight_decay=0.1)
        for _ in range(3):
            optimizer.step(grad_scale=it.full((), 0.5, device=devices[0]))
        values[devices] = [p.tolist() for p in pair]
    (first, second) = values.values()

    np.testing.assert_allclose(second, first, rtol=1e-6)


@pytest.mark.parametrize("kind", [SGD, AdamW, Adam])
@pytest.mark.parametrize("settings", [{}, {"weight_decay": 0.1}])
def test_grad_scale_equals_scaled_gradients(device, kind, settings):
    a, b = (parameter(1.0, -2.0, device=device) for _ in range(2))
    one, two = kind([a], lr=0.1, **settings), kind([b], lr=0.1, **settings)
    for gradient in ([1.0, 2.0], [-0.5, 0.25]):
        a.grad = it.tensor(gradient, device=device)
        b.grad = it.tensor(gradient, device=device) * 0.5
        one.step(grad_scale=it.full((), 0.5, device=device))
        two.step()
        np.testing.assert_array_equal(a.grad.numpy(), np.array(gradient, "f4"))

    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6)


def test_grad_scale_must_be_one_number():
    with pytest.raises(ShapeError, match=r"grad_scale of one element, found shape \(2,\)"):
        SGD([parameter(1.0)]).step(grad_scale=it.ones(2))


def test_new_learning_rate_is_used_at_the_next_step(device):
    a = parameter(1.0, device=device, grad=[1.0])
    optimizer = SGD([a], lr=0.5)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer.step()

    assert a.item() == 0.25


# ---- state ----


def trained(kind, device, steps, **settings):
    a, b = parameter(1.0, 2.0, device=device), parameter(-1.0, device=device)
    optimizer = kind([("a", a), ("b", b)], lr=0.1, **settings)
    run(optimizer, steps, 0)
    return optimizer, (a, b)


def run(optimizer, steps, start):
    for step in range(start, start + steps):
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = it.tensor(np.full(p.shape, np.sin(step) + 0.5, "f4"), device=p.device)
        optimizer.step()


@pytest.mark.parametrize(
    ("kind", "settings"), [(SGD, {}), (SGD, {"momentum": 0.9, "nesterov": True}), (AdamW, {}), (Adam, {})]
)
def test_resumed_run_has_the_bits_of_the_unbroken_one(device, kind, settings):
    """B10: state saved after 3 steps, loaded into a new optimizer, whose next steps are the unbroken run's."""
    _, (a, b) = trained(kind, device, 6, **settings)
    broken, (c, d) = trained(kind, device, 3, **settings)
    saved = broken.state_dict()
    fresh = kind([("a", c), ("b", d)], lr=7.0, **settings)
    fresh.load_state_dict(saved)
    run(fresh, 3, 3)

    np.testing.assert_array_equal(c.detach().numpy(), a.detach().numpy())
    np.testing.assert_array_equal(d.detach().numpy(), b.detach().numpy())
    assert fresh.param_groups[0]["lr"] == 0.1


def test_state_dict_has_torchs_form(device):
    optimizer, (a, _) = trained(AdamW, device, 3)
    saved = optimizer.state_dict()

    assert list(saved["state"]) == [0, 1]
    assert set(saved["state"][0]) == {"step", "exp_avg", "exp_avg_sq"}
    assert saved["state"][0]["step"] == 3
    assert saved["state"][0]["exp_avg"].shape == a.shape
    (group,) = saved["param_groups"]
    assert group["params"] == [0, 1]
    assert group["param_names"] == ["a", "b"]
    assert group["betas"] == (0.9, 0.999)


def test_loaded_state_is_a_copy():
    optimizer, (c, d) = trained(AdamW, "cpu", 1)
    other = AdamW([("a", c), ("b", d)])
    other.load_state_dict(optimizer.state_dict())
    other.state[c]["exp_avg"].zero_()

    assert optimizer.state[c]["exp_avg"].numpy().any()


def test_state_moves_to_another_device():
    pytest.importorskip("infinitrain_fake", reason="needs another device")
    optimizer, _ = trained(AdamW, "cpu", 2)
    a, b = parameter(1.0, 2.0, device="fake:1"), parameter(-1.0, device="fake:1")
    other = AdamW([("a", a), ("b", b)])
    other.load_state_dict(optimizer.state_dict())

    assert str(other.state[a]["exp_avg"].device) == "fake:1"
    assert other.state[a]["step"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["param_groups"].append(s["param_groups"][0]), r"expected groups of \[2\] parameters, found"),
        (lambda s: s["param_groups"][0]["params"].pop(), r"expected groups of \[2\] parameters, found \[1\]"),
        (lambda s: s["param_groups"][0].update(param_names=["a", "z"]), "expected parameter 'b' in group 0, found 'z'"),
        (lambda s: s["param_groups"][0].pop("eps"), "expected the settings .* Was it saved by another optimizer"),
        (lambda s: s["state"][0].update(exp_avg=it.zeros(3)), r"exp_avg of shape \(2,\) for parameter 0, found \(3,\)"),
        (lambda s: s["state"][0].update(exp_avg=1.0), r"exp_avg of shape \(2,\) for parameter 0, found float"),
        (lambda s: s["state"][0].pop("exp_avg"), "expected state .*exp_avg"),
        (lambda s: s["state"].update({9: s["state"][0]}), r"state for parameters \[9\], which no group lists"),
    ],
)
def test_state_that_does_not_fit_is_refused_and_changes_nothing(change, message):
    optimizer, (a, _) = trained(AdamW, "cpu", 2)
    saved = optimizer.state_dict()
    change(saved)
    before = optimizer.state[a]["exp_avg"].numpy().copy()

    with pytest.raises(CheckpointError, match=message):
        optimizer.load_state_dict(saved)
    np.testing.assert_array_equal(optimizer.state[a]["exp_avg"].numpy(), before)
    assert optimizer.state[a]["step"] == 2


def test_state_of_another_kind_is_refused():
    optimizer, _ = trained(SGD, "cpu", 1, momentum=0.9)
    other, _ = trained(AdamW, "cpu", 1)

    with pytest.raises(CheckpointError, match="AdamW: expected the settings"):
        other.load_state_dict(optimizer.state_dict())


def test_repr_shows_settings():
    assert "group 0: lr=0.1, momentum=0.9" in repr(SGD([parameter(1.0)], lr=0.1, momentum=0.9))
