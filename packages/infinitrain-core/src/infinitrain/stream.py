"""Streams, events and waiting for devices."""

from __future__ import annotations

import threading
import weakref
from types import TracebackType
from typing import Any

from infinitrain._abi import registry
from infinitrain._native import ffi, lib
from infinitrain.device import Device, current_device

__all__ = ["Event", "Stream", "current_stream", "default_stream", "synchronize"]


class _Streams(threading.local):
    """The calling thread's current stream of each device."""

    def __init__(self) -> None:
        self.current: dict[Device, Stream] = {}
        self.stack: list[tuple[Device, Stream | None]] = []


_streams = _Streams()
_defaults: dict[Device, Stream] = {}
_defaults_lock = threading.Lock()
_live: weakref.WeakSet[Stream | Event] = weakref.WeakSet()


class Stream:
    """A queue of work on one device; work on one stream runs in order, streams have no order between them.

    As a context manager it becomes the thread's current stream of its device.

    Args:
        device: The device, the current one by default.
        priority: A hint to the provider: lower runs first.
    """

    __slots__ = ("__weakref__", "device", "is_default", "native")

    def __init__(self, device: Device | str | None = None, priority: int = 0, *, _default: bool = False) -> None:
        self.device = current_device() if device is None else Device(device)
        self.is_default = _default
        self.native: Any = ffi.new("it_stream *")
        provider = self.device.provider
        provider.start()
        if _default:
            lib.it_stream_prepare(self.native, self.device.index)
        else:
            provider.check(
                lib.it_stream_create(provider.native, self.device.index, 0, priority, self.native),
                "stream_create",
            )
            _live.add(self)

    def synchronize(self) -> None:
        """Wait until everything queued on the stream is done; failures of that work are raised here."""
        provider = self.device.provider
        provider.check(lib.it_stream_sync(provider.native, self.native), "stream_sync")

    def query(self) -> bool:
        """Whether everything queued on the stream is done."""
        provider = self.device.provider
        status = lib.it_stream_query(provider.native, self.native)
        if status == lib.ITP_E_NOT_READY:
            return False
        provider.check(status, "stream_query")
        return True

    def wait_event(self, event: Event) -> None:
        """Let work that is queued after this call wait for an event."""
        provider = self.device.provider
        provider.check(lib.it_stream_wait_event(provider.native, self.native, event.native), "stream_wait_event")

    def wait_stream(self, other: Stream) -> None:
        """Let work that is queued after this call wait for everything queued on another stream of the device."""
        event = Event(self.device)
        event.record(other)
        self.wait_event(event)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event behind everything queued so far."""
        event = event or Event(self.device)
        event.record(self)
        return event

    def close(self) -> None:
        """Give the stream back to the provider; it must not be used after."""
        if not self.is_default and self.native is not None and self.device.provider.started:
            native, self.native = self.native, None
            lib.it_stream_destroy(self.device.provider.native, native)

    def __enter__(self) -> Stream:
        _streams.stack.append((self.device, _streams.current.get(self.device)))
        _streams.current[self.device] = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        device, previous = _streams.stack.pop()
        if previous is None:
            del _streams.current[device]
        else:
            _streams.current[device] = previous

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Stream({self.device}{', default' if self.is_default else ''})"


class Event:
    """A mark in a stream that others can wait for.

    Args:
        device: The device, the current one by default.
        timing: Whether `elapsed_ms` will be asked.
    """

    __slots__ = ("__weakref__", "device", "native")

    def __init__(self, device: Device | str | None = None, *, timing: bool = False) -> None:
        self.device = current_device() if device is None else Device(device)
        provider = self.device.provider
        provider.start()
        out = ffi.new("itp_event *")
        flags = lib.ITP_EVENT_TIMING if timing else 0
        provider.check(lib.it_event_create(provider.native, self.device.index, flags, out), "event_create")
        self.native: Any = out[0]
        _live.add(self)

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark behind everything queued on a stream, the current one by default."""
        provider = self.device.provider
        where = stream or current_stream(self.device)
        provider.check(lib.it_event_record(provider.native, self.native, where.native), "event_record")

    def synchronize(self) -> None:
        """Wait until the mark has been passed."""
        provider = self.device.provider
        provider.check(lib.it_event_sync(provider.native, self.device.index, self.native), "event_sync")

    def query(self) -> bool:
        """Whether the mark has been passed."""
        provider = self.device.provider
        status = lib.it_event_query(provider.native, self.device.index, self.native)
        if status == lib.ITP_E_NOT_READY:
            return False
        provider.check(status, "event_query")
        return True

    def elapsed_ms(self, end: Event) -> float:
        """Give the milliseconds of device time between this event and `end`, both made with timing."""
        provider = self.device.provider
        ns = ffi.new("uint64_t *")
        provider.check(
            lib.it_event_elapsed_ns(provider.native, self.device.index, self.native, end.native, ns),
            "event_elapsed_ns",
        )
        return int(ns[0]) / 1e6

    def close(self) -> None:
        """Give the event back to the provider; it must not be used after."""
        if getattr(self, "native", None) is not None and self.device.provider.started:
            native, self.native = self.native, None
            lib.it_event_destroy(self.device.provider.native, self.device.index, native)

    def __del__(self) -> None:
        self.close()


def default_stream(device: Device) -> Stream:
    """Give the stream that every device has without anybody creating it."""
    found = _defaults.get(device)
    if found is None:
        with _defaults_lock:
            found = _defaults.get(device)
            if found is None:
                found = _defaults[device] = Stream(device, _default=True)
    return found


def current_stream(device: Device) -> Stream:
    """Give the calling thread's current stream of a device."""
    return _streams.current.get(device) or _defaults.get(device) or default_stream(device)


def synchronize(device: Device | str | None = None) -> None:
    """Wait until a device, the current one by default, has done everything that it was given.

    Raises: AsyncError, IndexOutOfRange, DeviceLost: what work handed over earlier ran into.
    """
    target = current_device() if device is None else Device(device)
    provider = target.provider
    provider.start()
    provider.check(lib.it_device_sync(provider.native, target.index), "device_sync")
    provider.drain_log()


def close_all() -> None:
    """Destroy what is left, events before streams: the order of an orderly end."""
    remaining = list(_live)
    for kind in (Event, Stream):
        for each in remaining:
            if isinstance(each, kind):
                each.close()


def started_devices() -> list[Device]:
    """List the devices that have had work queued on their default stream."""
    return [device for device in _defaults if device.provider in registry.loaded()]
