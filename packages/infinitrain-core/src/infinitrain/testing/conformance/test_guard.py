"""The guard table: current device, synchronising, streams."""

from __future__ import annotations

import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import STATUS, Provider, SlotError, ffi
from infinitrain.testing.conformance.mistakes import device_calls
from infinitrain.testing.conformance.work import MANY, busy, copy, event, fill, in_threads, stream, values

NOT_READY = 4


def enter(provider: Provider, device: int) -> int:
    """Make a device current; gives the token."""
    token = ffi.new("int64_t *")
    provider.guard("enter", device, token)
    return int(token[0])


def needs_enter(provider: Provider) -> None:
    """Skip where the runtime has no current device."""
    if provider.slot("guard", "enter") == ffi.NULL or provider.slot("guard", "leave") == ffi.NULL:
        pytest.skip("enter and leave are absent: there is no current device")


def test_gd_01_current_device_stays(bench: Bench) -> None:
    """Every slot leaves the thread's native current device as it was."""
    p = bench.provider
    needs_enter(p)
    elsewhere = (bench.device + 1) % p.device_count()
    outer = enter(p, elsewhere)

    def current() -> int:
        """Give the token that entering another device yields: it stands for what was current."""
        token = enter(p, bench.device)
        p.guard("leave", token)
        return token

    expected = current()
    if current() != expected:
        p.guard("leave", outer)
        pytest.skip("tokens of this provider do not tell the current device")
    wrong = []
    with device_calls(bench) as calls:
        for slot, make in calls.items():
            if slot in ("enter", "dealloc", "alloc", "stream_create", "event_create"):
                continue  # enter is meant to change it; the others would leave something behind
            make(bench.device)(ffi.NULL)
            if current() != expected:
                wrong.append(slot)
    with stream(bench) as own, event(bench) as made:
        y = values(bench, 100)
        fill(bench, y, 1.0, own)
        p.guard("event_record", bench.device, made, own)
        p.guard("stream_wait_event", bench.device, ffi.NULL, made)
        p.sync(bench.device, own)
        y.free()
    if current() != expected:
        wrong.append("streams, events, alloc, dealloc, launch")
    p.guard("leave", outer)
    assert wrong == [], f"the current device was changed by: {', '.join(wrong)}"


def test_gd_02_default_stream(bench: Bench) -> None:
    """NULL is the device's default stream, wherever a stream is taken."""
    p, d = bench.provider, bench.device
    y, seen = values(bench), values(bench)
    with event(bench) as made, stream(bench) as own:
        busy(bench, y, ffi.NULL, 2.0)
        p.guard("event_record", d, made, ffi.NULL)
        p.guard("stream_wait_event", d, own, made)
        p.guard("stream_wait_event", d, ffi.NULL, made)
        copy(bench, y, seen, own)
        p.sync(d, own)
        p.sync(d)
        assert p.table.guard.stream_query(p.self, d, ffi.NULL, ffi.NULL) == 0
        assert (seen.numpy() == 2.0).all()
    y.free()
    seen.free()


def test_gd_03_enter_nests(bench: Bench) -> None:
    """What `leave` takes to restore the thread; pairs nest."""
    p = bench.provider
    needs_enter(p)
    count = p.device_count()
    found = []
    for _ in range(2):
        tokens = [enter(p, i % count) for i in range(4)]
        for token in reversed(tokens):
            p.guard("leave", token)
        found.append(tokens)
    y = values(bench, 100)
    fill(bench, y, 4.0)
    assert (y.numpy() == 4.0).all()
    y.free()
    if len(set(found[0])) > 1:
        assert found[0] == found[1], "the thread was not restored"


def test_gd_04_device_sync(bench: Bench) -> None:
    """Wait until all work of all streams of a device, submitted before the call, is done."""
    p, d = bench.provider, bench.device
    ys = [values(bench) for _ in range(3)]
    with stream(bench) as one, stream(bench) as two:
        for i, each in enumerate((ffi.NULL, one, two)):
            busy(bench, ys[i], each, i + 1.0)
        p.guard("device_sync", d)
        for each in (ffi.NULL, one, two):
            assert p.table.guard.stream_query(p.self, d, each, ffi.NULL) == 0
        with stream(bench) as fresh:
            seen = [values(bench) for _ in ys]
            for y, target in zip(ys, seen, strict=True):
                copy(bench, y, target, fresh)
            p.sync(d, fresh)
        for i, target in enumerate(seen):
            assert (target.numpy() == i + 1.0).all(), f"stream {i}"
    for array in (*ys, *seen):
        array.free()


def test_gd_05_unknown_stream_flag(bench: Bench) -> None:
    """ITP_STREAM_*; an unknown bit is INVALID_ARGUMENT."""
    out = ffi.new("itp_stream *")
    for flag in (0x1, 0x100, 0x80000000):
        with pytest.raises(SlotError) as caught:
            bench.provider.guard("stream_create", bench.device, flag, 0, out)
        assert caught.value.status == "INVALID_ARGUMENT"
        assert out[0] == ffi.NULL, "*out was written"


@pytest.mark.parametrize("priority", [-(2**31), -5, 0, 5, 2**31 - 1])
def test_gd_06_every_priority(bench: Bench, priority: int) -> None:
    """0 normal, negative sooner, positive later; a hint, every value is taken."""
    y = values(bench, 100)
    with stream(bench, priority=priority) as own:
        fill(bench, y, 9.0, own)
        bench.provider.sync(bench.device, own)
    assert (y.numpy() == 9.0).all()
    y.free()


def test_gd_07_many_streams(bench: Bench) -> None:
    """Not NULL, not another live stream; at least 32 can be had on a device."""
    p, d = bench.provider, bench.device
    out = ffi.new("itp_stream *")
    streams = []
    for _ in range(32):
        p.guard("stream_create", d, 0, 0, out)
        streams.append(out[0])
    assert ffi.NULL not in streams
    assert len({int(ffi.cast("uintptr_t", each)) for each in streams}) == 32
    ys = [values(bench, 1000) for _ in streams]
    p.sync(d)
    for i, (each, y) in enumerate(zip(streams, ys, strict=True)):
        fill(bench, y, float(i), each)
    for i, (each, y) in enumerate(zip(streams, ys, strict=True)):
        p.sync(d, each)
        assert (y.numpy() == i).all()
        p.guard("stream_destroy", d, each)
        y.free()


def test_gd_08_streams_of_other_threads(bench: Bench) -> None:
    """Any thread; the stream may be used and destroyed by others."""
    p, d, out, y = bench.provider, bench.device, ffi.new("itp_stream *"), values(bench, 1000)
    p.sync(d)
    in_threads(1, lambda _: p.guard("stream_create", d, 0, 0, out))
    in_threads(1, lambda _: fill(bench, y, 8.0, out[0]))
    in_threads(1, lambda _: p.sync(d, out[0]))
    assert (y.numpy() == 8.0).all()
    in_threads(1, lambda _: p.guard("stream_destroy", d, out[0]))
    y.free()


def test_gd_09_destroy_with_work(bench: Bench) -> None:
    """Work that was submitted before is still done: at return or later."""
    p, d, y, out = bench.provider, bench.device, values(bench), ffi.new("itp_stream *")
    for i in range(5):
        p.sync(d)
        p.guard("stream_create", d, 0, 0, out)
        busy(bench, y, out[0], i + 1.0)
        p.guard("stream_destroy", d, out[0])
        p.guard("device_sync", d)
        assert (y.numpy() == i + 1.0).all(), f"round {i}"
    y.free()


def test_gd_10_stream_sync(bench: Bench) -> None:
    """Wait until all work submitted to a stream before the call is done."""
    p, d, y, seen = bench.provider, bench.device, values(bench), values(bench)
    with stream(bench) as one, stream(bench) as two:
        for i in range(5):
            busy(bench, y, one, i + 1.0)
            p.sync(d, one)
            copy(bench, y, seen, two)  # nothing else orders it after the work of the other stream
            p.sync(d, two)
            assert (seen.numpy() == i + 1.0).all(), f"round {i}"
    y.free()
    seen.free()


def test_gd_11_stream_query(bench: Bench) -> None:
    """OK (it has: always so after stream_sync), NOT_READY, ASYNC, INVALID_ARGUMENT, DEVICE_LOST."""
    p, d, y, seen = bench.provider, bench.device, values(bench), values(bench)
    ask = p.table.guard.stream_query
    with stream(bench) as own, stream(bench) as other:
        assert ask(p.self, d, own, ffi.NULL) == 0, "a stream without work is done"
        busy(bench, y, own, 6.0)
        statuses = {ask(p.self, d, own, ffi.NULL)}
        while statuses <= {NOT_READY}:
            statuses = {ask(p.self, d, own, ffi.NULL)}
        assert statuses == {0}, {STATUS[status] for status in statuses}
        copy(bench, y, seen, other)  # OK has to mean that the work is done
        p.sync(d, other)
        assert (seen.numpy() == 6.0).all()
        busy(bench, y, own, 7.0)
        p.sync(d, own)
        assert ask(p.self, d, own, ffi.NULL) == 0
    y.free()
    seen.free()


def test_gd_14_native_handle(bench: Bench) -> None:
    """[owned by provider until stream_destroy] The same at each call."""
    p, d = bench.provider, bench.device
    if p.slot("guard", "stream_native") == ffi.NULL:
        pytest.skip("stream_native is absent")
    out = ffi.new("void **")

    def native(handle: object) -> int:
        p.guard("stream_native", d, handle, out)
        return int(ffi.cast("uintptr_t", out[0]))

    with stream(bench) as own:
        try:
            found = [native(own), native(own), native(ffi.NULL), native(ffi.NULL)]
        except SlotError as refused:
            if refused.status != "UNIMPLEMENTED":
                raise
            pytest.skip("stream_native is UNIMPLEMENTED")
        y = values(bench, MANY // 64)
        fill(bench, y, 1.0, own)
        found += [native(own), native(ffi.NULL)]
        p.sync(d, own)
        y.free()
    assert found[0] == found[1] == found[4]
    assert found[2] == found[3] == found[5]
