"""The runtime table: allocation."""

from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import SlotError, ffi
from infinitrain.testing.conformance.launch import HOST
from infinitrain.testing.conformance.work import busy, copy, download, fill, in_threads, stream, values

DEVICE, PINNED, MANAGED = 0, 1, 2
HOST_READABLE, CAP_PINNED = 0x1, 0x8
SIZES = (1, 7, 64, 100, 4096, 5000, 1 << 20, (4 << 20) + 1)


def test_rt_09_unknown_kind(bench: Bench) -> None:
    """ITP_MEM_*. An unknown kind is INVALID_ARGUMENT."""
    for kind in (3, 99, 2**32 - 1):
        with pytest.raises(SlotError) as caught:
            bench.provider.alloc(64, bench.device, kind=kind)
        assert caught.value.status == "INVALID_ARGUMENT"


def test_rt_10_zero_bytes(bench: Bench) -> None:
    """Bytes. The core never asks for 0, which is INVALID_ARGUMENT."""
    for kind in (DEVICE, PINNED):
        with pytest.raises(SlotError) as caught:
            bench.provider.alloc(0, bench.device, kind=kind)
        assert caught.value.status in ("INVALID_ARGUMENT", *(("UNIMPLEMENTED",) if kind == PINNED else ()))


def pinned_sizes(bench: Bench, kind: int) -> tuple[int, ...]:
    """Give the sizes to try; none where the device does not have the kind, which it then has to say."""
    try:
        bench.provider.dealloc(bench.provider.alloc(64, bench.device, kind=kind), 64, bench.device, kind=kind)
    except SlotError as refused:
        if refused.status != "UNIMPLEMENTED" or kind == DEVICE or (kind == PINNED and bench.info.caps & CAP_PINNED):
            raise
        return ()
    return SIZES


@pytest.mark.parametrize("kind", [DEVICE, PINNED, MANAGED])
def test_rt_11_blocks(bench: Bench, kind: int) -> None:
    """Aligned to min_alignment, apart from every other live block. Host-readable for ITP_MEM_HOST_PINNED."""
    sizes = pinned_sizes(bench, kind)
    if not sizes:
        pytest.skip(f"the device has no memory of kind {kind}")
    blocks = [(bench.provider.alloc(size, bench.device, kind=kind), size) for size in sizes * 3]
    for address, size in blocks:
        assert address != 0
        assert address % bench.info.alignment == 0, f"{size} bytes at {address:#x}"
    ends = sorted((address, address + size) for address, size in blocks)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ends)), "blocks overlap"
    for i, (address, size) in enumerate(blocks):
        content = np.full(size, i, np.uint8)
        if kind == DEVICE:
            bench.provider.copy(address, bench.device, content.ctypes.data, HOST, size)
        else:
            ffi.memmove(ffi.cast("char *", address), content.tobytes(), size)
    for i, (address, size) in enumerate(blocks):
        if kind == DEVICE:
            found = download(bench.provider, bench.device, address, size)
        else:
            found = np.frombuffer(bytes(ffi.buffer(ffi.cast("char *", address), size)), np.uint8)
        assert (found == i).all(), f"block {i} of {size} bytes"
    for address, size in reversed(blocks):
        bench.provider.dealloc(address, size, bench.device, kind=kind)


def test_rt_12_too_much(bench: Bench) -> None:
    """On failure *out is left unwritten, and smaller requests still succeed."""
    p = bench.provider
    for nbytes in (bench.info.total_memory * 4 + (1 << 40), 2**62, 2**64 - 1):
        out = ffi.new("void **", ffi.cast("void *", 0x5A5A))
        with pytest.raises(SlotError) as caught:
            p.runtime("alloc", bench.device, DEVICE, nbytes, ffi.NULL, out)
        assert caught.value.status == "OUT_OF_MEMORY", f"{nbytes} bytes: {caught.value}"
        assert out[0] == ffi.cast("void *", 0x5A5A), "*out was written"
        p.dealloc(p.alloc(4096, bench.device), 4096, bench.device)


def test_rt_13_alloc_from_threads(bench: Bench) -> None:
    """Any thread; from several at once."""
    p = bench.provider
    lock, live = threading.Lock(), list[tuple[int, int]]()

    def work(i: int) -> None:
        for round_ in range(20):
            size = 1000 * (i + 1) + round_
            address = p.alloc(size, bench.device)
            with lock:
                assert all(address + size <= begin or begin + n <= address for begin, n in live), "blocks overlap"
                live.append((address, size))
            if round_ % 2:
                with lock:
                    live.remove((address, size))
                p.dealloc(address, size, bench.device)

    in_threads(4, work)
    for address, size in live:
        p.dealloc(address, size, bench.device)


def test_rt_14_memory_comes_back(bench: Bench) -> None:
    """The memory can then be had again by alloc."""
    p, size = bench.provider, 32 << 20

    def round_trip(rounds: int) -> None:
        for _ in range(rounds):
            p.dealloc(p.alloc(size, bench.device), size, bench.device)
            p.sync(bench.device)

    round_trip(1)
    before = {p.mem_info(bench.device) for _ in range(3)}
    round_trip(20)
    after = p.mem_info(bench.device)
    if None in before or len(before) > 1 or bench.info.caps & HOST_READABLE:
        return  # what others use shows as well: that it did not run out has to do
    assert {after} == before, "free memory is not what it was"


def test_rt_14_dealloc_from_another_thread(bench: Bench) -> None:
    """Any thread, not only the one that allocated."""
    address = bench.provider.alloc(4096, bench.device)
    in_threads(1, lambda _: bench.provider.dealloc(address, 4096, bench.device))


def test_rt_15_dealloc_after_queued_work(bench: Bench) -> None:
    """Work queued before on `stream` still uses it safely: without STREAM_ORDERED_ALLOC the provider waits for it."""
    p, load, target = bench.provider, values(bench), values(bench)
    other = np.full(target.nbytes, 0xEE, np.uint8)
    with stream(bench) as own:
        for i in range(10):
            source = values(bench, begin=i + 1.0)
            p.sync(bench.device)
            busy(bench, load, own, 1.0)  # the copy below has not begun when the memory is given back
            copy(bench, source, target, own)
            p.dealloc(source.address, source.nbytes, bench.device, own)
            again = p.alloc(source.nbytes, bench.device, own)  # may be the same memory
            p.copy(again, bench.device, other.ctypes.data, HOST, other.nbytes, own)
            p.dealloc(again, source.nbytes, bench.device, own)
            p.sync(bench.device, own)
            assert (target.numpy() == i + 1.0).all(), f"round {i}"
    load.free()
    target.free()


def test_rt_16_mem_info(bench: Bench) -> None:
    """Bytes, at most *total_bytes."""
    found = bench.provider.mem_info(bench.device)
    if found is None:
        pytest.skip("mem_info is absent")
    free, total = found
    assert 0 < free <= total
    y = values(bench)
    fill(bench, y, 1.0)
    bench.provider.sync(bench.device)
    y.free()
