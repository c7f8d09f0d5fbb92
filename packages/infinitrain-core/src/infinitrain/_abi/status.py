"""A slot's status and error record as an exception."""

from __future__ import annotations

from typing import NoReturn

from infinitrain import errors
from infinitrain._abi import launches
from infinitrain._native import ffi, lib

__all__ = ["STATUS_NAMES", "check", "last_message", "raise_last"]

STATUS_NAMES = {
    getattr(lib, f"ITP_E_{name}"): name
    for name in (
        *("INVALID_ARGUMENT", "UNIMPLEMENTED", "OUT_OF_MEMORY", "NOT_READY", "UNAVAILABLE", "DEVICE_LOST"),
        *("ASYNC", "TIMEOUT", "ABORTED", "FORKED", "VERSION", "INTERNAL", "OUT_OF_RANGE"),
    )
}
_CLASSES: dict[int, type[errors.InfinitrainError]] = {
    lib.ITP_E_INVALID_ARGUMENT: errors.KernelError,
    lib.ITP_E_UNIMPLEMENTED: errors.KernelError,
    lib.ITP_E_OUT_OF_MEMORY: errors.OutOfMemory,
    lib.ITP_E_UNAVAILABLE: errors.ProviderUnavailable,
    lib.ITP_E_DEVICE_LOST: errors.DeviceLost,
    lib.ITP_E_FORKED: errors.ForkedError,
    lib.ITP_E_OUT_OF_RANGE: errors.IndexOutOfRange,
}


def last_message() -> str:
    """Give the text of the calling thread's last failed call."""
    record = lib.it_last_error()
    return ffi.string(record.message).decode(errors="replace") if record.message != ffi.NULL else ""


def raise_last(status: int, where: str, provider: str, launch: str = "") -> NoReturn:
    """Raise what the calling thread's last slot call reported.

    A failure of earlier work (ASYNC) whose native code says that an index was out of range is the same mistake
    as on a device that notices at once, so it is the same exception. `launch` describes the launch that failed, where
    the call was one.
    """
    record = lib.it_last_error()
    text = last_message()
    name = STATUS_NAMES.get(status, f"status {status}")
    text = text or f"[{where}][{name}] the provider gave no reason"
    message = f"{text} (provider {provider!r})"
    if launch:
        message = f"{message}: launch {lib.it_last_tag()} was {launch}"
    if status == lib.ITP_E_ASYNC:
        tag = int(record.origin_tag)
        message = f"{message}: {_late(tag)}. What was computed from it since is undefined"
        if record.native_code == lib.ITP_E_OUT_OF_RANGE:
            raise errors.IndexOutOfRange(message)
        raise errors.AsyncError(message, tag=tag)
    raise _CLASSES.get(status, errors.DeviceError)(message)


def _late(tag: int) -> str:
    """Say which launch has failed, as far as it is known."""
    if not tag:
        return "the provider does not say in which launch"
    return launches.describe(tag) or f"in launch {tag}; INFINITRAIN_DEBUG_ASYNC=1 names its kernel, shapes and line"


def check(status: int, where: str, provider: str, launch: str = "") -> None:
    """Do nothing for OK, raise otherwise."""
    if status:
        raise_last(status, where, provider, launch)
