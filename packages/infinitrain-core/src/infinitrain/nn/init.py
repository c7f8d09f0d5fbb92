"""Ways to fill a tensor with its first values: torch's names, torch's distributions, our own random bits.

Every function writes in place, records nothing for autograd, takes a `generator` (the default one if None) and
returns the tensor.
"""

from __future__ import annotations

from math import erf, sqrt

from infinitrain.autograd import no_grad
from infinitrain.errors import ConfigError, ShapeError
from infinitrain.ops.create import eye
from infinitrain.ops.select import where
from infinitrain.random import Generator
from infinitrain.tensor import Tensor

__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "fan_in_and_fan_out",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

#: Gains that keep the variance of activations, by the function that follows (leaky_relu is computed).
_LINEAR = (
    "linear",
    "identity",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
)
_GAINS = {**dict.fromkeys(_LINEAR, 1.0), "sigmoid": 1.0, "tanh": 5.0 / 3.0, "relu": sqrt(2.0), "selu": 0.75}

#: The inverse error function by two polynomials, for w = -log(1 - x^2) below 5 and above.
#: Source: M. Giles 2010, "Approximating the erfinv function", GPU Computing Gems, table 5; 3.5e-7 relative.
_ERFINV_NEAR = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503),
    *(-0.00417768164, 0.246640727, 1.50140941),
)
_ERFINV_FAR = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613),
    *(0.00943887047, 1.00167406, 2.83297682),
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Give the factor by which weights before this function are widened.

    Args:
        nonlinearity: linear, a convolution by name as conv2d, sigmoid, tanh, relu, leaky_relu or selu.
        param: The negative slope of leaky_relu (0.01 if None).

    Raises: ConfigError for another name.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else float(param)
        return sqrt(2.0 / (1.0 + slope**2))
    if nonlinearity not in _GAINS:
        known = ", ".join([*_GAINS, "leaky_relu"])
        raise ConfigError(f"calculate_gain: expected one of {known}, found {nonlinearity!r}")
    return _GAINS[nonlinearity]


def fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Count the inputs and the outputs that a weight (out, in, ...) connects.

    Raises: ShapeError below two dimensions.
    """
    if tensor.ndim < 2:
        raise ShapeError(f"fan of a weight: expected at least 2 dimensions, found shape {tensor.shape}")
    field = 1
    for size in tensor.shape[2:]:
        field *= size
    return tensor.shape[1] * field, tensor.shape[0] * field


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw from N(mean, std^2)."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw from U(a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Draw from N(mean, std^2) within [a, b], by the inverse of its distribution function.

    Raises: ConfigError unless a < b and std is above 0.
    """
    if not (a < b and std > 0):
        raise ConfigError(f"trunc_normal_: expected a < b and std above 0, found a {a}, b {b}, std {std}")
    with no_grad():
        low, high = (erf((bound - mean) / std / sqrt(2.0)) for bound in (a, b))
        x = Tensor._empty(tensor.shape, tensor.dtype.accumulator, tensor.device)
        x.uniform_(low, high, generator=generator).clamp_(-1 + 2.0**-24, 1 - 2.0**-24)
        return tensor.copy_((_erfinv(x) * (std * sqrt(2.0)) + mean).clamp(a, b))


def _erfinv(x: Tensor) -> Tensor:
    w = -(((1 - x) * (1 + x)).log())
    return x * where(w < 5, _polynomial(w - 2.5, _ERFINV_NEAR), _polynomial(w.sqrt() - 3, _ERFINV_FAR))


def _polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    y = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        y = y * x + coefficient
    return y


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with 1 on the diagonal and 0 elsewhere.

    Raises: ShapeError for anything but a matrix.
    """
    if tensor.ndim != 2:
        raise ShapeError(f"eye_: expected a matrix, found shape {tensor.shape}")
    with no_grad():
        return tensor.copy_(eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def constant_(tensor: Tensor, value: float) -> Tensor:
    """Fill with one value."""
    with no_grad():
        return tensor.fill_(value)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return constant_(tensor, 1.0)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw from U(-a, a), a = gain sqrt(6 / (fan_in + fan_out)).

    Source: Glorot and Bengio 2010.
    """
    bound = sqrt(3.0) * gain * sqrt(2.0 / max(sum(fan_in_and_fan_out(tensor)), 1))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw from N(0, std^2), std = gain sqrt(2 / (fan_in + fan_out)).

    Source: Glorot and Bengio 2010.
    """
    std = gain * sqrt(2.0 / max(sum(fan_in_and_fan_out(tensor)), 1))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw from U(-b, b), b = gain sqrt(3 / fan).

    Args:
        tensor: A weight (out, in, ...).
        a: The negative slope of leaky_relu.
        mode: fan_in keeps the variance forward, fan_out backward.
        nonlinearity: What follows, see `calculate_gain`.
        generator: Where the bits come from.

    Raises: ConfigError for an unknown mode or function.
    Source: He et al. 2015, arXiv:1502.01852.
    """
    bound = sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw from N(0, std^2), std = gain / sqrt(fan); arguments as in `kaiming_uniform_`."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ConfigError(f"kaiming: expected mode fan_in or fan_out, found {mode!r}")
    fan_in, fan_out = fan_in_and_fan_out(tensor)
    return calculate_gain(nonlinearity, a) / sqrt(max(fan_in if mode == "fan_in" else fan_out, 1))
