"""Rows of the families functions, rounding and bits, by NumPy's function of the same name."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.elementwise import _exact, _function, _is_float
from infinitrain.testing.conformance.reference.number import compute, convert, wide

__all__: list[str] = []

# ---- functions -------------------------------------------------------------------------------------

_erf = np.frompyfunc(math.erf, 1, 1)

_NUMPY: dict[str, Callable[..., Array]] = {
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Expm1": np.expm1,
    "Log1p": np.log1p,
    "Log2": np.log2,
    "Log10": np.log10,
    "Atan2": np.arctan2,
    "Hypot": np.hypot,
    "Logaddexp": np.logaddexp,
    "Erf": lambda x: np.asarray(_erf(x), np.float64),
}
for _name, _of in _NUMPY.items():
    _function(f"{_name}Forward", _of)


@reference("SoftplusForward")
def softplus(case: Case) -> list[Expected | None]:
    """Y = ln(1 + e^(beta x)) / beta, x above the threshold."""
    x = wide(operand(case, 0))
    beta, threshold = (float(value) for value in case.attributes)
    return [Expected(np.where(x * beta > threshold, x, np.logaddexp(0.0, x * beta) / beta))]


@reference("LeakyReluForward")
def leaky_relu(case: Case) -> list[Expected | None]:
    """Y = x where x > 0, else slope x, in float32 for the half types."""
    x = compute(operand(case, 0))
    return [Expected(convert(np.where(x > 0, x, x * x.dtype.type(case.attributes[0])), output(case).dtype))]


# ---- signs, whole parts, neighbours, classes --------------------------------------------------------


def _fmod(a: Array, b: Array) -> Array:
    if _is_float(a):
        return np.fmod(a, b)
    return np.where(b == 0, a.dtype.type(0), np.fmod(a, np.where(b == 0, b.dtype.type(1), b)))


_exact("SquareForward", lambda x: x * x)
# NumPy's gives the operand's own zero for some types.
_exact("SignForward", lambda x: np.where(x == 0, x.dtype.type(0), np.sign(x)))
_exact("FloorForward", np.floor)
_exact("CeilForward", np.ceil)
_exact("TruncForward", np.trunc)
_exact("RoundForward", np.rint)
_exact("FmodForward", _fmod)
_exact("CopysignForward", np.copysign)
_exact("SignbitForward", np.signbit)
_exact("IsNanForward", np.isnan)
_exact("IsInfForward", np.isinf)
_exact("IsFiniteForward", np.isfinite)


@reference("NextafterForward")
def nextafter(case: Case) -> list[Expected | None]:
    """Give the neighbour in the operand's own dtype (bfloat16 by ml_dtypes)."""
    a, b = operand(case, 0), operand(case, 1)
    # Equal operands give the second (C, array API); NumPy's float16 gives the first of two zeros.
    return [Expected(np.where(a == b, b, np.nextafter(a, b)))]


# ---- bits: NumPy's shifts by what C leaves undefined are endless ones too ---------------------------


def _bitwise(name: str, function: Callable[..., Array]) -> None:
    def run(case: Case) -> list[Expected | None]:
        return [Expected(np.asarray(function(*(operand(case, i) for i in range(len(case.inputs))))))]

    reference(name)(run)


_bitwise("BitwiseAndForward", np.bitwise_and)
_bitwise("BitwiseOrForward", np.bitwise_or)
_bitwise("BitwiseXorForward", np.bitwise_xor)
_bitwise("BitwiseNotForward", np.bitwise_not)
_bitwise("LeftShiftForward", np.left_shift)
_bitwise("RightShiftForward", np.right_shift)
