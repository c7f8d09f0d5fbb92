"""A step that has been handed to the device and may not be done yet."""

from __future__ import annotations

import math
import time
from functools import cache

from infinitrain.device import Device
from infinitrain.stream import Event, Stream
from infinitrain.tensor import Tensor

__all__ = ["QueuedStep"]


class QueuedStep:
    """What is known of a step before its numbers are.

    Made before the step's first work is queued, and completed after its last: the marks that both leave in the current
    stream say how long the device needed, whenever the host comes to read it.

    Args:
        device: Where the step runs.
        step: Its number, from 1.
    """

    def __init__(self, device: Device, step: int) -> None:
        """Mark the beginning of the step."""
        self.step = step
        self.lr = math.nan
        self._device = device
        self._losses: list[Tensor] = []
        self._norm: Tensor | None = None
        self._timed = device.info.timing_events
        self._begin, self._end = (Event(device, timing=self._timed) for _ in range(2))
        self._begin.record()
        self._queued_at, self._read_at = time.perf_counter(), math.nan

    def complete(self, lr: float, losses: list[Tensor], norm: Tensor) -> None:
        """Mark the end of the step, and keep what is to be read: the means of batches of one size, and the norm."""
        self.lr, self._losses, self._norm = lr, losses, norm
        self._end.record()

    def ready(self) -> bool:
        """Whether the device has done the step, so that reading it does not wait."""
        return self._end.query()

    def read(self) -> tuple[float, float]:
        """Wait for this step, and for nothing that was queued after it; gives its loss and gradient norm."""
        if self.ready():
            numbers = self._numbers()
        else:
            reader = _reader(self._device)
            reader.wait_event(self._end)
            with reader:
                numbers = self._numbers()
        self._read_at = time.perf_counter()
        return numbers

    def seconds(self) -> float:
        """Give how long a step took that has been read: by the device's clock, or the host's where it has none."""
        if self._timed:
            return self._begin.elapsed_ms(self._end) / 1e3
        return self._read_at - self._queued_at

    def _numbers(self) -> tuple[float, float]:
        assert self._norm is not None
        return sum(float(each.item()) for each in self._losses) / len(self._losses), float(self._norm.item())


@cache
def _reader(device: Device) -> Stream:
    """Give the stream on which numbers come back from a device while its default stream goes on working."""
    return Stream(device)
