"""The error record: what is written, where, and what is left alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import STATUS, TABLE, Library, ffi, new_error, text_of
from infinitrain.testing.conformance.launch import Request
from infinitrain.testing.conformance.mistakes import Mistake, mistakes, still_works
from infinitrain.testing.conformance.work import event

OK, NOT_READY, ASYNC, OUT_OF_RANGE = 0, 4, 7, 13
TAG = 0x1122334455667788


def each(bench: Bench, check: Callable[[Mistake], None]) -> None:
    """Check every mistake that all providers have to refuse."""
    with mistakes(bench) as found:
        for mistake in found:
            check(mistake)


def wait_stream(bench: Bench, made: Any, record: Any) -> int:
    """Wait by stream_sync."""
    del made
    return int(bench.provider.table.guard.stream_sync(bench.provider.self, bench.device, ffi.NULL, record))


def ask_stream(bench: Bench, made: Any, record: Any) -> int:
    """Ask by stream_query until the work is done."""
    del made
    while True:
        status = int(bench.provider.table.guard.stream_query(bench.provider.self, bench.device, ffi.NULL, record))
        if status != NOT_READY:
            return status


def wait_event(bench: Bench, made: Any, record: Any) -> int:
    """Wait by event_sync."""
    return int(bench.provider.table.guard.event_sync(bench.provider.self, bench.device, made, record))


def ask_event(bench: Bench, made: Any, record: Any) -> int:
    """Ask by event_query until the work is done."""
    while True:
        status = int(bench.provider.table.guard.event_query(bench.provider.self, bench.device, made, record))
        if status != NOT_READY:
            return status


def wait_device(bench: Bench, made: Any, record: Any) -> int:
    """Wait by device_sync."""
    del made
    return int(bench.provider.table.guard.device_sync(bench.provider.self, bench.device, record))


def wait_copy(bench: Bench, made: Any, record: Any) -> int:
    """Wait by a copy to pageable memory."""
    del made
    source, target = bench.put(np.zeros(4, np.float32)), np.zeros(4, np.float32)
    request = ffi.new("itp_copy *")
    request.struct_size, request.bytes = ffi.sizeof("itp_copy"), 16
    request.src, request.dst = ffi.cast("void *", source.address), ffi.cast("void *", target.ctypes.data)
    request.src_device, request.dst_device = bench.device, -1
    status = int(bench.provider.table.runtime.copy(bench.provider.self, request, record))
    source.free()
    return status


@pytest.mark.parametrize("wait", [wait_stream, ask_stream, wait_event, ask_event, wait_device, wait_copy])
def test_err_01_late_failures(library: Library, bench: Bench, wait: Callable[[Bench, Any, Any], int]) -> None:
    """What goes wrong after the call is reported as ASYNC, once, with the tag, by the next synchronising call."""
    if not library.offers("EmbeddingForward", "f32"):
        pytest.skip("EmbeddingForward for f32 is not offered: nothing else fails late on every device")
    index, weight = bench.put(np.array([1, 9], np.int64)), bench.put(np.zeros((3, 2), np.float32))
    y = bench.put(np.zeros((2, 2), np.float32))
    # What wait_copy needs is uploaded before: an upload that waits would report the failure itself.
    request = Request(bench.provider, TABLE["EmbeddingForward"], [index, weight], [y], (), device=bench.device, tag=TAG)
    with event(bench) as made:
        status, record, message = request.status()
        bench.provider.guard("event_record", bench.device, made, ffi.NULL)
        second, text = new_error()
        if wait is wait_copy and status == OK:
            later, record, message = copy_later(bench, y)
        else:
            later = wait(bench, made, second)
            record, message = (second, text_of(text)) if status == OK else (record, message)
        if status == OK:
            assert STATUS[later] == "ASYNC"
            assert record.code == ASYNC
            assert record.origin_tag == TAG, "the tag of the launch that failed"
            assert "9" in message
        else:
            assert STATUS[status] == "OUT_OF_RANGE"
            assert later == OK, f"reported at the launch, and again: {message}"
        assert wait_device(bench, made, ffi.NULL) == OK, "reported twice"
    for array in (index, weight, y):
        array.free()
    still_works(bench)


def copy_later(bench: Bench, source: Any) -> tuple[int, Any, str]:
    """Copy to pageable memory and give status, record and message."""
    target = np.zeros(source.nbytes, np.uint8)
    request = ffi.new("itp_copy *")
    request.struct_size, request.bytes = ffi.sizeof("itp_copy"), source.nbytes
    request.src, request.dst = ffi.cast("void *", source.address), ffi.cast("void *", target.ctypes.data)
    request.src_device, request.dst_device = bench.device, -1
    record, text = new_error()
    status = int(bench.provider.table.runtime.copy(bench.provider.self, request, record))
    return status, record, text_of(text)


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
