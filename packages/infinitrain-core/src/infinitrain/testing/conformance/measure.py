"""What a device achieves: the cost of a launch, copies, and each kernel beside the device's own roofline.

The roofline is measured, not claimed: memory by the best of `Copy` and `Fill` at the size that elementwise kernels are
measured at, arithmetic by the best product of each dtype. Figures are medians of batches that end with a
synchronisation. They say how fast this library is on this machine now; nothing passes or fails by them.

Source of the model: Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import TABLE, Library, Provider, SlotError, ffi
from infinitrain.testing.conformance.fresh import in_fresh_process
from infinitrain.testing.conformance.launch import HOST, DeviceArray, Request
from infinitrain.testing.conformance.workloads import MANY, Workload, dtypes_of, workload

__all__ = ["measure", "measure_apart"]

#: Bytes of a copy.
LARGE = 64 << 20
BATCHES = 5
#: Seconds that a batch should last at least, and that the batches of one kernel may take in all.
BATCH_SECONDS, KERNEL_SECONDS = 0.01, 0.25


@dataclass(frozen=True, slots=True)
class Speed:
    """What one launch of a workload takes."""

    workload: Workload
    seconds: float

    def share(self, bytes_per_s: float, flops_per_s: float) -> float:
        """Give the shortest time that memory and arithmetic allow, divided by ours."""
        least = self.workload.nbytes / bytes_per_s
        if flops_per_s and self.workload.flops:
            least = max(least, self.workload.flops / flops_per_s)
        return least / self.seconds

    def to_json(self, bytes_per_s: float, flops_per_s: float) -> dict[str, Any]:
        """Give the figures of the report."""
        load = self.workload
        return {
            "kernel": load.name,
            "dtype": load.dtype,
            "size": load.label,
            "seconds": self.seconds,
            "bytes_per_s": load.nbytes / self.seconds,
            "flops_per_s": load.flops / self.seconds,
            "roofline_share": self.share(bytes_per_s, flops_per_s),
        }


def measure_apart(path: Path, device: int, options: dict[str, str], tier: int) -> dict[str, Any]:
    """Measure in a process of its own, so that a crash ends the measurement only.

    Raises: AssertionError saying how the process ended.
    """
    found: dict[str, Any] = in_fresh_process(measure, str(path), device, options, tier, timeout_s=600)
    return found


def measure(path: str, device: int, options: dict[str, str], tier: int) -> dict[str, Any]:
    """Measure a provider's device; gives the report's `performance`."""
    provider = Provider(Library(Path(path)), options)
    bench = Bench(provider, device)
    try:
        speeds = _kernels(bench, tier)
        bytes_per_s = _memory(bench)
        flops: dict[str, float] = {}
        for each in speeds:
            dtype, reached = each.workload.dtype, each.workload.flops / each.seconds
            flops[dtype] = max(flops.get(dtype, 0.0), reached)
        flops = {dtype: reached for dtype, reached in flops.items() if reached}
        return {
            "launch_s": _launch(bench),
            "copy_bytes_per_s": _copies(bench),
            "roofline": {"bytes_per_s": bytes_per_s, "flops_per_s": flops},
            "kernels": [each.to_json(bytes_per_s, flops.get(each.workload.dtype, 0.0)) for each in speeds],
        }
    finally:
        bench.close()
        provider.shutdown()


def _timed(bench: Bench, work: Callable[[], None], *, most: float = KERNEL_SECONDS) -> float:
    """Give the median seconds of one piece of work, in batches that are synchronised at their end."""

    def batch(count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            work()
        bench.provider.sync(bench.device)
        return (time.perf_counter() - begin) / count

    batch(1)  # first use: code is loaded, pages are touched
    once = batch(1)
    count = max(1, int(BATCH_SECONDS / max(once, 1e-7)))
    batches = min(BATCHES, max(1, int(most / max(once * count, 1e-9))))
    return statistics.median([batch(count) for _ in range(batches)])


def _launch(bench: Bench) -> dict[str, float]:
    """Measure the smallest launch: handed over one after the other, many by one call, and waited for each time."""
    y = bench.put(np.zeros(1, np.float32))
    request = Request(bench.provider, TABLE["Fill"], [], [y], (1.0,), device=bench.device)

    def and_wait() -> None:
        request.launch()
        bench.provider.sync(bench.device)

    found = {"one": _timed(bench, request.launch), "one_and_wait": _timed(bench, and_wait)}
    submit, provider, many = bench.provider.slot("kernels", "submit"), bench.provider, 256
    if submit != ffi.NULL:
        listed, done = ffi.new("const itp_launch *[]", [request.raw] * many), ffi.new("uint64_t *")
        found["by_submit"] = (
            _timed(bench, lambda: provider.check("submit", submit, provider.self, listed, many, done)) / many
        )
    y.free()
    return found


def _copies(bench: Bench) -> dict[str, float]:
    """Measure copies in each direction, from ordinary and, where the device has it, from pinned host memory."""
    provider, device = bench.provider, bench.device
    host = np.ones(LARGE, np.uint8)
    here, there = (provider.alloc(LARGE, device) for _ in range(2))
    pageable = host.ctypes.data
    ways = {
        "host_to_device": (here, device, pageable, HOST),
        "device_to_host": (pageable, HOST, here, device),
        "device_to_device": (there, device, here, device),
    }
    pinned = 0
    if bench.info.caps & 0x8:  # ITP_CAP_PINNED
        pinned = provider.alloc(LARGE, device, kind=1)
        ways["pinned_to_device"] = (here, device, pinned, HOST)
        ways["device_to_pinned"] = (pinned, HOST, here, device)
    found = {}
    for name, (to, to_device, source, source_device) in ways.items():
        seconds = _timed(bench, lambda: provider.copy(to, to_device, source, source_device, LARGE))  # noqa: B023
        found[name] = LARGE / seconds
    for address in (here, there):
        provider.dealloc(address, LARGE, device)
    if pinned:
        provider.dealloc(pinned, LARGE, device, kind=1)
    return found


def _memory(bench: Bench) -> float:
    """Give the bytes a second that the device's memory moves at best, read and written."""
    x, y = (bench.put(np.ones(MANY, np.float32)) for _ in range(2))
    copy = Request(bench.provider, TABLE["Copy"], [x], [y], (), device=bench.device)
    fill = Request(bench.provider, TABLE["Fill"], [], [y], (1.0,), device=bench.device)
    best = max(2 * x.nbytes / _timed(bench, copy.launch), x.nbytes / _timed(bench, fill.launch))
    x.free()
    y.free()
    return best


def _kernels(bench: Bench, tier: int) -> list[Speed]:
    found = []
    library = bench.provider.library
    for name, row in TABLE.items():
        for dtype in dtypes_of(row):
            if row.tier > tier or not library.offers(name, dtype or None):
                continue
            load = workload(row, dtype)
            if load is not None:
                seconds = _kernel(bench, load)
                found += [] if seconds is None else [Speed(load, seconds)]
    return found


def _kernel(bench: Bench, load: Workload) -> float | None:
    """Time one workload; None where the device refuses it, or has no memory for it."""
    arrays: list[DeviceArray | None] = []
    request: Request | None = None
    try:
        for array in (*load.case.inputs, *(None if each is None else each.array for each in load.case.outputs)):
            arrays.append(None if array is None else bench.put(np.ascontiguousarray(array)))
        count = len(load.case.inputs)
        row = TABLE[load.name]
        request = Request(
            bench.provider, row, arrays[:count], arrays[count:], load.case.attributes, device=bench.device
        )
        if not request.supported():
            return None
        request.take_workspace()
        return _timed(bench, request.launch)
    except SlotError as refused:
        if refused.status in ("OUT_OF_MEMORY", "UNIMPLEMENTED"):
            return None
        raise
    finally:
        if request is not None:
            request.free()
        for each in arrays:
            if each is not None:
                each.free()
