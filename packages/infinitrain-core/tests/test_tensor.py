"""Tensors: what they say of themselves, views and versions, indexing, conversion to Python and NumPy."""

from __future__ import annotations

import copy
import gc
import pickle

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import AutogradError, DeviceMismatch, DTypeError, ShapeError


def random(shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def same(x, array):
    assert x.shape == np.shape(array)
    np.testing.assert_array_equal(x.detach().cpu().numpy(), array)


# ---- what it is ----


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
@pytest.mark.parametrize("dtype", [it.float32, it.float64, it.bfloat16, it.int64, it.uint8, it.bool])
def test_creation_has_the_shape_dtype_and_values_asked_for(shape, dtype, device):
    x = it.full(shape, 1, dtype=dtype, device=device)

    assert x.shape == shape
    assert x.dtype is dtype
    assert x.device == it.Device(device)
    assert x.ndim == len(shape)
    assert x.numel() == int(np.prod(shape))
    assert (x.data_ptr() != 0) == (x.numel() > 0)
    same(x, np.ones(shape, dtype.numpy))


def test_python_values_give_float32_int64_and_bool(device):
    assert it.tensor([1.5], device=device).dtype is it.float32
    assert it.tensor([1], device=device).dtype is it.int64
    assert it.tensor([True], device=device).dtype is it.bool
    assert it.tensor(np.zeros(1), device=device).dtype is it.float64
    assert it.tensor([1, 2.5], device=device).tolist() == [1.0, 2.5]


def test_ragged_lists_and_text_are_refused():
    with pytest.raises(ShapeError, match="rows of equal length"):
        it.tensor([[1, 2], [3]])
    with pytest.raises(DTypeError, match="numbers"):
        it.tensor(["a"])


def test_float_values_become_integers_by_the_cast_rule(device):
    values = [float("nan"), 300.0, -5.0, 2.9]

    assert it.tensor(values, dtype=it.uint8, device=device).tolist() == [0, 255, 0, 2]


def test_numpy_shares_memory_on_the_host_and_copies_elsewhere():
    x = it.tensor([1.0, 2.0, 3.0])

    x.numpy()[1] = 7

    assert x.tolist() == [1, 7, 3]


def test_numpy_of_a_view_reads_from_its_offset(device):
    array = random((4, 5))
    x = it.tensor(array, device=device)

    same(x[1:, ::2].t(), array[1:, ::2].T)


def test_numpy_refuses_a_tensor_that_requires_grad():
    with pytest.raises(AutogradError, match=r"detach\(\)"):
        it.ones(2, requires_grad=True).numpy()


def test_array_protocol(device):
    x = it.tensor([[1.0, 2.0]], device=device, requires_grad=True)

    assert np.asarray(x).tolist() == [[1.0, 2.0]]
    assert np.asarray(x, dtype=np.int32).tolist() == [[1, 2]]


def test_read_only_array_is_copied():
    """BC-081: the source's bytes never change."""
    source = bytes(range(8))
    x = it.from_numpy(np.frombuffer(source, np.uint8))
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    y = it.from_numpy(frozen)

    x.add_(1)
    y.add_(1)

    assert source == bytes(range(8))
    assert frozen.tolist() == [0, 1, 2, 3]
    assert x.tolist() == list(range(1, 9))
    assert y.tolist() == [1, 2, 3, 4]


def test_writable_array_is_shared():
    array = np.zeros(3, np.float32)

    it.from_numpy(array).add_(2)

    assert array.tolist() == [2, 2, 2]


def test_array_with_negative_strides_is_copied(device):
    """BC-082."""
    array = np.arange(12).reshape(3, 4)[:, ::-1]

    same(it.from_numpy(array), array)
    same(it.tensor(array, device=device), array)


def test_scalars_of_python(device):
    x = it.tensor(2.5, device=device)

    assert float(x) == 2.5
    assert int(x) == 2
    assert bool(x)
    assert x.item() == 2.5
    assert f"{x:.2f}" == "2.50"
    assert [10, 20, 30][it.tensor(1, device=device)] == 20
    with pytest.raises(TypeError, match="one integer"):
        range(x)
    with pytest.raises(ShapeError, match="ambiguous"):
        bool(it.ones(2, device=device))
    with pytest.raises(ShapeError, match="one element"):
        it.ones(2, device=device).item()


def test_len_and_iteration(device):
    x = it.tensor([[1, 2], [3, 4]], device=device)

    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert 3 in x
    assert 9 not in x
    with pytest.raises(TypeError, match="0-d"):
        len(it.tensor(1, device=device))
    with pytest.raises(TypeError, match="0-d"):
        iter(it.tensor(1, device=device))


def test_size_stride_dim():
    x = it.zeros(2, 3, 4)

    assert x.size() == (2, 3, 4)
    assert x.size(-1) == 4
    assert x.stride() == (12, 4, 1)
    assert x.stride(0) == 12
    assert x.dim() == 3
    with pytest.raises(IndexError, match=r"\[-3, 2\]"):
        x.size(3)


# ---- views ----


def test_views_share_memory_and_version(device):
    x = it.zeros(2, 3, device=device)
    views = [x.view(6), x.t(), x[1], x[:, 1:], x.unsqueeze(0), x.detach(), x.expand(4, 2, 3), x.flatten(), x.squeeze()]

    x.add_(1)

    for view in views:
        assert view._version == 1
        assert view.min().item() == 1
    assert x.clone()._version == 0


def test_write_through_a_view_is_seen_by_the_base(device):
    x = it.zeros(2, 3, device=device)

    x.t()[1].fill_(5)
    x[0, 0] = 2

    assert x.tolist() == [[2, 5, 0], [0, 5, 0]]


def test_bc137_flatten_defaults(device):
    """BC-137."""
    assert it.zeros(2, 3, 4, device=device).flatten().shape == (24,)
    assert it.zeros(2, 3, 4, device=device).flatten(1).shape == (2, 12)
    assert it.zeros(2, 3, 4, device=device).flatten(0, 1).shape == (6, 4)
    assert it.zeros((), device=device).flatten().shape == (1,)


def test_view_needs_a_layout_and_reshape_does_not(device):
    array = random((2, 3, 4))
    x = it.tensor(array, device=device).transpose(0, 1)

    same(x.reshape(12, 2), array.swapaxes(0, 1).reshape(12, 2))
    same(it.tensor(array, device=device)[:, :2].view(2, 2, 2, 2), array[:, :2].reshape(2, 2, 2, 2))
    with pytest.raises(ShapeError, match="Use reshape"):
        x.view(24)
    with pytest.raises(ShapeError, match="24 elements"):
        x.reshape(5, -1)
    with pytest.raises(ShapeError, match="24 elements"):
        x.reshape(2, 3)


@pytest.mark.parametrize("seed", range(40))
def test_reshape_of_any_layout_equals_numpy(seed, device):
    rng = np.random.default_rng(seed)
    array = np.arange(64).reshape(2, 4, 2, 4)
    order = rng.permutation(4)
    cut = tuple(slice(int(rng.integers(0, 2)), None, int(rng.integers(1, 3))) for _ in range(4))
    expected = array.transpose(order)[cut]
    x = it.tensor(array, device=device).permute(*order.tolist())[cut]
    sizes = [int(f) for size in expected.shape for f in rng.permutation([size, 1]) if rng.random() < 0.9 or f > 1]

    same(x, expected)
    same(x.reshape(*sizes), expected.reshape(sizes))
    same(x.reshape(-1), expected.reshape(-1))


def test_shapes_that_do_not_fit_are_refused():
    x = it.zeros(2, 3)
    for wrong in (
        lambda: x.expand(2, 4),
        lambda: x.expand(3),
        lambda: x.permute(0, 0),
        lambda: it.cat([x, it.zeros(3)]),
    ):
        with pytest.raises(ShapeError):
            wrong()
    with pytest.raises(ShapeError):
        it.stack([x, it.zeros(3)])
    with pytest.raises(ShapeError):
        it.cat([])
    with pytest.raises(ShapeError):
        x.split([1, 3], 1)
    with pytest.raises(IndexError):
        x.unsqueeze(4)
    with pytest.raises(IndexError):
        x.narrow(1, 2, 2)


# ---- indexing ----

KEYS = [
    0,
    -1,
    (1, 2),
    (slice(1, None), 0),
    (slice(None), None, slice(None, None, 2)),
    (..., 1),
    (0, ..., 1),
    slice(None, None, -1),
    (slice(None, None, -2), slice(3, 0, -1)),
    (slice(None), slice(2, 2)),
    np.array([2, 0, 0]),
    np.array([[0, 1], [2, -1]]),
    (np.array([0, 2]), np.array([1, -1])),
    (slice(None), np.array([3, 0])),
    (np.array([0, 1]), slice(None), np.array([1, 0])),
    (0, slice(None), np.array([1, 0, 1])),
    (slice(1, None), np.array([0, 3]), 1),
    (slice(None, None, -1), np.array([0, 3])),
    (0, slice(None, None, -1), np.array([1, 0, 0])),
    (slice(None, None, -1), 2, np.array([1, 0, 0])),
    (np.array([2, 1]), slice(None, None, -1), 0),
    np.array([True, False, True]),
    (slice(None), np.array([True, False, True, True])),
    (..., np.array([False, True])),
    (np.array([[0], [1]]), np.array([0, 1, 2])),
    np.array(1),
    (None, np.array([1, 0])),
]


def ours(key, device):
    items = key if isinstance(key, tuple) else (key,)
    converted = tuple(it.tensor(item, device=device) if isinstance(item, np.ndarray) else item for item in items)
    return converted if isinstance(key, tuple) else converted[0]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reading_by_a_key_equals_numpy(key, device):
    array = random((3, 4, 2))

    same(it.tensor(array, device=device)[ours(key, device)], array[key])


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_writing_by_a_key_equals_numpy(key, device):
    array = random((3, 4, 2))
    x = it.tensor(array, device=device)
    values = random(array[key].shape, seed=1)

    x[ours(key, device)] = it.tensor(values, device=device)
    array[key] = values

    same(x, array)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_writing_a_number_into_a_transposed_tensor_equals_numpy(key, device):
    array = random((2, 4, 3))
    x = it.tensor(array, device=device).permute(2, 1, 0)
    expected = array.transpose(2, 1, 0)

    x[ours(key, device)] = 5
    expected[key] = 5

    same(x, expected)


def test_list_as_key(device):
    array = random((3, 4))

    same(it.tensor(array, device=device)[[2, 0]], array[[2, 0]])
    same(it.tensor(array, device=device)[[True, False, True]], array[[True, False, True]])
    same(it.tensor(array, device=device)[[]], array[[]])


@pytest.mark.parametrize("wrong", [3, -4, (0, 4), (0, 0, 0, 0)])
def test_integers_out_of_range_are_index_errors(wrong, device):
    x = it.zeros(3, 4, 2, device=device)

    with pytest.raises(IndexError):
        x[wrong]


@pytest.mark.parametrize("index", [[3], [-4], [0, 1, 9]])
def test_index_tensors_out_of_range_are_index_errors(index, device):
    x = it.zeros(3, 4, device=device)

    with pytest.raises(IndexError):  # noqa: PT012 - an asynchronous device says so at the next synchronisation
        x[it.tensor(index, device=device)]
        it.synchronize(device)
    with pytest.raises(IndexError):  # noqa: PT012
        x[it.tensor(0, device=device), it.tensor([4], device=device)]
        it.synchronize(device)


def test_keys_that_are_no_keys_are_index_errors():
    x = it.zeros(3, 4)
    for wrong in ("a", 1.5, True, (..., ...), it.tensor([1.0]), it.tensor([True, False]), slice(0, 1, 0)):
        with pytest.raises(IndexError):
            x[wrong]


def test_overlapping_assignment_is_as_if_copied_first(device):
    x = it.arange(6, device=device)

    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]

    x[::-1] = x
    assert x.tolist() == [4, 3, 2, 1, 0, 0]


def test_last_of_equal_indices_stays(device):
    x = it.zeros(3, device=device)

    x[it.tensor([1, 1, 1], device=device)] = it.tensor([5.0, 6.0, 7.0], device=device)

    assert x.tolist() == [0, 7, 0]


def test_assignment_that_does_not_fit_leaves_the_target(device):
    x = it.zeros(2, 3, device=device)

    with pytest.raises(ShapeError, match="broadcast"):
        x[0] = it.ones(4, device=device)

    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


# ---- in place ----


def test_larger_broadcast_in_place_is_refused(device):
    """BC-080."""
    x = it.zeros(2, device=device)

    with pytest.raises(ShapeError, match=r"\(2,\)"):
        x.add_(it.ones(2, 2, device=device))

    assert x.tolist() == [0, 0]
    assert x._version == 0


def test_in_place_on_an_expanded_tensor_is_refused(device):
    """BC-079."""
    x = it.tensor(0.785, device=device)

    for write in (
        lambda y: y.cos_(),
        lambda y: y.copy_(it.ones(3, device=device)),
        lambda y: y.add_(1),
        lambda y: y.zero_(),
        lambda y: y.normal_(),
        lambda y: y.__setitem__(0, 1),
    ):
        with pytest.raises(ShapeError, match="expanded"):
            write(x.expand(3))

    assert x.item() == pytest.approx(0.785)


def test_in_place_operations_equal_numpy(device):
    array = np.abs(random((3, 4))) + 0.5
    for name, function in {
        "exp_": np.exp,
        "log_": np.log,
        "sqrt_": np.sqrt,
        "neg_": np.negative,
        "sin_": np.sin,
        "cos_": np.cos,
        "tanh_": np.tanh,
        "reciprocal_": np.reciprocal,
        "abs_": np.abs,
    }.items():
        for turned in (False, True):
            x = it.tensor(array, device=device)
            target = x.t() if turned else x
            getattr(target, name)()
            np.testing.assert_allclose(x.cpu().numpy(), function(array), rtol=2e-6)


def test_binary_in_place_keeps_the_object_and_counts_the_version(device):
    x = it.tensor([1.0, 2.0], device=device)
    y = x

    x += 1
    x *= it.tensor([2.0, 3.0], device=device)
    x -= it.tensor([[1.0]], device=device)[0]
    x /= 2
    x.pow_(2)
    x.clamp_(max=5)

    assert x is y
    assert x._version == 6
    assert x.tolist() == [2.25, 5]


def test_in_place_result_of_a_higher_kind_is_refused(device):
    x = it.tensor([1, 2], device=device)

    for write in (lambda: x.add_(1.5), lambda: x.mul_(it.tensor([1.5], device=device)), lambda: x.div_(2)):
        with pytest.raises(DTypeError):
            write()

    assert x.tolist() == [1, 2]


def test_in_place_with_an_overlapping_operand(device):
    x = it.arange(5, device=device)

    x[1:].add_(x[:-1])

    assert x.tolist() == [0, 1, 3, 5, 7]


# ---- to and copies ----


@pytest.mark.parametrize("to", ["cpu", "fake:0", "fake:1"])
def test_to_device_copies_values_of_views(to, device):
    array = random((4, 6))
    x = it.tensor(array, device=device)[1:, ::2]

    y = x.to(to)

    assert y.device == it.Device(to)
    same(y, array[1:, ::2])
    same(y.to(device), array[1:, ::2])


def test_to_the_same_is_the_tensor_itself(device):
    x = it.ones(3, device=device)

    assert x.to(device) is x
    assert x.to(it.float32) is x
    assert x.to(device, copy=True) is not x
    assert x.to(it.float64).dtype is it.float64
    assert x.to("float64", copy=False).dtype is it.float64
    assert x.to(it.ones(1, dtype=it.int8)).dtype is it.int8


def test_operands_on_two_devices_are_refused(device):
    other = "fake:0" if device != "fake:0" else "cpu"

    with pytest.raises(DeviceMismatch, match=r"\.to\("):
        it.ones(2, device=device) + it.ones(2, device=other)


def test_deepcopy_copies_memory_gradient_and_flag(device):
    x = it.ones(3, device=device, requires_grad=True)
    (x * 2).sum().backward()

    y = copy.deepcopy([x, x])

    assert y[0] is y[1]
    assert y[0].requires_grad
    assert y[0].grad.tolist() == [2, 2, 2]
    assert y[0].data_ptr() != x.data_ptr()
    with pytest.raises(AutogradError, match="leaf"):
        copy.deepcopy(x * 1)


def test_pickle_is_by_value(device):
    x = it.tensor([1.0, 2.0], dtype=it.bfloat16, device=device, requires_grad=True)

    y = pickle.loads(pickle.dumps(x))

    assert y.device == x.device
    assert y.dtype is it.bfloat16
    assert y.requires_grad
    assert y.tolist() == [1, 2]


def test_buffer_goes_with_its_last_tensor(device):
    gc.disable()
    try:
        before = it.memory_allocated(device)
        x = it.zeros(1000, device=device)
        view = x[10:].view(99, 10)
        del x
        assert it.memory_allocated(device) > before
        del view
        assert it.memory_allocated(device) == before
    finally:
        gc.enable()


# ---- promotion ----


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((it.float16, (4,)), (it.float32, ()), it.float32),
        ((it.int32, (4,)), (it.int64, ()), it.int64),
        ((it.int64, (4,)), (it.float32, ()), it.float32),
        ((it.bfloat16, (2,)), (it.float16, (2,)), it.float32),
        ((it.uint8, (2,)), (it.int8, (2,)), it.int16),
        ((it.bool, (2,)), (it.uint8, (2,)), it.uint8),
    ],
)
def test_zero_d_tensors_promote_like_any(a, b, expected, device):
    """BC-032, by the array API's rule."""
    x, y = (it.ones(shape, dtype=dtype, device=device) for dtype, shape in (a, b))

    assert (x + y).dtype is expected
    assert (y * x).dtype is expected
    assert (x + y).tolist() == [1 if expected is it.bool else 2] * len((x + y).tolist())


def test_python_scalars_are_weak(device):
    assert (it.tensor(3, dtype=it.uint8, device=device) ** 2).dtype is it.uint8
    assert (it.ones(1, dtype=it.float16, device=device) * 2.5).dtype is it.float16
    assert (it.ones(1, dtype=it.int8, device=device) + 1.5).dtype is it.float32
    assert (it.ones(1, dtype=it.bool, device=device) + 1).dtype is it.int64
    assert (2 - it.ones(1, dtype=it.float64, device=device)).dtype is it.float64
    assert (np.float32(2) * it.ones(1, dtype=it.float64, device=device)).dtype is it.float64
    with pytest.raises(OverflowError, match="uint8"):
        it.ones(1, dtype=it.uint8, device=device) + 300


def test_repr_names_what_is_not_the_default(device):
    text = repr(it.tensor([1.0, 2.0], dtype=it.bfloat16, device=device, requires_grad=True))

    assert text.startswith("tensor([1., 2.]")
    assert "dtype=infinitrain.bfloat16" in text
    assert "requires_grad=True" in text
    assert ("device='fake:1'" in text) == (device == "fake:1")
    assert "grad_fn=<AddBackward>" in repr(it.ones(1, requires_grad=True) + it.ones(1))


def test_every_exported_name_exists_and_is_the_tables():
    from infinitrain.ops import FUNCTIONS, METHODS

    for name, function in FUNCTIONS.items():
        assert getattr(it, name) is function
        assert name in it.__all__
    for name in METHODS:
        assert hasattr(it.Tensor, name)
