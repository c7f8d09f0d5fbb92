"""The one copy router: the only place that moves bytes between devices and to and from NumPy.

Each leg of a copy is run by the provider that owns the device side of that leg, on its device, in its current stream.
Between devices of one provider there is one leg. Between two providers there are two, through host memory; a device
whose memory the host can read is host memory already and needs no leg of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infinitrain import dtype as dtypes
from infinitrain import recording
from infinitrain._native import lib
from infinitrain.device import Device
from infinitrain.dispatch import launch
from infinitrain.dtype import DType
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.memory import allocate, wrap_host
from infinitrain.stream import current_stream
from infinitrain.strided import Strided, compact_strides

__all__ = ["copy_", "from_numpy", "host_view", "share_numpy", "to_numpy", "write_numpy"]


def copy_(destination: Strided, source: Strided) -> None:
    """Copy elements between any two layouts and devices; shapes and dtypes are equal.

    When the call returns, the source may change: host memory has been read.

    Raises: ShapeError, DTypeError if they differ, or if the destination overlaps itself.
    """
    if destination.shape != source.shape:
        raise ShapeError(f"copy: expected equal shapes, found {source.shape} into {destination.shape}")
    if destination.dtype is not source.dtype:
        raise DTypeError(f"copy: expected equal dtypes, found {source.dtype.name} into {destination.dtype.name}")
    if not source.numel():
        return
    if destination.device == source.device:
        launch("Copy", (source,), (destination,))
        return
    if recording.listener is not None:
        recording.listener.host_read(f"a copy from {source.device} to {destination.device}")
    compact_source = _compact(source)
    if destination.is_contiguous():
        _move(destination, compact_source)
    else:
        landing = Strided._empty(destination.shape, destination.dtype, destination.device)
        _move(landing, compact_source)
        launch("Copy", (landing,), (destination,))


def to_numpy(source: Strided) -> npt.NDArray[Any]:
    """Copy a tensor into a new NumPy array; waits for the device.

    bfloat16 becomes NumPy's `ml_dtypes.bfloat16`.
    """
    if recording.listener is not None:
        recording.listener.host_read("the host reads a tensor")
    result = np.empty(source.shape, source.dtype.numpy)
    if source.numel():
        compact = _compact(source)
        _leg(_address(compact), None, result.ctypes.data, compact.nbytes, compact.device, to_host=True)
    return result


def from_numpy(
    array: npt.NDArray[Any], device: Device, dtype: DType | None = None, cls: type[Strided] = Strided
) -> Any:
    """Copy a NumPy array of any layout to a device, as an instance of `cls`.

    Raises: DTypeError for an element type that tensors do not have.
    """
    wanted = dtype.numpy if dtype is not None else array.dtype.newbyteorder("=")
    host = np.ascontiguousarray(array, dtype=wanted).reshape(array.shape)
    result = cls._empty(host.shape, dtypes.from_numpy(host.dtype), device)
    if host.nbytes:
        _leg(host.ctypes.data, None, _address(result), host.nbytes, device, to_host=False)
        if recording.listener is not None:
            recording.listener.uploaded(result, host.tobytes())
    return result


def write_numpy(destination: Strided, array: npt.NDArray[Any]) -> None:
    """Copy a C-contiguous NumPy array into a compact tensor of its size and dtype."""
    if array.nbytes:
        _leg(array.ctypes.data, None, _address(destination), array.nbytes, destination.device, to_host=False)


def share_numpy(array: npt.NDArray[Any], device: Device, cls: type[Strided] = Strided) -> Any:
    """Give a tensor over an array's own memory; the device's memory is host memory and the array is C-contiguous.

    Raises: DTypeError, ShapeError where sharing is not possible.
    """
    if not device.host_readable or not array.flags.c_contiguous:
        raise ShapeError(f"from_numpy: expected a C-contiguous array and a device the host can read, found {device}")
    dtype = dtypes.from_numpy(array.dtype)
    return cls(wrap_host(array, device), array.shape, compact_strides(array.shape), 0, dtype)


def host_view(source: Strided) -> npt.NDArray[Any]:
    """View a tensor of a host-readable device as a NumPy array that shares its memory; waits for the device.

    Raises: ShapeError for a device whose memory the host cannot read.
    """
    device = source.device
    if not device.host_readable:
        raise ShapeError(f"a view of host memory: expected a device that the host can read, found {device}. Use .cpu()")
    if recording.listener is not None:
        recording.listener.host_read("the host looks into a tensor's memory")
    current_stream(device).synchronize()
    size = source.dtype.itemsize
    raw = _host_bytes(source.buffer.ptr, source.buffer.nbytes, source.buffer, read_only=source.buffer.read_only)
    strides = tuple(step * size for step in source.strides)
    if not source.numel():
        return np.empty(source.shape, source.dtype.numpy)
    return np.ndarray(source.shape, source.dtype.numpy, raw, source.offset * size, strides)


def _compact(source: Strided) -> Strided:
    if source.is_contiguous():
        return source
    fresh = Strided._empty(source.shape, source.dtype, source.device)
    launch("Copy", (source,), (fresh,))
    return fresh


def _address(tensor: Strided) -> int:
    return tensor.buffer.ptr + tensor.offset * tensor.dtype.itemsize


def _move(destination: Strided, source: Strided) -> None:
    """Copy compact bytes between two devices."""
    to, origin = destination.device, source.device
    nbytes = source.nbytes
    if to.provider is origin.provider:
        # The source's work is done before the other device reads it, and read before it may be reused.
        current_stream(origin).synchronize()
        _leg(_address(source), origin, _address(destination), nbytes, to, to_host=False)
        current_stream(to).synchronize()
    elif origin.host_readable:
        current_stream(origin).synchronize()
        _leg(_address(source), None, _address(destination), nbytes, to, to_host=False)
    elif to.host_readable:
        current_stream(to).synchronize()
        _leg(_address(source), None, _address(destination), nbytes, origin, to_host=True)
    else:
        stage, address = _staging(nbytes, origin, to)
        _leg(_address(source), None, address, nbytes, origin, to_host=True)
        _leg(address, None, _address(destination), nbytes, to, to_host=False)
        del stage


def _staging(nbytes: int, *devices: Device) -> tuple[object, int]:
    """Give host memory between two providers and its address: pinned where one of them has it, as that is faster."""
    for device in devices:
        if device.info.pinned:
            block = allocate(nbytes, device, pinned=True)
            return block, block.ptr
    array = np.empty(nbytes, np.uint8)
    return array, array.ctypes.data


def _leg(
    source: int, source_device: Device | None, destination: int, nbytes: int, owner: Device, *, to_host: bool
) -> None:
    """Run one leg by the provider of `owner`; pageable host memory is done with when the call returns."""
    other = lib.ITP_DEVICE_HOST if source_device is None else source_device.index
    destination_device, source_index = (lib.ITP_DEVICE_HOST, owner.index) if to_host else (owner.index, other)
    stream = current_stream(owner)
    status = lib.it_copy(stream.native, destination, destination_device, source, source_index, nbytes, 0)
    owner.provider.check(status, "copy")


class _HostBytes:
    """A window on foreign memory for NumPy; the array that is made from it keeps the owner alive."""

    def __init__(self, address: int, nbytes: int, owner: object, read_only: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (address, read_only),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }


def _host_bytes(address: int, nbytes: int, owner: object, *, read_only: bool) -> npt.NDArray[np.uint8]:
    """View host-readable memory as bytes; `owner` lives as long as the view."""
    if nbytes == 0:
        return np.empty(0, np.uint8)
    return np.asarray(_HostBytes(address, nbytes, owner, read_only))
