"""The runtime table: devices and what they say of themselves."""

from __future__ import annotations

import math
import mmap
from typing import Any

import numpy as np
import pytest

from infinitrain.dtype import ALL, float32
from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import STATUS, Provider, ffi, text_of
from infinitrain.testing.conformance.mistakes import bad_devices, device_calls, still_works
from infinitrain.testing.conformance.work import fill, values

HOST_READABLE, PINNED, TIMING_EVENTS, GRAPHS, ALL_DETERMINISTIC = 0x1, 0x8, 0x20, 0x40, 0x80
SIZE = ffi.sizeof("itp_device_info")


def ask(provider: Provider, device: int) -> Any:
    """Ask for a device's record."""
    raw = ffi.new("itp_device_info *")
    raw.struct_size = SIZE
    provider.runtime("device_info", device, raw)
    return raw


def every_device(provider: Provider) -> list[Any]:
    """Ask for all records."""
    return [ask(provider, device) for device in range(provider.device_count())]


def test_rt_01_device_out_of_range(bench: Bench) -> None:
    """A device outside [0, device_count) is INVALID_ARGUMENT in every slot that takes one."""
    wrong = []
    with device_calls(bench) as calls:
        for slot, make in calls.items():
            for device in bad_devices(bench):
                status = make(device)(ffi.NULL)
                if STATUS[status] != "INVALID_ARGUMENT":
                    wrong.append(f"{slot}, device {device}: {STATUS[status]}")
        if STATUS[calls["copy to"](-1)(ffi.NULL)] != "INVALID_ARGUMENT":
            wrong.append("copy, both sides the host: accepted")
    assert wrong == [], "; ".join(wrong)
    still_works(bench)


@pytest.mark.parametrize("size", [8, 12, 76, 112, SIZE - 8, SIZE, SIZE + 64])
def test_rt_02_info_within_struct_size(bench: Bench, size: int) -> None:
    """struct_size is the core's; not a byte past it is written."""
    memory = ffi.new("char[]", b"\x7e" * (SIZE + 128))
    raw = ffi.cast("itp_device_info *", memory)
    raw.struct_size = size
    bench.provider.runtime("device_info", bench.device, raw)
    assert raw.struct_size == size, "struct_size was changed"
    known = min(size, SIZE)
    full = bytes(ffi.buffer(ask(bench.provider, bench.device)))
    assert bytes(ffi.buffer(memory))[4:known] == full[4:known]
    assert set(bytes(ffi.buffer(memory))[size : SIZE + 128]) == {0x7E}, "written past struct_size"


def test_rt_03_names(provider: Provider) -> None:
    """Name and uuid end with NUL; name is not empty."""
    for raw in every_device(provider):
        assert b"\0" in bytes(ffi.buffer(raw.name))
        assert b"\0" in bytes(ffi.buffer(raw.uuid))
        assert text_of(raw.name) != ""


def test_rt_04_alignment(provider: Provider) -> None:
    """min_alignment is a power of two, 8 or more."""
    for raw in every_device(provider):
        assert raw.min_alignment >= 8
        assert math.log2(raw.min_alignment).is_integer()


def test_rt_05_dtype_masks(provider: Provider) -> None:
    """storage_dtype_mask holds compute_dtype_mask, and float32."""
    for raw in every_device(provider):
        assert raw.compute_dtype_mask & ~raw.storage_dtype_mask == 0
        assert raw.storage_dtype_mask >> float32.bit & 1


def test_rt_06_autocast_dtype(provider: Provider) -> None:
    """autocast_dtype is a dtype of storage_dtype_mask, or all zero: the user then has to name one."""
    for raw in every_device(provider):
        given = (raw.autocast_dtype.code, raw.autocast_dtype.bits, raw.autocast_dtype.lanes)
        stored = {(each.code, each.bits, 1) for each in ALL if raw.storage_dtype_mask >> each.bit & 1}
        assert given == (0, 0, 0) or given in stored


def test_rt_07_host_readable(bench: Bench) -> None:
    """With HOST_READABLE the host reads and writes the device's memory at the address that alloc gave."""
    if not bench.info.caps & HOST_READABLE:
        pytest.skip("the device does not have ITP_CAP_HOST_READABLE")
    y = values(bench, 1000)
    fill(bench, y, 5.0)
    bench.provider.sync(bench.device)
    seen = np.frombuffer(ffi.buffer(ffi.cast("char *", y.address), y.nbytes), np.float32)
    assert (seen == 5.0).all()
    ffi.memmove(ffi.cast("char *", y.address), np.full(1000, 6.0, np.float32).tobytes(), y.nbytes)
    found = y.numpy()
    y.free()
    assert (found == 6.0).all()


def test_rt_08_device_count(provider: Provider) -> None:
    """N >= 0, the same as long as the provider lives."""
    counts = {provider.device_count() for _ in range(5)}
    assert len(counts) == 1
    assert min(counts) >= 0


def test_capabilities_have_their_slots(bench: Bench) -> None:
    """What a device says that it can do, it can be asked for."""
    caps, table = bench.info.caps, bench.provider.table
    if caps & TIMING_EVENTS:
        assert bench.provider.slot("guard", "event_elapsed_ns") != ffi.NULL
    if caps & GRAPHS:
        assert table.graphs != ffi.NULL
    if caps & ALL_DETERMINISTIC:
        assert [name for name, kernel in bench.provider.library.kernels.items() if not kernel.flags & 0x2] == []
    if caps & PINNED:
        address = bench.provider.alloc(mmap.PAGESIZE, bench.device, kind=1)
        bench.provider.dealloc(address, mmap.PAGESIZE, bench.device, kind=1)
