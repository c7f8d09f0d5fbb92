"""The Python face of one loaded provider: its description, its kernels and its slots as methods."""

from __future__ import annotations

import difflib
import logging
import threading
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from infinitrain_capi.table import KernelRow

from infinitrain import config
from infinitrain._abi.status import check, raise_last
from infinitrain._native import ffi, lib
from infinitrain.errors import InfinitrainError, OptionError, ProviderUnavailable

__all__ = ["DeviceInfo", "Kernel", "Option", "Provider"]

#: Why a provider is shut down: the process ends in order.
SHUTDOWN_AT_EXIT = 0


@dataclass(frozen=True, slots=True)
class Option:
    """A setting that a provider declares."""

    name: str
    default: str
    help: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of one provider, ready to be launched."""

    row: KernelRow
    record: Any
    dtype_mask: int
    flags: int
    n_outputs: int
    n_tensors: int
    n_attrs: int
    all_required: bool

    @property
    def takes_strides(self) -> bool:
        """Whether operands may have the strides that the table's layout rule allows."""
        return bool(self.flags & lib.ITP_K_STRIDED)


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What a provider says of one device. Sizes in bytes, masks over ITP_DT_* bits."""

    name: str
    uuid: str
    total_memory: int
    min_alignment: int
    dlpack_device_type: int
    compute_dtype_mask: int
    storage_dtype_mask: int
    autocast_dtype: tuple[int, int]
    caps: int
    max_collective_bytes: int

    @property
    def host_readable(self) -> bool:
        """Whether the host may read and write the device's memory."""
        return bool(self.caps & lib.ITP_CAP_HOST_READABLE)

    @property
    def pinned(self) -> bool:
        """Whether the provider gives pinned host memory."""
        return bool(self.caps & lib.ITP_CAP_PINNED)

    @property
    def timing_events(self) -> bool:
        """Whether events can say how long the device needed."""
        return bool(self.caps & lib.ITP_CAP_TIMING_EVENTS)


@dataclass(slots=True, eq=False)
class Provider:
    """A library that has passed negotiation. It is started (`init`) at the first call that needs a device."""

    name: str
    vendor: str
    version: str
    build_info: str
    path: str
    abi_minor: int
    flags: int
    options: dict[str, Option]
    kernels: dict[str, Kernel]
    notes: list[str]
    has_ccl: bool
    has_graphs: bool
    native: Any
    keep_alive: list[Any] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    #: Providers whose name begins with this one's: their variables are not this one's options.
    rivals: frozenset[str] = frozenset()
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _started: bool = False
    _failure: InfinitrainError | None = None
    _device_count: int = -1
    _infos: dict[int, DeviceInfo] = field(default_factory=dict)
    _devices: dict[int, Any] = field(default_factory=dict)

    # ---- life ----

    @property
    def started(self) -> bool:
        """Whether `init` has succeeded."""
        return self._started

    @property
    def forked(self) -> bool:
        """Whether it was started in a process that this one was forked from: nothing of it can be used here."""
        return bool(lib.it_forked(self.native))

    @property
    def failure(self) -> InfinitrainError | None:
        """Why `init` failed, if it did."""
        return self._failure

    def configure(self, options: dict[str, object]) -> None:
        """Set options before the provider starts.

        Raises: OptionError for an unknown name, or when the provider is already running.
        """
        for name in options:
            if name not in self.options:
                raise OptionError(f"provider {self.name!r} has no option {name!r}: {self._known_options(name)}")
        if self._started:
            raise OptionError(
                f"provider {self.name!r} is already running: expected options to be set before the device's first use"
            )
        self.settings.update({name: _option_text(value) for name, value in options.items()})

    def _known_options(self, wrong: str) -> str:
        close = difflib.get_close_matches(wrong, self.options, n=1)
        guess = f". Did you mean {close[0]!r}?" if close else ""
        return f"expected one of: {', '.join(sorted(self.options)) or 'none'}{guess}"

    def start(self) -> None:
        """Run `init` once; a failure is kept and raised unchanged by every later call."""
        if self._started:
            return
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._started:
                return
            try:
                self._init()
            except InfinitrainError as failure:
                self._failure = failure
                raise
            self._started = True

    def _init(self) -> None:
        environment = config.provider_options(self.name, self.rivals)
        unknown = sorted(set(environment) - set(self.options))
        if unknown:
            variables = ", ".join(f"{config.PREFIX}{self.name.upper()}_{name.upper()}" for name in unknown)
            raise OptionError(
                f"provider {self.name!r} has no option for {variables}: {self._known_options(unknown[0])}"
            )
        settings = {**environment, **self.settings}
        names = [ffi.new("char[]", name.encode()) for name in settings]
        values = [ffi.new("char[]", value.encode()) for value in settings.values()]
        native = ffi.new("itp_config *")
        native.struct_size = ffi.sizeof("itp_config")
        for size in (
            "world_size",
            "data_parallel",
            "tensor_parallel",
            "pipeline_parallel",
            "context_parallel",
        ):
            setattr(native, size, 1)
        name_array, value_array = ffi.new("char *[]", names), ffi.new("char *[]", values)
        native.option_names, native.option_values = name_array, value_array
        native.n_options = len(settings)
        version = ffi.new("char[]", metadata.version("infinitrain-core").encode())
        self.keep_alive.append(version)
        self.native.host.core_version = version
        status = lib.it_init(self.native, native)
        self.drain_log()
        if status == lib.ITP_E_FORKED:
            raise_last(status, "init", self.name)
        if status:
            try:
                raise_last(status, "init", self.name)
            except InfinitrainError as reason:
                raise ProviderUnavailable(
                    f"device {self.name!r} cannot be used: {reason}. `infinitrain providers --explain` tells more"
                ) from None

    def settle(self, milliseconds: int) -> bool:
        """Wait for all devices at the end of the process, not longer than that; False where one is still busy."""
        for index in range(max(self._device_count, 0)):
            device = self._devices.get(index)
            if device is not None and lib.it_device_sync_within(device, milliseconds) == lib.ITP_E_TIMEOUT:
                return False
        return True

    def abandon(self) -> None:
        """Enter the provider no more; what it holds is the operating system's."""
        self.native.life = lib.IT_ENDED
        self._started = False

    def renew_lock(self) -> None:
        """In a forked child: a thread that is not here may have held it."""
        self._lock = threading.Lock()

    def shutdown(self) -> None:
        """End the provider; in a forked child nothing is called."""
        if self._started and not self.forked:
            lib.it_shutdown(self.native, SHUTDOWN_AT_EXIT)
            self.drain_log()
        self._started = False

    def drain_log(self) -> None:
        """Hand the lines that providers have logged to Python's logging."""
        level, text = ffi.new("int32_t *"), ffi.new("char[600]")
        while lib.it_next_log(level, text, 600):
            source, _, line = ffi.string(text).decode(errors="replace").partition("\t")
            logging.getLogger(f"infinitrain.provider.{source}").log(level[0] * 10 + 10, "%s", line)

    # ---- devices ----

    def check(self, status: int, where: str, launch: str = "") -> None:
        """Raise what a slot reported unless it is OK; `launch` describes a launch that failed."""
        if status:
            raise_last(status, where, self.name, launch)

    def device_count(self) -> int:
        """Count the devices, starting the provider."""
        if self._device_count < 0:
            self.start()
            count = ffi.new("int32_t *")
            self.check(lib.it_device_count(self.native, count), "device_count")
            self._device_count = int(count[0])
        return self._device_count

    def device_native(self, index: int) -> Any:
        """Give what the C side knows a device by (`it_device *`); it stays for the life of the provider."""
        found = self._devices.get(index)
        if found is None:
            info = self.device_info(index)
            # Only a power of two is an alignment; with anything else nothing is assumed.
            alignment = info.min_alignment if info.min_alignment.bit_count() == 1 else 1
            device = ffi.new("it_device *", (self.native, info.dlpack_device_type, index, alignment))
            found = self._devices.setdefault(index, device)
        return found

    def device_info(self, index: int) -> DeviceInfo:
        """Describe one device."""
        found = self._infos.get(index)
        if found is None:
            self.start()
            out = ffi.new("itp_device_info *")
            self.check(lib.it_device_info(self.native, index, out), "device_info")
            found = self._infos[index] = DeviceInfo(
                name=ffi.string(out.name).decode(errors="replace"),
                uuid=ffi.string(out.uuid).decode(errors="replace"),
                total_memory=out.total_memory,
                min_alignment=max(int(out.min_alignment), 1),
                dlpack_device_type=out.dlpack_device_type,
                compute_dtype_mask=out.compute_dtype_mask,
                storage_dtype_mask=out.storage_dtype_mask,
                autocast_dtype=(out.autocast_dtype.code, out.autocast_dtype.bits),
                caps=out.caps,
                max_collective_bytes=out.max_collective_bytes,
            )
        return found

    def memory_info(self, index: int) -> tuple[int, int]:
        """Give (free, total) bytes of a device; zeros where the provider cannot tell."""
        self.start()
        free, total = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        status = lib.it_mem_info(self.native, index, free, total)
        if status == lib.ITP_E_UNIMPLEMENTED:
            return 0, self.device_info(index).total_memory
        check(status, "mem_info", self.name)
        return int(free[0]), int(total[0])


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)
