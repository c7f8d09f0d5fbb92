"""Streams and events: after their end, across providers."""

from __future__ import annotations

import infinitrain as it
import pytest
from infinitrain.errors import DeviceError, DeviceMismatch
from infinitrain.stream import Event, Stream


def test_a_closed_stream_says_so(device):
    stream = Stream(device)
    stream.close()
    stream.close()
    event = Event(device)
    for use in (
        stream.synchronize,
        stream.query,
        stream.record_event,
        stream.__enter__,
        lambda: stream.wait_event(event),
        lambda: event.record(stream),
        lambda: Stream(device).wait_stream(stream),
    ):
        with pytest.raises(DeviceError, match=r"Stream\(.*\) is closed"):
            use()
    assert it.ones(2, device=device).tolist() == [1, 1]


def test_a_closed_event_says_so(device):
    event = Event(device)
    event.close()
    event.close()
    for use in (event.record, event.synchronize, event.query, lambda: Stream(device).wait_event(event)):
        with pytest.raises(DeviceError, match=r"Event\(.*\) is closed"):
            use()


def test_closing_waits_for_the_work(device):
    stream = Stream(device)
    with stream:
        a = it.ones(64, 64, device=device)
        for _ in range(20):
            a = a @ a / 64
    stream.close()
    assert a.sum().item() == 64 * 64


def test_another_providers_handles_are_refused():
    stream, event = Stream("cpu"), Event("fake:0", timing=True)
    event.record()
    for use in (
        lambda: stream.wait_event(event),
        lambda: event.record(stream),
        lambda: stream.wait_stream(Stream("fake:0")),
        lambda: event.elapsed_ms(Event("cpu", timing=True)),
    ):
        with pytest.raises(DeviceMismatch, match="one provider"):
            use()


def test_a_stream_waits_for_another_device_of_its_provider():
    first, second = Stream("fake:0"), Stream("fake:1")
    second.wait_stream(first)
    second.synchronize()
