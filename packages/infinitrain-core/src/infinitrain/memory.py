"""Device memory: buffers, and the one caching allocator above every provider's raw blocks.

A block is given back to the cache of the stream that it was allocated on, and only that stream takes it again: work
queued there earlier is done with it before later work begins. A block used on another stream as well
(`Buffer.record_stream`) waits behind an event of that stream first.
"""

from __future__ import annotations

import atexit
import threading
from bisect import bisect_left, insort
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from infinitrain._abi import registry
from infinitrain._native import ffi, lib
from infinitrain.device import Device
from infinitrain.errors import OutOfMemory
from infinitrain.stream import Event, Stream, close_all, current_stream

__all__ = [
    "Buffer",
    "allocate",
    "as_host_bytes",
    "empty_cache",
    "max_memory_allocated",
    "memory_allocated",
    "memory_stats",
    "reset_peak_memory_stats",
    "wrap_host",
]

SMALL_STEP = 512
SMALL_LIMIT = 1 << 20
LARGE_STEP = 2 << 20
#: A cached block may be larger than what is asked for by this factor; more would waste memory for good.
MAX_WASTE = 1.25

_shutting_down = False


def size_class(nbytes: int) -> int:
    """Round a size up to that of the blocks it is served from."""
    step = SMALL_STEP if nbytes <= SMALL_LIMIT else LARGE_STEP
    return -(-nbytes // step) * step


@dataclass(slots=True)
class _FreeBlocks:
    """Cached blocks of one stream, by size; `sizes` is sorted."""

    by_size: dict[int, list[int]] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)

    def put(self, size: int, address: int) -> None:
        """Keep a block."""
        blocks = self.by_size.get(size)
        if blocks is None:
            blocks = self.by_size[size] = []
            insort(self.sizes, size)
        blocks.append(address)

    def take(self, size: int) -> tuple[int, int] | None:
        """Find a block of the size or slightly larger, as (address, its size)."""
        blocks = self.by_size.get(size)
        if blocks:
            return blocks.pop(), size
        if size <= SMALL_LIMIT:
            return None
        for larger in self.sizes[bisect_left(self.sizes, size) :]:
            if larger > size * MAX_WASTE:
                return None
            blocks = self.by_size[larger]
            if blocks:
                return blocks.pop(), larger
        return None


@dataclass(slots=True)
class _Waiting:
    """A freed block that other streams may still use."""

    size: int
    address: int
    stream: Stream
    events: list[Event]


class Pool:
    """The allocator of one device and kind of memory."""

    def __init__(self, device: Device, kind: int) -> None:
        """Begin with nothing cached."""
        self.device = device
        self.kind = kind
        self.lock = threading.RLock()
        self.free: dict[Stream, _FreeBlocks] = {}
        self.waiting: list[_Waiting] = []
        self.reset()
        self.allocated = self.reserved = 0
        self.allocations = self.provider_allocations = 0

    def reset(self) -> None:
        """Let the peaks begin at what is in use now."""
        self.peak_allocated = getattr(self, "allocated", 0)
        self.peak_reserved = getattr(self, "reserved", 0)

    def allocate(self, nbytes: int, stream: Stream) -> tuple[int, int]:
        """Give (address, block size) for a request of at least one byte.

        Raises: OutOfMemory after the caches have been freed and the provider was asked again.
        """
        size = size_class(nbytes)
        with self.lock:
            if self.waiting:
                self._settle()
            blocks = self.free.get(stream)
            found = blocks.take(size) if blocks is not None else None
            if found is None:
                found = self._from_provider(size, nbytes, stream), size
            self.allocated += found[1]
            self.allocations += 1
            self.peak_allocated = max(self.peak_allocated, self.allocated)
            return found

    def release(self, address: int, size: int, stream: Stream, users: set[Stream] | None) -> None:
        """Take a block back into the cache of its stream."""
        with self.lock:
            self.allocated -= size
            if users:
                events = [user.record_event() for user in users]
                self.waiting.append(_Waiting(size, address, stream, events))
            else:
                self._keep(size, address, stream)

    def _keep(self, size: int, address: int, stream: Stream) -> None:
        blocks = self.free.get(stream)
        if blocks is None:
            blocks = self.free[stream] = _FreeBlocks()
        blocks.put(size, address)

    def _settle(self) -> None:
        """Move blocks whose events have passed into the cache."""
        still = []
        for block in self.waiting:
            if all(event.query() for event in block.events):
                self._keep(block.size, block.address, block.stream)
            else:
                still.append(block)
        self.waiting = still

    def _from_provider(self, size: int, nbytes: int, stream: Stream) -> int:
        provider = self.device.provider
        out = ffi.new("void **")
        status = lib.it_alloc(provider.native, self.kind, size, stream.native, out)
        if status == lib.ITP_E_OUT_OF_MEMORY:
            self.empty()
            status = lib.it_alloc(provider.native, self.kind, size, stream.native, out)
        if status == lib.ITP_E_OUT_OF_MEMORY:
            raise self._out_of_memory(nbytes)
        provider.check(status, "alloc")
        self.provider_allocations += 1
        self.reserved += size
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        return int(ffi.cast("uintptr_t", out[0]))

    def _out_of_memory(self, nbytes: int) -> OutOfMemory:
        free, total = self.device.provider.memory_info(self.device.index)
        cached = self.reserved - self.allocated
        return OutOfMemory(
            f"out of memory on {self.device}: asked for {nbytes:,} bytes, {free:,} of {total:,} are free, tensors hold "
            f"{self.allocated:,} and the cache {cached:,}. Use a smaller batch or a shorter sequence, or free tensors",
            requested=nbytes,
            free=free,
            total=total,
            cached=cached,
        )

    def empty(self) -> None:
        """Give every cached block back to the provider."""
        with self.lock:
            for block in self.waiting:
                for event in block.events:
                    event.synchronize()
            self._settle()
            provider = self.device.provider
            for stream, blocks in self.free.items():
                for size, addresses in blocks.by_size.items():
                    for address in addresses:
                        status = lib.it_dealloc(provider.native, self.kind, address, size, stream.native)
                        provider.check(status, "dealloc")
                        self.reserved -= size
            self.free.clear()


_pools: dict[tuple[Device, int], Pool] = {}
_pools_lock = threading.Lock()


def _pool(device: Device, kind: int) -> Pool:
    found = _pools.get((device, kind))
    if found is None:
        device.provider.start()
        with _pools_lock:
            found = _pools.setdefault((device, kind), Pool(device, kind))
    return found


class Buffer:
    """A block of memory and the version of its contents; freed when the last tensor on it is gone.

    Attributes:
        ptr: The address, 0 for a buffer of no bytes.
        nbytes: Size as asked for, in bytes.
        device: Where the memory is.
        version: Counts in-place writes; views share it, saved tensors are checked against it.
        writer: The name of the operation that wrote in place last, for messages.
        read_only: Whether writing is refused (foreign memory that its owner does not let be written).
    """

    __slots__ = (
        "_owner",
        "_pool",
        "_size",
        "_stream",
        "_users",
        "device",
        "nbytes",
        "ptr",
        "read_only",
        "version",
        "writer",
    )

    def __init__(self, device: Device, nbytes: int) -> None:
        """Make an empty shell; `allocate` and `wrap_host` fill it."""
        self.device = device
        self.nbytes = nbytes
        self.ptr = 0
        self.version = 0
        self.writer = ""
        self.read_only = False
        self._pool: Pool | None = None
        self._size = 0
        self._stream: Stream | None = None
        self._users: set[Stream] | None = None
        self._owner: object = None

    def record_stream(self, stream: Stream) -> None:
        """Say that work on another stream uses this memory: it is reused only after that work."""
        if self._stream is not None and stream is not self._stream:
            self._users = (self._users or set()) | {stream}

    def __del__(self) -> None:
        pool = self._pool
        if pool is not None and not _shutting_down and self._stream is not None:
            pool.release(self.ptr, self._size, self._stream, self._users)


def allocate(nbytes: int, device: Device, *, pinned: bool = False) -> Buffer:
    """Allocate memory on a device's current stream, or pinned host memory; its contents are undefined.

    Size 0 gives a buffer without memory and never reaches the provider.

    Raises: OutOfMemory with requested, free, total and cached bytes.
    """
    buffer = Buffer(device, nbytes)
    if nbytes:
        kind = lib.ITP_MEM_HOST_PINNED if pinned else lib.ITP_MEM_DEVICE
        pool = _pools.get((device, kind)) or _pool(device, kind)
        stream = current_stream(device)
        buffer.ptr, buffer._size = pool.allocate(nbytes, stream)
        buffer._pool = pool
        buffer._stream = stream
    return buffer


def wrap_host(array: npt.NDArray[Any], device: Device) -> Buffer:
    """Give a buffer over the memory of a C-contiguous NumPy array, which it keeps alive, without copying."""
    buffer = Buffer(device, array.nbytes)
    buffer.ptr = array.ctypes.data if array.nbytes else 0
    buffer.read_only = not array.flags.writeable
    buffer._owner = array
    return buffer


def memory_stats(device: Device | str) -> dict[str, int]:
    """Give the allocator's figures for a device, in bytes and counts, the same on every provider."""
    target = Device(device)
    pool = _pools.get((target, lib.ITP_MEM_DEVICE))
    free, total = target.provider.memory_info(target.index)
    names = (
        "allocated",
        "reserved",
        "peak_allocated",
        "peak_reserved",
        "allocations",
        "provider_allocations",
    )
    stats = {name: int(getattr(pool, name)) if pool is not None else 0 for name in names}
    return {**stats, "cached": stats["reserved"] - stats["allocated"], "free": free, "total": total}


def memory_allocated(device: Device | str) -> int:
    """Give the bytes that tensors hold on a device now."""
    return memory_stats(device)["allocated"]


def max_memory_allocated(device: Device | str) -> int:
    """Give the most bytes that tensors have held on a device since the start or the last reset."""
    return memory_stats(device)["peak_allocated"]


def reset_peak_memory_stats(device: Device | str) -> None:
    """Let the peaks of a device begin at what is in use now."""
    pool = _pools.get((Device(device), lib.ITP_MEM_DEVICE))
    if pool is not None:
        pool.reset()


def empty_cache(device: Device | str | None = None) -> None:
    """Give cached blocks of a device, or of all, back to the provider."""
    target = None if device is None else Device(device)
    for (owner, _), pool in list(_pools.items()):
        if target is None or owner == target:
            pool.empty()


def _finish() -> None:
    """End in order: wait for the devices, then events and streams, memory, and the providers themselves.

    Finalizers that run after this do nothing. What a failing device still reports is of no use to anyone now.
    """
    global _shutting_down
    running = [provider for provider in registry.loaded() if provider.started and not lib.it_forked(provider.native)]
    for provider in running:
        for index in range(provider.device_count()):
            lib.it_device_sync(provider.native, index)
    _shutting_down = True
    close_all()
    for pool in _pools.values():
        if pool.device.provider in running:
            try:
                pool.empty()
            except Exception:
                continue
    for provider in running:
        provider.shutdown()


atexit.register(_finish)


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


def as_host_bytes(address: int, nbytes: int, owner: object = None, *, read_only: bool = False) -> npt.NDArray[np.uint8]:
    """View host-readable memory as bytes; `owner` lives as long as the view."""
    if nbytes == 0:
        return np.empty(0, np.uint8)
    return np.asarray(_HostBytes(address, nbytes, owner, read_only))
