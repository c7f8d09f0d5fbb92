"""Devices: names, parsing, the current device of a thread."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from infinitrain._abi import names, registry
from infinitrain._abi.provider import DeviceInfo, Provider
from infinitrain.errors import DeviceNotFound

__all__ = [
    "Device",
    "current_device",
    "device",
    "device_count",
    "device_guard",
    "get_default_device",
    "set_default_device",
]

_SPELLING = re.compile(r"(?P<type>[a-z][a-z0-9_]*)(?::(?P<index>0|[1-9][0-9]*))?")
_MAX_INDEX = 2**31 - 1

_instances: dict[tuple[str, int], Device] = {}
_instances_lock = threading.Lock()


class _Current(threading.local):
    """The thread's choices: the device that creation uses, and the index that a bare name means."""

    def __init__(self) -> None:
        self.device: Device | None = None
        self.index: dict[str, int] = {}


_current = _Current()
_default: Device | None = None


class Device:
    """One device of one provider: `Device("fake:1")`. Equal devices are one object.

    A bare name means the thread's current device of that type, 0 unless a guard says otherwise. Parsing loads and
    starts nothing but what is needed to know that the index exists. `str()` gives what parses back.

    Raises: DeviceNotFound for a spelling, name or index that does not exist.
    """

    __slots__ = ("index", "native", "provider", "stream", "type")

    type: str
    index: int
    provider: Provider
    #: What the C side knows the device by.
    native: Any
    #: Its default stream, once that has been asked for (infinitrain.stream sets it).
    stream: Any

    def __new__(cls, spec: Device | str, index: int | None = None) -> Device:
        """Parse a device; equal devices are the same object."""
        if isinstance(spec, Device):
            return spec
        kind, number = _parse(spec)
        if index is not None:
            if number is not None:
                raise DeviceNotFound(f"device {spec!r} with index {index}: expected the index once")
            number = _checked_index(f"{spec}:{index}", index)
        if kind == names.ALIAS:
            kind = registry.resolve_alias()
        provider = registry.find(kind)
        if number is None:
            number = _current.index.get(kind, 0)
        found = _instances.get((kind, number))
        if found is not None and found.provider is provider:
            return found
        count = provider.device_count()
        if number >= count:
            has = "none" if count == 0 else "device 0" if count == 1 else f"devices 0 to {count - 1}"
            raise DeviceNotFound(
                f"device '{kind}:{number}' does not exist: expected an index in [0, {count}), {kind} has {has}"
            )
        with _instances_lock:
            self = object.__new__(cls)
            self.type, self.index, self.provider = kind, number, provider
            self.native = provider.device_native(number)
            self.stream = None
            existing = _instances.get((kind, number))
            if existing is not None and existing.provider is provider:
                return existing
            _instances[kind, number] = self
            return self

    @property
    def info(self) -> DeviceInfo:
        """What the provider says of this device."""
        return self.provider.device_info(self.index)

    @property
    def host_readable(self) -> bool:
        """Whether the host may read and write this device's memory."""
        return self.info.host_readable

    def __str__(self) -> str:
        return f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device('{self}')"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Device, (str(self),))

    def __deepcopy__(self, memo: object) -> Device:
        return self


def _parse(spec: str) -> tuple[str, int | None]:
    if not isinstance(spec, str):
        raise DeviceNotFound(f"device {spec!r}: expected a name such as 'cpu' or 'fake:1', found {type(spec).__name__}")
    match = _SPELLING.fullmatch(spec)
    if match is None:
        lower = spec.lower()
        hint = f" Names are lower case: {lower!r}." if lower != spec and _SPELLING.fullmatch(lower) else ""
        raise DeviceNotFound(
            f"device {spec!r} is misspelt: expected NAME or NAME:INDEX with an index from 0, as in 'fake:1'.{hint}"
        )
    text = match["index"]
    return match["type"], None if text is None else _checked_index(spec, int(text))


def _checked_index(spec: str, index: int) -> int:
    if not 0 <= index <= _MAX_INDEX:
        raise DeviceNotFound(f"device {spec!r}: expected an index in [0, 2**31), found {index}")
    return index


def device(spec: Device | str) -> Device:
    """Parse a device, as `Device(spec)` does."""
    return Device(spec)


def device_count(name: str) -> int:
    """Count the devices of a type, starting its provider.

    Raises: DeviceNotFound for an unknown name.
    """
    return registry.find(registry.resolve_alias() if name == names.ALIAS else name).device_count()


def get_default_device() -> Device:
    """Give the device that tensors are created on outside of any guard: the embedded cpu unless set."""
    global _default
    if _default is None:
        _default = Device(names.EMBEDDED)
    return _default


def set_default_device(spec: Device | str) -> None:
    """Set the device that tensors are created on outside of any guard, for all threads."""
    global _default
    _default = Device(spec)


def current_device() -> Device:
    """Give the calling thread's current device."""
    return _current.device or get_default_device()


@contextmanager
def device_guard(spec: Device | str) -> Iterator[Device]:
    """Make a device current for this thread inside a `with` block; afterwards the previous one is back."""
    chosen = Device(spec)
    previous_device, previous_index = _current.device, _current.index
    _current.device = chosen
    _current.index = {**previous_index, chosen.type: chosen.index}
    try:
        yield chosen
    finally:
        _current.device, _current.index = previous_device, previous_index
