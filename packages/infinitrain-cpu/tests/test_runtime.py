"""Device, memory, copies, streams, events, options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cpu_driver import Cpu, CpuError, ffi, library


def alloc(cpu: Cpu, nbytes: int, device: int = 0, kind: int = 0) -> Any:
    out = ffi.new("void **")
    cpu.check(cpu.table.runtime.alloc(cpu.self, device, kind, nbytes, ffi.NULL, out, cpu.error))
    return out[0]


def free(cpu: Cpu, pointer: Any, nbytes: int) -> None:
    cpu.check(cpu.table.runtime.dealloc(cpu.self, 0, 0, pointer, nbytes, ffi.NULL, cpu.error))


def test_one_device_that_the_host_can_read(cpu: Cpu) -> None:
    n = ffi.new("int32_t *")
    cpu.check(cpu.table.runtime.device_count(cpu.self, n, cpu.error))
    info = ffi.new("itp_device_info *")
    info.struct_size = ffi.sizeof("itp_device_info")
    cpu.check(cpu.table.runtime.device_info(cpu.self, 0, info, cpu.error))

    assert n[0] == 1
    assert info.dlpack_device_type == 1
    assert info.caps & 0x1
    assert info.caps & 0x80
    assert info.min_alignment == 64
    assert info.total_memory > 1 << 28
    assert len(ffi.string(info.name)) > 0
    assert info.storage_dtype_mask == 0x1FFF
    with pytest.raises(CpuError, match=r"\[device_info\]\[INVALID_ARGUMENT\] device 1 does not exist"):
        cpu.check(cpu.table.runtime.device_info(cpu.self, 1, info, cpu.error))


@pytest.mark.parametrize("nbytes", [1, 63, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 50_000_001])
def test_memory_is_aligned_and_writable_to_its_end(cpu: Cpu, nbytes: int) -> None:
    blocks = [alloc(cpu, nbytes) for _ in range(3)]
    for k, block in enumerate(blocks):
        address = int(ffi.cast("uintptr_t", block))
        assert address % 64 == 0
        if nbytes >= 2 << 20:
            assert address % (2 << 20) == 0
        cpu.check(cpu.table.runtime.fill_bytes(cpu.self, 0, block, 0x40 + k, nbytes, ffi.NULL, cpu.error))
    for k, block in enumerate(blocks):
        found = np.frombuffer(ffi.buffer(block, nbytes), np.uint8)
        assert (found == 0x40 + k).all()
        free(cpu, block, nbytes)


def test_more_than_there_is_is_refused_before_it_is_promised(cpu: Cpu) -> None:
    out = ffi.new("void **", ffi.cast("void *", 5))
    for nbytes in (1 << 46, 2**64 - 1):
        with pytest.raises(
            CpuError, match=rf"\[alloc\]\[OUT_OF_MEMORY\] {nbytes} bytes asked for, \d+ of \d+"
        ) as caught:
            cpu.check(cpu.table.runtime.alloc(cpu.self, 0, 0, nbytes, ffi.NULL, out, cpu.error))
        assert caught.value.status == 3
    assert int(ffi.cast("uintptr_t", out[0])) == 5


@pytest.mark.parametrize(("device", "kind", "nbytes"), [(1, 0, 8), (-1, 0, 8), (0, 9, 8), (0, 0, 0)])
def test_bad_allocations_are_refused(cpu: Cpu, device: int, kind: int, nbytes: int) -> None:
    with pytest.raises(CpuError, match=r"\[alloc\]\[INVALID_ARGUMENT\]"):
        alloc(cpu, nbytes, device, kind)


def test_free_memory_is_what_the_system_says(cpu: Cpu) -> None:
    sizes = ffi.new("uint64_t[2]")
    cpu.check(cpu.table.runtime.mem_info(cpu.self, 0, sizes, sizes + 1, cpu.error))

    assert 0 < sizes[0] <= sizes[1]


def address(array: np.ndarray[Any, Any]) -> Any:
    return ffi.cast("void *", array.__array_interface__["data"][0])


def copy_bytes(cpu: Cpu, dst: Any, src: Any, n: int, devices: tuple[int, int] = (0, -1), flags: int = 0) -> None:
    copy = ffi.new("itp_copy *")
    copy.struct_size = ffi.sizeof("itp_copy")
    copy.dst, copy.src, copy.bytes, copy.flags = dst, src, n, flags
    copy.dst_device, copy.src_device = devices
    cpu.check(cpu.table.runtime.copy(cpu.self, copy, cpu.error))


@pytest.mark.parametrize("n", [1, 1000, 5_000_000])
def test_copies(cpu: Cpu, n: int) -> None:
    source = np.random.default_rng(0).integers(0, 256, n, dtype=np.uint8)
    target, back = np.zeros_like(source), np.zeros_like(source)
    copy_bytes(cpu, address(target), address(source), n)
    copy_bytes(cpu, address(back), address(target), n, (-1, 0), flags=1)

    assert target.tobytes() == back.tobytes() == source.tobytes()
    with pytest.raises(CpuError, match=r"\[copy\]\[INVALID_ARGUMENT\] device 3"):
        copy_bytes(cpu, address(target), address(source), n, (3, 0))
    with pytest.raises(CpuError, match=r"\[copy\]\[INVALID_ARGUMENT\] device -1"):
        copy_bytes(cpu, address(target), address(source), n, (-1, -1))
    with pytest.raises(CpuError, match=r"\[copy\]\[INVALID_ARGUMENT\] unknown flags 0x8"):
        copy_bytes(cpu, address(target), address(source), n, flags=8)


def test_an_overlapping_copy_is_as_if_the_source_were_saved_first(cpu: Cpu) -> None:
    x = np.arange(4_000_000, dtype=np.int32)
    copy_bytes(cpu, address(x[1:]), address(x), x.nbytes - 4, (0, 0))

    np.testing.assert_array_equal(x, np.maximum(np.arange(4_000_000) - 1, 0))


def test_streams_and_events(cpu: Cpu) -> None:
    guard, stream, events = cpu.table.guard, ffi.new("itp_stream *"), ffi.new("itp_event[2]")
    cpu.check(guard.stream_create(cpu.self, 0, 0, 0, stream, cpu.error))
    for k in range(2):
        cpu.check(guard.event_create(cpu.self, 0, 1, events + k, cpu.error))
        cpu.check(guard.event_record(cpu.self, 0, events[k], stream[0], cpu.error))
        cpu.check(guard.stream_wait_event(cpu.self, 0, ffi.NULL, events[k], cpu.error))
        cpu.check(guard.event_sync(cpu.self, 0, events[k], cpu.error))
        cpu.check(guard.event_query(cpu.self, 0, events[k], cpu.error))
    ns = ffi.new("uint64_t *")
    cpu.check(guard.event_elapsed_ns(cpu.self, 0, events[0], events[1], ns, cpu.error))
    assert ns[0] < 10**10
    token = ffi.new("int64_t *")
    cpu.check(guard.enter(cpu.self, 0, token, cpu.error))
    cpu.check(guard.leave(cpu.self, token[0], cpu.error))
    cpu.check(guard.device_sync(cpu.self, 0, cpu.error))
    cpu.check(guard.stream_sync(cpu.self, 0, stream[0], cpu.error))
    cpu.check(guard.stream_query(cpu.self, 0, stream[0], cpu.error))
    cpu.check(guard.stream_destroy(cpu.self, 0, stream[0], cpu.error))
    for k in range(2):
        cpu.check(guard.event_destroy(cpu.self, 0, events[k], cpu.error))
    with pytest.raises(CpuError, match=r"\[device_sync\]\[INVALID_ARGUMENT\] device 2 does not exist"):
        cpu.check(guard.device_sync(cpu.self, 2, cpu.error))


def test_an_event_without_timing_has_no_time(cpu: Cpu) -> None:
    guard, events, ns = cpu.table.guard, ffi.new("itp_event[2]"), ffi.new("uint64_t *")
    for k in range(2):
        cpu.check(guard.event_create(cpu.self, 0, k, events + k, cpu.error))
    with pytest.raises(CpuError, match="ITP_EVENT_TIMING"):
        cpu.check(guard.event_elapsed_ns(cpu.self, 0, events[0], events[1], ns, cpu.error))
    with pytest.raises(CpuError, match="was never recorded"):
        cpu.check(guard.event_elapsed_ns(cpu.self, 0, events[1], events[1], ns, cpu.error))
    for k in range(2):
        cpu.check(guard.event_destroy(cpu.self, 0, events[k], cpu.error))


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"threads": "many"}, "option threads: expected a number from 0 to 4096, found 'many'"),
        ({"threads": -1}, "found '-1'"),
        ({"threads": ""}, "found ''"),
        ({"isa": "mmx"}, "option isa: expected auto, baseline, avx2 or avx512, found 'mmx'"),
        ({"colour": 1}, "option 'colour' is unknown; there are threads and isa"),
    ],
)
def test_bad_options_are_refused(option: dict[str, object], text: str) -> None:
    with pytest.raises(CpuError, match=r"\[init\]\[INVALID_ARGUMENT\]") as caught:
        Cpu(**option)
    assert text in str(caught.value)


def test_options_are_declared() -> None:
    table = library.infinitrain_provider_v1(0)
    names = [ffi.string(table.options[i].name).decode() for i in range(table.n_options)]

    assert names == ["threads", "isa"]
    assert all(len(ffi.string(table.options[i].help)) > 10 for i in range(table.n_options))


def test_a_batch_stops_at_the_first_failure_and_names_it(cpu: Cpu) -> None:
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    bad = np.zeros(5, np.float32)
    made = [cpu.build("AddForward", [x, x], [out]) for out in (y, bad, y)]
    launches = ffi.new("itp_launch *[]", [launch for launch, _ in made])
    done = ffi.new("uint64_t *")
    with pytest.raises(CpuError, match=r"\[AddForward\]\[INVALID_ARGUMENT\]"):
        cpu.check(cpu.table.kernels.submit(cpu.self, launches, 3, done, cpu.error))

    assert done[0] == 1
    assert (y == 2).all()


def test_a_launch_on_another_device_is_refused(cpu: Cpu) -> None:
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    launch, _keep = cpu.build("NegForward", [x], [y])
    launch.device = 1
    with pytest.raises(CpuError, match=r"\[NegForward\]\[INVALID_ARGUMENT\] device 1 does not exist"):
        cpu.check(cpu.kernels["NegForward"].launch(cpu.self, launch, cpu.error))

    assert not y.any()
