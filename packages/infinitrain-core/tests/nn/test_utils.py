from __future__ import annotations

from math import inf, isnan, nan

import infinitrain as it
import numpy as np
import pytest
from infinitrain import copy
from infinitrain.errors import ConfigError
from infinitrain.nn import Parameter
from infinitrain.nn.utils import (
    NonFiniteGradient,
    clip_coefficient,
    clip_grad_norm_,
    clip_grad_value_,
    get_total_norm,
)
from infinitrain.optim import AdamW

GRADS = [np.array([3.0, -4.0, 0.0]), np.array([[12.0]])]


def with_grads(grads, devices, dtype=it.float32):
    parameters = []
    for grad, device in zip(grads, devices, strict=True):
        parameter = Parameter(it.zeros(grad.shape, dtype=dtype, device=device))
        parameter.grad = it.tensor(grad, dtype=dtype, device=device)
        parameters.append(parameter)
    return parameters


@pytest.mark.parametrize(
    ("p", "expected"),
    [(2.0, 13.0), (1.0, 19.0), (inf, 12.0), (-inf, 0.0), (0.0, 3.0), (3.0, 1819.0 ** (1 / 3)), (0.5, 7.1961524**2)],
)
def test_bc066_norm_and_scaling(device, p, expected):
    """BC-066, one device."""
    parameters = with_grads(GRADS, [device] * 2)
    norm = clip_grad_norm_(parameters, 2.0, norm_type=p)
    factor = min(1.0, 2.0 / (expected + 1e-6))

    assert norm.shape == ()
    assert str(norm.device) == str(it.Device(device))
    assert norm.item() == pytest.approx(expected, rel=1e-5)
    for parameter, grad in zip(parameters, GRADS, strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), grad * factor, rtol=1e-5)


@pytest.mark.parametrize("p", [2.0, 1.0, inf])
def test_bc066_norm_over_several_devices(p):
    """BC-066: parameters on two devices."""
    pytest.importorskip("infinitrain_fake", reason="needs two devices")
    parameters = with_grads([*GRADS, np.array([-5.0])], ["fake:0", "fake:1", "cpu"])
    flat = np.concatenate([grad.ravel() for grad in (*GRADS, np.array([-5.0]))])
    norm = clip_grad_norm_(parameters, 1.0, norm_type=p)
    expected = np.linalg.norm(flat, p)

    assert str(norm.device) == "fake:0"
    assert norm.item() == pytest.approx(expected, rel=1e-6)
    found = np.concatenate([parameter.grad.numpy().ravel() for parameter in parameters])
    np.testing.assert_allclose(found, flat / expected, rtol=1e-5)


def test_bc066_no_gradients_give_norm_zero(device):
    """BC-066: an empty generator, and gradients that are all None."""
    assert clip_grad_norm_((p for p in []), 1.0).item() == 0.0
    assert clip_grad_norm_([Parameter(it.zeros(2, device=device))], 1.0, norm_type=inf).item() == 0.0
    assert clip_grad_norm_(with_grads([np.zeros(0)], [device]), 1.0).item() == 0.0
    assert clip_grad_norm_(with_grads([np.zeros(0), np.ones(1)], [device] * 2), 1.0, 1.0).item() == 1.0


def test_parameter_given_twice_counts_once(device):
    (parameter,) = with_grads([np.array([3.0])], [device])

    assert clip_grad_norm_([parameter, parameter], 1.0).item() == 3.0
    assert parameter.grad.item() == pytest.approx(1.0, rel=1e-5)
    assert get_total_norm(parameter.grad).item() == pytest.approx(1.0, rel=1e-5)


def test_small_gradients_stay_as_they_are(device):
    (parameter,) = with_grads([np.array([0.1, 0.2])], [device])
    clip_grad_norm_([parameter], 1.0)

    np.testing.assert_array_equal(parameter.grad.numpy(), np.array([0.1, 0.2], "f4"))


def test_max_norm_zero_makes_gradients_zero(device):
    (parameter,) = with_grads([np.array([0.1, 0.2])], [device])
    clip_grad_norm_([parameter], 0.0)

    assert not parameter.grad.numpy().any()


@pytest.mark.parametrize("dtype", [it.bfloat16, it.float16])
def test_low_precision_is_summed_in_float32(device, dtype):
    (parameter,) = with_grads([np.full(10000, 100.0)], [device], dtype)
    norm = clip_grad_norm_([parameter], 1.0)

    assert norm.dtype is it.float32
    assert norm.item() == pytest.approx(10000.0)
    assert parameter.grad.dtype is dtype
    np.testing.assert_allclose(parameter.grad.numpy().astype("f4"), 0.01, rtol=2e-3)


def test_float64_is_kept(device):
    (parameter,) = with_grads([np.array([1e200])], [device], it.float64)

    assert get_total_norm([parameter.grad], inf).item() == 1e200


@pytest.mark.parametrize("bad", [inf, nan])
def test_bc098_error_names_parameters_and_changes_nothing(device, bad):
    """BC-098, flag on."""
    first, second = with_grads([np.array([1.0, 2.0]), np.array([1.0, bad])], [device] * 2)

    with pytest.raises(NonFiniteGradient, match=r"expected a finite norm, found (inf|nan) from parameters w2"):
        clip_grad_norm_([("w1", first), ("w2", second)], 1.0, error_if_nonfinite=True)
    with pytest.raises(RuntimeError, match="parameters number 1"):
        clip_grad_norm_([first, second], 1.0, error_if_nonfinite=True)
    np.testing.assert_array_equal(first.grad.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(second.grad.numpy(), np.array([1.0, bad], "f4"))


def test_bc098_nonfinite_without_the_flag_has_torchs_result(device):
    """BC-098, flag off: infinity makes finite gradients 0 and infinite ones NaN, NaN makes all NaN."""
    first, second = with_grads([np.array([1.0, 2.0]), np.array([1.0, inf])], [device] * 2)
    norm = clip_grad_norm_([first, second], 1.0)

    assert norm.item() == inf
    assert first.grad.tolist() == [0.0, 0.0]
    assert second.grad.tolist()[0] == 0.0
    assert isnan(second.grad.tolist()[1])
    (third,) = with_grads([np.array([1.0, nan])], [device])
    clip_grad_norm_([third], 1.0)
    assert np.isnan(third.grad.numpy()).all()


def test_coefficient_is_the_factor_that_clipping_uses(device):
    parameters = with_grads(GRADS, [device] * 2)
    norm, factor = clip_coefficient(parameters, 2.0)

    assert norm.item() == pytest.approx(13.0)
    assert factor.dtype is it.float32
    assert factor.item() == pytest.approx(2.0 / 13.000001, rel=1e-6)
    assert clip_coefficient(parameters, 100.0)[1].item() == 1.0
    np.testing.assert_array_equal(parameters[0].grad.numpy(), [3.0, -4.0, 0.0])


@pytest.mark.parametrize("function", [clip_grad_norm_, clip_coefficient, clip_grad_value_])
@pytest.mark.parametrize("limit", [-1.0, nan])
def test_limit_must_not_be_negative(function, limit):
    with pytest.raises(ConfigError, match="of at least 0, found"):
        function([], limit)


def test_clip_value(device):
    (parameter,) = with_grads([np.array([-3.0, 0.5, 2.0])], [device])
    clip_grad_value_([parameter], 1.0)

    assert parameter.grad.tolist() == [-1.0, 0.5, 1.0]


def test_clipping_and_stepping_copy_nothing_to_or_from_the_host(device, monkeypatch):
    parameters = with_grads(GRADS, [device] * 2)
    optimizer = AdamW(parameters)

    def refuse(*arguments, **keywords):
        raise AssertionError("a copy to or from the host")

    monkeypatch.setattr(copy, "_leg", refuse)
    for _ in range(2):
        _, factor = clip_coefficient(parameters, 2.0)
        optimizer.step(grad_scale=factor)
        clip_grad_norm_(parameters, 0.5)
        clip_grad_value_(parameters, 0.1)
    monkeypatch.undo()

    assert optimizer.state[parameters[0]]["step"] == 2
