"""Every kernel against NumPy (and PyTorch for derivatives), within the tolerances of kernels.toml."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import torch
from fake_driver import NAMES, NUMPY, TABLE, Fake, StatusError, dtypes_of, ffi

FLOATS = ("bf16", "f16", "f32", "f64")
INTS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64")
RNG = np.random.default_rng(20240607)


def sample(dtype: str, shape: tuple[int, ...], low: float = -3.0, high: float = 3.0) -> np.ndarray[Any, Any]:
    """Draw values of a dtype; integers over their whole range."""
    to = NUMPY[dtype]
    if dtype == "bool":
        return RNG.random(shape) < 0.5
    if dtype in INTS:
        info = np.iinfo(to)
        return RNG.integers(info.min, info.max, shape, to, endpoint=True)
    return RNG.uniform(low, high, shape).astype(to)


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.astype(np.float64)


def accumulator(dtype: str) -> np.dtype[Any]:
    return NUMPY["f64" if dtype == "f64" else "f32"]


def close(name: str, found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], scale: Any = 1.0) -> None:
    """Compare within the row's tolerance, its absolute part times `scale`."""
    rtol, atol = TABLE[name].tolerance.of(NAMES[found.dtype])
    expected, wide_found = np.broadcast_to(wide(expected), found.shape), wide(found)
    same = (wide_found == expected) | (np.isnan(wide_found) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        good = same | (np.abs(wide_found - expected) <= atol * np.maximum(scale, 1.0) + rtol * np.abs(expected))
    worst = np.unravel_index(np.argmin(good), good.shape) if good.size else ()
    assert good.all(), f"{name} at {worst}: expected {expected[worst]}, found {wide_found[worst]}"


# ---- tier 0 ----------------------------------------------------------------------------------------


def cast_oracle(x: np.ndarray[Any, Any], to: str) -> np.ndarray[Any, Any]:
    target = NUMPY[to]
    if to == "bool":
        return np.where(np.isnan(wide(x)), True, x != 0) if NAMES[x.dtype] in FLOATS else x != 0
    if to in INTS and NAMES[x.dtype] in FLOATS:
        info = np.iinfo(target)
        whole = [0 if math.isnan(v) else int(v) if math.isfinite(v) else int(math.copysign(2**70, v)) for v in wide(x)]
        return np.array([min(max(v, info.min), info.max) for v in whole], target)
    with np.errstate(over="ignore", invalid="ignore"):
        # NumPy takes integers to half types through float32, which rounds twice; float64 is as good as exact here.
        return (wide(x) if to in ("bf16", "f16") else x).astype(target)


@pytest.mark.parametrize("source", dtypes_of("Cast"))
@pytest.mark.parametrize("target", dtypes_of("Cast"))
def test_cast_of_every_pair(shared: Fake, source: str, target: str) -> None:
    x = sample(source, (300,), -300.0, 300.0)
    if source in FLOATS:
        x[:8] = np.array([np.nan, np.inf, -np.inf, -0.0, 0.5, -1.5, 1e4, -1e4]).astype(x.dtype)
    (y,) = shared.run("Cast", [x], [(x.shape, NUMPY[target])])

    expected = cast_oracle(x, target)
    assert y.dtype == expected.dtype
    assert np.array_equal(wide(y) if target in FLOATS else y, wide(expected) if target in FLOATS else expected,
                          equal_nan=target in FLOATS)  # fmt: skip


@pytest.mark.parametrize(("value", "target", "expected"), [
    (np.float64(1.0 + 2**-8 + 2**-40), "bf16", 1.0 + 2**-7),  # just above a tie that float32 would make of it
    (np.float64(1.0 + 2**-8), "bf16", 1.0),
    (np.float64(1.0 + 2**-11 + 2**-50), "f16", 1.0 + 2**-10),
    (np.float64(1.0 + 3 * 2**-11 - 2**-50), "f16", 1.0 + 2**-10),
    (np.float64(2**-25 * (1 + 2**-40)), "f16", 2**-24),
    (np.float64(65519.999999999), "f16", 65504.0),
    (np.float64(65520.0), "f16", np.inf),
    (np.float64(1e300), "bf16", np.inf),
    (np.float64(3.3961775292304957e38), "bf16", np.inf),  # the midpoint between the largest bf16 and 2^128
    (np.int64(2**60 + 2**52 + 1), "bf16", float(2**60 + 2**53)),
    (np.int64(-(2**60 + 2**52 + 1)), "bf16", -float(2**60 + 2**53)),
    (np.uint64(2**63 + 2**55 + 1), "bf16", float(2**63 + 2**56)),
    (np.int64(2**60 + 2**52), "bf16", float(2**60)),
    (np.int64(2049), "f16", 2048.0),
    (np.int64(2**24 + 1), "f32", float(2**24)),
])  # fmt: skip
def test_cast_rounds_once(shared: Fake, value: Any, target: str, expected: float) -> None:
    (y,) = shared.run("Cast", [np.array([value])], [((1,), NUMPY[target])])

    assert float(y[0]) == expected


def test_cast_and_copy_of_strided_views(shared: Fake) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    t = shared.put(x)
    turned = t.view((4, 2, 3), (1, 12, 4))
    for name, dtype in (("Copy", np.float32), ("Cast", np.int16)):
        y = shared.empty((4, 2, 3), dtype)
        shared.launch(name, [turned], [y])

        assert np.array_equal(shared.get(y), x.transpose(2, 0, 1).astype(dtype))


@pytest.mark.parametrize("dtype", dtypes_of("Copy"))
def test_copy_keeps_every_bit(shared: Fake, dtype: str) -> None:
    size = NUMPY[dtype].itemsize
    bits = RNG.integers(0, 256, 64 * size, np.uint8)
    x = shared.put(bits.view(NUMPY[dtype]))
    y = shared.empty((64,), NUMPY[dtype])
    shared.launch("Copy", [x.view((8, 8), (1, 8))], [y.view((8, 8), (8, 1))])

    expected = bits.reshape(8, 8, size).transpose(1, 0, 2).ravel()
    assert np.array_equal(shared.get(y).view(np.uint8), expected)


def test_copy_into_a_view_leaves_the_rest(shared: Fake) -> None:
    y = shared.put(np.zeros((4, 6), np.int32))
    shared.launch("Copy", [shared.put(np.arange(6, dtype=np.int32))], [y.view((6,), (4,), 1)])

    expected = np.zeros(24, np.int32)
    expected[1::4] = np.arange(6)
    assert np.array_equal(shared.get(y).ravel(), expected)


@pytest.mark.parametrize("dtype", dtypes_of("Fill"))
@pytest.mark.parametrize("value", [1, -1, 0.5, True, 1e10, float("nan")])
def test_fill_converts_as_cast_does(shared: Fake, dtype: str, value: Any) -> None:
    (y,) = shared.run("Fill", [], [((3, 400), NUMPY[dtype])], value=value)

    kind = "f64" if isinstance(value, float) else "i64"
    expected = cast_oracle(np.array([value], NUMPY[kind]), dtype)
    assert np.array_equal(wide(y), np.broadcast_to(wide(expected), y.shape), equal_nan=True)


def test_fill_of_u64_takes_the_bit_pattern(shared: Fake) -> None:
    (y,) = shared.run("Fill", [], [((), np.uint64)], value=-1)

    assert y == 2**64 - 1


@pytest.mark.parametrize("name", ["NoOpForward", "NoOpBackward"])
def test_no_op_copies_unless_it_is_the_same_memory(shared: Fake, name: str) -> None:
    x = shared.put(sample("f32", (4, 6)))
    y = shared.empty((3, 8), np.float32)
    shared.launch(name, [x], [y])
    shared.launch(name, [x], [x])

    assert np.array_equal(shared.get(y).ravel(), shared.get(x).ravel())


# ---- elementwise -------------------------------------------------------------------------------------

UNARY: dict[str, Callable[[Any], Any]] = {
    "ReciprocalForward": lambda x: 1 / x,
    "SqrtForward": np.sqrt,
    "RsqrtForward": lambda x: 1 / np.sqrt(x),
    "ExpForward": np.exp,
    "LogForward": np.log,
    "SinForward": np.sin,
    "CosForward": np.cos,
    "TanhForward": np.tanh,
    "SigmoidForward": lambda x: 1 / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_unary_of_floats(shared: Fake, name: str, dtype: str) -> None:
    x = sample(dtype, (5, 300))
    x.flat[:5] = np.array([0.0, -0.0, np.inf, -np.inf, np.nan]).astype(x.dtype)
    (y,) = shared.run(name, [x], [(x.shape, x.dtype)])

    with np.errstate(all="ignore"):
        exact = UNARY[name](wide(x))
        if TABLE[name].tolerance.name == "exact":  # one rounding, of the computing type, then of the dtype
            exact = UNARY[name](x.astype(np.float32) if dtype != "f64" else x).astype(x.dtype)
    close(name, y, exact)


@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_signs(shared: Fake, dtype: str) -> None:
    x = sample(dtype, (700,))
    if dtype in INTS:
        x[0] = np.iinfo(x.dtype).min
    oracles = {"NegForward": np.negative, "AbsForward": np.abs, "ReluForward": lambda v: np.maximum(v, v.dtype.type(0))}
    for name, function in oracles.items():
        (y,) = shared.run(name, [x], [(x.shape, x.dtype)])
        with np.errstate(over="ignore"):
            assert np.array_equal(y, function(x)), name


def test_relu_keeps_nan(shared: Fake) -> None:
    (y,) = shared.run("ReluForward", [np.array([np.nan, -1, 2], np.float32)], [((3,), np.float32)])

    assert np.array_equal(y, np.array([np.nan, 0, 2], np.float32), equal_nan=True)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "AddForward": np.add,
    "SubForward": np.subtract,
    "MulForward": np.multiply,
    "MaximumForward": np.maximum,
    "MinimumForward": np.minimum,
    "FloorDivideForward": np.floor_divide,
    "RemainderForward": np.remainder,
}


@pytest.mark.parametrize("dtype", INTS + FLOATS)
@pytest.mark.parametrize("name", BINARY)
def test_binary(shared: Fake, name: str, dtype: str) -> None:
    a, b = sample(dtype, (4, 200)), sample(dtype, (4, 200))
    if dtype in INTS:
        info = np.iinfo(a.dtype)
        edges = [(x, y) for x in (info.min, info.max, 0, 1, 7) for y in (info.min, info.max, 0, 3)]
        a.flat[:20] = np.array([x for x, _ in edges], a.dtype)
        b.flat[:20] = np.array([y for _, y in edges], a.dtype)
        if info.min < 0:
            a.flat[20], b.flat[20] = info.min, -1
    elif "Divide" not in name:
        a.flat[:3], b.flat[1:3] = np.nan, 0
    (y,) = shared.run(name, [a, b], [(a.shape, a.dtype)])

    with np.errstate(all="ignore"):
        if dtype in ("bf16", "f16"):
            expected = BINARY[name](a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
        else:
            expected = BINARY[name](a, b)
    assert np.array_equal(wide(y), wide(expected), equal_nan=True)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_division_at_the_edges(shared: Fake, dtype: str) -> None:
    inf = math.inf
    a = np.array([1, -1, 1, -1, 0, 7, -7, 7, -7, 1, 0.0, -0.0, 3, inf], NUMPY[dtype])
    b = np.array([inf, inf, -inf, -inf, inf, 2, 2, -2, -2, 0, 5, 5, -3, 2], NUMPY[dtype])
    (quotient,) = shared.run("FloorDivideForward", [a, b], [(a.shape, a.dtype)])
    (remainder,) = shared.run("RemainderForward", [a, b], [(a.shape, a.dtype)])

    expected = [0, -1, -1, 0, 0, 3, -4, -4, 3, inf, 0, -0.0, -1, inf]
    assert np.array_equal(quotient, np.array(expected, NUMPY[dtype]))
    with np.errstate(invalid="ignore"):
        assert np.array_equal(remainder, np.remainder(a, b), equal_nan=True)
    assert np.array_equal(np.signbit(remainder[10:13]), [False, False, True])  # a zero has the divisor's sign


@pytest.mark.parametrize("dtype", FLOATS)
def test_division(shared: Fake, dtype: str) -> None:
    a, b = sample(dtype, (500,)), sample(dtype, (500,))
    b[0] = 0
    (y,) = shared.run("DivForward", [a, b], [(a.shape, a.dtype)])

    with np.errstate(divide="ignore"):
        expected = a / b if dtype in ("f32", "f64") else (a.astype(np.float32) / b.astype(np.float32)).astype(a.dtype)
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("dtype", INTS)
def test_integer_powers(shared: Fake, dtype: str) -> None:
    a = np.array([0, 1, 2, 3, 7, 2, 5, 0, 1], NUMPY[dtype])
    b = np.array([0, 5, 7, 4, 3, 100, 9, 3, 100], NUMPY[dtype])
    (y,) = shared.run("PowForward", [a, b], [(a.shape, a.dtype)])

    wrapped = [pow(int(x), int(n)) % 2 ** (8 * a.itemsize) for x, n in zip(a, b, strict=True)]
    assert np.array_equal(y.astype(f"u{a.itemsize}"), np.array(wrapped, f"u{a.itemsize}"))


def test_negative_integer_powers_keep_the_integer_part(shared: Fake) -> None:
    a, b = np.array([1, -1, -1, 2, 0, -3]), np.array([-5, -3, -4, -1, -1, -2])
    (y,) = shared.run("PowForward", [a, b], [(a.shape, a.dtype)])

    assert y.tolist() == [1, -1, 1, 0, 0, 0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_powers(shared: Fake, dtype: str) -> None:
    a, b = sample(dtype, (400,), 0.1, 4.0), sample(dtype, (400,))
    (y,) = shared.run("PowForward", [a, b], [(a.shape, a.dtype)])

    close("PowForward", y, wide(a) ** wide(b))


@pytest.mark.parametrize("dtype", INTS + FLOATS)
@pytest.mark.parametrize("value", [3, -2, 0.37, 300])
def test_scalars_are_converted_first(shared: Fake, dtype: str, value: Any) -> None:
    x = sample(dtype, (300,))
    for name, function in (("AddScalar", np.add), ("MulScalar", np.multiply)):
        (y,) = shared.run(name, [x], [(x.shape, x.dtype)], value=value)

        if dtype in INTS:
            scalar = cast_oracle(np.array([value], np.float64 if isinstance(value, float) else np.int64), dtype)
            expected = function(x, scalar[0])
        else:
            work = x.astype(np.float32) if dtype != "f64" else x
            expected = function(work, work.dtype.type(value)).astype(x.dtype)
        assert np.array_equal(y, expected), name


COMPARE = {"EqualsForward": np.equal, "LtForward": np.less, "LeForward": np.less_equal, "GtForward": np.greater,
           "GeForward": np.greater_equal}  # fmt: skip


@pytest.mark.parametrize("dtype", dtypes_of("EqualsForward"))
@pytest.mark.parametrize("name", COMPARE)
def test_comparisons(shared: Fake, name: str, dtype: str) -> None:
    a, b = sample(dtype, (400,)), sample(dtype, (400,))
    b[::3] = a[::3]
    if dtype in FLOATS:
        a[:2], b[1] = np.nan, np.nan
    (y,) = shared.run(name, [a, b], [(a.shape, bool)])

    assert np.array_equal(y, COMPARE[name](a, b))


def test_logic(shared: Fake) -> None:
    a, b = sample("bool", (300,)), sample("bool", (300,))

    assert np.array_equal(shared.run("AndForward", [a, b], [(a.shape, bool)])[0], a & b)
    assert np.array_equal(shared.run("OrForward", [a, b], [(a.shape, bool)])[0], a | b)
    assert np.array_equal(shared.run("NotForward", [a], [(a.shape, bool)])[0], ~a)


@pytest.mark.parametrize("dtype", dtypes_of("WhereForward"))
def test_where_selects(shared: Fake, dtype: str) -> None:
    condition, a, b = sample("bool", (300,)), sample(dtype, (300,)), sample(dtype, (300,))
    if dtype in FLOATS:
        b[:] = np.nan
    (y,) = shared.run("WhereForward", [condition, a, b], [(a.shape, a.dtype)])

    assert np.array_equal(y.view(np.uint8), np.where(condition, a, b).view(np.uint8))


def test_broadcast_operands_and_strided_results(shared: Fake) -> None:
    a, b = sample("f32", (5, 1)), sample("f32", (7,))
    y = shared.put(np.zeros((7, 5), np.float32))
    shared.launch(
        "AddForward",
        [shared.put(a).view((5, 7), (1, 0)), shared.put(b).view((5, 7), (0, 1))],
        [y.view((5, 7), (1, 5))],
    )

    assert np.array_equal(shared.get(y), (a + b).T)


def test_in_place(shared: Fake) -> None:
    x = sample("f32", (1000,))
    t, other = shared.put(x), shared.put(x)
    shared.launch("AddForward", [t, other], [t])
    shared.launch("ExpForward", [t], [t])

    close("ExpForward", shared.get(t), np.exp(wide(x + x)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("tanh", [True, False])
def test_gelu(shared: Fake, dtype: str, tanh: bool) -> None:
    x, grad = sample(dtype, (3, 300), -6, 6), sample(dtype, (3, 300))
    oracle = torch.tensor(wide(x), requires_grad=True)
    result = torch.nn.functional.gelu(oracle, approximate="tanh" if tanh else "none")
    result.backward(torch.tensor(wide(grad)))
    (y,) = shared.run("GeluForward", [x], [(x.shape, x.dtype)], tanh=tanh)
    (dx,) = shared.run("GeluBackward", [x, grad], [(x.shape, x.dtype)], tanh=tanh)

    close("GeluForward", y, result.detach().numpy())
    close("GeluBackward", dx, oracle.grad.numpy())


@pytest.mark.parametrize("dtype", FLOATS)
def test_derivatives(shared: Fake, dtype: str) -> None:
    y, grad = sample(dtype, (600,), -0.99, 0.99), sample(dtype, (600,))
    w, g = wide(y), wide(grad)
    cases = {"TanhBackward": g * (1 - w * w), "SigmoidBackward": g * w * (1 - w), "ReluBackward": np.where(w > 0, g, 0)}
    for name, expected in cases.items():
        close(name, shared.run(name, [y, grad], [(y.shape, y.dtype)])[0], expected)


# ---- reductions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTS + FLOATS)
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1, 2), ()])
def test_reductions(shared: Fake, dtype: str, axes: tuple[int, ...]) -> None:
    x = sample(dtype, (6, 300, 5))
    shape = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
    scale = np.abs(wide(x)).sum(axes, keepdims=True) if dtype in FLOATS else 1.0
    oracles = {"SumForward": np.sum, "MeanForward": np.mean, "MaxForward": np.max, "MinForward": np.min}
    for name, function in oracles.items():
        if dtype not in dtypes_of(name):
            continue
        (y,) = shared.run(name, [x], [(shape, x.dtype)])
        if dtype in FLOATS:
            count = x.size / y.size if name == "MeanForward" else 1.0
            close(name, y, function(wide(x), axis=axes, keepdims=True), scale / count)
        elif name == "SumForward":
            assert np.array_equal(y, np.sum(x, axis=axes, keepdims=True, dtype=x.dtype))
        else:
            assert np.array_equal(y, function(x, axis=axes, keepdims=True))


def test_reduction_of_a_transposed_view(shared: Fake) -> None:
    x = sample("f32", (40, 70))
    y = shared.empty((70, 1), np.float32)
    shared.launch("SumForward", [shared.put(x).view((70, 40), (1, 70))], [y])

    close("SumForward", shared.get(y), wide(x).sum(0)[:, None], np.abs(wide(x)).sum(0)[:, None])


def test_reductions_of_nothing(shared: Fake) -> None:
    x = np.empty((2, 0, 3), np.float32)

    assert np.array_equal(shared.run("SumForward", [x], [((2, 1, 3), np.float32)])[0], np.zeros((2, 1, 3)))
    assert np.isnan(shared.run("MeanForward", [x], [((2, 1, 3), np.float32)])[0]).all()


def test_nan_wins_and_small_sums_are_exact(shared: Fake) -> None:
    x = np.array([[1, np.nan, 3], [4, 5, 6]], np.float32)
    ones = np.ones((1024,), NUMPY["bf16"])

    assert np.array_equal(shared.run("MaxForward", [x], [((2, 1), np.float32)])[0], [[np.nan], [6]], equal_nan=True)
    assert np.array_equal(shared.run("MinForward", [x], [((2, 1), np.float32)])[0], [[np.nan], [4]], equal_nan=True)
    assert float(shared.run("SumForward", [ones], [((1,), ones.dtype)])[0][0]) == 1024.0


def test_max_of_bool(shared: Fake) -> None:
    x = np.array([[False, True], [False, False]])

    assert shared.run("MaxForward", [x], [((2, 1), bool)])[0].tolist() == [[True], [False]]
    assert shared.run("MinForward", [x], [((2, 1), bool)])[0].tolist() == [[False], [False]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("accumulate", [False, True])
def test_squared_norm(shared: Fake, dtype: str, accumulate: bool) -> None:
    x = sample(dtype, (1000,))
    old = np.array(2.5, accumulator(dtype))
    (y,) = shared.run("SquaredNorm", [x], [old], accumulate=accumulate)

    close("SquaredNorm", y, (wide(x) ** 2).sum() + (2.5 if accumulate else 0.0))


# ---- products --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (3, 5, 7), (64, 64, 64), (65, 130, 70), (2, 0, 3), (130, 3, 1)])
@pytest.mark.parametrize("accumulate", [False, True])
def test_matmul(shared: Fake, dtype: str, m: int, k: int, n: int, accumulate: bool) -> None:
    a, b, old = sample(dtype, (m, k)), sample(dtype, (k, n)), sample(dtype, (m, n))
    (y,) = shared.run("MatmulForward", [a, b], [old], accumulate=accumulate)

    base = wide(old) if accumulate else 0.0
    close("MatmulForward", y, wide(a) @ wide(b) + base, np.abs(wide(a)) @ np.abs(wide(b)) + 1)


def test_matmul_of_views(shared: Fake) -> None:
    a, b = sample("f32", (2, 1, 9, 17)), sample("f32", (3, 11, 17))
    y = shared.empty((2, 3, 9, 11), np.float32)
    shared.launch(
        "MatmulForward",
        [shared.put(a).view((2, 3, 9, 17), (153, 0, 17, 1)), shared.put(b).view((2, 3, 17, 11), (0, 187, 1, 17))],
        [y],
    )

    close("MatmulForward", shared.get(y), wide(a) @ wide(b).transpose(0, 2, 1), 20.0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("accumulate", [False, True])
def test_linear(shared: Fake, dtype: str, accumulate: bool) -> None:
    rows, inputs, outputs = 70, 33, 290
    x, w, b = sample(dtype, (rows, inputs)), sample(dtype, (outputs, inputs)), sample(dtype, (outputs,))
    g = sample(dtype, (rows, outputs))
    wx, ww, wb, wg = wide(x), wide(w), wide(b), wide(g)
    (y,) = shared.run("LinearForward", [x, w, b], [((rows, outputs), x.dtype)])
    (plain,) = shared.run("LinearForward", [x, w, None], [((rows, outputs), x.dtype)])

    close("LinearForward", y, wx @ ww.T + wb, np.abs(wx) @ np.abs(ww.T) + np.abs(wb))
    close("LinearForward", plain, wx @ ww.T, np.abs(wx) @ np.abs(ww.T))
    for name, operands, old, expected, scale in (
        ("LinearBackwardInput", [g, w], sample(dtype, x.shape), wg @ ww, np.abs(wg) @ np.abs(ww)),
        ("LinearBackwardWeight", [x, g], sample(dtype, w.shape), wg.T @ wx, np.abs(wg.T) @ np.abs(wx)),
        ("LinearBackwardBias", [g], sample(dtype, b.shape), wg.sum(0), np.abs(wg).sum(0)),
    ):
        (found,) = shared.run(name, operands, [old], accumulate=accumulate)
        close(name, found, expected + (wide(old) if accumulate else 0.0), scale + 1)


# ---- loss and optimizers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_cross_entropy(shared: Fake, dtype: str) -> None:
    logits, target = sample(dtype, (9, 700), -9, 9), RNG.integers(0, 700, 9)
    target[4] = -100
    a, grad = accumulator(dtype), sample("f32", (9,)).astype(accumulator(dtype))
    oracle = torch.tensor(wide(logits), requires_grad=True)
    expected = torch.nn.functional.cross_entropy(oracle, torch.tensor(target), reduction="none")
    expected.backward(torch.tensor(wide(grad)))
    loss, lse = shared.run("CrossEntropyForward", [logits, target], [((9,), a), ((9,), a)])
    (dlogits,) = shared.run("CrossEntropyBackward", [logits, target, lse, grad], [(logits.shape, logits.dtype)])

    close("CrossEntropyForward", loss, expected.detach().numpy(), 10.0)
    close("CrossEntropyForward", lse, torch.logsumexp(oracle, 1).detach().numpy(), 10.0)
    close("CrossEntropyBackward", dlogits, oracle.grad.numpy())
    assert not dlogits[4].any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rate", [None, -0.25])
def test_accumulate_grad(shared: Fake, dtype: str, rate: float | None) -> None:
    y, grad = sample(dtype, (600,)), sample(dtype, (600,))
    (found,) = shared.run("AccumulateGrad", [grad, None if rate is None else np.float32(rate)], [y])

    close("AccumulateGrad", found, wide(y) + (1.0 if rate is None else rate) * wide(grad))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scale", [None, 0.5])
def test_adam(shared: Fake, dtype: str, scale: float | None) -> None:
    param, grad, a = sample(dtype, (900,)), sample(dtype, (900,)), accumulator(dtype)
    m, v = sample("f32", (900,)).astype(a), np.abs(sample("f32", (900,))).astype(a)
    hyper = {"beta1": 0.8, "beta2": 0.95, "eps": 1e-6, "weight_decay": 0.1}
    lr, step = np.float32(0.01), np.int64(7)
    found = shared.run(
        "AdamAccumulateGrad", [grad, lr, step, None if scale is None else np.float32(scale)], [param, m, v], **hyper
    )

    g = wide(grad) * (1.0 if scale is None else scale)
    new_m, new_v = 0.8 * wide(m) + 0.2 * g, 0.95 * wide(v) + 0.05 * g * g
    unbiased = new_m / (1 - 0.8**7), new_v / (1 - 0.95**7)
    new_param = wide(param) * (1 - float(lr) * 0.1) - float(lr) * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-6)
    for y, expected in zip(found, (new_param, new_m, new_v), strict=True):
        close("AdamAccumulateGrad", y, expected)


# ---- randomness --------------------------------------------------------------------------------------------


def philox(seed: int, counter: int) -> list[int]:
    """Philox-4x32-10 in Python integers, written from the paper."""
    mask = 2**32 - 1
    c, k = [counter & mask, counter >> 32, 0, 0], [seed & mask, seed >> 32 & mask]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & mask, (p0 >> 32) ^ c[3] ^ k[1], p0 & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def words(seed: int, offset: int, n: int) -> np.ndarray[Any, Any]:
    blocks = [philox(seed, offset + i) for i in range((n + 3) // 4)]
    return np.array(blocks, np.uint64).ravel()[:n]


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_draws_the_agreed_bits(shared: Fake, dtype: str) -> None:
    state = np.array([0x1234_5678_9ABC_DEF0, 2**33 + 5], np.int64)
    (y,) = shared.run("UniformForward", [state], [((1030,), NUMPY[dtype])], low=-2.0, high=3.0)

    u = (words(int(state[0]), int(state[1]), 1030) >> np.uint64(8)).astype(np.float64) * 2.0**-24
    assert np.array_equal(y, cast_oracle(-2.0 + 5.0 * u, dtype))


def test_normal_is_the_inverse_of_the_distribution(shared: Fake) -> None:
    state = np.array([-7, 11], np.int64)
    (y,) = shared.run("NormalForward", [state], [((4000,), np.float64)], mean=1.0, std=2.0)

    law = NormalDist()
    p = (words(2**64 - 7, 11, 4000).astype(np.float64) + 0.5) * 2.0**-32
    np.testing.assert_allclose(y, [1.0 + 2.0 * law.inv_cdf(v) for v in p], rtol=1e-14, atol=1e-14)
    assert abs(y.mean() - 1.0) < 0.1
    assert abs(y.std() - 2.0) < 0.1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout(shared: Fake, dtype: str, p: float) -> None:
    x, state = sample(dtype, (1000,)), np.array([3, 0], np.int64)
    y, mask = shared.run("DropoutForward", [x, state], [(x.shape, x.dtype), (x.shape, bool)], p=p)
    (dx,) = shared.run("DropoutBackward", [x, mask], [(x.shape, x.dtype)], p=p)

    u = (words(3, 0, 1000) >> np.uint64(8)).astype(np.float64) * 2.0**-24
    assert np.array_equal(mask, u >= p)
    expected = np.where(mask, wide(x) / (1 - p) if p < 1 else 0.0, 0.0)
    close("DropoutForward", y, expected)
    close("DropoutBackward", dx, expected)


# ---- positions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes_of("EmbeddingForward"))
def test_embedding(shared: Fake, dtype: str) -> None:
    weight, index = sample(dtype, (10, 6)), RNG.integers(0, 10, 20)
    (y,) = shared.run("EmbeddingForward", [index, weight], [((20, 6), weight.dtype)])

    assert np.array_equal(y, weight[index])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("accumulate", [False, True])
def test_embedding_gradient(shared: Fake, dtype: str, accumulate: bool) -> None:
    index, grad, old = RNG.integers(0, 5, 40), sample(dtype, (40, 300)), sample(dtype, (10, 300))
    (found,) = shared.run("EmbeddingBackward", [index, grad], [old], accumulate=accumulate)

    expected, scale = wide(old) if accumulate else np.zeros(old.shape), np.ones(old.shape)
    np.add.at(expected, index, wide(grad))
    np.add.at(scale, index, np.abs(wide(grad)))
    close("EmbeddingBackward", found, expected, scale)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i16", "bool"])
def test_gather_and_scatter(shared: Fake, dtype: str, dim: int) -> None:
    x = sample(dtype, (5, 6, 7))
    index = RNG.integers(0, x.shape[dim], (4, 5, 6))
    (y,) = shared.run("GatherForward", [x, index], [(index.shape, x.dtype)], dim=dim)
    oracle = torch.gather(torch.tensor(x.astype(np.float64)), dim, torch.tensor(index)).numpy()
    assert np.array_equal(wide(y), oracle)

    values = sample(dtype, index.shape)
    (scattered,) = shared.run("ScatterForward", [index, values], [x], dim=dim)
    expected = x.copy()
    for at in np.ndindex(index.shape):
        to = list(at)
        to[dim] = index[at]
        expected[tuple(to)] = values[at]
    assert np.array_equal(scattered, expected)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("accumulate", [False, True])
def test_gather_gradient(shared: Fake, dtype: str, dim: int, accumulate: bool) -> None:
    index, old = RNG.integers(0, 4, (20, 30)), sample(dtype, (21, 31))
    grad = sample(dtype, index.shape)
    (found,) = shared.run("GatherBackward", [grad, index], [old], dim=dim, accumulate=accumulate)

    base = torch.tensor(wide(old) if accumulate else np.zeros(old.shape))
    expected = base.scatter_add(dim, torch.tensor(index), torch.tensor(wide(grad))).numpy()
    close("GatherBackward", found, expected, 60.0)


@pytest.mark.parametrize("name", ["TrilForward", "TriuForward"])
@pytest.mark.parametrize("diagonal", [0, 1, -2, 100, -100])
def test_triangles(shared: Fake, name: str, diagonal: int) -> None:
    x = sample("f32", (3, 5, 7))
    (y,) = shared.run(name, [x], [(x.shape, x.dtype)], diagonal=diagonal)

    assert np.array_equal(y, {"TrilForward": np.tril, "TriuForward": np.triu}[name](x, diagonal))


@pytest.mark.parametrize(("name", "inputs", "outputs", "words"), [
    ("EmbeddingForward", [np.array([0, 1, 2, 10]), np.zeros((10, 2), np.float32)], [((4, 2), np.float32)],
     "index 10 at position 3 is outside [0, 10)"),
    ("EmbeddingBackward", [np.array([-1]), np.zeros((1, 2), np.float32)], [np.zeros((10, 2), np.float32)],
     "index -1 at position 0 is outside [0, 10)"),
    ("CrossEntropyForward", [np.zeros((2, 5), np.float32), np.array([4, 5])], [((2,), np.float32)] * 2,
     "target 5 at row 1 is outside [0, 5)"),
])  # fmt: skip
def test_positions_outside_are_refused_at_the_next_sync(
    shared: Fake, name: str, inputs: Any, outputs: Any, words: str
) -> None:
    with pytest.raises(StatusError) as caught:
        shared.run(name, inputs, outputs)

    assert caught.value.name == "ASYNC"
    assert caught.value.native == 13
    assert f"[{name}][OUT_OF_RANGE] {words}" in str(caught.value)


# ---- softmax and norm ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax(shared: Fake, dtype: str) -> None:
    x, grad = sample(dtype, (3, 4, 600), -8, 8), sample(dtype, (3, 4, 600))
    oracle = torch.tensor(wide(x), requires_grad=True)
    expected = torch.softmax(oracle, -1)
    (y,) = shared.run("SoftmaxForward", [x], [(x.shape, x.dtype)])
    (dx,) = shared.run("SoftmaxBackward", [y, grad], [(x.shape, x.dtype)])
    stored = wide(y)

    close("SoftmaxForward", y, expected.detach().numpy())
    close("SoftmaxBackward", dx, stored * (wide(grad) - (stored * wide(grad)).sum(-1, keepdims=True)))


def test_softmax_of_minus_infinities(shared: Fake) -> None:
    x = np.full((1, 3), -np.inf, np.float32)

    assert np.isnan(shared.run("SoftmaxForward", [x], [(x.shape, x.dtype)])[0]).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (3, 7), (7, 3)])
def test_causal_softmax(shared: Fake, dtype: str, queries: int, keys: int) -> None:
    x, grad = sample(dtype, (2, queries, keys)), sample(dtype, (2, queries, keys))
    seen = np.tril(np.ones((queries, keys), bool), keys - queries)
    with np.errstate(invalid="ignore"):
        e = np.where(seen, np.exp(0.3 * wide(x)), 0.0)
        expected = np.nan_to_num(e / e.sum(-1, keepdims=True))
    (y,) = shared.run("CausalSoftmaxForward", [x], [(x.shape, x.dtype)], scale=0.3)
    (dx,) = shared.run("CausalSoftmaxBackward", [y, grad], [(x.shape, x.dtype)], scale=0.3)
    stored = wide(y)

    close("CausalSoftmaxForward", y, expected)
    close("CausalSoftmaxBackward", dx, 0.3 * stored * (wide(grad) - (stored * wide(grad)).sum(-1, keepdims=True)))
    assert not dx[:, ~seen].any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("accumulate", [False, True])
def test_layer_norm(shared: Fake, dtype: str, affine: bool, accumulate: bool) -> None:
    x, grad = sample(dtype, (12, 300)), sample(dtype, (12, 300))
    w, b, a = sample(dtype, (300,)), sample(dtype, (300,)), accumulator(dtype)
    oracle = [torch.tensor(wide(v), requires_grad=True) for v in (x, w, b)]
    expected = torch.nn.functional.layer_norm(oracle[0], (300,), *(oracle[1:] if affine else ()), eps=1e-5)
    expected.backward(torch.tensor(wide(grad)))
    y, mean, rstd = shared.run(
        "LayerNormForward",
        [x, w if affine else None, b if affine else None],
        [(x.shape, x.dtype), ((12,), a), ((12,), a)],
    )
    old = sample(dtype, (300,)), sample(dtype, (300,))
    dx, dw, db = shared.run(
        "LayerNormBackward", [x, w if affine else None, mean, rstd, grad],
        [(x.shape, x.dtype), old[0] if affine else None, old[1] if affine else None], accumulate=accumulate,
    )  # fmt: skip

    close("LayerNormForward", y, expected.detach().numpy())
    close("LayerNormForward", mean, wide(x).mean(1))
    close("LayerNormBackward", dx, oracle[0].grad.numpy(), 10.0)
    if affine:
        close("LayerNormBackward", dw, oracle[1].grad.numpy() + accumulate * wide(old[0]), 30.0)
        close("LayerNormBackward", db, oracle[2].grad.numpy() + accumulate * wide(old[1]), 30.0)


# ---- the table ---------------------------------------------------------------------------------------------


def test_table_is_kernels_toml(shared: Fake) -> None:
    found = {
        name: (ffi.string(k.schema).decode(), k.op_version, k.dtype_mask, bool(k.flags & 4), bool(k.flags & 8))
        for name, k in shared.kernels.items()
    }

    bits = {name: 1 << i for i, name in enumerate(NUMPY_ORDER)}
    assert found == {
        name: (row.schema, row.version, sum(bits[d] for d in row.dtypes), row.layout != "contiguous", row.alias)
        for name, row in TABLE.items()
    }


NUMPY_ORDER = ("bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "bf16", "f16", "f32", "f64")


def test_results_do_not_change_from_run_to_run(shared: Fake) -> None:
    x, w = sample("f32", (130, 200)), sample("f32", (70, 200))
    first, second = (shared.run("LinearForward", [x, w, None], [((130, 70), np.float32)])[0] for _ in range(2))

    assert ctypes.string_at(first.ctypes.data, first.nbytes) == ctypes.string_at(second.ctypes.data, second.nbytes)
