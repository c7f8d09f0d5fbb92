"""A small Python face of the raw contract: load a library, start it, call its slots, and get failures as exceptions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import cffi
from infinitrain_capi import cdef_text
from infinitrain_capi.table import KernelRow, load

from infinitrain.dtype import ALL, DType

__all__ = [
    "STATUS",
    "TABLE",
    "DeviceInfo",
    "Library",
    "Provider",
    "SlotError",
    "ffi",
    "find_library",
    "has",
    "text_of",
]

ffi = cffi.FFI()
ffi.cdef(cdef_text() + "\nconst itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor);")

STATUS = (
    *("OK", "INVALID_ARGUMENT", "UNIMPLEMENTED", "OUT_OF_MEMORY", "NOT_READY", "UNAVAILABLE", "DEVICE_LOST", "ASYNC"),
    *("TIMEOUT", "ABORTED", "FORKED", "VERSION", "INTERNAL", "OUT_OF_RANGE"),
)
TABLE: dict[str, KernelRow] = load()
GROUP = "infinitrain.providers"
MESSAGE_ROOM = 1024


class SlotError(Exception):
    """A slot answered with a status other than OK.

    Attributes:
        status: The status by name, as "OUT_OF_MEMORY".
        code: What the error record says the status was.
        message: The provider's text.
        tag: The tag of the launch or copy that failed.
        native: The vendor's own number.
    """

    def __init__(self, where: str, status: int, record: Any, message: str) -> None:
        self.where = where
        self.number = status
        self.status = STATUS[status] if 0 <= status < len(STATUS) else f"status {status}"
        self.code = int(record.code)
        self.tag = int(record.origin_tag)
        self.native = int(record.native_code)
        self.message = message
        super().__init__(f"{where} answered {self.status}: {message}")


def find_library(spec: str) -> Path:
    """Give the library's path for a path or the name of an installed provider.

    Raises: FileNotFoundError naming what is installed.
    """
    if os.sep in spec or spec.endswith(".so"):
        path = Path(spec)
        if path.is_file():
            return path.resolve()
        raise FileNotFoundError(f"provider library {spec}: expected a file, found none. Check the path")
    points = {point.name: point for point in metadata.entry_points(group=GROUP)}
    if spec not in points:
        known = ", ".join(sorted(points)) or "none"
        raise FileNotFoundError(
            f"provider {spec!r}: expected a library's path or an installed provider ({known}). "
            "Give the path, as ./libitp_acme.so, or install the provider's package"
        )
    return Path(points[spec].load()()).resolve()


def text_of(pointer: Any) -> str:
    """Read a NUL-terminated text; "" for NULL."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode()


def has(table: Any, ctype: str, field: str) -> bool:
    """Whether a table reaches as far as a field, and the field is not NULL."""
    if table == ffi.NULL:
        return False
    reach = ffi.offsetof(ctype, field) + ffi.sizeof(getattr(ffi.new(f"{ctype} *"), field))
    return int(table.struct_size) >= reach and bool(getattr(table, field))


class Library:
    """A provider library, opened and queried, not started."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lib: Any = ffi.dlopen(str(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
        self.table = self.query()
        if self.table == ffi.NULL:
            raise RuntimeError(f"{path}: the query gave NULL for ABI minor {self.minor}")
        self.name = text_of(self.table.name)
        self.kernels: dict[str, Any] = {}
        for i in range(self.table.kernels.count):
            kernel = self.table.kernels.items[i]
            if kernel != ffi.NULL:
                self.kernels.setdefault(text_of(kernel.name), kernel)

    @property
    def minor(self) -> int:
        """The minor version that this kit was written for."""
        return 0

    def query(self, minor: int | None = None) -> Any:
        """Ask for the provider's table."""
        return self.lib.infinitrain_provider_v1(self.minor if minor is None else minor)

    def offers(self, name: str, dtype: str | None = None) -> bool:
        """Whether a kernel of the table is there, as its row has it, for a dtype of T."""
        kernel, row = self.kernels.get(name), TABLE[name]
        if kernel is None or text_of(kernel.schema) != row.schema or kernel.op_version != row.version:
            return False
        return dtype is None or not row.dtypes or bool(kernel.dtype_mask >> bit_of(dtype) & 1)


def bit_of(dtype: str) -> int:
    """Give the position of a dtype, by its short name, in every mask."""
    return next(each.bit for each in ALL if each.short == dtype)


class DeviceInfo:
    """What device_info says of one device."""

    def __init__(self, raw: Any) -> None:
        self.dlpack_type = int(raw.dlpack_device_type)
        self.name = text_of(raw.name)
        self.total_memory = int(raw.total_memory)
        self.alignment = max(int(raw.min_alignment), 1)
        self.caps = int(raw.caps)
        self.storage_mask = int(raw.storage_dtype_mask)

    def stores(self, dtype: DType) -> bool:
        """Whether tensors of this dtype can lie on the device."""
        return bool(self.storage_mask >> dtype.bit & 1)


class Provider:
    """A started provider: every slot by name, failures as SlotError."""

    def __init__(self, library: Library, options: Mapping[str, object] | None = None, host: Any = None) -> None:
        self.library = library
        self.table = library.table
        self.self: Any = ffi.NULL
        self.keep: list[Any] = []
        out = ffi.new("void **")
        self.check("init", self.table.init, host or self.host(), self.config(options or {}), out)
        self.self = out[0]
        self.caps_of: dict[int, DeviceInfo] = {}

    def host(self) -> Any:
        """Make an itp_host without any function: all of them are optional."""
        host = ffi.new("itp_host *")
        version = ffi.new("char[]", b"conformance")
        host.struct_size, host.abi_minor, host.core_version = ffi.sizeof("itp_host"), self.library.minor, version
        self.keep += [host, version]
        return host

    def config(self, options: Mapping[str, object]) -> Any:
        """Make an itp_config of one process with these options set."""
        names = [ffi.new("char[]", name.encode()) for name in options]
        values = [ffi.new("char[]", str(value).encode()) for value in options.values()]
        config = ffi.new("itp_config *")
        arrays = ffi.new("const char *[]", names or [ffi.NULL]), ffi.new("const char *[]", values or [ffi.NULL])
        config.struct_size, config.world_size = ffi.sizeof("itp_config"), 1
        config.data_parallel = config.tensor_parallel = config.pipeline_parallel = config.context_parallel = 1
        config.option_names, config.option_values, config.n_options = arrays[0], arrays[1], len(names)
        self.keep += [names, values, arrays, config]
        return config

    @staticmethod
    def check(where: str, function: Callable[..., int], *arguments: object) -> None:
        """Call a slot with an error record behind its arguments.

        Raises: SlotError unless the status is OK.
        """
        record, message = new_error()
        status = function(*arguments, record)
        if status:
            raise SlotError(where, status, record, text_of(message))

    def slot(self, table: str, name: str) -> Any:
        """Give a slot's function pointer; NULL where an optional one, or its table, is absent."""
        pointer = getattr(self.table, table)
        return getattr(pointer, name) if has(pointer, f"itp_{table}", name) else ffi.NULL

    def runtime(self, name: str, *arguments: object) -> None:
        """Call a slot of the runtime table."""
        self.check(name, getattr(self.table.runtime, name), self.self, *arguments)

    def guard(self, name: str, *arguments: object) -> None:
        """Call a slot of the guard table."""
        self.check(name, getattr(self.table.guard, name), self.self, *arguments)

    def shutdown(self) -> None:
        """End the provider; nothing of it may be used afterwards."""
        handle, self.self = self.self, ffi.NULL
        if has(self.table, "itp_provider", "shutdown"):
            self.check("shutdown", self.table.shutdown, handle, 0)

    def device_count(self) -> int:
        """Count the devices."""
        out = ffi.new("int32_t *")
        self.runtime("device_count", out)
        return int(out[0])

    def info(self, device: int) -> DeviceInfo:
        """Describe a device; asked once."""
        if device not in self.caps_of:
            raw = ffi.new("itp_device_info *")
            raw.struct_size = ffi.sizeof("itp_device_info")
            self.runtime("device_info", device, raw)
            self.caps_of[device] = DeviceInfo(raw)
        return self.caps_of[device]

    def alloc(self, nbytes: int, device: int, stream: Any = ffi.NULL, kind: int = 0) -> int:
        """Allocate; gives the address."""
        out = ffi.new("void **")
        self.runtime("alloc", device, kind, nbytes, stream, out)
        return int(ffi.cast("uintptr_t", out[0]))

    def dealloc(self, address: int, nbytes: int, device: int, stream: Any = ffi.NULL, kind: int = 0) -> None:
        """Give memory back."""
        self.runtime("dealloc", device, kind, ffi.cast("void *", address), nbytes, stream)

    def mem_info(self, device: int) -> tuple[int, int] | None:
        """Give free and total bytes, None where the slot is absent."""
        if self.slot("runtime", "mem_info") == ffi.NULL:
            return None
        free, total = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        self.runtime("mem_info", device, free, total)
        return int(free[0]), int(total[0])

    def copy(
        self,
        dst: int,
        dst_device: int,
        src: int,
        src_device: int,
        nbytes: int,
        stream: Any = ffi.NULL,
        flags: int = 0,
        tag: int = 0,
    ) -> None:
        """Copy bytes between addresses; ITP_DEVICE_HOST (-1) is the host's side."""
        request = ffi.new("itp_copy *")
        request.struct_size, request.flags, request.bytes = ffi.sizeof("itp_copy"), flags, nbytes
        request.dst, request.src = ffi.cast("void *", dst), ffi.cast("void *", src)
        request.dst_device, request.src_device, request.stream, request.tag = dst_device, src_device, stream, tag
        self.runtime("copy", request)

    def sync(self, device: int, stream: Any = ffi.NULL) -> None:
        """Wait for a stream."""
        self.guard("stream_sync", device, stream)


def new_error(room: int = MESSAGE_ROOM) -> tuple[Any, Any]:
    """Make an error record and its message's memory."""
    message = ffi.new("char[]", room)
    record = ffi.new("itp_error *")
    record.struct_size, record.message, record.message_capacity = ffi.sizeof("itp_error"), message, room
    return record, message
