"""Every error that infinitrain raises.

    InfinitrainError
    ├── ProviderError
    │   ├── ProviderNotFound (LookupError)        no library of that name
    │   ├── ProviderLoadError (OSError)           a library that cannot serve; lists every problem
    │   │   └── AbiMismatch                       built for another major version of the contract
    │   └── ProviderUnavailable (RuntimeError)    a good library whose device or driver is not there
    ├── DeviceError (RuntimeError)
    │   ├── DeviceNotFound (ValueError)           unknown name, index or spelling
    │   ├── OutOfMemory (MemoryError)
    │   ├── DeviceLost
    │   ├── ForkedError                           used in a child of the process that started it
    │   └── AsyncError                            failed earlier, reported now
    ├── KernelError (RuntimeError)
    │   └── KernelNotFound (NotImplementedError)
    ├── ShapeError (ValueError)
    ├── DTypeError (TypeError)
    ├── DeviceMismatch (RuntimeError)             operands live on different devices
    ├── IndexOutOfRange (IndexError)
    ├── ReadOnlyError (ValueError)                memory that its owner does not let be written
    ├── AutogradError (RuntimeError)
    ├── CaptureError (RuntimeError)               what a compiled function cannot repeat
    ├── CheckpointError (RuntimeError)
    ├── UndefinedState (RuntimeError)             a step failed half-way: what it left behind is of no use
    ├── DataError (ValueError)
    ├── TrainingDiverged (ArithmeticError)        the loss is not a number any more
    └── ConfigError (ValueError)
        └── OptionError                           unknown or malformed provider option

Each is also the built-in exception that a caller would expect. Texts read:
*what failed: expected ..., found .... What to do.*
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "AbiMismatch",
    "AsyncError",
    "AutogradError",
    "CaptureError",
    "CheckpointError",
    "ConfigError",
    "DTypeError",
    "DataError",
    "DeviceError",
    "DeviceLost",
    "DeviceMismatch",
    "DeviceNotFound",
    "ForkedError",
    "IndexOutOfRange",
    "InfinitrainError",
    "KernelError",
    "KernelNotFound",
    "OptionError",
    "OutOfMemory",
    "ProviderError",
    "ProviderLoadError",
    "ProviderNotFound",
    "ProviderUnavailable",
    "ReadOnlyError",
    "ShapeError",
    "TrainingDiverged",
    "UndefinedState",
]


class InfinitrainError(Exception):
    """The root: catch this to catch everything that infinitrain raises on purpose."""


class ProviderError(InfinitrainError):
    """A provider library could not be found, loaded or started."""


class ProviderNotFound(ProviderError, LookupError):
    """No provider of that name is installed, listed in the environment or loaded by path."""

    __str__ = Exception.__str__  # LookupError's families quote their argument


class ProviderLoadError(ProviderError, OSError):
    """A library was found and cannot serve.

    Attributes:
        path: The library's file.
        problems: Everything that is wrong with it, one sentence each.
        kind: What sort of failure it is, in a few words that do not change ("undefined symbol").
    """

    def __init__(self, message: str, path: str = "", problems: Sequence[str] = (), kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.path = path
        self.problems = list(problems) or [message]


class AbiMismatch(ProviderLoadError):
    """The library speaks another major version of the contract."""


class ProviderUnavailable(ProviderError, RuntimeError):
    """The library is fine, its device is not to be had: no driver, no hardware, no permission."""


class DeviceError(InfinitrainError, RuntimeError):
    """A device could not do what was asked."""


class DeviceNotFound(DeviceError, ValueError):
    """A device's name is unknown, misspelt or its index out of range."""


class OutOfMemory(DeviceError, MemoryError):
    """Device memory ran out, after caches were given back.

    Attributes:
        requested: Bytes asked for.
        free: Bytes free on the device.
        total: Bytes that the device has.
        cached: Bytes that the core's own cache still held.
    """

    def __init__(self, message: str, requested: int = 0, free: int = 0, total: int = 0, cached: int = 0) -> None:
        super().__init__(message)
        self.requested = requested
        self.free = free
        self.total = total
        self.cached = cached


class DeviceLost(DeviceError):
    """The device is gone for this process; nothing on it can be used any more."""


class ForkedError(DeviceError):
    """A provider that the parent process had started was used in a forked child."""


class AsyncError(DeviceError):
    """Work that was handed over earlier has failed; `tag` is that of the launch."""

    def __init__(self, message: str, tag: int = 0) -> None:
        super().__init__(message)
        self.tag = tag


class KernelError(InfinitrainError, RuntimeError):
    """A kernel refused a launch."""


class KernelNotFound(KernelError, NotImplementedError):
    """The device's provider has no such kernel for these dtypes."""


class ShapeError(InfinitrainError, ValueError):
    """Shapes, strides or sizes do not fit."""


class DTypeError(InfinitrainError, TypeError):
    """Element types do not fit."""


class DeviceMismatch(InfinitrainError, RuntimeError):
    """Operands of one operation live on different devices."""


class IndexOutOfRange(InfinitrainError, IndexError):
    """An index is outside the size of its dimension."""


class ReadOnlyError(InfinitrainError, ValueError):
    """A tensor over memory that its owner keeps read-only was written."""


class AutogradError(InfinitrainError, RuntimeError):
    """A gradient was asked for that cannot be computed."""


class CaptureError(InfinitrainError, RuntimeError):
    """A function does what a recorded program cannot repeat, such as looking at a device's values."""


class CheckpointError(InfinitrainError, RuntimeError):
    """A checkpoint is missing, damaged or of another model."""


class UndefinedState(InfinitrainError, RuntimeError):
    """An optimizer's step failed half-way, and it is to be used before a checkpoint was loaded."""


class DataError(InfinitrainError, ValueError):
    """Training data or a vocabulary is missing, damaged or does not fit the model."""


class TrainingDiverged(InfinitrainError, ArithmeticError):
    """The loss or the gradient's norm became infinite or NaN."""


class ConfigError(InfinitrainError, ValueError):
    """A setting is unknown, malformed or contradicts another."""


class OptionError(ConfigError):
    """A provider option is unknown or malformed."""
