"""Work for streams made of tier-0 kernels: what every provider has, in amounts that take a moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import TABLE, Provider, ffi
from infinitrain.testing.conformance.launch import DeviceArray, Request
from infinitrain.testing.conformance.layout import Array

__all__ = ["busy", "copy", "download", "event", "fill", "in_threads", "launch", "stream", "values"]

#: Elements of a buffer whose filling takes a moment.
MANY = 1 << 18


def launch(
    bench: Bench,
    name: str,
    inputs: list[DeviceArray | None],
    outputs: list[DeviceArray | None],
    attributes: tuple[object, ...] = (),
    stream: Any = ffi.NULL,
    tag: int = 0,
) -> Request:
    """Launch a kernel; gives the launch, which only a graph that records it needs any longer."""
    device = next(array.device for array in (*outputs, *inputs) if array is not None)
    request = Request(bench.provider, TABLE[name], inputs, outputs, attributes, device=device, stream=stream, tag=tag)
    request.launch()
    return request


def fill(bench: Bench, y: DeviceArray, value: float, stream: Any = ffi.NULL) -> Request:
    """Set every element."""
    return launch(bench, "Fill", [], [y], (value,), stream)


def copy(bench: Bench, x: DeviceArray, y: DeviceArray, stream: Any = ffi.NULL) -> Request:
    """Copy by the kernel."""
    return launch(bench, "Copy", [x], [y], (), stream)


def busy(bench: Bench, y: DeviceArray, stream: Any, last: float, rounds: int = 100) -> list[Request]:
    """Queue work on a stream, by one call where that can be: it ends with every element of y being `last`."""
    requests = [
        Request(bench.provider, TABLE["Fill"], [], [y], (value,), device=y.device, stream=stream)
        for value in (-1.0, float(last))
    ]
    wanted = [requests[0]] * rounds + [requests[1]]
    if bench.provider.slot("kernels", "submit") == ffi.NULL:
        for request in wanted:
            request.launch()
    else:
        # One by one, the calls themselves would take as long as the work, and no queue would ever be long.
        listed, done = ffi.new("const itp_launch *[]", [request.raw for request in wanted]), ffi.new("uint64_t *")
        bench.provider.check(
            "submit", bench.provider.table.kernels.submit, bench.provider.self, listed, len(wanted), done
        )
    return requests


def values(bench: Bench, n: int = MANY, begin: float = 0.0) -> DeviceArray:
    """Make a float32 buffer."""
    return bench.put(np.full(n, begin, np.float32))


@contextmanager
def stream(bench: Bench, device: int | None = None, priority: int = 0) -> Iterator[Any]:
    """A stream for a while."""
    device = bench.device if device is None else device
    out = ffi.new("itp_stream *")
    bench.provider.guard("stream_create", device, 0, priority, out)
    yield out[0]
    bench.provider.guard("stream_destroy", device, out[0])


@contextmanager
def event(bench: Bench, flags: int = 0, device: int | None = None) -> Iterator[Any]:
    """An event for a while."""
    device = bench.device if device is None else device
    out = ffi.new("itp_event *")
    bench.provider.guard("event_create", device, flags, out)
    yield out[0]
    bench.provider.guard("event_destroy", device, out[0])


def in_threads(n: int, work: Callable[[int], object]) -> None:
    """Run work(0) to work(n - 1) at once; the first failure is raised here."""
    failures: list[BaseException] = []
    gate = threading.Barrier(n)

    def run(i: int) -> None:
        try:
            gate.wait()
            work(i)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def download(provider: Provider, device: int, address: int, nbytes: int, stream: Any = ffi.NULL) -> Array:
    """Copy bytes to the host on a stream."""
    found = np.empty(nbytes, np.uint8)
    provider.copy(found.ctypes.data, -1, address, device, nbytes, stream)
    return found
