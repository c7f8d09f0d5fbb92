"""Elementwise operations: values against NumPy, edge values, dtypes."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import DTypeError, ShapeError

INTEGERS = [it.uint8, it.int8, it.uint16, it.int16, it.uint32, it.int32, it.uint64, it.int64]
FLOATS = [it.bfloat16, it.float16, it.float32, it.float64]
RTOL = {"bfloat16": 8e-3, "float16": 1e-3, "float32": 2e-6, "float64": 1e-12}


def values(x):
    return x.detach().cpu().numpy()


UNARY = {
    "neg": np.negative,
    "abs": np.abs,
    "reciprocal": np.reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "square": np.square,
    "sign": np.sign,
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_unary_equals_numpy(name, dtype, device):
    array = np.random.default_rng(0).uniform(0.1, 3.0, (3, 5)).astype(dtype.numpy)
    x = it.tensor(array, device=device)

    y = getattr(it, name)(x)

    assert y.dtype is dtype
    expected = UNARY[name](array.astype(np.float64))
    np.testing.assert_allclose(values(y).astype(np.float64), expected, rtol=2 * RTOL[dtype.name])
    assert getattr(it, name)(it.zeros(0, 3, dtype=dtype, device=device)).shape == (0, 3)


def test_unary_of_integers_gives_float32(device):
    for name in ("exp", "sqrt", "tanh", "sigmoid", "log", "sin", "reciprocal"):
        y = getattr(it, name)(it.tensor([1, 4], device=device))
        assert y.dtype is it.float32
        np.testing.assert_allclose(values(y), UNARY[name](np.array([1.0, 4.0])), rtol=2e-6)


BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "pow": np.power,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=lambda d: d.name)
def test_binary_with_two_way_broadcast_equals_numpy(name, dtype, device):
    rng = np.random.default_rng(0)
    a = rng.integers(1, 5, (3, 1)).astype(dtype.numpy)
    b = rng.integers(1, 5, (2, 1, 4)).astype(dtype.numpy)

    y = getattr(it, name)(it.tensor(a, device=device), it.tensor(b, device=device))

    wide = np.float64 if dtype.is_floating_point or name == "div" else dtype.numpy
    expected = BINARY[name](a.astype(wide), b.astype(wide))
    rtol = RTOL[y.dtype.name] if y.dtype.is_floating_point else 0
    assert y.shape == (2, 3, 4)
    np.testing.assert_allclose(values(y).astype(np.float64), expected.astype(np.float64), rtol=2 * rtol)


@pytest.mark.parametrize("dtype", [it.int32, it.int64, it.float32], ids=lambda d: d.name)
def test_bc073_remainder_has_the_sign_of_the_divisor(dtype, device):
    a = it.tensor([-7, 7, -7, 6], dtype=dtype, device=device)
    b = it.tensor([3, -3, -3, 3], dtype=dtype, device=device)

    assert (a % b).tolist() == [2, -2, -1, 0]
    assert (a // b).tolist() == [-3, -3, 2, 2]
    assert (a % 3).tolist() == [2, 1, 2, 0]
    assert (-7 % it.tensor(3, dtype=dtype, device=device)).item() == 2
    assert it.fmod(a, b).tolist() == [-1, 1, -1, 0]
    assert it.fmod(a, 4).tolist() == [-3, 3, -3, 2]


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_bc075_integer_division_by_zero_gives_zero(dtype, device):
    x = it.tensor([1, 2, 3], dtype=dtype, device=device)

    assert (x // 0).tolist() == [0, 0, 0]
    assert (x % 0).tolist() == [0, 0, 0]
    assert x.fmod(0).tolist() == [0, 0, 0]
    assert (x // it.zeros(3, dtype=dtype, device=device)).dtype is dtype


@pytest.mark.parametrize("dtype", [it.int8, it.int16, it.int32, it.int64], ids=lambda d: d.name)
def test_smallest_integer_divided_by_minus_one_wraps(dtype, device):
    low = np.iinfo(dtype.numpy).min

    assert (it.tensor([low], dtype=dtype, device=device) // -1).tolist() == [low]
    assert (it.tensor([low], dtype=dtype, device=device) % -1).tolist() == [0]
    assert it.tensor([low], dtype=dtype, device=device).fmod(-1).tolist() == [0]
    assert (it.tensor([low], dtype=dtype, device=device) - low).tolist() == [0]


def test_true_division_of_integers_is_float32(device):
    y = it.tensor([1, 2], device=device) / it.tensor([2, 2], device=device)

    assert y.dtype is it.float32
    assert y.tolist() == [0.5, 1]
    assert (it.tensor([1], dtype=it.uint8, device=device) / 4).tolist() == [0.25]
    assert (1 / it.tensor([4], device=device)).tolist() == [0.25]
    assert (it.tensor([1.0], dtype=it.float64, device=device) / it.tensor([3], device=device)).dtype is it.float64


def test_division_by_a_number_is_rounded_once(device):
    array = np.random.default_rng(0).standard_normal(1000).astype(np.float32)

    np.testing.assert_array_equal(values(it.tensor(array, device=device) / 3), array / np.float32(3))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_bc072_nan_wins(dtype, device):
    nan = float("nan")
    x = it.tensor([[1, nan, 2], [nan, nan, nan]], dtype=dtype, device=device)
    one = it.ones(3, dtype=dtype, device=device)

    for y in (x.max(), x.min(), x.amax(1), x.amin(1), x.max(1).values, x.min(1).values):
        assert np.isnan(values(y).astype(np.float64)).all()
    clamped = (x.clamp(0, 1.5), x.clamp(min=0), x.clamp(one * 0, one), x.clamp(max=one), one.expand(2, 3).clamp(x, x))
    for y in (it.maximum(x, one), it.minimum(one, x), x.relu(), *clamped):
        np.testing.assert_array_equal(np.isnan(values(y).astype(np.float64)), np.isnan(values(x).astype(np.float64)))
    assert x.argmax(1).tolist() == [1, 0]


def test_bc034_rounding_to_bfloat16(device):
    bits = np.array([0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x7F800001], np.uint32).view(np.float32)
    x = it.tensor(np.concatenate([np.float32([0.2691408770292272]), bits]), device=device)

    assert x.to(it.bfloat16).tolist()[:4] == [0.26953125, 1.0, 1.015625, float("inf")]
    assert np.isnan(x.to(it.bfloat16).tolist()[4])


def test_casts_to_integers_saturate(device):
    x = it.tensor([float("nan"), float("inf"), -float("inf"), 1e10, -1.9, 2.9], device=device)

    assert x.to(it.int32).tolist() == [0, 2**31 - 1, -(2**31), 2**31 - 1, -1, 2]
    assert x.to(it.uint8).tolist() == [0, 255, 0, 255, 0, 2]
    assert x.to(it.bool).tolist() == [True] * 6
    assert it.tensor([300, -1], device=device).to(it.uint8).tolist() == [44, 255]


def test_bc105_gradient_of_exp(device):
    x = it.tensor([0.0, 1.0, -2.0], device=device, requires_grad=True)

    x.exp().sum().backward()

    np.testing.assert_allclose(values(x.grad), np.exp(values(x)), rtol=2e-6)


def test_bc087_where_selects_and_never_multiplies(device):
    """The safe form is right; the unsafe one gives NaN only where sqrt itself was asked below zero."""
    x = it.tensor([-1.0, -4.0, 4.0], device=device, requires_grad=True)
    it.where(x > 0, it.where(x > 0, x, 1).sqrt(), x).sum().backward()
    assert x.grad.tolist() == [1, 1, 0.25]

    bad = it.tensor([float("nan"), 2.0], device=device, requires_grad=True)
    it.where(it.tensor([False, True], device=device), bad, 0.0).sum().backward()
    assert bad.grad.tolist() == [0, 1]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_bc032_zero_dimensional_tensors_promote_like_any_other(dtype, device):
    """The array API's rule; PyTorch's would keep the dtype of the operand that has dimensions."""

    def made(shape, dtype):
        return it.ones(*shape, dtype=dtype, device=device)

    assert (made((4,), it.float16) + made((), it.float32)).dtype is it.float32
    assert (made((4,), it.int32) + made((), it.int64)).dtype is it.int64
    assert (made((4,), it.int64) + made((), dtype)).dtype is dtype
    assert (made((3,), it.uint8) ** it.tensor(2, device=device)).dtype is it.int64
    assert (made((3,), it.uint8) ** 2).dtype is it.uint8
    assert (made((), dtype) * 2.5).dtype is dtype


@pytest.mark.parametrize(
    ("shapes", "factor"),
    [(((), (1000,)), 1), (((3, 1), (1, 4)), 0), (((4,), (2, 3, 4)), 0)],
    ids=["0-d", "both ways", "rank"],
)
def test_bc106_broadcast_dimensions_are_summed_in_backward(shapes, factor, device):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    a, b = (it.tensor(array, device=device, requires_grad=True) for array in arrays)

    (a * b + a * factor).sum().backward()

    whole = np.broadcast_shapes(*shapes)
    for x, other, extra in ((a, arrays[1], factor), (b, arrays[0], 0)):
        full = np.broadcast_to(other + extra, whole)
        axes = tuple(range(len(whole) - x.dim()))
        axes += tuple(d + len(axes) for d, size in enumerate(x.shape) if size == 1)
        expected = full.sum(axes).reshape(x.shape) if axes else full
        assert x.grad.shape == x.shape
        np.testing.assert_allclose(values(x.grad), expected, rtol=1e-12, atol=1e-12)


def test_bc140_a_comparison_in_the_graph_is_a_constant(device):
    x = it.tensor([-2.0, -0.5, 0.0, 3.0], device=device, requires_grad=True)

    (x * (x < 0)).sum().backward()

    assert x.grad.tolist() == [1, 1, 0, 0]


def test_gradients_at_ties_are_shared(device):
    a, b = (it.tensor([1.0, 3.0], device=device, requires_grad=True) for _ in range(2))

    it.maximum(a, b).sum().backward()
    c = it.tensor([5.0, 5.0, 1.0], device=device, requires_grad=True)
    c.max().backward()
    d = it.tensor([5.0, 5.0, 1.0], device=device, requires_grad=True)
    d.max(0).values.backward()

    assert a.grad.tolist() == b.grad.tolist() == [0.5, 0.5]
    assert c.grad.tolist() == [0.5, 0.5, 0]
    assert d.grad.tolist() == [1, 0, 0]


def test_powers(device):
    x = it.tensor([0.0, 2.0], device=device, requires_grad=True)
    (x**2 + x**0 + x**1).sum().backward()

    assert x.grad.tolist() == [1, 5]
    assert (it.tensor([2, 3], device=device) ** 2).tolist() == [4, 9]
    assert (it.tensor([2, -1, 0], device=device) ** -1).tolist() == [0, -1, 0]
    assert (2 ** it.tensor([3.0], device=device)).tolist() == [8]
    zero = it.zeros(1, device=device, requires_grad=True)
    (zero ** it.zeros(1, device=device)).backward()
    assert zero.grad.tolist() == [0]


def test_comparisons_with_numbers_beyond_the_dtype(device):
    x = it.tensor([0, 255], dtype=it.uint8, device=device)

    assert (x == 300).tolist() == [False, False]
    assert (x < 300).tolist() == [True, True]
    assert (x > -1).tolist() == [True, True]
    assert it.ge(-1, x).tolist() == [False, False]
    assert (x != 256).tolist() == [True, True]
    assert (it.tensor([1, 2], device=device) < 1.5).tolist() == [True, False]


def test_logic(device):
    a = it.tensor([True, True, False], device=device)
    b = it.tensor([True, False, False], device=device)

    assert (a & b).tolist() == [True, False, False]
    assert (a | b).tolist() == [True, True, False]
    assert (a ^ b).tolist() == [False, True, False]
    assert (~a).tolist() == [False, False, True]
    assert (a + b).tolist() == [True, True, False]
    assert (a * b).tolist() == [True, False, False]
    assert it.logical_and(it.tensor([0.0, 2.0, 3.0], device=device), a).tolist() == [False, True, False]
    assert it.logical_xor(a, it.tensor([2, 0, 0], device=device)).tolist() == [False, True, False]
    with pytest.raises(DTypeError, match="bools"):
        it.ones(1, device=device) & it.ones(1, device=device)


def test_special_values(device):
    x = it.tensor([float("nan"), float("inf"), -float("inf"), 0.0], device=device)

    assert x.isnan().tolist() == [True, False, False, False]
    assert x.isinf().tolist() == [False, True, True, False]
    assert x.isfinite().tolist() == [False, False, False, True]
    assert it.arange(2, device=device).isfinite().tolist() == [True, True]


def test_operands_that_do_not_fit_are_refused(device):
    x = it.ones(2, 3, device=device)

    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        x + it.ones(4, device=device)
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        x + None
    with pytest.raises(DTypeError, match="uint64"):
        it.ones(1, dtype=it.uint64, device=device) + it.ones(1, dtype=it.int8, device=device)
    with pytest.raises(ValueError, match="tanh"):
        x.gelu("fast")
    with pytest.raises(DTypeError, match="condition"):
        it.where(x, x, x)
    assert (x == "a") is False


def test_triangles_equal_numpy(device):
    array = np.random.default_rng(0).standard_normal((2, 4, 3)).astype(np.float32)
    for diagonal in (-5, -1, 0, 1, 5):
        np.testing.assert_array_equal(
            values(it.tril(it.tensor(array, device=device), diagonal)), np.tril(array, diagonal)
        )
        np.testing.assert_array_equal(
            values(it.triu(it.tensor(array, device=device), diagonal)), np.triu(array, diagonal)
        )
    with pytest.raises(ShapeError):
        it.tril(it.ones(3, device=device))


def test_numbers_beyond_int64_with_floats(device):
    x = it.ones(1, device=device)

    assert (x * 2**70).tolist() == [2.0**70]
    assert (x + 2**64).tolist() == [2.0**64]
    assert (x - 2**64).tolist() == [-(2.0**64)]
    assert (x < 2**70).tolist() == [True]
    assert it.full((1,), 2**63, dtype=it.uint64, device=device).tolist() == [2**63]
