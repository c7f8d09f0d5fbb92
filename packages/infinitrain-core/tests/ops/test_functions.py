"""Functions, roundings, bit operations and numbers as operands: NumPy's values, the array API's special cases."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain import dispatch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops import _base

INTEGERS = [it.uint8, it.int8, it.uint16, it.int16, it.uint32, it.int32, it.uint64, it.int64]
FLOATS = [it.bfloat16, it.float16, it.float32, it.float64]
NUMPY = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan"}
NUMPY |= {"atanh": "arctanh", "atan2": "arctan2", "round": "rint"}
RTOL = {"bfloat16": 1.6e-2, "float16": 2e-3, "float32": 4e-6, "float64": 1e-12}
INF, NAN = float("inf"), float("nan")
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, INF, -INF, NAN]


def values(x):
    return x.detach().cpu().numpy()


def numpy_of(name):
    return getattr(np, NUMPY.get(name, name))


def assert_equal_bits(found, expected):
    """Equal, NaN to NaN, and zeros of one sign."""
    np.testing.assert_array_equal(found, expected)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


UNARY = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "expm1", "log10", "log1p", "log2", "sinh", "tan"]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_functions_equal_numpy(name, dtype, device):
    array = np.concatenate([SPECIAL, np.random.default_rng(0).uniform(-3, 3, 50)]).astype(dtype.numpy)

    y = getattr(it, name)(it.tensor(array, device=device))

    with np.errstate(all="ignore"):
        expected = numpy_of(name)(array.astype(np.float64))
    assert y.dtype is dtype
    rtol = RTOL[dtype.name]
    np.testing.assert_allclose(values(y).astype(np.float64), expected, rtol=rtol, atol=rtol / 100)
    assert_equal_bits(np.where(expected == 0, values(y).astype(np.float64), 1), np.where(expected == 0, expected, 1))
    assert getattr(it.tensor([1, 1], device=device), name)().dtype is it.float32


@pytest.mark.parametrize("name", ["atan2", "hypot", "logaddexp", "copysign", "fmod"])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_functions_of_two_equal_numpy(name, dtype, device):
    a = np.array(SPECIAL).astype(dtype.numpy).reshape(-1, 1)

    y = getattr(it, name)(it.tensor(a, device=device), it.tensor(a.T.copy(), device=device))

    with np.errstate(all="ignore"):
        expected = numpy_of(name)(a.astype(np.float64), a.T.astype(np.float64))
    rtol = RTOL[dtype.name]
    np.testing.assert_allclose(values(y).astype(np.float64), expected, rtol=rtol, atol=rtol / 100)
    assert_equal_bits(np.where(expected == 0, values(y).astype(np.float64), 1), np.where(expected == 0, expected, 1))
    if name != "fmod":
        assert getattr(it, name)(it.tensor([3], device=device), 4).dtype is it.float32


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round", "sign", "square"])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_roundings_equal_numpy_to_the_bit(name, dtype, device):
    array = np.array([*SPECIAL, 0.49999997, -0.49999997, 3.5, -4.5, 1e4, -1e4]).astype(dtype.numpy)

    y = getattr(it.tensor(array, device=device), name)()

    expected = numpy_of(name)(array.astype(np.float32 if dtype.bits == 16 else dtype.numpy))
    if name == "sign":
        expected = expected + 0.0  # both zeros give +0
    with np.errstate(over="ignore"):
        assert_equal_bits(values(y), expected.astype(dtype.numpy))


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_roundings_of_integers_keep_them(dtype, device):
    info = np.iinfo(dtype.numpy)
    array = np.array([info.min, 0, 3, info.max], dtype.numpy)
    x = it.tensor(array, device=device)

    for name in ("floor", "ceil", "trunc", "round"):
        y = getattr(x, name)()
        assert y.dtype is dtype
        assert y.data_ptr() != x.data_ptr()
        np.testing.assert_array_equal(values(y), array)
    np.testing.assert_array_equal(values(x.sign()), np.sign(array))
    np.testing.assert_array_equal(values(x.square()), np.square(array))


def test_round_to_decimals(device):
    x = it.tensor([1.25, -0.375, 1234.5], dtype=it.float64, device=device)

    for decimals in (1, 2, -2):
        np.testing.assert_allclose(values(x.round(decimals)), np.round(values(x), decimals), rtol=1e-15)
    with pytest.raises(DTypeError, match="decimals"):
        it.tensor([1], device=device).round(1)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_classes_of_numbers(dtype, device):
    x = it.tensor(SPECIAL, dtype=dtype, device=device)

    for name in ("isnan", "isinf", "isfinite", "signbit"):
        assert getattr(x, name)().tolist() == getattr(np, name)(SPECIAL).tolist()


def test_classes_of_integers(device):
    x = it.tensor([-3, 0, 4], device=device)

    assert x.isnan().tolist() == x.isinf().tolist() == [False] * 3
    assert x.isfinite().tolist() == [True] * 3
    assert x.signbit().tolist() == [True, False, False]
    assert it.tensor([True], device=device).signbit().tolist() == [False]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_nextafter_steps_in_the_dtype(dtype, device):
    a = np.array([1.0, 1.0, 0.0, 0.0, -0.0, INF, 2.0, NAN, 0.0, 1.0]).astype(dtype.numpy)
    b = np.array([2.0, 0.0, 1.0, -1.0, 0.0, 0.0, 2.0, 1.0, -0.0, NAN]).astype(dtype.numpy)

    y = values(it.nextafter(it.tensor(a, device=device), it.tensor(b, device=device)))

    expected = np.where(a == b, b, np.nextafter(a, b))
    np.testing.assert_array_equal(y.view(f"u{dtype.itemsize}")[:7], expected.view(f"u{dtype.itemsize}")[:7])
    assert np.isnan(y[[7, 9]].astype(np.float64)).all()
    assert np.signbit(y[8].astype(np.float64))
    with pytest.raises(DTypeError, match="nextafter"):
        it.nextafter(it.tensor([1], device=device), it.tensor([1], device=device))


BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"]


@pytest.mark.parametrize("name", BITWISE)
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_bit_operations_equal_numpy(name, dtype, device):
    info = np.iinfo(dtype.numpy)
    a = np.array([info.min, 0, 1, 5, info.max, info.max // 3], dtype.numpy).reshape(-1, 1)
    b = np.arange(dtype.bits, dtype=dtype.numpy)

    y = getattr(it, name)(it.tensor(a, device=device), it.tensor(b, device=device))

    assert y.dtype is dtype
    np.testing.assert_array_equal(values(y), getattr(np, name)(a, b))


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_shifts_that_c_does_not_define_are_endless(dtype, device):
    x = it.tensor([1, 100], dtype=dtype, device=device)
    counts = [dtype.bits, dtype.bits + 1, 100, *([-1, -dtype.bits] if dtype.is_signed else [])]

    for count in counts:
        assert (x << count).tolist() == [0, 0]
        assert (x >> count).tolist() == [0, 0]
        if dtype.is_signed:
            assert ((x - 101) >> count).tolist() == [-1, -1]


def test_bit_operators(device):
    x = it.tensor([12, 10], dtype=it.int8, device=device)

    assert (x & 6).tolist() == [4, 2]
    assert (3 | x).tolist() == [15, 11]
    assert (x ^ x).tolist() == [0, 0]
    assert (1 ^ x).tolist() == [13, 11]
    assert (~x).tolist() == [-13, -11]
    assert (x << 2).tolist() == [48, 40]
    assert (1 << it.tensor([3, 4], device=device)).tolist() == [8, 16]
    assert (x >> 1).dtype is it.int8
    assert (256 >> it.tensor([3, 4], device=device)).tolist() == [32, 16]
    assert (it.tensor([True], device=device) & 3).tolist() == [1]
    with pytest.raises(DTypeError, match="integers"):
        it.tensor([True], device=device) << it.tensor([True], device=device)
    with pytest.raises(DTypeError, match="float32"):
        ~it.ones(1, device=device)
    with pytest.raises(OverflowError):
        x & 300
    with pytest.raises(TypeError):
        x << "a"


# ---- numbers as operands -----------------------------------------------------------------------------


@pytest.fixture
def launched(monkeypatch):
    """The names of the kernels that run."""
    from infinitrain.ops import arithmetic, compare, select

    names = []

    def record(name, *args, **kwargs):
        names.append(name)
        dispatch.launch(name, *args, **kwargs)

    for module in (_base, arithmetic, compare, select):
        monkeypatch.setattr(module, "launch", record)
    return names


def test_a_number_is_never_made_a_tensor(launched, device):
    x = it.tensor([-1.0, 2.0, NAN], device=device, requires_grad=True)
    del launched[:]

    y = (x > 0).to(it.float32) * x.clamp(-0.5, 1.5) + 1 - x.masked_fill(x.detach() <= 1, 0.0)
    y = y * 3 + it.where(x.detach() == 2, x, 3.0) + it.where(x.detach() != 2, 3.0, x)
    y.sum().backward()

    assert "GtScalar" in launched
    assert "NeScalar" in launched
    assert "MaskForward" in launched
    assert "WhereForward" not in launched
    assert launched.count("Fill") <= 1  # backward's first gradient
    assert x.grad.tolist()[:2] == [0, -1]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_a_number_is_compared_in_the_dtype_of_the_tensor(dtype, device):
    x = it.tensor([0.1, 0.3, NAN], dtype=dtype, device=device)

    assert (x == 0.1).tolist() == [True, False, False]
    assert (x != 0.1).tolist() == [False, True, True]
    assert (x <= 0.1).tolist() == [True, False, False]
    assert (x > 0.1).tolist() == [False, True, False]
    assert it.ge(0.3, x).tolist() == [True, True, False]
    assert (x == NAN).tolist() == [False, False, False]


def test_clamp_by_numbers_and_tensors(device):
    x = it.tensor([-5, 0, 5], device=device)

    assert x.clamp(-1, 3).tolist() == [-1, 0, 3]
    assert x.clamp(3, -1).tolist() == [-1, -1, -1]
    assert x.clamp(min=1).tolist() == [1, 1, 5]
    assert x.clamp(max=0.5).dtype is it.float32
    assert it.clip(x, it.tensor([0, 1, 2], device=device), 4).tolist() == [0, 1, 4]
    assert it.clamp(x, max=it.tensor(2.5, dtype=it.float64, device=device)).dtype is it.float64
    top = it.tensor([0, 2**64 - 1], dtype=it.uint64, device=device)
    assert top.clamp(min=1).tolist() == [1, 2**64 - 1]
    assert top.clamp(max=2**63 + 5).tolist() == [0, 2**63 + 5]
    with pytest.raises(OverflowError):
        top.clamp(-1)
    with pytest.raises(TypeError, match="clamp"):
        x.clamp("a")
    with pytest.raises(ValueError, match="neither"):
        x.clamp()


def test_masked_fill_of_every_dtype(device):
    mask = it.tensor([True, False], device=device)

    for dtype in (it.bool_, *INTEGERS, *FLOATS):
        x = it.ones(2, dtype=dtype, device=device)
        assert x.masked_fill(mask, 0).tolist() == [0, 1]
        assert x.masked_fill(mask, 0).dtype is dtype
    assert it.zeros(3, 1, device=device).masked_fill(mask, 2.5).tolist() == [[2.5, 0]] * 3
    with pytest.raises(DTypeError, match="mask"):
        it.zeros(2, device=device).masked_fill(it.ones(2, device=device), 1.0)


def test_activations_refuse_integers(device):
    x = it.tensor([1], device=device)

    for name in ("silu", "leaky_relu", "softplus"):
        with pytest.raises(DTypeError, match=name):
            getattr(it, name)(x)


def test_kernels_that_are_never_needed_have_a_decomposition(monkeypatch, device):
    """Without the kernels of tier 3, what trains still gives the same values and gradients."""
    array = np.array([*SPECIAL, 30.0, -30.0], np.float32)

    def run():
        results = []
        for name in ("square", "sign", "leaky_relu", "softplus", "isnan", "isinf", "isfinite"):
            x = it.tensor(array, device=device, requires_grad=True)
            y = getattr(it, name)(x)
            results.append(values(y))
            if y.requires_grad:
                y.sum().backward()
                results.append(values(x.grad))
        flags = it.tensor([True, False], device=device)
        results.append(values(it.logical_xor(flags, it.tensor([True, True], device=device))))
        return results

    expected = run()
    asked = []
    monkeypatch.setattr(_base, "has_kernel", lambda name, *args: asked.append(name) is not None)

    found = run()

    assert len(set(asked)) == 8
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


INPLACE = ["acos", "asin", "asinh", "atan", "atanh", "cosh", "erf", "expm1", "log10", "log1p", "log2", "sinh", "tan"]
INPLACE += ["ceil", "floor", "round", "trunc", "sign", "square"]


@pytest.mark.parametrize("name", INPLACE)
def test_functions_in_place_equal_those_out_of_place(name, device):
    start = it.tensor([0.25, 0.5, 0.75], device=device, requires_grad=True)
    again = it.tensor([0.25, 0.5, 0.75], device=device, requires_grad=True)
    x = start * 1
    place = x.data_ptr()

    y = getattr(x, f"{name}_")()
    expected = getattr(again * 1, name)()
    y.sum().backward()
    expected.sum().backward()

    assert y is x
    assert x.data_ptr() == place
    assert y.tolist() == expected.tolist()
    assert start.grad.tolist() == again.grad.tolist()
    if name not in ("sign", "square"):
        with pytest.raises(DTypeError, match=f"{name}_"):
            getattr(it.tensor([1], device=device), f"{name}_")()


def test_masked_fill_in_place(device):
    start = it.tensor([[1.0, 2.0], [3.0, 4.0]], device=device, requires_grad=True)
    x = start * 2
    place = x.data_ptr()

    y = x.masked_fill_(it.tensor([True, False], device=device), -1.0)
    y.sum().backward()

    assert y.tolist() == [[-1, 4], [-1, 8]]
    assert x.data_ptr() == place
    assert start.grad.tolist() == [[0, 2], [0, 2]]
    with pytest.raises(ShapeError, match="masked_fill_"):
        it.ones(2, device=device).masked_fill_(it.tensor([[True, False]] * 3, device=device), 0.0)
    assert it.tensor([5, -5], device=device).fmod_(3).tolist() == [2, -2]


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=lambda d: d.name)
def test_a_number_minus_a_tensor(dtype, device):
    array = np.array([0, 1, 2, 3]).astype(dtype.numpy)

    y = 2 - it.tensor(array, device=device)

    assert y.dtype is dtype
    with np.errstate(over="ignore"):
        expected = np.asarray(2, dtype.numpy) - array
    assert_equal_bits(values(y), expected)
    with pytest.raises(OverflowError):
        300 - it.tensor([1], dtype=it.uint8, device=device)
