"""Elementwise rows: exact ones in the dtype's own arithmetic, functions in float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from infinitrain.dtype import from_numpy
from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import compute, convert, scalar, wide

__all__: list[str] = []


def _is_float(x: Array) -> bool:
    return from_numpy(x.dtype).is_floating_point


def _exact(name: str, function: Callable[..., Array], *, any_zero: bool = False) -> None:
    """Register a row that is computed in the dtype (float32 for the half types) and rounded once."""

    def run(case: Case) -> list[Expected | None]:
        operands = [operand(case, i) for i in range(len(case.inputs))]
        result = function(*(compute(x) for x in operands))
        return [Expected(convert(np.asarray(result), output(case).dtype), any_zero=any_zero)]

    reference(name)(run)


def _function(name: str, function: Callable[..., Array]) -> None:
    """Register a row that is computed in float64 and compared with a tolerance."""

    def run(case: Case) -> list[Expected | None]:
        return [Expected(np.asarray(function(*(wide(operand(case, i)) for i in range(len(case.inputs))))))]

    reference(name)(run)


# ---- exact, of one operand -------------------------------------------------------------------------


def _reciprocal(x: Array) -> Array:
    return np.asarray(np.ones((), x.dtype) / x)


def _relu(x: Array) -> Array:
    return np.where((x > 0) | (x != x), x, x.dtype.type(0))


_exact("NegForward", np.negative)
_exact("AbsForward", np.abs)
_exact("ReciprocalForward", _reciprocal)
_exact("SqrtForward", np.sqrt)
_exact("ReluForward", _relu)
_exact("NotForward", np.logical_not)

# ---- exact, of two operands ------------------------------------------------------------------------


def _floor_divide(a: Array, b: Array) -> Array:
    if not _is_float(a):
        quotient = np.floor_divide(a, np.where(b == 0, b.dtype.type(1), b))
        return np.where(b == 0, a.dtype.type(0), quotient)
    # In float64 a float32 quotient up to 2^22 is exact; cases keep to such quotients.
    x, y = a.astype(np.float64), b.astype(np.float64)
    plain = a / b
    rest = np.fmod(x, y)
    quotient = (x - rest) / y - ((rest != 0) & ((rest < 0) != (y < 0)))
    quotient = np.where(quotient == 0, np.copysign(0.0, plain), np.rint(quotient))
    return np.where((b == 0) | np.isinf(plain) | np.isnan(plain), plain, quotient.astype(a.dtype))


def _remainder(a: Array, b: Array) -> Array:
    if not _is_float(a):
        rest = np.remainder(a, np.where(b == 0, b.dtype.type(1), b))
        return np.where(b == 0, a.dtype.type(0), rest)
    rest = np.fmod(a, b)
    shifted = np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
    return np.where(rest == 0, np.copysign(rest, b), shifted)


def _extreme(a: Array, b: Array, chosen: Array) -> Array:
    if not _is_float(a):
        return np.where(chosen, a, b)
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), np.where(chosen, a, b))


_exact("AddForward", lambda a, b: a + b)
_exact("SubForward", lambda a, b: a - b)
_exact("MulForward", lambda a, b: a * b)
_exact("DivForward", lambda a, b: a / b)
_exact("FloorDivideForward", _floor_divide)
_exact("RemainderForward", _remainder)
_exact("MaximumForward", lambda a, b: _extreme(a, b, a > b), any_zero=True)
_exact("MinimumForward", lambda a, b: _extreme(a, b, a < b), any_zero=True)
_exact("ReluBackward", lambda y, grad: np.where(y > 0, grad, grad.dtype.type(0)))
_exact("EqualsForward", lambda a, b: a == b)
_exact("NeForward", lambda a, b: a != b)
_exact("LtForward", lambda a, b: a < b)
_exact("LeForward", lambda a, b: a <= b)
_exact("GtForward", lambda a, b: a > b)
_exact("GeForward", lambda a, b: a >= b)
_exact("AndForward", lambda a, b: a & b)
_exact("OrForward", lambda a, b: a | b)
_exact("XorForward", lambda a, b: a ^ b)


def _scalar_comparison(name: str, function: Callable[..., Array]) -> None:
    """Register a comparison with a number that is first converted to the operand's dtype."""

    def run(case: Case) -> list[Expected | None]:
        x = operand(case, 0)
        return [Expected(np.asarray(function(compute(x), compute(scalar(case.attributes[0], x.dtype)))))]

    reference(name)(run)


_scalar_comparison("EqualsScalar", np.equal)
_scalar_comparison("NeScalar", np.not_equal)
_scalar_comparison("LtScalar", np.less)
_scalar_comparison("LeScalar", np.less_equal)
_scalar_comparison("GtScalar", np.greater)
_scalar_comparison("GeScalar", np.greater_equal)


@reference("ClampForward")
def clamp(case: Case) -> list[Expected | None]:
    """Y = min(max(x, low), high) of NumPy, where NaN wins."""
    x = operand(case, 0)
    low, high = (compute(scalar(bound, x.dtype)) for bound in case.attributes)
    result = np.minimum(np.maximum(compute(x), low), high)
    return [Expected(convert(np.asarray(result), output(case).dtype), any_zero=True)]


@reference("MaskForward")
def mask(case: Case) -> list[Expected | None]:
    """Y = the number where the mask is true, else x, bit for bit."""
    x, chosen = operand(case, 0), operand(case, 1)
    return [Expected(np.where(chosen, scalar(case.attributes[0], x.dtype), x))]


@reference("AddScalar")
def add_scalar(case: Case) -> list[Expected | None]:
    """Y = x + value, in float32 for the half types."""
    x = compute(operand(case, 0))
    return [Expected(convert(np.asarray(x + scalar(case.attributes[0], x.dtype)), output(case).dtype))]


@reference("MulScalar")
def mul_scalar(case: Case) -> list[Expected | None]:
    """Y = x * value, in float32 for the half types."""
    x = compute(operand(case, 0))
    return [Expected(convert(np.asarray(x * scalar(case.attributes[0], x.dtype)), output(case).dtype))]


# ---- functions -------------------------------------------------------------------------------------


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small / (1 + small), 1 / (1 + small))


_function("RsqrtForward", lambda x: 1 / np.sqrt(x))
_function("ExpForward", np.exp)
_function("LogForward", np.log)
_function("SinForward", np.sin)
_function("CosForward", np.cos)
_function("TanhForward", np.tanh)
_function("TanhBackward", lambda y, grad: grad * (1 - y * y))
_function("SigmoidForward", _sigmoid)
_function("SigmoidBackward", lambda y, grad: grad * y * (1 - y))
_function("SiluForward", lambda x: x * _sigmoid(x))
_function("SiluBackward", lambda x, grad: grad * (_sigmoid(x) * (1 + x * _sigmoid(-x))))


@reference("PowForward")
def power(case: Case) -> list[Expected | None]:
    """Y = a^b: C's pow for floats, repeated multiplication with wrapping for integers."""
    a, b = operand(case, 0), operand(case, 1)
    if _is_float(a):
        return [Expected(np.asarray(np.power(wide(a), wide(b))))]
    bits, dtype = 8 * a.dtype.itemsize, a.dtype
    mask = 2**bits - 1
    result = [_integer_power(int(x), int(n), bits) & mask for x, n in zip(a.flat, b.flat, strict=True)]
    wrapped = np.array(result, np.uint64).astype(np.dtype(f"u{dtype.itemsize}"))
    return [Expected(wrapped.view(dtype).reshape(a.shape))]


def _integer_power(base: int, exponent: int, bits: int) -> int:
    if exponent >= 0:
        return int(pow(base, exponent, 2**bits))
    if abs(base) == 1:
        return base if exponent % 2 else 1
    return 0


# ---- GELU: Hendrycks and Gimpel 2016 ----------------------------------------------------------------

_TANH_SCALE, _CUBIC = math.sqrt(2 / math.pi), 0.044715
_erfc = np.frompyfunc(math.erfc, 1, 1)


def _normal_cdf(x: Array) -> Array:
    return np.asarray(_erfc(-x / math.sqrt(2)), np.float64).reshape(x.shape) / 2


def _tanh_share(x: Array) -> Array:
    """(1 + tanh u) / 2 = sigmoid(2 u)."""
    return _sigmoid(2 * _TANH_SCALE * (x + _CUBIC * x**3))


@reference("GeluForward")
def gelu(case: Case) -> list[Expected | None]:
    """X times the share of the normal law below x, or its approximation by tanh."""
    x = wide(operand(case, 0))
    return [Expected(x * (_tanh_share(x) if case.attributes[0] else _normal_cdf(x)))]


@reference("GeluBackward")
def gelu_backward(case: Case) -> list[Expected | None]:
    """The gradient times the derivative of GELU at x."""
    x, grad = wide(operand(case, 0)), wide(operand(case, 1))
    if case.attributes[0]:
        share = _tanh_share(x)
        inner = 2 * _TANH_SCALE * (1 + 3 * _CUBIC * x * x)
        # Far out the share is 0 or 1 to all digits, and what multiplies its derivative may overflow.
        bend = np.where(share * (1 - share) == 0, 0.0, x * share * (1 - share) * inner)
        return [Expected(grad * (share + bend))]
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return [Expected(grad * (_normal_cdf(x) + np.where(density == 0, 0.0, x * density)))]
