"""Streams and events: order, waiting, the thread's current stream, after their end, across providers."""

from __future__ import annotations

import subprocess
import sys
import threading

import infinitrain as it
import numpy as np
import pytest
from infinitrain import copy as router
from infinitrain import dtype as dt
from infinitrain.dispatch import launch
from infinitrain.errors import DeviceError, DeviceMismatch
from infinitrain.stream import Event, Stream, current_stream, default_stream
from infinitrain.strided import Strided


def test_streams_nest_and_restore_after_an_error(device):
    where = it.Device(device)
    default = current_stream(where)
    first, second = Stream(device), Stream(device)
    with first:
        with pytest.raises(ZeroDivisionError), second:  # noqa: PT012 - asserted inside the block
            assert current_stream(where) is second
            raise ZeroDivisionError
        assert current_stream(where) is first

    assert current_stream(where) is default is default_stream(where)


def test_the_current_stream_is_the_threads_own(device):
    where = it.Device(device)
    seen = []
    with Stream(device):
        thread = threading.Thread(target=lambda: seen.append(current_stream(where)))
        thread.start()
        thread.join()

    assert seen == [default_stream(where)]


def test_one_stream_object_may_be_entered_by_two_threads(device):
    stream = Stream(device)
    barrier = threading.Barrier(2)
    seen = []

    def work():
        with stream:
            barrier.wait()
            seen.append(current_stream(stream.device) is stream)
            barrier.wait()
        seen.append(current_stream(stream.device) is stream)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(seen) == [False, False, True, True]


def test_an_event_is_passed_after_waiting(device):
    stream, event = Stream(device), Event(device)
    with stream:
        x = Strided._empty((1000,), dt.float32, it.Device(device))
        launch("Fill", (), (x,), value=2.0)
    event.record(stream)
    event.synchronize()

    assert event.query()
    stream.synchronize()
    assert stream.query()


def test_another_stream_waits_for_an_event(device):
    where = it.Device(device)
    x = router.from_numpy(np.zeros(1 << 16, np.float32), where)
    writer, reader = Stream(device), Stream(device)
    it.synchronize(device)  # the copy was queued on the default stream
    for value in range(1, 20):
        with writer:
            launch("Fill", (), (x,), value=float(value))
        reader.wait_event(writer.record_event())
        with reader:
            found = router.to_numpy(x)
        writer.wait_stream(reader)

        assert found.min() == found.max() == value


def test_elapsed_time_is_not_negative(device):
    begin, end = Event(device, timing=True), Event(device, timing=True)
    begin.record()
    end.record()
    end.synchronize()

    assert begin.elapsed_ms(end) >= 0


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


LATER = """
import infinitrain as it
from infinitrain.dispatch import launch
from infinitrain.errors import DeviceError, DeviceMismatch
from infinitrain.strided import Strided
it.configure('fake', fail_launch_at=2, fail_launch_async=1)
x = Strided._empty((4,), it.float32, it.Device('fake'))
for value in (1.0, 2.0, 3.0): launch('Fill', (), (x,), value=value)
try: it.synchronize('fake')
except it.errors.AsyncError as e: print(e.tag, e)
it.synchronize('fake')
launch('Fill', (), (x,), value=4.0)
it.synchronize('fake')
"""

LOST = """
import infinitrain as it
from infinitrain.dispatch import launch
from infinitrain.errors import DeviceError, DeviceMismatch
from infinitrain.strided import Strided
it.configure('fake', lose_device_after=3)
x = Strided._empty((4,), it.float32, it.Device('fake'))
for _ in range(3):
    try:
        for value in (1.0, 2.0, 3.0, 4.0): launch('Fill', (), (x,), value=value)
        it.synchronize('fake')
    except it.errors.DeviceLost as e: print('lost', e)
print(it.tensor([1.0]).sum().item())
"""


def run(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_failure_that_shows_later_names_the_launch_once():
    pytest.importorskip("infinitrain_fake", reason="needs a device that fails on demand")
    (line,) = run(LATER).splitlines()

    assert line.split()[0] == "2"
    assert "Fill" in line


def test_a_lost_device_stays_lost_and_others_work():
    pytest.importorskip("infinitrain_fake", reason="needs a device that is lost on demand")
    *lost, value = run(LOST).splitlines()

    assert [line.split()[0] for line in lost] == ["lost"] * 3
    assert value == "1.0"
