"""What the fake does beyond computing: it protects, defers, poisons, fails on demand, and survives misuse."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from fake_driver import LIBRARY, Fake, StatusError, Tensor, ffi, provider

Make = Callable[..., Fake]
SANITIZED = "INFINITRAIN_TEST_LIBRARY_FAKE" in os.environ
PINNED, STABLE = 1, 1


def refused(name: str, function: Callable[[], object], *words: str) -> StatusError:
    with pytest.raises(StatusError) as caught:
        function()
    assert caught.value.name == name
    for word in words:
        assert word in str(caught.value)
    return caught.value


def run_script(body: str) -> subprocess.CompletedProcess[str]:
    """Run a program that has the driver, in a process of its own."""
    prologue = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from fake_driver import *\n"
    return subprocess.run([sys.executable, "-c", prologue + body], capture_output=True, text=True, timeout=120)


# ---- the library -------------------------------------------------------------------------------------


@pytest.mark.skipif(SANITIZED, reason="a sanitizer adds symbols and libraries of its own")
def test_library_exports_one_symbol_and_needs_only_libc() -> None:
    with open(LIBRARY, "rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".dynsym").iter_symbols()
        exported = [s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF" and s["st_info"]["bind"] != "STB_LOCAL"]
        needed = {t.needed for t in elf.get_section_by_name(".dynamic").iter_tags() if t.entry.d_tag == "DT_NEEDED"}

    assert exported == ["infinitrain_provider_v1"]
    # The loader itself stands for thread-local storage.
    assert needed <= {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


@pytest.mark.skipif(SANITIZED, reason="a sanitizer has threads of its own")
def test_query_and_init_start_no_thread() -> None:
    done = run_script("""
import os, time
def state(): return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
lib.infinitrain_provider_v1(0)
before = state()
assert lib.infinitrain_provider_v1(0) == lib.infinitrain_provider_v1(7)
f = Fake()
assert state() == before, (state(), before)
f.stream()
assert state() == before
f.put(np.zeros(3))
assert state()[0] == before[0] + 1
f.close()
for _ in range(1000):  # a thread that has been joined stays listed until the kernel is through with it
    if state() == before: break
    time.sleep(0.01)
assert state() == before
""")

    assert done.returncode == 0, done.stderr


def test_tables_say_what_they_are() -> None:
    assert ffi.string(provider.name) == b"fake"
    assert provider.struct_size == ffi.sizeof("itp_provider")
    assert provider.ccl == ffi.NULL
    assert provider.graphs == ffi.NULL
    options = {ffi.string(provider.options[i].name).decode() for i in range(provider.n_options)}
    assert options == {"devices", "memory_mb", "delay_us", "fail_alloc_at", "fail_launch_at", "fail_launch_async",
                       "lose_device_after", "fail_init", "call_log", "copy_delay_us", "null_outputs",
                       "wrong_device"}  # fmt: skip


def test_device_info(make: Make) -> None:
    fake = make(devices=3, memory_mb=64)
    count = ffi.new("int32_t *")
    fake.runtime("device_count", count)
    info = ffi.new("itp_device_info *")
    info.struct_size = ffi.sizeof("itp_device_info")
    fake.runtime("device_info", 2, info)

    assert count[0] == 3
    assert info.total_memory == 64 << 20
    assert info.dlpack_device_type == 12
    assert info.min_alignment >= 64
    assert info.compute_dtype_mask == info.storage_dtype_mask == 2**13 - 1
    assert (info.autocast_dtype.code, info.autocast_dtype.bits) == (4, 16)
    assert not info.caps & 1  # not host readable


def test_device_info_writes_no_further_than_the_struct(fake: Fake) -> None:
    info = ffi.new("itp_device_info *")
    info.struct_size = ffi.offsetof("itp_device_info", "total_memory")
    info.total_memory = 77
    fake.runtime("device_info", 0, info)

    assert ffi.string(info.name).startswith(b"Fake")
    assert info.total_memory == 77


@pytest.mark.parametrize("device", [-1, -2, 2, 2**31 - 1, -(2**31)])
def test_no_such_device(fake: Fake, device: int) -> None:
    refused("INVALID_ARGUMENT", lambda: fake.alloc(8, device), "no device")
    refused("INVALID_ARGUMENT", lambda: fake.stream(device), "no device")
    refused("INVALID_ARGUMENT", lambda: fake.guard("enter", device, ffi.new("int64_t *")), "no device")


# ---- options and life ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "words"), [
    ({"devices": 0}, "devices: a number of at least 1 expected, found '0'"),
    ({"delay_us": "soon"}, "found 'soon'"),
    ({"memory_mb": ""}, "memory_mb"),
    ({"colour": 1}, "no option 'colour'"),
])  # fmt: skip
def test_bad_options_are_named(options: dict[str, object], words: str) -> None:
    refused("INVALID_ARGUMENT", lambda: Fake(**options), words)


def test_failed_init_leaves_nothing_and_the_next_works(make: Make) -> None:
    before = len(os.listdir("/proc/self/fd"))
    refused("UNAVAILABLE", lambda: Fake(fail_init=1), "fail_init")
    refused("UNAVAILABLE", lambda: Fake(call_log="/nowhere/at/all"), "/nowhere/at/all")

    assert len(os.listdir("/proc/self/fd")) == before
    fake = make()
    assert fake.get(fake.put(np.arange(3))).tolist() == [0, 1, 2]


def test_init_again_after_shutdown_with_work_in_flight(make: Make) -> None:
    for _ in range(3):
        fake = make(delay_us=2000)
        for _ in range(20):
            stream = fake.stream()
            fake.launch("Fill", [], [fake.empty((64,), np.float32, stream=stream)], value=1.0, stream=stream)
        fake.close()


def test_two_instances_are_apart(make: Make) -> None:
    one, other = make(), make(devices=1)
    t = one.put(np.arange(4))

    refused("INVALID_ARGUMENT", lambda: other.launch("Copy", [t], [t]), "not inside a live block")
    assert one.get(t).tolist() == [0, 1, 2, 3]


# ---- memory ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("access", ["ctypes.string_at(p, 1)", "ctypes.memset(p, 0, 1)"])
def test_host_cannot_touch_device_memory(access: str) -> None:
    done = run_script(f"import ctypes, faulthandler; p = Fake().alloc(64); print('up', flush=True); {access}")

    assert done.stdout == "up\n"
    assert done.returncode < 0 or SANITIZED
    assert done.returncode != 0


def test_alignment_and_no_overlap(fake: Fake) -> None:
    blocks = [(fake.alloc(n), n) for n in (1, 255, 256, 257, 4096, 3)]

    assert all(p % 256 == 0 for p, _ in blocks)
    ends = sorted(blocks)
    assert all(p + n <= q for (p, n), (q, _) in itertools.pairwise(ends))


def test_new_memory_is_poisoned(fake: Fake) -> None:
    assert np.isnan(fake.get(fake.empty((100,), np.float32))).all()
    assert (fake.get(fake.empty((100,), np.int64)) == -1).all()


def test_old_memory_is_poisoned(fake: Fake) -> None:
    t = fake.put(np.zeros(16, np.uint8))
    fake.dealloc(t.pointer, 16)
    fake.guard("device_sync", 0)

    assert fake.probe.peek(fake.self, 0, ffi.cast("void *", t.pointer + 15)) == 0xDE


@pytest.mark.parametrize("offset", [-1, -256, 100, 101, 355])
def test_canaries(fake: Fake, offset: int) -> None:
    p = fake.alloc(100)
    fake.guard("device_sync", 0)
    fake.probe.touch(fake.self, 0, ffi.cast("void *", p + offset), 0)
    fake.dealloc(p, 100)
    error = refused("ASYNC", lambda: fake.guard("device_sync", 0), "[dealloc][INTERNAL]", "wrote beyond block", hex(p))

    assert error.native == 12
    fake.guard("device_sync", 0)  # told once


def test_intact_blocks_are_given_back_silently(fake: Fake) -> None:
    for n in (1, 100, 255, 256, 1000):
        t = fake.put(np.zeros(n, np.uint8))
        fake.dealloc(t.pointer, n)
    fake.guard("device_sync", 0)


def test_wrong_frees(fake: Fake) -> None:
    p = fake.alloc(100)

    refused("INVALID_ARGUMENT", lambda: fake.dealloc(p + 1, 99), "no live block")
    refused("INVALID_ARGUMENT", lambda: fake.dealloc(p, 99), "no live block")
    refused("INVALID_ARGUMENT", lambda: fake.dealloc(p, 100, device=1), "no live block")
    fake.dealloc(p, 100)
    refused("INVALID_ARGUMENT", lambda: fake.dealloc(p, 100), "no live block")


def test_operands_must_lie_in_live_blocks_of_the_device(fake: Fake) -> None:
    good = fake.empty((8,), np.float32)
    gone = fake.empty((8,), np.float32)
    fake.dealloc(gone.pointer, 32)
    host = np.zeros(8, np.float32)
    other = fake.empty((8,), np.float32, device=1)
    for bad in (
        gone,
        Tensor(host.ctypes.data, (8,), host.dtype),
        Tensor(other.pointer, (8,), host.dtype),
        Tensor(good.pointer, (9,), host.dtype),
        good.view((8,), (2,)),
        good.view((8,), (1,), 1),
        good.view((8,), (-1,)),
    ):
        refused("INVALID_ARGUMENT", lambda bad=bad: fake.launch("Fill", [], [bad], value=0, device=0), "live block")
    refused("INVALID_ARGUMENT", lambda: fake.launch("Fill", [], [other], value=0, device=0), "in a launch on fake:0")
    host_tensor = Tensor(host.ctypes.data, (8,), host.dtype, device_type=1)
    refused("INVALID_ARGUMENT", lambda: fake.launch("Fill", [], [host_tensor], value=0), "device type 1")
    fake.launch("Fill", [], [good.view((8,), (-1,), 7)], value=0)
    fake.guard("device_sync", 0)


def test_dtypes_and_counts_are_checked_at_once(fake: Fake) -> None:
    f, i, d = (fake.empty((4,), t) for t in (np.float32, np.int64, np.float64))

    refused("INVALID_ARGUMENT", lambda: fake.launch("SqrtForward", [i], [i]), "does not allow")
    refused("INVALID_ARGUMENT", lambda: fake.launch("AddForward", [f, d], [f]), "input 1")
    refused("INVALID_ARGUMENT", lambda: fake.launch("LtForward", [f, f], [f]), "output 0")
    refused(
        "INVALID_ARGUMENT",
        lambda: fake.launch("AddForward", [f], [f]),
        "expected 2 inputs, 1 outputs, 0 attributes, found 1, 1, 0",
    )


def test_attributes_and_absent_tensors_are_checked_at_once(fake: Fake) -> None:
    f = fake.empty((4,), np.float32)
    request, keep = fake.request("Fill", [], [f], value=1.0)
    request.attrs = attrs = ffi.new("itp_value[]", [{"kind": 4}])
    launch = fake.kernels["Fill"].launch
    refused("INVALID_ARGUMENT", lambda: fake.check(launch, fake.self, request), "an attribute is of another kind")
    refused("INVALID_ARGUMENT", lambda: fake.launch("NegForward", [f], [None]), "a required tensor is missing")
    request.attrs, request.flags = keep[2], 1
    refused("INVALID_ARGUMENT", lambda: fake.check(launch, fake.self, request), "without flags")
    del attrs


def test_shapes_are_checked(fake: Fake) -> None:
    a, b = fake.empty((4,), np.float32), fake.empty((5,), np.float32)
    fake.launch("AddForward", [a, b], [a], tag=9)

    error = refused("ASYNC", lambda: fake.guard("stream_sync", 0, ffi.NULL), "[AddForward][INVALID_ARGUMENT]", "shapes")
    assert (error.tag, error.native) == (9, 1)


def test_empty_tensors_touch_nothing(fake: Fake) -> None:
    t = fake.empty((0, 3), np.float32)
    fake.launch("AddForward", [t, t], [t])
    fake.guard("device_sync", 0)


def test_memory_figures(make: Make) -> None:
    fake = make(memory_mb=1)
    free, total = ffi.new("uint64_t *"), ffi.new("uint64_t *")
    p = fake.alloc(1000)
    fake.runtime("mem_info", 0, free, total)
    assert (free[0], total[0]) == (2**20 - 1000, 2**20)

    refused("OUT_OF_MEMORY", lambda: fake.alloc(2**20), "1048576 bytes", "1047576 of 1048576 free")
    fake.dealloc(p, 1000)
    fake.runtime("mem_info", 0, free, total)
    assert free[0] == total[0]
    whole = fake.alloc(2**20)  # waits for what is being given back
    fake.runtime("mem_info", 1, free, total)
    assert free[0] == total[0]
    fake.dealloc(whole, 2**20)


def test_alloc_and_dealloc_in_a_long_row(make: Make) -> None:
    fake = make(memory_mb=4)
    rng = np.random.default_rng(1)
    live: list[Tensor] = []
    for step in range(400):
        if len(live) > 12:
            t = live.pop(int(rng.integers(len(live))))
            assert (fake.get(t) == t.keep[0]).all()
            fake.dealloc(t.pointer, t.shape[0])
        t = fake.empty((int(rng.integers(1, 200_000)),), np.uint8)
        t.keep.insert(0, step % 256)
        fake.runtime("fill_bytes", 0, ffi.cast("void *", t.pointer), step % 256, t.shape[0], ffi.NULL)
        live.append(t)
    fake.guard("device_sync", 0)


@pytest.mark.parametrize(("kind", "status"), [(2, "UNIMPLEMENTED"), (3, "INVALID_ARGUMENT"), (99, "INVALID_ARGUMENT")])
def test_other_kinds_of_memory_are_refused(fake: Fake, kind: int, status: str) -> None:
    refused(status, lambda: fake.alloc(8, kind=kind))
    refused("INVALID_ARGUMENT", lambda: fake.dealloc(fake.alloc(8), 8, kind=kind), f"kind {kind}")


# ---- asynchrony ----------------------------------------------------------------------------------------------


def test_launches_defer_and_copy_what_they_were_given(make: Make) -> None:
    fake = make(delay_us=100_000)
    y = fake.put(np.zeros((4, 6), np.float32))
    request, keep = fake.request("Fill", [], [y.view((4, 3), (6, 2))], value=7.0)
    for _ in range(3):
        fake.check(fake.kernels["Fill"].launch, fake.self, request)
    refused("NOT_READY", lambda: fake.guard("stream_query", 0, ffi.NULL))
    descriptor = keep[1][0]
    descriptor.shape[0] = descriptor.strides[0] = 1000  # nobody may read these any more
    descriptor.data = ffi.NULL
    request.attrs[0].u.d = -1.0

    expected = np.zeros((4, 6), np.float32)
    expected[:, ::2] = 7
    assert np.array_equal(fake.get(y), expected)
    fake.guard("stream_query", 0, ffi.NULL)


def test_pageable_copies_are_done_when_they_return(make: Make) -> None:
    fake = make(delay_us=20_000)
    for flags in (0, STABLE):
        host = np.arange(1000)
        t = fake.empty(host.shape, host.dtype)
        fake.copy(t.pointer, 0, host.ctypes.data, -1, host.nbytes, flags=flags)
        host[:] = -1  # the core may free it now
        back = np.empty_like(host)
        fake.copy(back.ctypes.data, -1, t.pointer, 0, host.nbytes, flags=flags)

        assert np.array_equal(back, np.arange(1000))


def test_stable_pinned_copies_return_at_once(make: Make) -> None:
    fake = make(delay_us=100_000)
    pinned = fake.alloc(8000, kind=PINNED)
    host = np.frombuffer(ffi.buffer(ffi.cast("char *", pinned), 8000), np.int64)
    host[:] = np.arange(1000)
    t = fake.empty((1000,), np.int64)
    for _ in range(3):
        fake.copy(t.pointer, 0, pinned, -1, 8000, flags=STABLE)
    refused("NOT_READY", lambda: fake.guard("stream_query", 0, ffi.NULL))

    assert np.array_equal(fake.get(t), np.arange(1000))
    del host
    fake.dealloc(pinned, 8000, kind=PINNED)
    refused("INVALID_ARGUMENT", lambda: fake.dealloc(pinned, 8000, kind=PINNED), "no pinned block")


def test_pinned_memory_is_no_operand(fake: Fake) -> None:
    pinned = fake.alloc(64, kind=PINNED)

    refused("INVALID_ARGUMENT", lambda: fake.launch("Fill", [], [Tensor(pinned, (8,), np.dtype("f8"))], value=1))
    fake.dealloc(pinned, 64, kind=PINNED)


def test_copies_between_devices(make: Make) -> None:
    fake = make(delay_us=1000)
    x = fake.put(np.arange(100.0), device=0)
    y = fake.empty((100,), np.float64, device=1)
    fake.guard("device_sync", 1)
    fake.copy(y.pointer, 1, x.pointer, 0, 800, stream=fake.stream(0))
    fake.guard("device_sync", 0)

    assert np.array_equal(fake.get(y), np.arange(100.0))
    refused("INVALID_ARGUMENT", lambda: fake.copy(y.pointer, 0, x.pointer, 0, 800), "live block of fake:0")
    refused("INVALID_ARGUMENT", lambda: fake.copy(y.pointer, -1, x.pointer, 0, 800), "memory of fake:1")
    refused("INVALID_ARGUMENT", lambda: fake.copy(y.pointer, -1, x.pointer, -1, 800))
    refused("INVALID_ARGUMENT", lambda: fake.copy(y.pointer, 1, x.pointer, 7, 800))
    refused("INVALID_ARGUMENT", lambda: fake.copy(y.pointer, 1, x.pointer, 0, 800, flags=2), "unknown flags")


def test_overlapping_copies_move(fake: Fake) -> None:
    x = fake.put(np.arange(100, dtype=np.uint8))
    fake.copy(x.pointer + 1, 0, x.pointer, 0, 99)

    assert fake.get(x).tolist() == [0, *range(99)]


def test_events_order_streams(make: Make) -> None:
    fake = make(delay_us=3000)
    a, b = fake.stream(), fake.stream()
    x, y = fake.empty((50,), np.int32), fake.empty((50,), np.int32)
    fake.guard("device_sync", 0)
    for i in range(20):
        ready = fake.event()
        fake.launch("Fill", [], [x], value=i, stream=a)
        fake.guard("event_record", 0, ready, a)
        fake.guard("stream_wait_event", 0, b, ready)
        fake.launch("Copy", [x], [y], stream=b)
        fake.guard("event_destroy", 0, ready)
        fake.guard("stream_sync", 0, b)

        assert (fake.get(y) == i).all()


def test_events_order_streams_of_two_devices(make: Make) -> None:
    fake = make(delay_us=5000)
    x, y = fake.empty((50,), np.int32, 0), fake.empty((50,), np.int32, 1)
    done = fake.event(0)
    fake.launch("Fill", [], [x], value=3)
    fake.guard("event_record", 0, done, ffi.NULL)
    fake.guard("stream_wait_event", 1, ffi.NULL, done)
    fake.copy(y.pointer, 1, x.pointer, 0, 200)

    assert (fake.get(y) == 3).all()


def test_event_states(make: Make) -> None:
    fake = make(delay_us=100_000)
    plain, begin, end = fake.event(), fake.event(flags=1), fake.event(flags=1)
    ns = ffi.new("uint64_t *")
    fake.guard("event_query", 0, plain)  # never recorded: nothing to wait for
    fake.guard("event_sync", 0, plain)
    refused("INVALID_ARGUMENT", lambda: fake.guard("event_elapsed_ns", 0, begin, end, ns), "not been recorded")
    fake.guard("event_record", 0, begin, ffi.NULL)
    t = fake.empty((8,), np.float32)
    fake.launch("Fill", [], [t], value=0)
    fake.guard("event_record", 0, end, ffi.NULL)
    refused("NOT_READY", lambda: fake.guard("event_query", 0, end))
    refused("NOT_READY", lambda: fake.guard("event_elapsed_ns", 0, begin, end, ns))
    fake.guard("event_sync", 0, end)
    fake.guard("event_query", 0, end)
    fake.guard("event_elapsed_ns", 0, begin, end, ns)

    assert ns[0] > 0
    fake.guard("event_record", 0, plain, ffi.NULL)
    refused("INVALID_ARGUMENT", lambda: fake.guard("event_elapsed_ns", 0, plain, end, ns), "made for timing")
    refused("INVALID_ARGUMENT", lambda: fake.guard("event_query", 1, plain), "no event of fake:1")
    refused("INVALID_ARGUMENT", lambda: fake.event(flags=64), "unknown flags 0x40")


def test_stream_destroy_finishes_its_work(make: Make) -> None:
    fake = make(delay_us=5000)
    s, t = fake.stream(), fake.empty((8,), np.int32)
    fake.guard("device_sync", 0)
    for i in range(10):
        fake.launch("Fill", [], [t], value=i, stream=s)
    fake.guard("stream_destroy", 0, s)

    assert (fake.get(t) == 9).all()
    refused("INVALID_ARGUMENT", lambda: fake.guard("stream_sync", 0, s), "no stream of fake:0")
    refused("INVALID_ARGUMENT", lambda: fake.guard("stream_destroy", 0, ffi.NULL), "default stream")


def test_streams_belong_to_their_device(fake: Fake) -> None:
    s, t = fake.stream(1), fake.empty((8,), np.int32)

    refused("INVALID_ARGUMENT", lambda: fake.launch("Fill", [], [t], value=0, stream=s), "no stream of fake:0")
    refused("INVALID_ARGUMENT", lambda: fake.alloc(8, 0, s))
    refused("INVALID_ARGUMENT", lambda: fake.guard("stream_create", 0, 1, 0, ffi.new("itp_stream *")), "flags")


def test_submit_stops_at_the_first_bad_launch(fake: Fake) -> None:
    t = fake.empty((8,), np.int32)
    requests = [fake.request("Fill", [], [t], value=i) for i in range(4)]
    bad = fake.request("AddForward", [t], [t])
    keep = ffi.new("const itp_launch *[]", [r[0] for r in (*requests[:2], bad, *requests[2:])])
    done = ffi.new("uint64_t *")
    refused("INVALID_ARGUMENT", lambda: fake.check(provider.kernels.submit, fake.self, keep, 5, done))

    assert done[0] == 2
    assert (fake.get(t) == 1).all()
    good = ffi.new("const itp_launch *[]", [r[0] for r in requests])
    fake.check(provider.kernels.submit, fake.self, good, 4, done)
    assert done[0] == 4
    assert (fake.get(t) == 3).all()


def test_profile_tells_when_work_ran(make: Make) -> None:
    seen: list[tuple[int, int, bool]] = []

    @ffi.callback("void(void *, uint32_t, uint64_t, uint64_t, uint64_t)")
    def profile(ctx: Any, kind: int, tag: int, begin: int, end: int) -> None:
        seen.append((kind, tag, begin <= end))

    host = ffi.new("itp_host *")
    host.struct_size, host.profile = ffi.sizeof("itp_host"), profile
    fake = make(host=host)
    t = fake.empty((4,), np.int64)
    fake.launch("Fill", [], [t], value=1, tag=5)
    host_side = np.empty(4, np.int64)
    fake.copy(host_side.ctypes.data, -1, t.pointer, 0, 32, tag=6)
    fake.guard("device_sync", 0)

    assert seen == [(0, 5, True), (1, 6, True)]


# ---- failures on demand -----------------------------------------------------------------------------------------


def test_kth_alloc_fails(make: Make) -> None:
    fake = make(fail_alloc_at=3)
    fake.alloc(8)
    fake.alloc(8, 1)
    refused("OUT_OF_MEMORY", lambda: fake.alloc(8), "fail_alloc_at")

    assert fake.alloc(8)


def test_kth_launch_fails_now(make: Make) -> None:
    fake = make(fail_launch_at=2)
    t = fake.empty((8,), np.int32)
    fake.launch("Fill", [], [t], value=1, tag=11)
    refused("INTERNAL", lambda: fake.launch("Fill", [], [t], value=2, tag=12), "[Fill][INTERNAL]")

    assert (fake.get(t) == 1).all()


@pytest.mark.parametrize("how", ["stream_sync", "device_sync", "stream_query", "event_sync", "copy"])
def test_kth_launch_fails_later(make: Make, how: str) -> None:
    fake = make(fail_launch_at=2, fail_launch_async=1)
    t, event = fake.empty((8,), np.int32), fake.event()
    for tag in (11, 12, 13):
        fake.launch("Fill", [], [t], value=tag, tag=tag)
    fake.guard("event_record", 0, event, ffi.NULL)

    def query() -> None:
        while True:
            try:
                return fake.guard("stream_query", 0, ffi.NULL)
            except StatusError as error:
                if error.name != "NOT_READY":
                    raise

    ways: dict[str, Callable[[], Any]] = {
        "stream_sync": lambda: fake.guard("stream_sync", 0, ffi.NULL),
        "device_sync": lambda: fake.guard("device_sync", 0),
        "stream_query": query,
        "event_sync": lambda: fake.guard("event_sync", 0, event),
        "copy": lambda: fake.get(t),
    }
    error = refused("ASYNC", ways[how], "[Fill][INTERNAL]", "fail_launch_at")
    assert (error.tag, error.native) == (12, 12)
    ways[how]()  # told once
    assert (fake.get(t) == 13).all()


def test_failure_stays_on_its_stream(make: Make) -> None:
    fake = make()
    s = fake.stream()
    index, weight, y = fake.put(np.array([5])), fake.put(np.zeros((2, 2))), fake.empty((1, 2), np.float64)
    fake.launch("EmbeddingForward", [index, weight], [y], stream=s, tag=77)
    fake.guard("stream_sync", 0, ffi.NULL)
    error = refused("ASYNC", lambda: fake.guard("stream_sync", 0, s), "index 5 at position 0 is outside [0, 2)")

    assert (error.tag, error.native) == (77, 13)


def test_lost_device_stays_lost_and_the_other_lives(make: Make) -> None:
    fake = make(lose_device_after=2)
    t = fake.empty((8,), np.int32)
    fake.launch("Fill", [], [t], value=1)
    refused("DEVICE_LOST", lambda: fake.launch("Fill", [], [t], value=2), "lose_device_after")
    for call in (
        lambda: fake.alloc(8),
        lambda: fake.launch("Fill", [], [t], value=2),
        lambda: fake.get(t),
        lambda: fake.guard("stream_sync", 0, ffi.NULL),
        lambda: fake.guard("device_sync", 0),
        lambda: fake.stream(),
    ):
        refused("DEVICE_LOST", call, "fake:0 is lost")
    fake.guard("device_sync", 1)
    fake.close()


def test_call_log_names_slot_and_device(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "calls"
    fake = make(call_log=path)
    t = fake.put(np.arange(4), device=1)
    fake.launch("Fill", [], [t], value=0)
    fake.guard("device_sync", 1)
    fake.close()

    assert path.read_text().splitlines() == [
        "alloc 1", "copy 1", "copy_bytes 1 -1 32", "Fill 1", "device_sync 1", "shutdown -1",
    ]  # fmt: skip


# ---- threads, forks, the current device ----------------------------------------------------------------------------


def test_guard_is_per_thread_and_no_slot_disturbs_it(fake: Fake) -> None:
    seen: dict[str, int] = {}

    def elsewhere() -> None:
        seen["other"] = fake.probe.current_device()

    outer, inner = ffi.new("int64_t *"), ffi.new("int64_t *")
    before = fake.probe.current_device()
    fake.guard("enter", 1, outer)
    fake.get(fake.put(np.arange(3), device=0))
    fake.guard("device_sync", 0)
    fake.stream(0)
    assert fake.probe.current_device() == 1
    fake.guard("enter", 0, inner)
    assert fake.probe.current_device() == 0
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    fake.guard("leave", inner[0])
    assert fake.probe.current_device() == 1
    fake.guard("leave", outer[0])

    assert fake.probe.current_device() == before
    assert seen == {"other": 0}
    refused("INVALID_ARGUMENT", lambda: fake.guard("leave", 99), "no token")


def test_threads_on_streams_of_their_own(make: Make) -> None:
    fake = make(delay_us=50)
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            device, stream = number % 2, fake.stream(number % 2)
            for i in range(40):
                n = 100 + number
                x = fake.empty((n,), np.int64, device, stream)
                fake.launch("Fill", [], [x], value=i, stream=stream)
                fake.launch("AddScalar", [x], [x], value=number, stream=stream)
                host = np.empty(n, np.int64)
                fake.copy(host.ctypes.data, -1, x.pointer, device, host.nbytes, stream)
                if not (host == i + number).all():
                    wrong.append((number, i, host))
                fake.dealloc(x.pointer, host.nbytes, device, stream)
            fake.guard("stream_destroy", device, stream)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong


@pytest.mark.skipif("libtsan" in os.environ.get("LD_PRELOAD", ""), reason="gcc's thread sanitizer ends a forked child")
def test_forked_child_is_refused_and_ends() -> None:
    done = run_script("""
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)
f = Fake(delay_us=200000)
t = f.put(np.arange(3))
f.launch("Fill", [], [t], value=1)
pid = os.fork()
if pid == 0:
    found = []
    for call in (lambda: f.alloc(8), lambda: f.guard("device_sync", 0), lambda: f.get(t), lambda: f.close()):
        try:
            call()
        except StatusError as error:
            found.append(error.name)
    own = Fake()
    found.append(own.get(own.put(np.arange(3))).tolist())
    own.close()
    os._exit(0 if found == ["FORKED"] * 4 + [[0, 1, 2]] else 1)
_, status = os.waitpid(pid, 0)
assert f.get(t).tolist() == [1, 1, 1]
f.close()
sys.exit(os.waitstatus_to_exitcode(status))
""")

    assert done.returncode == 0, done.stderr


def test_process_ends_with_work_in_flight() -> None:
    done = run_script("""
f = Fake(delay_us=100000)
t = f.empty((8,), np.int32)
for i in range(100): f.launch("Fill", [], [t], value=i)
print("left", flush=True)
""")

    assert (done.returncode, done.stdout) == (0, "left\n")


def test_call_before_init_is_an_error() -> None:
    refused("INVALID_ARGUMENT", lambda: Fake.check(provider.guard.device_sync, ffi.NULL, 0), "not initialised")
