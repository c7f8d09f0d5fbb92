"""Launches: layouts made to fit, aliasing, what is refused and how it is said."""

from __future__ import annotations

import threading

import infinitrain as it
import numpy as np
import pytest
from infinitrain import copy as router
from infinitrain import dtype as dt
from infinitrain.dispatch import has_kernel, launch, missing_kernels
from infinitrain.errors import DeviceMismatch, DTypeError, IndexOutOfRange, KernelNotFound, ReadOnlyError, ShapeError
from infinitrain.strided import Strided


def on(device, values):
    return router.from_numpy(np.asarray(values), it.Device(device))


def empty(device, shape, dtype=dt.float32):
    return Strided._empty(shape, dtype, it.Device(device))


def read(tensor):
    return router.to_numpy(tensor)


@pytest.fixture
def base():
    return np.arange(24, dtype=np.float32).reshape(4, 6)


def test_strided_and_broadcast_operands(device, base):
    x = on(device, base)
    turned = x.as_strided((6, 4), (1, 6), 0)
    row = x.as_strided((6, 4), (0, 1), 2)
    y = empty(device, (6, 4))
    launch("AddForward", (turned, row), (y,))

    np.testing.assert_array_equal(read(y), base.T + base.reshape(-1)[2:6])


def test_strided_outputs(device, base):
    x = on(device, base)
    whole = on(device, np.zeros((8, 6), np.float32))
    launch("MulScalar", (x,), (whole.as_strided((4, 6), (12, 1), 6),), value=2.0)

    np.testing.assert_array_equal(read(whole)[1::2], base * 2)
    assert not read(whole)[::2].any()


def test_strided_output_of_a_kernel_that_wants_compact_ones(device, base):
    x = on(device, base)
    whole = on(device, np.zeros((6, 8), np.float32))
    launch("TrilForward", (x,), (whole.as_strided((4, 6), (1, 8), 2),), diagonal=0)

    np.testing.assert_array_equal(read(whole).T[2:6], np.tril(base))


def test_strided_operand_of_a_kernel_that_wants_compact_ones(device, base):
    x = on(device, base).as_strided((6, 4), (1, 6), 0)
    y = empty(device, (6, 4))
    launch("TriuForward", (x,), (y,), diagonal=1)

    np.testing.assert_array_equal(read(y), np.triu(base.T, 1))


def test_accumulating_into_a_strided_output(device, base):
    x = on(device, base)
    whole = on(device, np.ones((4, 8), np.float32))
    launch(
        "MatmulForward", (x, x.as_strided((6, 4), (1, 6), 0)), (whole.as_strided((4, 4), (8, 2), 0),), accumulate=True
    )

    np.testing.assert_allclose(read(whole)[:, ::2], base @ base.T + 1)
    np.testing.assert_array_equal(read(whole)[:, 1::2], 1)


@pytest.mark.parametrize("order", ["rows", "columns", "neither"])
def test_matrix_layouts(device, order):
    values = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    x = on(device, values)
    view, expected = {
        "rows": (x, values),
        "columns": (x.as_strided((3, 5, 4), (20, 1, 5), 0), values.transpose(0, 2, 1)),
        "neither": (x.as_strided((5, 3, 4), (1, 20, 5), 0), values.transpose(2, 0, 1)),
    }[order]
    other = np.ones((expected.shape[0], expected.shape[2], 2), np.float32)
    y = empty(device, (*expected.shape[:2], 2))
    launch("MatmulForward", (view, on(device, other)), (y,))

    np.testing.assert_allclose(read(y), expected @ other)


def test_in_place_and_overlapping(device):
    x = on(device, np.arange(8, dtype=np.float32))
    launch("AddScalar", (x,), (x,), value=1.0)
    np.testing.assert_array_equal(read(x), np.arange(1, 9))

    launch("Copy", (x.as_strided((7,), (1,), 0),), (x.as_strided((7,), (1,), 1),))

    np.testing.assert_array_equal(read(x), [1, 1, 2, 3, 4, 5, 6, 7])


def test_an_output_that_overlaps_itself_is_refused(device):
    x = on(device, np.zeros(3, np.float32))
    with pytest.raises(ShapeError, match="overlaps itself"):
        launch("Fill", (), (x.as_strided((4, 3), (0, 1), 0),), value=1.0)

    np.testing.assert_array_equal(read(x), 0)


def test_outputs_that_overlap_each_other_are_refused(device):
    x, rows = on(device, np.ones((3, 4), np.float32)), empty(device, (3,))
    with pytest.raises(ShapeError, match="LayerNormForward: outputs overlap each other"):
        launch("LayerNormForward", (x, None, None), (empty(device, (3, 4)), rows, rows))


def test_elementwise_operands_have_one_shape(device):
    wide, tall = empty(device, (2, 3)), empty(device, (3, 2))
    with pytest.raises(
        ShapeError, match=r"AddForward: expected tensors of one shape, found y \(2, 3\), a .*b \(3, 2\)"
    ):
        launch("AddForward", (wide, tall), (wide,))


def test_memory_that_may_not_be_written_is_refused():
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    shared = router.share_numpy(array, it.Device("cpu"))
    with pytest.raises(ReadOnlyError, match="Fill: expected an output that may be written"):
        launch("Fill", (), (shared,), value=1.0)

    assert not array.any()


def test_foreign_memory_need_not_be_aligned():
    raw = np.arange(100, dtype=np.uint8).tobytes()
    for skip in (4, 12, 28):
        array = np.frombuffer(raw, np.int32, 8, skip)
        y = empty("cpu", (8,), dt.int32)
        launch("AddScalar", (router.share_numpy(array, it.Device("cpu")),), (y,), value=1)

        np.testing.assert_array_equal(read(y), array + 1)


def test_foreign_arrays_that_overlap_are_copied_as_if_read_first():
    array = np.arange(8, dtype=np.float32)
    source, target = (router.share_numpy(each, it.Device("cpu")) for each in (array[:-1], array[1:]))
    launch("Copy", (source,), (target,))

    np.testing.assert_array_equal(array, [0, 0, 1, 2, 3, 4, 5, 6])


def test_threads_get_the_values_of_their_own_launches(device):
    wrong = []

    def work(start):
        x = on(device, np.full((50, 7), start, np.float32))
        for _ in range(40):
            y = empty(device, (50, 7))
            launch("AddScalar", (x,), (y,), value=1.0)
            x = y
        if not (read(x) == start + 40).all():
            wrong.append(start)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_nothing_to_compute_is_done_at_once(device):
    launch("AddForward", (empty(device, (0, 3)), empty(device, (0, 3))), (empty(device, (0, 3)),))


def test_reducing_nothing_reaches_the_kernel(device):
    y = on(device, np.full((1, 3), 7, np.float32))
    launch("SumForward", (empty(device, (0, 3)),), (y,))

    np.testing.assert_array_equal(read(y), np.zeros((1, 3)))


@pytest.mark.parametrize("value", [3, -0.0, 0.0, True, float("nan"), float("inf")])
def test_attributes_keep_their_value_and_sign(device, value):
    y = empty(device, (2,))
    launch("Fill", (), (y,), value=value)

    expected = np.full(2, value, np.float32)
    np.testing.assert_array_equal(read(y), expected)
    np.testing.assert_array_equal(np.signbit(read(y)), np.signbit(expected))


def test_a_large_uint64_travels_whole(device):
    y = empty(device, (1,), dt.uint64)
    launch("Fill", (), (y,), value=2**64 - 3)

    assert int(read(y)[0]) == 2**64 - 3


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_an_integer_that_no_attribute_holds_is_named(device, value):
    with pytest.raises(OverflowError, match="64 bits, found"):
        launch("Fill", (), (empty(device, (1,), dt.int64),), value=value)


def test_optional_operands(device):
    x, w = on(device, np.ones((2, 3), np.float32)), on(device, np.ones((4, 3), np.float32))
    y = empty(device, (2, 4))
    launch("LinearForward", (x, w, None), (y,))

    np.testing.assert_array_equal(read(y), 3)
    with pytest.raises(ShapeError, match="'weight' is missing"):
        launch("LinearForward", (x, None, None), (y,))


def test_wrong_dtypes_are_named(device):
    with pytest.raises(DTypeError, match="b is float64, expected float32"):
        launch("AddForward", (empty(device, (2,)), empty(device, (2,), dt.float64)), (empty(device, (2,)),))
    with pytest.raises(DTypeError, match="index is int32, expected int64"):
        launch("EmbeddingForward", (empty(device, (2,), dt.int32), empty(device, (2, 2))), (empty(device, (2, 2)),))
    with pytest.raises(DTypeError, match="x is int32, expected one of bfloat16"):
        launch("ExpForward", (empty(device, (2,), dt.int32),), (empty(device, (2,), dt.int32),))


def test_unknown_kernels_and_attributes(device):
    with pytest.raises(KernelNotFound, match="'Frobnicate' is not in the kernel table"):
        launch("Frobnicate", (), (empty(device, (2,)),))
    with pytest.raises(DTypeError, match="unknown attributes colour"):
        launch("Fill", (), (empty(device, (2,)),), value=1, colour=2)
    with pytest.raises(DTypeError, match="'value' is missing"):
        launch("Fill", (), (empty(device, (2,)),))


def test_operands_on_two_devices_are_refused():
    pytest.importorskip("infinitrain_fake", reason="needs a second device")
    with pytest.raises(DeviceMismatch, match="found fake:0 and cpu:0"):
        launch("NegForward", (empty("fake:0", (2,)),), (empty("cpu", (2,)),))


def test_an_index_out_of_range_is_an_index_error_at_the_latest_when_waiting(device):
    weight, y = on(device, np.zeros((10, 2), np.float32)), empty(device, (3, 2))
    with pytest.raises(IndexOutOfRange, match=r"index 10 at position 1 is outside \[0, 10\)"):  # noqa: PT012 - either
        launch("EmbeddingForward", (on(device, [0, 10, 1]), weight), (y,))
        it.synchronize(device)

    launch("EmbeddingForward", (on(device, [0, 9, 1]), weight), (y,))
    it.synchronize(device)


def test_what_a_provider_has_can_be_asked(device):
    assert has_kernel("AddForward", device, dt.float32)
    assert not has_kernel("Frobnicate", device)
    assert missing_kernels(["AddForward", "X", "Y", "X"], device) == ["X", "Y"]
