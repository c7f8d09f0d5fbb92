"""Build and run launches: tensors in device memory, attributes by the table, everything kept alive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import from_numpy
from infinitrain.testing.conformance.driver import Provider, ffi, new_error
from infinitrain.testing.conformance.layout import Array, Placement, place

__all__ = ["DeviceArray", "Request", "download", "fill_value"]

HOST = -1


class DeviceArray:
    """A tensor in device memory: in its own block, or in a part of one that somebody else owns.

    A block of 0 bytes has address 0: the contract never asks for one.
    """

    def __init__(self, provider: Provider, device: int, placement: Placement, address: int | None = None) -> None:
        self.provider, self.device, self.placement = provider, device, placement
        self.nbytes = placement.block.nbytes
        self.owned = address is None
        if address is not None:
            self.address = address
            return
        self.address = provider.alloc(self.nbytes, device) if self.nbytes else 0
        if self.nbytes:
            provider.copy(self.address, device, placement.block.ctypes.data, HOST, self.nbytes)

    @classmethod
    def of(cls, provider: Provider, device: int, array: Array, how: str = "compact", poison: int = 0xFF) -> DeviceArray:
        """Lay an array out on the host and upload it to a block of its own."""
        return cls(provider, device, place(np.asarray(array), how, poison))

    def block(self) -> Array:
        """Download all bytes."""
        return download(self.provider, self.device, self.address, self.nbytes)

    def numpy(self) -> Array:
        """Download the elements."""
        return self.placement.view(self.block()).copy()

    def free(self) -> None:
        """Give the memory back."""
        if self.address and self.owned:
            self.provider.dealloc(self.address, self.nbytes, self.device)
            self.address = 0

    def tensor(self, keep: list[Any]) -> Any:
        """Write the descriptor."""
        place, dtype = self.placement, from_numpy(self.placement.dtype)
        t = ffi.new("itp_tensor *")
        t.data, t.byte_offset, t.nbytes = ffi.cast("void *", self.address), place.offset, self.nbytes
        t.device_type, t.device_id = self.provider.info(self.device).dlpack_type, self.device
        t.ndim = len(place.shape)
        t.dtype.code, t.dtype.bits, t.dtype.lanes = dtype.code, dtype.bits, 1
        if place.shape:
            shape = ffi.new("int64_t[]", list(place.shape))
            keep.append(shape)
            t.shape = shape
            if place.strides is not None:
                strides = ffi.new("int64_t[]", list(place.strides))
                keep.append(strides)
                t.strides = strides
        keep.append(t)
        return t


def fill_value(slot: Any, kind: str, value: object) -> None:
    """Write one attribute as the kind that the table names; a scalar as what it is in Python."""
    if kind == "scalar":
        kind = "bool" if isinstance(value, bool) else "f64" if isinstance(value, float) else "i64"
    if kind not in ("i64", "f64", "bool"):
        raise ValueError(f"attribute kind {kind!r}: expected i64, f64, bool or scalar. Teach launch.py to write it")
    slot.kind = {"i64": 1, "f64": 2, "bool": 3}[kind]
    if kind == "f64":
        slot.u.d = value
    else:
        slot.u.i = value


def download(provider: Provider, device: int, address: int, nbytes: int) -> Array:
    """Copy bytes of a device to the host."""
    found = np.empty(nbytes, np.uint8)
    if nbytes:
        provider.copy(found.ctypes.data, HOST, address, device, nbytes)
    return found


class Request:
    """One itp_launch with everything that it points at."""

    def __init__(
        self,
        provider: Provider,
        row: KernelRow,
        inputs: Sequence[DeviceArray | None],
        outputs: Sequence[DeviceArray | None],
        attributes: Sequence[object],
        *,
        device: int,
        stream: Any = ffi.NULL,
        tag: int = 0,
    ) -> None:
        self.provider, self.row, self.device, self.stream = provider, row, device, stream
        self.kernel = provider.library.kernels[row.name]
        self.keep: list[Any] = []
        self.inputs = ffi.new("const itp_tensor *[]", len(inputs) + 1)  # one more: for launches with wrong counts
        self.outputs = ffi.new("itp_tensor *[]", len(outputs) + 1)
        for i, array in enumerate(inputs):
            self.inputs[i] = ffi.NULL if array is None else array.tensor(self.keep)
        for i, array in enumerate(outputs):
            self.outputs[i] = ffi.NULL if array is None else array.tensor(self.keep)
        self.attrs = ffi.new("itp_value[]", len(attributes) + 1)
        for slot, attribute, value in zip(self.attrs, row.attributes, attributes, strict=False):
            fill_value(slot, attribute.kind, value)
        self.raw = ffi.new("itp_launch *")
        self.raw.struct_size, self.raw.device, self.raw.stream = ffi.sizeof("itp_launch"), device, stream
        self.raw.inputs, self.raw.outputs, self.raw.attrs = self.inputs, self.outputs, self.attrs
        self.raw.n_inputs, self.raw.n_outputs = len(inputs), len(outputs)
        self.raw.n_attrs = len(row.attributes)
        self.raw.tag, self.raw.kernel = tag, self.kernel
        self.workspace = 0

    def supported(self) -> bool:
        """Ask the kernel whether it can do this launch."""
        if self.kernel.supports == ffi.NULL:
            return True
        return int(self.kernel.supports(self.provider.self, self.raw, ffi.NULL)) == 0

    def workspace_size(self) -> int:
        """Ask the kernel how much workspace this launch needs."""
        if self.kernel.workspace == ffi.NULL:
            return 0
        out = ffi.new("uint64_t *")
        self.provider.check(self.row.name, self.kernel.workspace, self.provider.self, self.raw, out)
        return int(out[0])

    def take_workspace(self) -> None:
        """Allocate what the kernel asks for."""
        size = self.workspace_size()
        if size:
            self.workspace = self.provider.alloc(size, self.device, self.stream)
            self.raw.workspace, self.raw.workspace_size = ffi.cast("void *", self.workspace), size

    def launch(self) -> None:
        """Call the kernel; it may still be at work afterwards.

        Raises: SlotError.
        """
        self.provider.check(self.row.name, self.kernel.launch, self.provider.self, self.raw)

    def status(self) -> tuple[int, Any, str]:
        """Call the kernel and give status, error record and message."""
        record, message = new_error()
        status = int(self.kernel.launch(self.provider.self, self.raw, record))
        return status, record, ffi.string(message).decode()

    def free(self) -> None:
        """Give the workspace back."""
        if self.workspace:
            self.provider.dealloc(self.workspace, int(self.raw.workspace_size), self.device, self.stream)
            self.workspace = 0
