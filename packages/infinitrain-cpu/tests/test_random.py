"""Random bits against a second writing of the mapping, in Python's integers and doubles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cpu_driver import DTYPES, Cpu, check, dtypes_of, to_half, values

MASK = 0xFFFFFFFF


def philox(seed: int, counter: int) -> list[int]:
    k0, k1 = seed & MASK, seed >> 32
    c = [counter & MASK, counter >> 32, 0, 0]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 & MASK, (p0 >> 32) ^ c[3] ^ k1, p0 & MASK]
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c


def words(seed: int, offset: int, n: int) -> list[int]:
    return [w for i in range(0, n, 4) for w in philox(seed, (offset + i // 4) % 2**64)][:n]


def test_philox_matches_published_vectors() -> None:
    """Random123's known answers for Philox-4x32-10, those with an upper counter half of zero."""
    assert [f"{w:08x}" for w in philox(0, 0)] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]


def exact_log(x: float) -> float:
    m, e = math.frexp(x)
    m, e = m * 2, e - 1
    if m > 1.4142135623730951:
        m, e = m * 0.5, e + 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    tail = 1.0 / 23.0
    for k in range(21, 2, -2):
        tail = tail * z + 1.0 / k
    high, low = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
    return e * high + (e * low + (2.0 * s + 2.0 * s * (z * tail)))


A = [2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
     1971.5909503065514427, 133.14166789178437745, 3.387132872796366608]  # fmt: skip
B = [5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
     687.1870074920579083, 42.313330701600911252, 1.0]  # fmt: skip
C = [7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734]  # fmt: skip
D = [1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0]  # fmt: skip


def polynomial(c: list[float], x: float) -> float:
    total = c[0]
    for k in c[1:]:
        total = total * x + k
    return total


def normal(word: int) -> float:
    p = (word + 0.5) * 2.0**-32
    q = p - 0.5
    if -0.425 <= q <= 0.425:
        r = 0.180625 - q * q
        return q * polynomial(A, r) / polynomial(B, r)
    r = math.sqrt(-exact_log(p if q < 0 else 1.0 - p)) - 1.6
    z = polynomial(C, r) / polynomial(D, r)
    return -z if q < 0 else z


def rounded(exact: list[float], dtype: str) -> np.ndarray[Any, Any]:
    if dtype == "bf16":
        return np.array([to_half(v, 7, -126, 3.39e38) for v in exact])
    if dtype == "f16":
        return np.array([to_half(v, 10, -14, 65504.0) for v in exact])
    return np.array(exact).astype(DTYPES[dtype])


STATES = [(0, 0), (1234567890123456789, 5), (2**63 + 17, 2**64 - 2), (42, 2**32 - 1)]


@pytest.mark.parametrize("dtype", dtypes_of("UniformForward"))
@pytest.mark.parametrize(("seed", "offset"), STATES)
def test_draws(each_isa: Cpu, dtype: str, seed: int, offset: int) -> None:
    n = 4099
    state = np.array([seed, offset], np.uint64).view(np.int64)
    bits = words(seed, offset, n)
    found = each_isa.new("UniformForward", [state], (n,), DTYPES[dtype], low=-1.0, high=3.0)
    want = rounded([-1.0 + 4.0 * ((w >> 8) * 2.0**-24) for w in bits], dtype)
    np.testing.assert_array_equal(found.astype(np.float64), want.astype(np.float64))
    found = each_isa.new("NormalForward", [state], (n,), DTYPES[dtype], mean=0.5, std=0.02)
    want = rounded([0.5 + 0.02 * normal(w) for w in bits], dtype)
    np.testing.assert_array_equal(found.astype(np.float64), want.astype(np.float64))


@pytest.mark.parametrize("name", ["UniformForward", "NormalForward"])
def test_bits_do_not_depend_on_threads_or_instructions(each_isa: Cpu, make_cpu: Any, name: str) -> None:
    state = np.array([7, 11], np.int64)
    one = make_cpu(threads=1, isa="baseline").new(name, [state], (100_003,), np.float32)
    many = make_cpu(threads=3).new(name, [state], (100_003,), np.float32)

    assert each_isa.new(name, [state], (100_003,), np.float32).tobytes() == one.tobytes() == many.tobytes()


def test_normal_numbers_have_the_moments_of_a_normal_distribution(cpu: Cpu) -> None:
    z = cpu.new("NormalForward", [np.array([3, 0])], (400_000,), np.float64)

    assert abs(z.mean()) < 0.01
    assert abs(z.std() - 1) < 0.01
    assert abs((z**4).mean() - 3) < 0.1
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 0.01


@pytest.mark.parametrize("dtype", dtypes_of("DropoutForward"))
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_dropout(cpu: Cpu, dtype: str, p: float) -> None:
    x, g = values(dtype, (61, 83)), values(dtype, (61, 83), 1)
    x[0, 0] = np.nan
    y, mask = np.empty_like(x), np.empty(x.shape, np.bool_)
    cpu.launch("DropoutForward", [x, np.array([9, 4])], [y, mask], p=p)
    kept = np.array([(w >> 8) * 2.0**-24 >= p for w in words(9, 4, x.size)]).reshape(x.shape)
    np.testing.assert_array_equal(mask, kept)
    factor = 1 / (1 - p) if p < 1 else 0.0
    check("DropoutForward", dtype, y, np.where(kept, x.astype(np.float64) * factor, 0))
    dx = cpu.new("DropoutBackward", [g, mask], x.shape, x.dtype, p=p)
    check("DropoutBackward", dtype, dx, np.where(kept, g.astype(np.float64) * factor, 0))
