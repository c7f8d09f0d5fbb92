"""The guard table: events, and the order that they make."""

from __future__ import annotations

import time

import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import STATUS, SlotError, ffi
from infinitrain.testing.conformance.work import busy, copy, event, fill, in_threads, stream, values

TIMING, BLOCKING = 0x1, 0x2
NOT_READY = 4


def test_gd_12_wait_for_no_record(bench: Bench) -> None:
    """Its last record before this call counts; one that was never recorded holds nothing up."""
    p, d, y = bench.provider, bench.device, values(bench, 1000)
    with stream(bench) as own, event(bench) as made:
        p.sync(d)
        p.guard("stream_wait_event", d, own, made)
        fill(bench, y, 3.0, own)
        p.sync(d, own)
        assert (y.numpy() == 3.0).all()
    y.free()


def test_gd_12_later_records_do_not_count(bench: Bench) -> None:
    """Its last record before this call counts; one that was never recorded holds nothing up."""
    p, d, y, load = bench.provider, bench.device, values(bench, 1000), values(bench)
    with stream(bench) as one, stream(bench) as two, event(bench) as made:
        p.sync(d)
        p.guard("event_record", d, made, one)
        p.guard("stream_wait_event", d, two, made)
        # A record on the stream that waits: were it counted, the stream would wait for itself for ever.
        p.guard("event_record", d, made, two)
        fill(bench, y, 4.0, two)
        p.sync(d, two)
        assert (y.numpy() == 4.0).all()
    y.free()
    load.free()


@pytest.mark.parametrize("rounds", [1, 10])
def test_gd_13_order_between_streams(bench: Bench, rounds: int) -> None:
    """Later work of `stream` runs after what the event's stream had before the record."""
    p, d = bench.provider, bench.device
    y, seen = values(bench), [values(bench) for _ in range(rounds)]
    with stream(bench) as one, stream(bench) as two, event(bench) as written, event(bench) as read:
        p.sync(d)
        for i, target in enumerate(seen):
            busy(bench, y, one, i + 1.0, rounds=30)
            p.guard("event_record", d, written, one)
            p.guard("stream_wait_event", d, two, written)
            copy(bench, y, target, two)
            p.guard("event_record", d, read, two)
            p.guard("stream_wait_event", d, one, read)  # the next round overwrites y
        p.guard("device_sync", d)
        for i, target in enumerate(seen):
            assert (target.numpy() == i + 1.0).all(), f"round {i}"
    for array in (y, *seen):
        array.free()


def test_gd_13_order_between_devices(bench: Bench) -> None:
    """Of any device of this provider: later work runs after what the event's stream had before the record."""
    p, d = bench.provider, bench.device
    if p.device_count() < 2:
        pytest.skip("the provider has one device")
    other = (d + 1) % p.device_count()
    away = Bench(p, other)
    y, seen = values(bench), values(away)
    with event(bench) as made:
        p.guard("device_sync", d)
        p.guard("device_sync", other)
        busy(bench, y, ffi.NULL, 5.0)
        p.guard("event_record", d, made, ffi.NULL)
        p.guard("stream_wait_event", other, ffi.NULL, made)
        p.copy(seen.address, other, y.address, d, y.nbytes)
        p.sync(other)
        assert (seen.numpy() == 5.0).all()
    y.free()
    seen.free()


def test_gd_15_event_flags(bench: Bench) -> None:
    """ITP_EVENT_*; an unknown bit is INVALID_ARGUMENT."""
    out = ffi.new("itp_event *")
    for flag in (0x4, 0x100, 0x80000000):
        with pytest.raises(SlotError) as caught:
            bench.provider.guard("event_create", bench.device, flag, out)
        assert caught.value.status == "INVALID_ARGUMENT"
        assert out[0] == ffi.NULL, "*out was written"
    for flags in (0, BLOCKING, TIMING, TIMING | BLOCKING):
        if flags & TIMING and bench.provider.slot("guard", "event_elapsed_ns") == ffi.NULL:
            continue
        with event(bench, flags) as made:
            assert made != ffi.NULL


def test_gd_16_destroy_while_waited_for(bench: Bench) -> None:
    """Give an event back. Streams that wait for its record go on waiting for that."""
    p, d, y, seen = bench.provider, bench.device, values(bench), values(bench)
    with stream(bench) as one, stream(bench) as two:
        p.sync(d)
        for i in range(5):
            with event(bench) as made:
                busy(bench, y, one, i + 1.0)
                p.guard("event_record", d, made, one)
                p.guard("stream_wait_event", d, two, made)
            copy(bench, y, seen, two)
            p.sync(d, two)
            assert (seen.numpy() == i + 1.0).all(), f"round {i}"
    y.free()
    seen.free()


def test_gd_17_second_record_replaces(bench: Bench) -> None:
    """Put the event behind what has been submitted to a stream. A second record replaces the first."""
    p, d, y, seen = bench.provider, bench.device, values(bench), values(bench)
    with stream(bench) as one, stream(bench) as two, event(bench) as made:
        p.sync(d)
        for i in range(5):
            p.guard("event_record", d, made, one)
            busy(bench, y, one, i + 1.0)
            p.guard("event_record", d, made, one)
            p.guard("stream_wait_event", d, two, made)
            copy(bench, y, seen, two)
            p.sync(d, two)
            assert (seen.numpy() == i + 1.0).all(), f"round {i}"
            p.guard("event_sync", d, made)
    y.free()
    seen.free()


@pytest.mark.parametrize("flags", [0, BLOCKING])
def test_gd_18_event_sync(bench: Bench, flags: int) -> None:
    """Wait until the work before an event's last record is done; at once where there was no record."""
    p, d, y, seen = bench.provider, bench.device, values(bench), values(bench)
    with stream(bench) as one, stream(bench) as two, event(bench, flags) as made:
        p.guard("event_sync", d, made)
        p.sync(d)
        for i in range(5):
            busy(bench, y, one, i + 1.0)
            p.guard("event_record", d, made, one)
            p.guard("event_sync", d, made)
            copy(bench, y, seen, two)
            p.sync(d, two)
            assert (seen.numpy() == i + 1.0).all(), f"round {i}"
    y.free()
    seen.free()


def test_gd_19_event_query(bench: Bench) -> None:
    """OK (also where there was no record), NOT_READY, ASYNC, INVALID_ARGUMENT, DEVICE_LOST."""
    p, d, y, seen = bench.provider, bench.device, values(bench), values(bench)
    ask = p.table.guard.event_query
    with stream(bench) as one, stream(bench) as two, event(bench) as made:
        assert ask(p.self, d, made, ffi.NULL) == 0, "an event that was not recorded is done"
        p.sync(d)
        busy(bench, y, one, 2.0)
        p.guard("event_record", d, made, one)
        status = ask(p.self, d, made, ffi.NULL)
        while status == NOT_READY:
            status = ask(p.self, d, made, ffi.NULL)
        assert STATUS[status] == "OK"
        copy(bench, y, seen, two)
        p.sync(d, two)
        assert (seen.numpy() == 2.0).all()
    y.free()
    seen.free()


def test_gd_20_elapsed(bench: Bench) -> None:
    """INVALID_ARGUMENT for an event that was made without ITP_EVENT_TIMING or was never recorded."""
    p, d = bench.provider, bench.device
    if p.slot("guard", "event_elapsed_ns") == ffi.NULL:
        pytest.skip("event_elapsed_ns is absent")
    y, ns = values(bench), ffi.new("uint64_t *")

    def elapsed(begin: object, end: object) -> str:
        return STATUS[p.table.guard.event_elapsed_ns(p.self, d, begin, end, ns, ffi.NULL)]

    with event(bench, TIMING) as begin, event(bench, TIMING) as end, event(bench) as untimed:
        assert elapsed(begin, end) == "INVALID_ARGUMENT", "never recorded"
        p.sync(d)
        started = time.monotonic_ns()
        p.guard("event_record", d, begin, ffi.NULL)
        busy(bench, y, ffi.NULL, 1.0)
        p.guard("event_record", d, untimed, ffi.NULL)
        assert elapsed(begin, end) == "INVALID_ARGUMENT", "the end was never recorded"
        p.guard("event_record", d, end, ffi.NULL)
        assert elapsed(begin, end) in ("OK", "NOT_READY")
        p.sync(d)
        whole = time.monotonic_ns() - started
        assert elapsed(begin, end) == "OK"
        assert 0 < ns[0] <= whole, f"{ns[0]} ns on the device within {whole} ns of the host"
        assert elapsed(begin, untimed) == "INVALID_ARGUMENT"
        assert elapsed(untimed, end) == "INVALID_ARGUMENT"
    y.free()


def test_gd_15_events_of_other_threads(bench: Bench) -> None:
    """Any thread; the event may be used and destroyed by others."""
    p, d, out, y = bench.provider, bench.device, ffi.new("itp_event *"), values(bench, 1000)
    in_threads(1, lambda _: p.guard("event_create", d, 0, out))
    fill(bench, y, 1.0)
    in_threads(1, lambda _: p.guard("event_record", d, out[0], ffi.NULL))
    in_threads(1, lambda _: p.guard("event_sync", d, out[0]))
    in_threads(1, lambda _: p.guard("event_destroy", d, out[0]))
    y.free()
