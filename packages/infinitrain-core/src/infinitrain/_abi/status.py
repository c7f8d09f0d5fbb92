"""A slot's status and error record as an exception."""

from __future__ import annotations

from typing import NoReturn

from infinitrain import errors
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


def raise_last(status: int, where: str, provider: str) -> NoReturn:
    """Raise what the calling thread's last slot call reported.

    A failure of earlier work (ASYNC) whose native code says that an index was out of range is the same mistake
    as on a device that notices at once, so it is the same exception.
    """
    record = lib.it_last_error()
    text = last_message()
    name = STATUS_NAMES.get(status, f"status {status}")
    text = text or f"[{where}][{name}] the provider gave no reason"
    message = f"{text} (provider {provider!r})"
    if status == lib.ITP_E_ASYNC:
        if record.native_code == lib.ITP_E_OUT_OF_RANGE:
            raise errors.IndexOutOfRange(message)
        raise errors.AsyncError(message, tag=int(record.origin_tag))
    raise _CLASSES.get(status, errors.DeviceError)(message)


def check(status: int, where: str, provider: str) -> None:
    """Do nothing for OK, raise otherwise."""
    if status:
        raise_last(status, where, provider)
