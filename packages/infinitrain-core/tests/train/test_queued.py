"""A queued step: its numbers, and how long it took, whenever they are read."""

from __future__ import annotations

import infinitrain as it
import pytest
from infinitrain._abi.provider import DeviceInfo
from infinitrain.stream import synchronize
from infinitrain.train.queued import QueuedStep


def queue(device: str, step: int, work: int = 4) -> QueuedStep:
    queued = QueuedStep(it.device(device), step)
    x = it.ones(64, 64, device=device)
    for _ in range(work):
        x = x @ x * 0.015625  # stays 1
    queued.complete(0.1, [x[0, 0] * step, x[0, 1] * (step + 2)], x[1, 1] * 7)
    return queued


def test_numbers_are_the_mean_of_the_losses_and_the_norm(device):
    queued = queue(device, 3)

    assert queued.step == 3
    assert queued.lr == 0.1
    assert queued.read() == (4.0, 7.0)


def test_a_step_is_read_in_any_order_and_behind_later_work(device):
    first, second, third = (queue(device, step) for step in (1, 2, 3))
    queue(device, 4, work=40)

    assert [each.read() for each in (first, third, second)] == [(2.0, 7.0), (4.0, 7.0), (3.0, 7.0)]
    assert all(0 < each.seconds() < 60 for each in (first, second, third))


def test_it_is_ready_when_the_device_is_done(device):
    queued = queue(device, 1)
    synchronize(device)

    assert queued.ready()


@pytest.mark.parametrize("timing", [True, False])
def test_a_device_without_timing_gives_way_to_the_clock_of_the_host(device, timing, monkeypatch):
    monkeypatch.setattr(DeviceInfo, "timing_events", timing)
    queued = queue(device, 1)
    queued.read()

    assert 0 < queued.seconds() < 60
