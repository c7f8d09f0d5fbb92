"""The runtime table: copies and fill_bytes."""

from __future__ import annotations

import numpy as np
import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import SlotError, ffi
from infinitrain.testing.conformance.launch import HOST
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.work import busy, download, fill, in_threads, stream, values

PINNED, HOST_STABLE = 1, 0x1
CAP_PINNED = 0x8
RANGES = ((0, 1), (1, 1), (3, 7), (5, 64), (8, 63), (64, 4096), (63, 4097), (4095, 65_539), (0, 1 << 20))
ROOM = (1 << 20) + 8192


def numbers(nbytes: int, seed: int = 0) -> Array:
    """Give random bytes."""
    return np.random.default_rng(seed).integers(0, 256, nbytes, np.uint8)


@pytest.mark.parametrize("way", ["up", "down", "within"])
def test_rt_17_exact_ranges(bench: Bench, way: str) -> None:
    """Exactly [dst, dst + bytes) is written, whatever the size and the alignment."""
    p, d = bench.provider, bench.device
    device, other = bench.put(numbers(ROOM, 1)), bench.put(numbers(ROOM, 2))
    for i, (offset, nbytes) in enumerate(RANGES):
        before, source = numbers(ROOM, 3), numbers(nbytes + 3, i)
        p.copy(device.address, d, before.ctypes.data, HOST, ROOM)
        expected = before.copy()
        expected[offset : offset + nbytes] = source[3:]
        if way == "up":
            p.copy(device.address + offset, d, source.ctypes.data + 3, HOST, nbytes)
        elif way == "within":
            p.copy(other.address, d, source.ctypes.data, HOST, nbytes + 3)
            p.copy(device.address + offset, d, other.address + 3, d, nbytes)
        else:
            p.copy(other.address, d, source.ctypes.data, HOST, nbytes + 3)
            p.copy(before.ctypes.data + offset, HOST, other.address + 3, d, nbytes)
        found = before if way == "down" else download(p, d, device.address, ROOM)
        wrong = np.flatnonzero(found != expected)
        assert wrong.size == 0, f"{nbytes} bytes to offset {offset}: byte {wrong[0]} differs"
    device.free()
    other.free()


@pytest.mark.parametrize(("memory", "flags"), [("pageable", 0), ("pageable", HOST_STABLE), ("pinned", 0)])
def test_rt_18_host_part_is_done(bench: Bench, memory: str, flags: int) -> None:
    """The host's part is done when the call returns, unless HOST_STABLE is set and that memory is pinned."""
    if memory == "pinned" and not bench.info.caps & CAP_PINNED:
        pytest.skip("the device does not have ITP_CAP_PINNED")
    p, d, n = bench.provider, bench.device, 1 << 20
    target, load = bench.put(np.zeros(n, np.uint8)), values(bench)
    source, found = np.empty(n, np.uint8), np.empty(n, np.uint8)
    blocks = [p.alloc(n, d, kind=PINNED) for _ in range(2)] if memory == "pinned" else []
    if blocks:
        source, found = (np.frombuffer(ffi.buffer(ffi.cast("char *", block), n), np.uint8) for block in blocks)
    with stream(bench) as own:
        for i in range(5):
            busy(bench, load, own, 1.0)
            source[:] = i + 1
            p.copy(target.address, d, source.ctypes.data, HOST, n, own, flags)
            source[:] = 0xEE  # the memory may be anything from here on
            busy(bench, load, own, 2.0)
            found[:] = 0xDD
            p.copy(found.ctypes.data, HOST, target.address, d, n, own, flags)
            assert (found == i + 1).all(), f"round {i}"
    target.free()
    load.free()
    for block in blocks:
        p.dealloc(block, n, d, kind=PINNED)


def test_rt_19_pinned_memory(bench: Bench) -> None:
    """With ITP_COPY_HOST_STABLE and pinned memory, the bytes are there after stream_sync."""
    if not bench.info.caps & CAP_PINNED:
        pytest.skip("the device does not have ITP_CAP_PINNED")
    p, d, n = bench.provider, bench.device, 1 << 20
    up, down = (p.alloc(n, d, kind=PINNED) for _ in range(2))
    target = bench.put(np.zeros(n, np.uint8))
    with stream(bench) as own:
        for i in range(5):
            content = numbers(n, i)
            ffi.memmove(ffi.cast("char *", up), content.tobytes(), n)
            p.copy(target.address, d, up, HOST, n, own, HOST_STABLE)
            p.copy(down, HOST, target.address, d, n, own, HOST_STABLE)
            p.sync(d, own)
            found = np.frombuffer(bytes(ffi.buffer(ffi.cast("char *", down), n)), np.uint8)
            assert (found == content).all(), f"round {i}"
    target.free()
    for address in (up, down):
        p.dealloc(address, n, d, kind=PINNED)


def test_rt_20_between_devices(bench: Bench) -> None:
    """Two devices of this provider copy to each other, with ITP_CAP_PEER or without."""
    p = bench.provider
    if p.device_count() < 2:
        pytest.skip("the provider has one device")
    here, there = bench.device, (bench.device + 1) % p.device_count()
    away = Bench(p, there)
    for nbytes in (1, 4097, 1 << 20):
        content = numbers(nbytes)
        a, b, c = bench.put(content), away.put(np.zeros_like(content)), bench.put(np.zeros_like(content))
        p.copy(b.address, there, a.address, here, nbytes)
        p.sync(there)
        p.copy(c.address, here, b.address, there, nbytes)
        p.sync(here)
        assert (b.numpy() == content).all()
        assert (c.numpy() == content).all()
        for array in (a, b, c):
            array.free()


def test_rt_21_unknown_flag(bench: Bench) -> None:
    """[borrowed for the call] An unknown flag is INVALID_ARGUMENT."""
    a = bench.put(np.zeros(64, np.uint8))
    b = bench.put(np.zeros(64, np.uint8))
    for flag in (0x2, 0x100, 0x80000000, 0x80000001):
        with pytest.raises(SlotError) as caught:
            bench.provider.copy(a.address, bench.device, b.address, bench.device, 64, flags=flag)
        assert caught.value.status == "INVALID_ARGUMENT"
    a.free()
    b.free()


def test_rt_22_copies_from_threads(bench: Bench) -> None:
    """Any thread; from several at once."""
    p, d, n = bench.provider, bench.device, 100_003

    def work(i: int) -> None:
        target = bench.put(np.zeros(n, np.uint8))
        with stream(bench) as own:
            for round_ in range(10):
                content = numbers(n, 100 * i + round_)
                p.copy(target.address, d, content.ctypes.data, HOST, n, own)
                assert (download(p, d, target.address, n, own) == content).all(), f"thread {i}, round {round_}"
        target.free()

    in_threads(4, work)


def test_rt_23_order_in_the_stream(bench: Bench) -> None:
    """After earlier and before later work of copy->stream."""
    p, d = bench.provider, bench.device
    a, results = values(bench), [values(bench) for _ in range(8)]
    with stream(bench) as own:
        p.sync(d)
        for i, result in enumerate(results):
            busy(bench, a, own, float(i), rounds=20)
            p.copy(result.address, d, a.address, d, a.nbytes, own)
        fill(bench, a, -1.0, own)
        p.sync(d, own)
    for i, result in enumerate(results):
        assert (result.numpy() == i).all(), f"copy {i}"
        result.free()
    a.free()


@pytest.mark.parametrize("byte", [0, 0xAB, 0x1CD, -1, -256])
def test_rt_24_fill_bytes(bench: Bench, byte: int) -> None:
    """The low 8 bits; exactly [ptr, ptr + nbytes) gets them."""
    if bench.provider.slot("runtime", "fill_bytes") == ffi.NULL:
        pytest.skip("fill_bytes is absent")
    before = numbers(ROOM, 5)
    block = bench.put(before)
    for offset, nbytes in RANGES:
        expected = before.copy()
        expected[offset : offset + nbytes] = byte & 0xFF
        bench.provider.copy(block.address, bench.device, before.ctypes.data, HOST, ROOM)
        pointer = ffi.cast("void *", block.address + offset)
        bench.provider.runtime("fill_bytes", bench.device, pointer, byte, nbytes, ffi.NULL)
        assert (block.block() == expected).all(), f"{nbytes} bytes at offset {offset}"
    block.free()
