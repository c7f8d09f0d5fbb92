"""Random numbers, bit by bit: Philox-4x32-10 and the two mappings, written here from their sources.

Sources: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; Wichura, "Algorithm
AS 241", Applied Statistics 37 (1988). Only operations that IEEE 754 determines are used, in the contract's order, so
that results are comparable bit by bit.
"""

from __future__ import annotations

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import convert, wide

__all__ = ["normal", "philox", "uniform"]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85


def philox(seed: int, counters: Array) -> Array:
    """Give four 32-bit words for each 64-bit counter, as uint64 of shape (n, 4)."""
    keys = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    counter = [counters & _LOW, counters >> _HALF, np.zeros_like(counters), np.zeros_like(counters)]
    for _ in range(10):
        first, second = _MULTIPLIERS[0] * counter[0], _MULTIPLIERS[1] * counter[2]
        counter = [
            (second >> _HALF) ^ counter[1] ^ np.uint64(keys[0]),
            second & _LOW,
            (first >> _HALF) ^ counter[3] ^ np.uint64(keys[1]),
            first & _LOW,
        ]
        keys = [(key + step) & 0xFFFFFFFF for key, step in zip(keys, _WEYL, strict=True)]
    return np.stack(counter, axis=-1)


def _words(state: Array, n: int) -> Array:
    """Give the word of each of n elements."""
    seed, offset = int(state[0]) % 2**64, int(state[1]) % 2**64
    blocks = np.arange(-(-n // 4), dtype=np.uint64) + np.uint64(offset)
    return philox(seed, blocks).reshape(-1)[:n]


def uniform(words: Array) -> Array:
    """The upper 24 bits as a fraction."""
    return (words >> np.uint64(8)).astype(np.float64) * 2.0**-24


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def _log(x: Array) -> Array:
    """Ln by x = m 2^e, m in [sqrt(1/2), sqrt(2)), and the series of atanh."""
    fraction, exponent = np.frexp(x)  # [1/2, 1)
    m, e = fraction * 2.0, exponent.astype(np.float64) - 1.0
    large = m > 1.4142135623730951
    m, e = np.where(large, m * 0.5, m), np.where(large, e + 1.0, e)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    tail = np.full_like(s, 1.0 / 23.0)
    for k in range(21, 2, -2):
        tail = tail * z + 1.0 / k
    high, low = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
    return e * high + (e * low + (2.0 * s + 2.0 * s * (z * tail)))


#: Wichura's coefficients for |p - 1/2| <= 0.425 and for the tails, highest power first.
_A = (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
      13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608)  # fmt: skip
_B = (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0)  # fmt: skip
_C = (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
      3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734)  # fmt: skip
_D = (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
      0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0)  # fmt: skip


def normal(words: Array) -> Array:
    """The inverse normal distribution at (word + 1/2) 2^-32."""
    p = (words.astype(np.float64) + 0.5) * 2.0**-32
    q = p - 0.5
    r = 0.180625 - q * q
    middle = q * _polynomial(_A, r) / _polynomial(_B, r)
    r = np.sqrt(-_log(np.where(q < 0, p, 1.0 - p))) - 1.6
    tail = _polynomial(_C, r) / _polynomial(_D, r)
    return np.where(np.abs(q) <= 0.425, middle, np.where(q < 0, -tail, tail))


@reference("UniformForward")
def uniform_forward(case: Case) -> list[Expected | None]:
    """Low + (high - low) * u."""
    y, (low, high) = output(case), (float(value) for value in case.attributes)
    values = low + (high - low) * uniform(_words(operand(case, 0), y.size))
    return [Expected(convert(values.reshape(y.shape), y.dtype))]


@reference("NormalForward")
def normal_forward(case: Case) -> list[Expected | None]:
    """Mean + std * z."""
    y, (mean, std) = output(case), (float(value) for value in case.attributes)
    values = mean + std * normal(_words(operand(case, 0), y.size))
    return [Expected(convert(values.reshape(y.shape), y.dtype))]


def _kept(x: Array, mask: Array, p: float) -> Array:
    return np.where(mask, x * (1 / (1 - p)) if p < 1 else 0.0, 0.0)


@reference("DropoutForward")
def dropout(case: Case) -> list[Expected | None]:
    """Keep where u >= p, scaled; and the mask."""
    x, p = wide(operand(case, 0)), float(case.attributes[0])
    mask = (uniform(_words(operand(case, 1), x.size)) >= p).reshape(x.shape)
    return [Expected(_kept(x, mask, p)), Expected(mask)]


@reference("DropoutBackward")
def dropout_backward(case: Case) -> list[Expected | None]:
    """The gradient where the mask is set, scaled."""
    return [Expected(_kept(wide(operand(case, 0)), operand(case, 1), float(case.attributes[0])))]
