"""Drive the library by the contract alone: cffi on the header's own text, no core in between."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cffi
import infinitrain_capi
import infinitrain_fake
import ml_dtypes
import numpy as np
from infinitrain_capi.table import load

LIBRARY = os.environ.get("INFINITRAIN_TEST_LIBRARY_FAKE") or infinitrain_fake.library_path()
PROBE = """
typedef struct fake_probe {
  uint32_t struct_size; uint32_t reserved0;
  int32_t (*current_device)(void);
  void (*touch)(void *self, int32_t device, void *ptr, int32_t byte);
  int32_t (*peek)(void *self, int32_t device, const void *ptr);
} fake_probe;
const itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor);
"""
NUMPY = {
    "bool": np.dtype(bool),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
}
NAMES = {dtype: name for name, dtype in NUMPY.items()}
CODES = {"bool": 6, "bf16": 4, "u": 1, "i": 0, "f": 2}
STATUS_NAMES = [
    "OK",
    "INVALID_ARGUMENT",
    "UNIMPLEMENTED",
    "OUT_OF_MEMORY",
    "NOT_READY",
    "UNAVAILABLE",
    "DEVICE_LOST",
    "ASYNC",
    "TIMEOUT",
    "ABORTED",
    "FORKED",
    "VERSION",
    "INTERNAL",
    "OUT_OF_RANGE",
]

ffi = cffi.FFI()
ffi.cdef(infinitrain_capi.cdef_text() + PROBE)
lib = ffi.dlopen(LIBRARY, ffi.RTLD_NOW | ffi.RTLD_LOCAL)
provider = lib.infinitrain_provider_v1(0)
TABLE = load()


class StatusError(Exception):
    """A status that is not OK."""

    def __init__(self, status: int, message: str, tag: int, native: int) -> None:
        super().__init__(message)
        self.name = STATUS_NAMES[status]
        self.tag = tag
        self.native = native


@dataclass
class Tensor:
    """A descriptor of memory on a device, with what it points at kept alive."""

    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int = 0
    strides: tuple[int, ...] | None = None
    offset: int = 0  # elements
    device_type: int = 12
    keep: list[Any] = field(default_factory=list)

    def view(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Tensor:
        return Tensor(self.pointer, tuple(shape), self.dtype, self.device, tuple(strides), offset, self.device_type)

    def descriptor(self) -> Any:
        name = NAMES[self.dtype]
        t = ffi.new("itp_tensor *")
        t.data = ffi.cast("void *", self.pointer)
        t.device_type, t.device_id, t.ndim = self.device_type, self.device, len(self.shape)
        t.dtype.code, t.dtype.lanes = CODES.get(name, CODES.get(name[0], 0)), 1
        t.dtype.bits = 8 * self.dtype.itemsize
        t.byte_offset = self.offset * self.dtype.itemsize
        shape = ffi.new("int64_t[]", list(self.shape))
        self.keep += [shape, t]
        if self.shape:
            t.shape = shape
        if self.strides is not None:
            strides = ffi.new("int64_t[]", list(self.strides))
            self.keep.append(strides)
            t.strides = strides
        return t


class Fake:
    """One initialised instance of the provider."""

    def __init__(self, host: Any = ffi.NULL, **options: object) -> None:
        names = [ffi.new("char[]", name.encode()) for name in options]
        values = [ffi.new("char[]", str(value).encode()) for value in options.values()]
        config = ffi.new("itp_config *")
        config.struct_size = ffi.sizeof("itp_config")
        name_array, value_array = ffi.new("const char *[]", names), ffi.new("const char *[]", values)
        config.option_names, config.option_values, config.n_options = name_array, value_array, len(names)
        out = ffi.new("void **")
        self.check(provider.init, host, config, out)
        self.self = out[0]
        self.kernels = {
            ffi.string(provider.kernels.items[i].name).decode(): provider.kernels.items[i]
            for i in range(provider.kernels.count)
        }

    @staticmethod
    def check(function: Callable[..., int], *arguments: object) -> None:
        message = ffi.new("char[512]")
        error = ffi.new("itp_error *")
        error.struct_size, error.message, error.message_capacity = ffi.sizeof("itp_error"), message, 512
        status = function(*arguments, error)
        if status:
            raise StatusError(status, ffi.string(message).decode(), error.origin_tag, error.native_code)

    def runtime(self, slot: str, *arguments: object) -> None:
        self.check(getattr(provider.runtime, slot), self.self, *arguments)

    def guard(self, slot: str, *arguments: object) -> None:
        self.check(getattr(provider.guard, slot), self.self, *arguments)

    def close(self) -> None:
        if self.self != ffi.NULL:
            handle, self.self = self.self, ffi.NULL
            self.check(provider.shutdown, handle, 0)

    @property
    def probe(self) -> Any:
        return ffi.cast("const fake_probe *", provider.get_extension(self.self, b"fake.probe", 1))

    def alloc(self, nbytes: int, device: int = 0, stream: Any = ffi.NULL, kind: int = 0) -> int:
        out = ffi.new("void **")
        self.runtime("alloc", device, kind, nbytes, stream, out)
        return int(ffi.cast("uintptr_t", out[0]))

    def dealloc(self, pointer: int, nbytes: int, device: int = 0, stream: Any = ffi.NULL, kind: int = 0) -> None:
        self.runtime("dealloc", device, kind, ffi.cast("void *", pointer), nbytes, stream)

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
        request = ffi.new("itp_copy *")
        request.struct_size, request.flags, request.bytes = ffi.sizeof("itp_copy"), flags, nbytes
        request.dst, request.src = ffi.cast("void *", dst), ffi.cast("void *", src)
        request.dst_device, request.src_device, request.stream, request.tag = dst_device, src_device, stream, tag
        self.runtime("copy", request)

    def empty(self, shape: Sequence[int], dtype: Any, device: int = 0, stream: Any = ffi.NULL) -> Tensor:
        dtype = np.dtype(dtype)
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        pointer = self.alloc(nbytes, device, stream) if nbytes else 0
        return Tensor(pointer, tuple(shape), dtype, device)

    def put(self, array: Any, device: int = 0) -> Tensor:
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        t = self.empty(array.shape, array.dtype, device)
        if array.nbytes:
            self.copy(t.pointer, device, array.ctypes.data, -1, array.nbytes)
        return t

    def get(self, t: Tensor) -> np.ndarray[Any, Any]:
        """Download a compact tensor."""
        array = np.empty(t.shape, t.dtype)
        if array.nbytes:
            self.copy(array.ctypes.data, -1, t.pointer + t.offset * t.dtype.itemsize, t.device, array.nbytes)
        return array

    def launch(
        self,
        name: str,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[Tensor | None],
        *,
        stream: Any = ffi.NULL,
        tag: int = 0,
        device: int | None = None,
        **attributes: object,
    ) -> None:
        request, keep = self.request(name, inputs, outputs, stream=stream, tag=tag, device=device, **attributes)
        self.check(self.kernels[name].launch, self.self, request)
        del keep

    def request(
        self,
        name: str,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[Tensor | None],
        *,
        stream: Any = ffi.NULL,
        tag: int = 0,
        device: int | None = None,
        **attributes: object,
    ) -> Any:
        row = TABLE[name]
        ins = [t.descriptor() if t else ffi.NULL for t in inputs]
        outs = [t.descriptor() if t else ffi.NULL for t in outputs]
        attrs = ffi.new("itp_value[]", max(len(row.attributes), 1))
        for slot, attribute in zip(attrs, row.attributes, strict=False):
            value = attributes.pop(attribute.name, attribute.default)
            kind = attribute.kind
            if kind == "scalar":
                kind = "bool" if isinstance(value, bool) else "f64" if isinstance(value, float) else "i64"
            slot.kind = {"i64": 1, "f64": 2, "bool": 3}[kind]
            if kind == "f64":
                slot.u.d = value
            else:
                slot.u.i = int(value)
        assert not attributes
        request = ffi.new("itp_launch *")
        in_array = ffi.new("const itp_tensor *[]", ins or [ffi.NULL])
        out_array = ffi.new("itp_tensor *[]", outs or [ffi.NULL])
        request.struct_size, request.stream, request.tag = ffi.sizeof("itp_launch"), stream, tag
        request.inputs, request.outputs, request.attrs = in_array, out_array, attrs
        request.n_inputs, request.n_outputs, request.n_attrs = len(ins), len(outs), len(row.attributes)
        request.kernel = self.kernels[name]
        tensors = [t for t in (*inputs, *outputs) if t]
        request.device = device if device is not None else (tensors[0].device if tensors else 0)
        return request, (ins, outs, attrs, in_array, out_array, list(inputs), list(outputs))

    def run(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any], **attributes: object) -> list[Any]:
        """Upload, launch, download. `outputs` are (shape, dtype) of new ones, arrays of those that are also read."""
        ins = [None if x is None else self.put(np.asarray(x)) for x in inputs]
        outs = [None if y is None else self.put(y) if isinstance(y, np.ndarray) else self.empty(*y) for y in outputs]
        self.launch(name, ins, outs, **attributes)
        return [None if t is None else self.get(t) for t in outs]

    def stream(self, device: int = 0) -> Any:
        out = ffi.new("itp_stream *")
        self.guard("stream_create", device, 0, 0, out)
        return out[0]

    def event(self, device: int = 0, flags: int = 0) -> Any:
        out = ffi.new("itp_event *")
        self.guard("event_create", device, flags, out)
        return out[0]


def dtypes_of(name: str) -> tuple[str, ...]:
    """Give the dtypes of a kernel's T."""
    return TABLE[name].dtypes
