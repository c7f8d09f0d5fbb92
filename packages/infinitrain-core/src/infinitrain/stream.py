"""Streams, events and waiting for devices."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from infinitrain._abi.provider import Provider
from infinitrain._native import ffi, lib
from infinitrain.device import Device, current_device
from infinitrain.errors import DeviceError, DeviceMismatch, IndexOutOfRange

if TYPE_CHECKING:
    from infinitrain.memory import Bins, Pool

__all__ = ["Event", "Stream", "current_stream", "default_stream", "synchronize"]


class _Streams(threading.local):
    """The calling thread's current stream of each device."""

    def __init__(self) -> None:
        self.current: dict[Device, Stream] = {}
        self.stack: list[tuple[Device, Stream | None]] = []


_streams = _Streams()
_defaults_lock = threading.Lock()
#: Whether any thread has ever chosen a stream: until then every current stream is the default one.
_chosen = False
_live: weakref.WeakSet[Stream | Event] = weakref.WeakSet()
_closing: list[Callable[[Stream], None]] = []


def on_close(action: Callable[[Stream], None]) -> Callable[[Stream], None]:
    """Have something done with every stream that ends, while the provider still knows it."""
    _closing.append(action)
    return action


def _runs(provider: Provider) -> bool:
    return provider.started and not lib.it_forked(provider.native)


def _usable(each: Stream | Event, device: Device) -> Any:
    """Give the native handle, for use on a device.

    Raises: DeviceError once it is closed; DeviceMismatch on a device of another provider.
    """
    if each.native is None:
        raise DeviceError(f"{each!r} is closed: expected one that is in use. Make a new one")
    if each.device.provider is not device.provider:
        raise DeviceMismatch(
            f"{each!r} with {device}: expected streams and events of one provider. Wait with .synchronize() instead"
        )
    return each.native


class Stream:
    """A queue of work on one device; work on one stream runs in order, streams have no order between them.

    As a context manager it becomes the thread's current stream of its device.

    Args:
        device: The device, the current one by default.
        priority: A hint to the provider: lower runs first.
    """

    __slots__ = ("__weakref__", "bins", "device", "is_default", "native", "pinned_bins", "pool")

    def __init__(self, device: Device | str | None = None, priority: int = 0, *, _default: bool = False) -> None:
        self.device = current_device() if device is None else Device(device)
        self.is_default = _default
        #: Free device memory that this stream used last, by size.
        self.bins: Bins = {}
        self.pinned_bins: Bins = {}
        #: The allocator of the device's memory, once it was needed.
        self.pool: Pool | None = None
        self.native: Any = None
        native = ffi.new("it_stream *")
        lib.it_stream_prepare(native, self.device.native)
        if not _default:
            self.device.provider.check(lib.it_stream_create(native, 0, priority), "stream_create")
            _live.add(self)
        self.native = native

    def synchronize(self) -> None:
        """Wait until everything queued on the stream is done; failures of that work are raised here."""
        self.device.provider.check(lib.it_stream_sync(_usable(self, self.device)), "stream_sync")

    def query(self) -> bool:
        """Whether everything queued on the stream is done."""
        status = lib.it_stream_query(_usable(self, self.device))
        if status == lib.ITP_E_NOT_READY:
            return False
        self.device.provider.check(status, "stream_query")
        return True

    def wait_event(self, event: Event) -> None:
        """Let work that is queued after this call wait for an event."""
        own, other = _usable(self, self.device), _usable(event, self.device)
        self.device.provider.check(lib.it_stream_wait_event(own, other), "stream_wait_event")

    def wait_stream(self, other: Stream) -> None:
        """Let work that is queued after this call wait for everything queued on another stream of the provider."""
        _usable(other, self.device)
        event = Event(other.device)
        event.record(other)
        self.wait_event(event)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event behind everything queued so far."""
        event = event or Event(self.device)
        event.record(self)
        return event

    def close(self) -> None:
        """Wait for the stream's work and give it back to the provider; it must not be used after.

        Raises: AsyncError, IndexOutOfRange, DeviceLost: what the work ran into.
        """
        native = getattr(self, "native", None)
        if native is None or self.is_default:
            return
        provider = self.device.provider
        if not _runs(provider):
            self.native = None
            return
        try:
            # What the stream has used is free for others from here on.
            provider.check(lib.it_stream_sync(native), "stream_sync")
            for action in _closing:
                action(self)
        finally:
            self.native = None
            lib.it_stream_destroy(native)

    def __enter__(self) -> Stream:
        global _chosen
        _usable(self, self.device)
        _chosen = True
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
        # Blocks that were freed after the stream had been closed.
        if (getattr(self, "bins", None) or getattr(self, "pinned_bins", None)) and _runs(self.device.provider):
            for action in _closing:
                action(self)

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
        self.native: Any = None
        native = ffi.new("it_event *")
        lib.it_event_prepare(native, self.device.native)
        flags = lib.ITP_EVENT_TIMING if timing else 0
        self.device.provider.check(lib.it_event_create(native, flags), "event_create")
        self.native = native
        _live.add(self)

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark behind everything queued on a stream, the current one by default."""
        where = stream or current_stream(self.device)
        own, other = _usable(self, self.device), _usable(where, self.device)
        self.device.provider.check(lib.it_event_record(own, other), "event_record")

    def synchronize(self) -> None:
        """Wait until the mark has been passed."""
        self.device.provider.check(lib.it_event_sync(_usable(self, self.device)), "event_sync")

    def query(self) -> bool:
        """Whether the mark has been passed."""
        status = lib.it_event_query(_usable(self, self.device))
        if status == lib.ITP_E_NOT_READY:
            return False
        self.device.provider.check(status, "event_query")
        return True

    def elapsed_ms(self, end: Event) -> float:
        """Give the milliseconds of device time between this event and `end`, both made with timing."""
        ns = ffi.new("uint64_t *")
        begin, until = _usable(self, self.device), _usable(end, self.device)
        self.device.provider.check(lib.it_event_elapsed_ns(begin, until, ns), "event_elapsed_ns")
        return int(ns[0]) / 1e6

    def close(self) -> None:
        """Give the event back to the provider; it must not be used after."""
        native = getattr(self, "native", None)
        if native is not None:
            self.native = None
            if self.device.provider.started:
                lib.it_event_destroy(native)

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Event({self.device})"


def default_stream(device: Device) -> Stream:
    """Give the stream that every device has without anybody creating it."""
    found: Stream | None = device.stream
    if found is None:
        with _defaults_lock:
            found = device.stream
            if found is None:
                found = device.stream = Stream(device, _default=True)
    return found


def current_stream(device: Device) -> Stream:
    """Give the calling thread's current stream of a device."""
    if _chosen:
        chosen = _streams.current.get(device)
        if chosen is not None:
            return chosen
    found: Stream | None = device.stream
    return default_stream(device) if found is None else found


def synchronize(device: Device | str | None = None) -> None:
    """Wait until a device, the current one by default, has done everything that it was given.

    Raises: AsyncError, IndexOutOfRange, DeviceLost: what work handed over earlier ran into.
    """
    target = current_device() if device is None else Device(device)
    target.provider.check(lib.it_device_sync(target.native), "device_sync")
    target.provider.drain_log()


def close_all() -> None:
    """Destroy what is left, events before streams: the order of an orderly end."""
    remaining = list(_live)
    for kind in (Event, Stream):
        for each in remaining:
            if isinstance(each, kind):
                with suppress(DeviceError, IndexOutOfRange):  # too late for anybody to act upon
                    each.close()


def _renew_locks() -> None:
    """In a forked child: a thread that is not here may have held it."""
    global _defaults_lock
    _defaults_lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_locks)
