"""The error record: what is written, where, and what is left alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import STATUS, TABLE, Library, ffi, new_error, text_of
from infinitrain.testing.conformance.launch import DeviceArray, Request
from infinitrain.testing.conformance.mistakes import Mistake, mistakes, still_works
from infinitrain.testing.conformance.work import event

OK, NOT_READY = 0, 4
TAG = 0x1122334455667788


def each(bench: Bench, check: Callable[[Mistake], None]) -> None:
    """Check every mistake that all providers have to refuse."""
    with mistakes(bench) as found:
        for mistake in found:
            check(mistake)


Wait = Callable[[Bench, Any, DeviceArray, Any], int]


def until_ready(ask: Callable[[], int]) -> int:
    """Ask until the work is done."""
    while True:
        status = int(ask())
        if status != NOT_READY:
            return status


def stream_sync(bench: Bench, made: Any, y: DeviceArray, record: Any) -> int:
    """Wait for the stream."""
    del made, y
    return int(bench.provider.table.guard.stream_sync(bench.provider.self, bench.device, ffi.NULL, record))


def stream_query(bench: Bench, made: Any, y: DeviceArray, record: Any) -> int:
    """Ask the stream."""
    del made, y
    p = bench.provider
    return until_ready(lambda: p.table.guard.stream_query(p.self, bench.device, ffi.NULL, record))


def event_sync(bench: Bench, made: Any, y: DeviceArray, record: Any) -> int:
    """Wait for an event behind the work."""
    del y
    return int(bench.provider.table.guard.event_sync(bench.provider.self, bench.device, made, record))


def event_query(bench: Bench, made: Any, y: DeviceArray, record: Any) -> int:
    """Ask an event behind the work."""
    del y
    p = bench.provider
    return until_ready(lambda: p.table.guard.event_query(p.self, bench.device, made, record))


def device_sync(bench: Bench, made: Any, y: DeviceArray, record: Any) -> int:
    """Wait for the device."""
    del made, y
    return int(bench.provider.table.guard.device_sync(bench.provider.self, bench.device, record))


def copy(bench: Bench, made: Any, y: DeviceArray, record: Any) -> int:
    """Copy the result to pageable memory."""
    del made
    target = np.zeros(y.nbytes, np.uint8)
    request = ffi.new("itp_copy *")
    request.struct_size, request.bytes = ffi.sizeof("itp_copy"), y.nbytes
    request.src, request.dst = ffi.cast("void *", y.address), ffi.cast("void *", target.ctypes.data)
    request.src_device, request.dst_device = bench.device, -1
    return int(bench.provider.table.runtime.copy(bench.provider.self, request, record))


@pytest.mark.parametrize("wait", [stream_sync, stream_query, event_sync, event_query, device_sync, copy])
def test_err_01_late_failures(library: Library, bench: Bench, wait: Wait) -> None:
    """What goes wrong after the call is reported as ASYNC, once, with the tag, by the next synchronising call."""
    if not library.offers("EmbeddingForward", "f32"):
        pytest.skip("EmbeddingForward for f32 is not offered: nothing else fails late on every device")
    index, weight = bench.put(np.array([1, 9], np.int64)), bench.put(np.zeros((3, 2), np.float32))
    y = bench.put(np.zeros((2, 2), np.float32))
    request = Request(bench.provider, TABLE["EmbeddingForward"], [index, weight], [y], (), device=bench.device, tag=TAG)
    with event(bench) as made:
        status, record, message = request.status()
        bench.provider.guard("event_record", bench.device, made, ffi.NULL)
        late_record, late_text = new_error()
        late = wait(bench, made, y, late_record)
        if status == OK:
            assert STATUS[late] == "ASYNC"
            assert late_record.code == late
            assert late_record.origin_tag == TAG, "the tag of the launch that failed"
            assert "9" in text_of(late_text)
        else:
            assert STATUS[status] == "OUT_OF_RANGE", message
            assert record.code == status
            assert late == OK, f"reported at the launch, and again: {text_of(late_text)}"
        assert device_sync(bench, made, y, ffi.NULL) == OK, "reported twice"
    for array in (index, weight, y):
        array.free()
    still_works(bench)


def test_err_02_record_may_be_null(bench: Bench) -> None:
    """It may be NULL: the status says enough."""

    def check(mistake: Mistake) -> None:
        assert STATUS[mistake.call(ffi.NULL)] == mistake.status, mistake.where

    each(bench, check)


def test_err_03_left_alone_on_ok(bench: Bench) -> None:
    """It is left alone where the status is OK."""
    p, d = bench.provider, bench.device
    y = bench.put(np.zeros(8, np.float32))
    launch = Request(p, TABLE["Fill"], [], [y], (1.0,), device=d)
    count = ffi.new("int32_t *")
    calls: dict[str, Callable[[Any], int]] = {
        "device_count": lambda e: p.table.runtime.device_count(p.self, count, e),
        "Fill": lambda e: launch.kernel.launch(p.self, launch.raw, e),
        "stream_sync": lambda e: p.table.guard.stream_sync(p.self, d, ffi.NULL, e),
        "device_sync": lambda e: p.table.guard.device_sync(p.self, d, e),
    }
    for where, call in calls.items():
        record, message = new_error(64)
        ffi.memmove(message, b"\x7e" * 64, 64)
        record.code, record.native_code, record.origin_tag = 77, 78, 79
        record.message_length, record.line = 80, 81
        before = bytes(ffi.buffer(record)), bytes(ffi.buffer(message))
        assert call(record) == OK, where
        assert (bytes(ffi.buffer(record)), bytes(ffi.buffer(message))) == before, where
    y.free()


def test_err_04_code_is_the_status(bench: Bench) -> None:
    """`code` is the status that is returned."""

    def check(mistake: Mistake) -> None:
        record, _ = new_error()
        status = mistake.call(record)
        assert STATUS[status] == mistake.status, mistake.where
        assert record.code == status, mistake.where

    each(bench, check)


def test_err_05_form_of_the_message(bench: Bench) -> None:
    """`message` reads "[slot or kernel][STATUS] text", as "[alloc][OUT_OF_MEMORY] 64 bytes asked for"."""

    def check(mistake: Mistake) -> None:
        record, text = new_error()
        mistake.call(record)
        message = text_of(text)
        match = re.fullmatch(r"\[([\w.]+)\]\[([A-Z_]+)\] \S.*", message, re.DOTALL)
        assert match, f"{mistake.where}: {message!r}"
        assert match[1] == mistake.where, message
        assert match[2] == mistake.status, message

    each(bench, check)


def test_err_06_text_fits_the_room(bench: Bench) -> None:
    """The text ends with NUL within message_capacity bytes, cut where it is too long; message_length counts no NUL."""

    def check(mistake: Mistake) -> None:
        whole_record, whole = new_error()
        mistake.call(whole_record)
        full = text_of(whole)
        assert whole_record.message_length == len(full.encode()), mistake.where
        for room in (1, 2, 7, len(full), len(full) + 1, len(full) + 9):
            record, message = new_error(256 + room)
            record.message_capacity = room
            ffi.memmove(message, b"\x7e" * (256 + room), 256 + room)
            mistake.call(record)
            content = bytes(ffi.buffer(message))
            end = content.find(b"\0")
            assert 0 <= end < room, f"{mistake.where}: no NUL within {room} bytes"
            assert content[:end].decode() == full[:end], f"{mistake.where}, room {room}"
            assert end == min(len(full), room - 1), f"{mistake.where}, room {room}"
            assert record.message_length == end, f"{mistake.where}, room {room}"
            assert content[room:] == b"\x7e" * 256, f"{mistake.where}: wrote past {room} bytes"

    each(bench, check)


@pytest.mark.parametrize("null", [True, False])
def test_err_07_no_room(bench: Bench, null: bool) -> None:
    """With message_capacity 0 (`message` may then be NULL) no text is written."""

    def check(mistake: Mistake) -> None:
        record, message = new_error(64)
        ffi.memmove(message, b"\x7e" * 64, 64)
        record.message_capacity = 0
        if null:
            record.message = ffi.NULL
        assert STATUS[mistake.call(record)] == mistake.status, mistake.where
        assert bytes(ffi.buffer(message)) == b"\x7e" * 64, mistake.where
        assert STATUS[record.code] == mistake.status, mistake.where

    each(bench, check)


def test_err_08_callers_fields_stay(bench: Bench) -> None:
    """struct_size, message and message_capacity are the caller's and stay as they are."""

    def check(mistake: Mistake) -> None:
        record, message = new_error(64)
        mistake.call(record)
        assert record.struct_size == ffi.sizeof("itp_error"), mistake.where
        assert record.message == message, mistake.where
        assert record.message_capacity == 64, mistake.where

    each(bench, check)


def test_err_09_failed_calls_change_nothing(bench: Bench) -> None:
    """A call that failed has changed nothing: the next right call succeeds (DEVICE_LOST excepted)."""

    def check(mistake: Mistake) -> None:
        mistake.call(ffi.NULL)
        still_works(bench)

    each(bench, check)


def test_err_10_native_code_of_a_late_failure(library: Library, bench: Bench) -> None:
    """With ASYNC, native_code is the status that the work failed with: ITP_E_OUT_OF_RANGE for an index."""
    if not library.offers("EmbeddingForward", "f32"):
        pytest.skip("EmbeddingForward for f32 is not offered: nothing else fails late on every device")
    index, weight = bench.put(np.array([1, 9], np.int64)), bench.put(np.zeros((3, 2), np.float32))
    y = bench.put(np.zeros((2, 2), np.float32))
    request = Request(bench.provider, TABLE["EmbeddingForward"], [index, weight], [y], (), device=bench.device)
    status, _, message = request.status()
    if status == OK:
        record, text = new_error()
        status = device_sync(bench, None, y, record)
        message = text_of(text)
        assert STATUS[status] == "ASYNC", "an index out of range was not reported"
        found = STATUS[record.native_code] if 0 <= record.native_code < len(STATUS) else str(record.native_code)
        assert found == "OUT_OF_RANGE", f"native_code: {message}"
    else:
        assert STATUS[status] == "OUT_OF_RANGE", message
    for array in (index, weight, y):
        array.free()
    still_works(bench)
