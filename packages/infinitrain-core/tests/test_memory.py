"""The caching allocator: reuse, figures, streams, running out."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import infinitrain as it
import numpy as np
import pytest
from infinitrain import dtype as dt
from infinitrain.memory import LARGE_STEP, allocate, size_class, wrap_host
from infinitrain.stream import Stream


@pytest.fixture
def target(device):
    gc.collect()
    it.synchronize(device)
    it.empty_cache(device)
    it.reset_peak_memory_stats(device)
    return it.Device(device)


@pytest.mark.parametrize(
    ("nbytes", "expected"),
    [
        *[(1, 512), (512, 512), (513, 1024), (1 << 20, 1 << 20)],
        *[((1 << 20) + 1, (1 << 20) + (64 << 10)), (9 << 18, 9 << 18), (5 << 20, 5 << 20), ((8 << 20) + 1, 17 << 19)],
        *[(32 << 20, 32 << 20), ((32 << 20) + 1, 34 << 20), ((147 << 20) + 1, 148 << 20)],
    ],
)
def test_size_classes(nbytes, expected):
    assert size_class(nbytes) == expected


def test_a_size_class_wastes_at_most_a_sixteenth():
    for nbytes in range((1 << 20) + 1, 80 << 20, 99_991):
        assert nbytes <= size_class(nbytes) <= nbytes * 17 / 16


def test_requests_that_grow_share_size_classes():
    sizes = {size_class(nbytes) for nbytes in range(1 << 20, 64 << 20, 4096)}

    assert sum(sizes) < 2 << 30


def test_a_freed_block_is_used_again(target):
    first = allocate(1000, target)
    address = first.ptr
    before = it.memory_stats(target)["provider_allocations"]
    del first
    second = allocate(900, target)

    assert second.ptr == address
    assert it.memory_stats(target)["provider_allocations"] == before


def test_a_large_block_is_reused_only_when_little_is_wasted(target):
    first = allocate(10 * LARGE_STEP, target)
    address = first.ptr
    del first

    assert allocate(3 * LARGE_STEP, target).ptr != address
    assert allocate(9 * LARGE_STEP, target).ptr == address


def test_figures_follow_what_is_held(target):
    base = it.memory_allocated(target)
    kept = [allocate(4096, target) for _ in range(3)]
    assert it.memory_allocated(target) == base + 3 * 4096
    del kept[0]

    stats = it.memory_stats(target)
    assert stats["allocated"] == base + 2 * 4096
    assert stats["peak_allocated"] >= base + 3 * 4096
    assert stats["cached"] >= 4096
    it.empty_cache(target)
    assert it.memory_stats(target)["cached"] == 0


def test_figures_hold_when_threads_and_finalizers_compete(target):
    base = it.memory_stats(target)

    class Cycle:
        def __init__(self):
            self.self, self.buffer = self, allocate(700, target)

    def work():
        for step in range(300):
            kept = [allocate(512 * (1 + step % 5), target) for _ in range(4)]
            Cycle()
            del kept

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    stats = it.memory_stats(target)

    assert stats["allocated"] == base["allocated"]
    assert stats["allocations"] == base["allocations"] + 6 * 300 * 5
    it.empty_cache(target)
    assert it.memory_stats(target)["reserved"] == base["reserved"]


def test_no_two_live_buffers_share_memory(target):
    spans = {}
    lock = threading.Lock()

    def work():
        for step in range(200):
            buffer = allocate(512 + 512 * (step % 3), target)
            with lock:
                assert buffer.ptr not in spans
                spans[buffer.ptr] = buffer
            with lock:
                del spans[buffer.ptr]

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_blocks_of_a_closed_stream_are_given_back(target):
    stream = Stream(target)
    with stream:
        del [allocate(5000, target)][0]
    cached = it.memory_stats(target)["cached"]
    stream.close()
    it.empty_cache(target)

    assert cached >= 5000
    assert it.memory_stats(target)["cached"] == 0


def test_free_and_total_memory(target):
    free, total = it.mem_info(target)

    assert 0 < free <= total == it.memory_stats(target)["total"]


def test_no_bytes_need_no_memory(target):
    before = it.memory_stats(target)
    buffer = allocate(0, target)

    assert buffer.ptr == 0
    assert it.memory_stats(target) == {**before, "free": it.memory_stats(target)["free"]}


def test_a_block_used_on_another_stream_waits_for_it(target):
    stream = Stream(target)
    buffer = allocate(2048, target)
    address = buffer.ptr
    buffer.record_stream(stream)
    del buffer
    stream.synchronize()
    allocate(1 << 16, target)  # lets the pool look at what has been waiting

    assert allocate(2048, target).ptr == address


def test_each_stream_has_its_own_cache(target):
    buffer = allocate(3000, target)
    address = buffer.ptr
    del buffer
    with Stream(target):
        assert allocate(3000, target).ptr != address


@pytest.mark.parametrize("order", ["block first", "stream first", "stream dropped"])
def test_a_stream_that_ends_takes_its_cache_along(target, order):
    before = it.memory_stats(target)["reserved"]
    for _ in range(3):
        stream = Stream(target)
        with stream:
            block = allocate(5000, target)
        if order == "block first":
            del block
            stream.close()
        elif order == "stream first":
            stream.close()
            del block
        else:
            del block
        del stream
    gc.collect()
    assert it.memory_stats(target)["reserved"] == before


def test_a_block_of_a_closed_stream_can_be_given_back(target):
    stream = Stream(target)
    with stream:
        block = allocate(5000, target)
    stream.close()
    it.empty_cache(target)
    del block
    it.empty_cache(target)
    assert it.memory_stats(target)["cached"] == 0


def test_alignment_is_what_the_device_promises(target):
    for nbytes in (1, 513, 1 << 21):
        assert allocate(nbytes, target).ptr % target.info.min_alignment == 0


def test_out_of_memory_says_what_there_is(target):
    with pytest.raises(it.errors.OutOfMemory) as caught:
        allocate(1 << 50, target)

    error = caught.value
    assert error.requested == 1 << 50
    assert error.total == it.memory_stats(target)["total"]
    assert f"{1 << 50:,} bytes" in str(error)
    assert isinstance(error, MemoryError)


CACHED_THEN_FULL = """
import infinitrain as it
from infinitrain.memory import allocate
it.configure('fake', memory_mb=64)
device = it.Device('fake:0')
blocks = [allocate(4 << 20, device) for _ in range(12)]
del blocks
assert it.memory_stats(device)['cached'] == 48 << 20
big = allocate(40 << 20, device)
assert it.memory_stats(device)['cached'] == 0
try: allocate(40 << 20, device)
except it.errors.OutOfMemory as e: print(e.requested, e.free, e.total, e.cached)
"""


@pytest.mark.parametrize("count", [2**60, 2**62, 2**70])
def test_more_than_can_be_addressed_is_out_of_memory(target, count):
    with pytest.raises(it.errors.OutOfMemory, match="asked for"):
        it.empty(count, device=target)


def test_caches_are_given_back_before_giving_up():
    pytest.importorskip("infinitrain_fake", reason="needs the fake provider's memory limit")
    result = subprocess.run([sys.executable, "-c", CACHED_THEN_FULL], capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stderr
    requested, free, total, cached = map(int, result.stdout.split())
    assert (requested, total, cached) == (40 << 20, 64 << 20, 0)
    assert 0 < free < 40 << 20


def test_wrapped_host_memory_keeps_its_owner_and_its_rights():
    array = np.frombuffer(bytes(range(16)), np.uint8)
    buffer = wrap_host(array, it.Device("cpu"))

    assert buffer.read_only
    assert buffer.ptr == array.ctypes.data
    assert not wrap_host(np.zeros(4, dt.float32.numpy), it.Device("cpu")).read_only
