from __future__ import annotations

from math import sqrt

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import ConfigError, ShapeError
from infinitrain.nn import Parameter, init


def drawn(function, shape=(400, 300), **settings):
    tensor = it.zeros(shape)
    assert function(tensor, generator=it.Generator(7), **settings) is tensor
    return tensor.numpy()


@pytest.mark.parametrize(
    ("name", "gain"),
    [
        ("linear", 1.0),
        ("sigmoid", 1.0),
        ("tanh", 5.0 / 3.0),
        ("relu", sqrt(2.0)),
        ("leaky_relu", sqrt(2.0 / 1.0001)),
        ("selu", 0.75),
    ],
)
def test_gain(name, gain):
    assert init.calculate_gain(name) == pytest.approx(gain)


def test_gain_of_a_slope_and_of_an_unknown_name():
    assert init.calculate_gain("leaky_relu", sqrt(5.0)) == pytest.approx(sqrt(1.0 / 3.0))
    with pytest.raises(ConfigError, match=r"expected one of linear, .*leaky_relu, found 'swish'"):
        init.calculate_gain("swish")


@pytest.mark.parametrize(
    ("function", "settings", "bound"),
    [
        (init.uniform_, {"a": -2.0, "b": 2.0}, 2.0),
        (init.xavier_uniform_, {}, sqrt(6.0 / 700)),
        (init.xavier_uniform_, {"gain": 2.0}, 2.0 * sqrt(6.0 / 700)),
        (init.kaiming_uniform_, {}, sqrt(6.0 / 300)),
        (init.kaiming_uniform_, {"a": sqrt(5.0)}, sqrt(1.0 / 300)),
        (init.kaiming_uniform_, {"mode": "fan_out", "nonlinearity": "relu"}, sqrt(6.0 / 400)),
    ],
)
def test_uniform_bounds_and_spread(function, settings, bound):
    values = drawn(function, **settings)

    assert -bound <= values.min() < -0.999 * bound
    assert 0.999 * bound < values.max() <= bound
    assert values.std() == pytest.approx(bound / sqrt(3.0), rel=0.01)
    assert abs(values.mean()) < 0.01 * bound


@pytest.mark.parametrize(
    ("function", "settings", "std"),
    [
        (init.normal_, {"std": 0.02}, 0.02),
        (init.xavier_normal_, {}, sqrt(2.0 / 700)),
        (init.kaiming_normal_, {"nonlinearity": "relu"}, sqrt(2.0 / 300)),
    ],
)
def test_normal_spread(function, settings, std):
    values = drawn(function, **settings)

    assert values.std() == pytest.approx(std, rel=0.01)
    assert abs(values.mean()) < 0.01 * std
    assert np.abs(values).max() > 3.5 * std


def test_fans_of_more_dimensions():
    assert init.fan_in_and_fan_out(it.zeros(4, 3, 2, 5)) == (30, 40)
    with pytest.raises(ShapeError, match="expected at least 2 dimensions"):
        init.fan_in_and_fan_out(it.zeros(3))


@pytest.mark.parametrize("dtype", [it.float32, it.bfloat16, it.float64], ids=lambda d: d.name)
def test_truncated_normal_stays_inside(device, dtype):
    values = init.trunc_normal_(it.zeros(300, 100, dtype=dtype, device=device), 0.0, 1.0, -1.0, 0.5)
    found = values.cpu().numpy().astype(np.float64)

    assert found.min() >= -1.0
    assert found.max() <= 0.5
    assert found.min() < -0.98
    assert found.max() > 0.48
    assert found.mean() == pytest.approx(-0.2070, abs=0.01)  # (pdf(-1) - pdf(0.5)) / (cdf(0.5) - cdf(-1))


def test_truncated_normal_and_eye_are_checked():
    with pytest.raises(ConfigError, match="expected a < b and std above 0, found a 1, b 1"):
        init.trunc_normal_(it.zeros(2), a=1, b=1)
    with pytest.raises(ShapeError, match=r"eye_: expected a matrix, found shape \(2,\)"):
        init.eye_(it.zeros(2))
    assert init.eye_(it.ones(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_constants():
    assert init.ones_(it.zeros(2)).tolist() == [1.0, 1.0]
    assert init.zeros_(it.ones(2)).tolist() == [0.0, 0.0]
    assert init.constant_(it.ones(2), 3.5).tolist() == [3.5, 3.5]


def test_generator_advances_and_decides(device):
    generator = it.Generator(1)
    a, b = (init.normal_(it.zeros(8, device=device), generator=generator).tolist() for _ in range(2))
    again = init.normal_(it.zeros(8, device=device), generator=it.Generator(1)).tolist()

    assert a == again
    assert a != b


def test_default_generator_is_used_without_one():
    it.manual_seed(3)
    a = init.uniform_(it.zeros(4)).tolist()
    it.manual_seed(3)

    assert init.uniform_(it.zeros(4)).tolist() == a


def test_unknown_mode():
    with pytest.raises(ConfigError, match="expected mode fan_in or fan_out, found 'both'"):
        init.kaiming_uniform_(it.zeros(2, 2), mode="both")


def test_parameters_may_be_filled_in_place():
    parameter = Parameter(it.zeros(3))
    init.ones_(parameter)

    assert parameter.tolist() == [1.0, 1.0, 1.0]
    assert parameter.is_leaf
