"""Views: layouts, descriptors, broadcasting."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from infinitrain import copy as router
from infinitrain import dtype as dt
from infinitrain._native import ffi, lib
from infinitrain.errors import ShapeError
from infinitrain.strided import MAX_NDIM, Strided, broadcast_shapes, compact_strides

SHAPES = st.lists(st.integers(0, 5), max_size=5).map(tuple)


@given(shape=SHAPES)
def test_compact_strides_are_numpys(shape):
    expected = tuple(step // 4 for step in np.empty([max(size, 1) for size in shape], np.float32).strides)

    assert compact_strides(shape) == expected


@given(shapes=st.lists(SHAPES, min_size=1, max_size=3))
def test_broadcasting_is_numpys(shapes):
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(ShapeError, match="do not broadcast"):
            broadcast_shapes(*shapes)
        return

    assert broadcast_shapes(*shapes) == expected


@pytest.mark.parametrize(
    ("shape", "strides", "compact", "overlaps"),
    [
        ((2, 3), (3, 1), True, False),
        ((2, 3), (1, 2), False, False),
        ((1, 3), (99, 1), True, False),
        ((2, 0), (7, 7), True, False),
        ((2, 3), (0, 1), False, True),
        ((2, 3), (2, 1), False, True),
        ((3, 2), (1, 3), False, False),
        ((), (), True, False),
    ],
)
def test_layouts(device, shape, strides, compact, overlaps):
    view = Strided._empty((64,), dt.float32, it.Device(device)).as_strided(shape, strides, 0)

    assert view.is_contiguous() is compact
    assert view.overlaps_itself() is overlaps


def test_a_descriptor_says_what_the_view_is(device):
    where = it.Device(device)
    whole = Strided._empty((4, 6), dt.int16, where)
    view = whole.as_strided((3, 2), (6, 2), 7)
    tensor = view.desc.tensor

    assert int(ffi.cast("uintptr_t", tensor.data)) == whole.buffer.ptr
    assert [tensor.shape[i] for i in range(2)] == [3, 2]
    assert [tensor.strides[i] for i in range(2)] == [6, 2]
    assert (tensor.ndim, tensor.byte_offset, tensor.nbytes, tensor.flags) == (2, 14, 48, 0)
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (0, 16, 1)
    assert (tensor.device_id, tensor.device_type) == (where.index, where.info.dlpack_device_type)
    assert view.desc is view.desc


def test_descriptors_of_one_shape_lead_to_their_own_memory(device):
    where = it.Device(device)
    tensors = [router.from_numpy(np.full((3, 5), value, np.float32), where) for value in range(4)]
    addresses = {int(ffi.cast("uintptr_t", each.desc.tensor.data)) for each in tensors}

    assert addresses == {each.buffer.ptr for each in tensors}
    for each in tensors:
        assert [each.desc.tensor.shape[i] for i in range(2)] == [3, 5]
        assert each.desc.tensor.strides == ffi.NULL


def test_a_scalar_has_no_shape(device):
    tensor = Strided._empty((), dt.float64, it.Device(device)).desc.tensor

    assert (tensor.ndim, tensor.shape, tensor.strides, tensor.nbytes) == (0, ffi.NULL, ffi.NULL, 8)


def test_foreign_memory_is_aligned_down(device):
    where = it.Device("cpu")
    array = np.frombuffer(bytes(200), np.int32, 8, 12)
    tensor = router.share_numpy(array, where).desc.tensor

    assert int(ffi.cast("uintptr_t", tensor.data)) % where.info.min_alignment == 0
    assert int(ffi.cast("uintptr_t", tensor.data)) + tensor.byte_offset == array.ctypes.data


def test_too_many_dimensions(device):
    assert MAX_NDIM == lib.IT_MAX_NDIM
    with pytest.raises(ShapeError, match=f"expected at most {MAX_NDIM}"):
        _ = Strided._empty((1,) * (MAX_NDIM + 1), dt.float32, it.Device(device)).desc


def test_expanding(device):
    x = router.from_numpy(np.arange(3, dtype=np.float32), it.Device(device))

    np.testing.assert_array_equal(router.to_numpy(x.broadcast_to((2, 3))), [[0, 1, 2]] * 2)
    with pytest.raises(ShapeError, match="does not expand"):
        x.broadcast_to((2, 4))
