"""The copy router against NumPy, in every layout and type."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain import copy as router
from infinitrain import dtype as dt
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.strided import Strided


@pytest.mark.parametrize("dtype", dt.ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0,), (2, 0, 3), (5, 1, 7)])
def test_there_and_back(device, dtype, shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype.numpy)

    back = router.to_numpy(router.from_numpy(values, it.Device(device)))

    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)


def test_layouts_of_numpy_are_read_as_they_look(device):
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (base.T, base[::2, 1::2], base[::-1], np.asfortranarray(base), np.broadcast_to(base[:1], (3, 6))):
        np.testing.assert_array_equal(router.to_numpy(router.from_numpy(view, it.Device(device))), view)


def test_big_endian_numbers_keep_their_values(device):
    values = np.array([1.5, -2.0], ">f4")

    np.testing.assert_array_equal(router.to_numpy(router.from_numpy(values, it.Device(device))), [1.5, -2.0])


def test_the_source_may_change_as_soon_as_the_call_returns(device):
    values = np.ones(1 << 16, np.float32)
    tensor = router.from_numpy(values, it.Device(device))
    values[:] = 7

    assert router.to_numpy(tensor).max() == 1


def test_views_are_copied_from_their_offset(device):
    whole = router.from_numpy(np.arange(20, dtype=np.int32), it.Device(device))
    part = whole.as_strided((3, 2), (4, 2), 5)

    np.testing.assert_array_equal(router.to_numpy(part), [[5, 7], [9, 11], [13, 15]])


def test_between_two_devices_of_one_provider():
    pytest.importorskip("infinitrain_fake", reason="needs two devices of one provider")
    values = np.arange(1000, dtype=np.float64)
    a = router.from_numpy(values, it.Device("fake:0"))
    b = Strided._empty((1000,), dt.float64, it.Device("fake:1"))
    router.copy_(b, a)

    np.testing.assert_array_equal(router.to_numpy(b), values)


def test_differences_are_refused(device):
    where = it.Device(device)
    a = Strided._empty((2,), dt.float32, where)
    with pytest.raises(ShapeError, match=r"\(2,\) into \(3,\)"):
        router.copy_(Strided._empty((3,), dt.float32, where), a)
    with pytest.raises(DTypeError, match="float32 into float64"):
        router.copy_(Strided._empty((2,), dt.float64, where), a)


def test_sharing_memory_with_numpy_on_the_host():
    array = np.zeros((2, 3), np.float32)
    shared = router.share_numpy(array, it.Device("cpu"))
    array[1, 2] = 5

    assert router.to_numpy(shared)[1, 2] == 5
    view = router.host_view(shared)
    view[0, 0] = 9
    assert array[0, 0] == 9


def test_memory_of_a_device_that_the_host_cannot_read_is_refused():
    pytest.importorskip("infinitrain_fake", reason="needs memory that the host cannot read")
    tensor = Strided._empty((2,), dt.float32, it.Device("fake:0"))

    with pytest.raises(ShapeError, match="expected a device that the host can read, found fake:0"):
        router.host_view(tensor)


def test_a_host_view_outlives_the_tensor():
    tensor = router.from_numpy(np.full(1000, 3.0, np.float32), it.Device("cpu"))
    view = router.host_view(tensor)
    del tensor
    Strided._empty((1000,), dt.float32, it.Device("cpu"))

    assert view.min() == view.max() == 3.0
