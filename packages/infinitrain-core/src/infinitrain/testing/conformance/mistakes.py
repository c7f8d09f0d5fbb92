"""Calls that every provider has to refuse, each with the status that it has to give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import TABLE, ffi
from infinitrain.testing.conformance.launch import Request
from infinitrain.testing.conformance.work import event, fill

__all__ = ["Mistake", "bad_devices", "device_calls", "mistakes", "still_works"]

#: A slot's call with an error record (or NULL) as its last argument.
Call = Callable[[Any], int]
UNKNOWN_FLAG = 0x40000000


@dataclass(frozen=True, slots=True)
class Mistake:
    """A call that has to be refused.

    Attributes:
        where: The slot or kernel, as the message names it.
        call: The call.
        status: What it has to answer.
    """

    where: str
    call: Call
    status: str = "INVALID_ARGUMENT"


def bad_devices(bench: Bench) -> tuple[int, ...]:
    """Give indices that no device has. -1 is the host's side of a copy, so it is not among those of a copy."""
    return (bench.provider.device_count(), -2, 2**31 - 1, -(2**31))


@contextmanager
def mistakes(bench: Bench) -> Iterator[list[Mistake]]:
    """Give a mistake for each kind of slot that every provider has."""
    p, d = bench.provider, bench.device
    runtime, guard = p.table.runtime, p.table.guard
    count = p.device_count()
    pointer, tensor = ffi.new("void **"), bench.put(np.zeros(64, np.float32))
    flagged = ffi.new("itp_copy *")
    flagged.struct_size, flagged.flags = ffi.sizeof("itp_copy"), UNKNOWN_FLAG
    flagged.dst = flagged.src = ffi.cast("void *", tensor.address)
    flagged.src = ffi.cast("void *", tensor.address + 128)
    flagged.bytes, flagged.dst_device, flagged.src_device = 8, d, d
    info = ffi.new("itp_device_info *")
    info.struct_size = ffi.sizeof("itp_device_info")
    stream, made = ffi.new("itp_stream *"), ffi.new("itp_event *")
    counted = Request(p, TABLE["Copy"], [tensor], [tensor], (), device=d)
    counted.raw.n_inputs = 2
    try:
        yield [
            Mistake("device_info", lambda e: runtime.device_info(p.self, count, info, e)),
            Mistake("alloc", lambda e: runtime.alloc(p.self, d, 0, 0, ffi.NULL, pointer, e)),
            Mistake("alloc", lambda e: runtime.alloc(p.self, d, 99, 64, ffi.NULL, pointer, e)),
            Mistake("alloc", lambda e: runtime.alloc(p.self, d, 0, 2**62, ffi.NULL, pointer, e), "OUT_OF_MEMORY"),
            Mistake("copy", lambda e: runtime.copy(p.self, flagged, e)),
            Mistake("stream_create", lambda e: guard.stream_create(p.self, d, UNKNOWN_FLAG, 0, stream, e)),
            Mistake("event_create", lambda e: guard.event_create(p.self, d, UNKNOWN_FLAG, made, e)),
            Mistake("device_sync", lambda e: guard.device_sync(p.self, count, e)),
            Mistake("Copy", lambda e: counted.kernel.launch(p.self, counted.raw, e)),
        ]
    finally:
        tensor.free()


@contextmanager
def device_calls(bench: Bench) -> Iterator[dict[str, Callable[[int], Call]]]:
    """Give for each slot that takes a device its call on any device; optional slots only where they are there."""
    p, d = bench.provider, bench.device
    runtime, guard = p.table.runtime, p.table.guard
    pointer, word, token = ffi.new("void **"), ffi.new("uint64_t *"), ffi.new("int64_t *")
    info = ffi.new("itp_device_info *")
    info.struct_size = ffi.sizeof("itp_device_info")
    stream, made, free = ffi.new("itp_stream *"), ffi.new("itp_event *"), ffi.new("uint64_t *")
    tensor = bench.put(np.zeros(64, np.float32))
    address = ffi.cast("void *", tensor.address)
    host = ffi.new("char[]", 64)
    launched = Request(p, TABLE["Fill"], [], [tensor], (1.0,), device=d)

    def copy(dst: int, src: int) -> Call:
        request = ffi.new("itp_copy *")
        request.struct_size, request.bytes = ffi.sizeof("itp_copy"), 64
        request.dst, request.src = address if dst != -1 else host, address if src != -1 else host
        request.dst_device, request.src_device = dst, src
        return lambda e: int(runtime.copy(p.self, request, e))

    def dealloc(device: int) -> Call:
        def call(e: Any) -> int:
            """Use a block of its own: a provider that accepts a wrong device may give it back."""
            block = p.alloc(64, d)
            status = int(runtime.dealloc(p.self, device, 0, ffi.cast("void *", block), 64, ffi.NULL, e))
            if status:
                p.dealloc(block, 64, d)
            return status

        return call

    def launch(device: int) -> Call:
        def call(e: Any) -> int:
            launched.raw.device = device
            return int(launched.kernel.launch(p.self, launched.raw, e))

        return call

    with event(bench, 1 if p.slot("guard", "event_elapsed_ns") else 0) as one:
        calls: dict[str, Callable[[int], Call]] = {
            "device_info": lambda i: lambda e: runtime.device_info(p.self, i, info, e),
            "alloc": lambda i: lambda e: runtime.alloc(p.self, i, 0, 64, ffi.NULL, pointer, e),
            "dealloc": dealloc,
            "copy to": lambda i: copy(i, -1),
            "copy from": lambda i: copy(-1, i),
            "device_sync": lambda i: lambda e: guard.device_sync(p.self, i, e),
            "stream_create": lambda i: lambda e: guard.stream_create(p.self, i, 0, 0, stream, e),
            "stream_sync": lambda i: lambda e: guard.stream_sync(p.self, i, ffi.NULL, e),
            "stream_query": lambda i: lambda e: guard.stream_query(p.self, i, ffi.NULL, e),
            "stream_wait_event": lambda i: lambda e: guard.stream_wait_event(p.self, i, ffi.NULL, one, e),
            "event_create": lambda i: lambda e: guard.event_create(p.self, i, 0, made, e),
            "event_record": lambda i: lambda e: guard.event_record(p.self, i, one, ffi.NULL, e),
            "event_sync": lambda i: lambda e: guard.event_sync(p.self, i, one, e),
            "event_query": lambda i: lambda e: guard.event_query(p.self, i, one, e),
            "launch": launch,
            "mem_info": lambda i: lambda e: runtime.mem_info(p.self, i, free, word, e),
            "fill_bytes": lambda i: lambda e: runtime.fill_bytes(p.self, i, address, 0, 64, ffi.NULL, e),
            "enter": lambda i: lambda e: guard.enter(p.self, i, token, e),
            "stream_native": lambda i: lambda e: guard.stream_native(p.self, i, ffi.NULL, pointer, e),
            "event_elapsed_ns": lambda i: lambda e: guard.event_elapsed_ns(p.self, i, one, one, word, e),
        }
        for name, table in (
            *(("mem_info", "runtime"), ("fill_bytes", "runtime")),
            *(("enter", "guard"), ("stream_native", "guard"), ("event_elapsed_ns", "guard")),
        ):
            if p.slot(table, name) == ffi.NULL:
                del calls[name]
        yield calls
    tensor.free()


def still_works(bench: Bench) -> None:
    """Do right calls of every kind: none may remember an earlier mistake."""
    y = bench.put(np.zeros(100, np.float32))
    fill(bench, y, 3.0)
    bench.provider.sync(bench.device)
    found = y.numpy()
    y.free()
    assert (found == 3.0).all(), "after a refused call a right one gives wrong values"
