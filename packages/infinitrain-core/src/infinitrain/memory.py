"""Device memory: buffers, and the one caching allocator above every provider's raw blocks.

A block is given back to the cache of the stream that it was allocated on, and only that stream takes it again: work
queued there earlier is done with it before later work begins. A block used on another stream as well
(`Buffer.record_stream`) waits behind an event of that stream first.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from infinitrain import recording
from infinitrain._native import ffi, lib
from infinitrain.device import Device
from infinitrain.errors import InfinitrainError, OutOfMemory
from infinitrain.stream import Event, Stream, current_stream, default_stream, on_close

__all__ = [
    "Buffer",
    "allocate",
    "empty_cache",
    "max_memory_allocated",
    "mem_info",
    "memory_allocated",
    "memory_stats",
    "reset_peak_memory_stats",
    "wrap_host",
]

_log = logging.getLogger("infinitrain.memory")

DEVICE_MEMORY: int = lib.ITP_MEM_DEVICE
PINNED_MEMORY: int = lib.ITP_MEM_HOST_PINNED

SMALL_STEP = 512
SMALL_LIMIT = 1 << 20
LARGE_STEP = 2 << 20
#: Large sizes round up by at most one part in 16: all of a block may be resident, and a weight of 2.25 MiB would hold
#: 4 with the largest step alone. Finer, and requests that grow bit by bit would leave a cached block at each size.
LARGE_PARTS_BITS = 4
MOST = 2**63 - 1  # bytes that the contract can count
#: A cached block may be larger than what is asked for by this factor; more would waste memory for good.
MAX_WASTE = 1.25

_new = object.__new__


class Block:
    """Memory that a provider has given: in use, or cached in `home` until it is used again.

    `views` are the C descriptors of tensors that were in it: the same shapes come back at every step.
    """

    __slots__ = ("address", "home", "size", "views")

    def __init__(self, address: int, size: int, home: list[Block]) -> None:
        self.address, self.size, self.home = address, size, home
        self.views: dict[Any, Any] = {}


#: Free blocks of one stream, by size.
Bins = dict[int, list[Block]]


def size_class(nbytes: int) -> int:
    """Round a size up to that of the blocks it is served from."""
    part = 1 << max((nbytes - 1).bit_length() - 1 - LARGE_PARTS_BITS, 0)
    step = SMALL_STEP if nbytes <= SMALL_LIMIT else min(LARGE_STEP, part)
    return -(-nbytes // step) * step


@dataclass(slots=True)
class _Waiting:
    """A freed block that other streams may still use, until the events have passed."""

    block: Block
    events: list[Event]


class Pool:
    """The allocator of one device and kind of memory.

    Blocks are taken and given back by `list.pop` and `list.append` alone, which are atomic: finalizers run in any
    thread and in the middle of anything, and must neither wait for a lock nor break what they interrupt. Only what
    goes to the provider is under the lock.
    """

    def __init__(self, device: Device, kind: int) -> None:
        """Begin with nothing cached."""
        self.device = device
        self.kind = kind
        self.lock = threading.RLock()
        #: The streams that may have free blocks; a stream that ends gives its own back.
        self.streams: weakref.WeakSet[Stream] = weakref.WeakSet()
        self.waiting: deque[_Waiting] = deque()
        #: Every block that the provider has given and not got back, in use or cached.
        self.blocks: set[Block] = set()
        self.allocated = self.reserved = self.peak_allocated = self.peak_reserved = 0
        self.allocations = self.provider_allocations = 0

    def reset(self) -> None:
        """Let the peaks begin at what is in use now."""
        self.peak_allocated, self.peak_reserved = self.allocated, self.reserved

    def bins(self, stream: Stream) -> Bins:
        """Give the free blocks of a stream."""
        return stream.bins if self.kind == DEVICE_MEMORY else stream.pinned_bins

    def obtain(self, nbytes: int, stream: Stream) -> Block:
        """Give a block for a request that the stream's bin cannot serve.

        Raises: OutOfMemory after the caches have been freed and the provider was asked again.
        """
        size = size_class(nbytes)
        if size > MOST:
            raise self._out_of_memory(nbytes)
        with self.lock:
            self._settle()
            self.streams.add(stream)
            bins = self.bins(stream)
            most = size if size <= SMALL_LIMIT else int(size * MAX_WASTE)
            for larger in sorted(each for each in list(bins) if size <= each <= most):
                try:
                    return bins[larger].pop()
                except IndexError:  # empty, or another thread was faster
                    continue
            return self._from_provider(size, nbytes, stream, bins.setdefault(size, []))

    def hold(self, block: Block, users: set[Stream]) -> None:
        """Keep a freed block from being used until the other streams that use it have come this far."""
        try:
            events = [user.record_event() for user in users if user.native is not None]
        except InfinitrainError:
            return  # the device is lost or the process ends: the block is not used again
        self.waiting.append(_Waiting(block, events))

    def _settle(self) -> None:
        """Take back the blocks whose events have passed."""
        for _ in range(len(self.waiting)):
            held = self.waiting.popleft()
            if all(event.query() for event in held.events):
                held.block.home.append(held.block)
            else:
                self.waiting.append(held)

    def _from_provider(self, size: int, nbytes: int, stream: Stream, home: list[Block]) -> Block:
        provider = self.device.provider
        out = ffi.new("void **")
        status = lib.it_alloc(stream.native, self.kind, size, out)
        if status == lib.ITP_E_OUT_OF_MEMORY:
            self.empty()
            status = lib.it_alloc(stream.native, self.kind, size, out)
        if status == lib.ITP_E_OUT_OF_MEMORY:
            raise self._out_of_memory(nbytes)
        provider.check(status, "alloc")
        block = Block(int(ffi.cast("uintptr_t", out[0])), size, home)
        self.blocks.add(block)
        self.provider_allocations += 1
        self.reserved += size
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        return block

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
            for held in list(self.waiting):
                for event in held.events:
                    event.synchronize()
            self._settle()
            for stream in list(self.streams):
                self.empty_stream(stream)

    def empty_stream(self, stream: Stream) -> None:
        """Give what is cached for one stream back to the provider."""
        # A stream that has been closed did all its work before.
        queue = default_stream(self.device) if stream.native is None else stream
        with self.lock:
            for home in list(self.bins(stream).values()):
                while home:
                    self._give_back(home.pop(), queue)

    def _give_back(self, block: Block, stream: Stream) -> None:
        self.blocks.remove(block)
        self.reserved -= block.size
        self.device.provider.check(lib.it_dealloc(stream.native, self.kind, block.address, block.size), "dealloc")

    def end(self) -> None:
        """Give every block back, in use or not: the device has done its work and the process ends."""
        stream = default_stream(self.device)
        for block in list(self.blocks):
            self._give_back(block, stream)


_pools: dict[tuple[Device, int], Pool] = {}
_pools_lock = threading.Lock()


def _pool(device: Device, kind: int) -> Pool:
    found = _pools.get((device, kind))
    if found is None:
        with _pools_lock:
            found = _pools.setdefault((device, kind), Pool(device, kind))
    return found


def _device_pool(stream: Stream) -> Pool:
    pool = stream.pool = _pool(stream.device, DEVICE_MEMORY)
    return pool


def pools() -> list[Pool]:
    """Give the allocators of all devices and kinds of memory."""
    return list(_pools.values())


@on_close
def _empty_stream(stream: Stream) -> None:
    for (device, _), pool in list(_pools.items()):
        if device is stream.device:
            pool.empty_stream(stream)


class Buffer:
    """A block of memory and the version of its contents; freed when the last tensor on it is gone.

    Attributes:
        ptr: The address, 0 for a buffer of no bytes.
        nbytes: Size as asked for, in bytes.
        device: Where the memory is.
        version: Counts in-place writes; views share it, saved tensors are checked against it.
        writer: The name of the operation that wrote in place last, for messages.
        block: What the allocator took it from: aligned, writable, nobody else's; None for foreign memory.
        read_only: Whether writing is refused (foreign memory that its owner does not let be written).
    """

    __slots__ = (
        *("__weakref__", "_owner", "_pool", "_stream", "_users"),
        *("block", "device", "nbytes", "ptr", "read_only", "version", "writer"),
    )

    ptr: int
    nbytes: int
    device: Device
    version: int
    writer: str
    block: Block | None
    read_only: bool
    _pool: Pool
    _stream: Stream
    _users: set[Stream] | None
    _owner: object  # what keeps foreign memory

    def record_stream(self, stream: Stream) -> None:
        """Say that work on another stream uses this memory: it is reused only after that work."""
        if self.block is not None and stream is not self._stream:
            self._users = {stream, *(self._users or ())}

    def __del__(self) -> None:
        if recording.listener is not None:
            recording.listener.freed(self)
        block = self.block
        if block is not None:
            pool = self._pool
            # No call stands between reading and writing a figure, so no thread or finalizer comes between.
            pool.allocated = pool.allocated - block.size
            if self._users is None:
                block.home.append(block)
            else:
                pool.hold(block, self._users)


def allocate(nbytes: int, device: Device, *, pinned: bool = False) -> Buffer:
    """Allocate memory on a device's current stream, or pinned host memory; its contents are undefined.

    Size 0 gives a buffer without memory and never reaches the provider.

    Raises: OutOfMemory with requested, free, total and cached bytes.
    """
    buffer: Buffer = _new(Buffer)
    buffer.device = device
    buffer.nbytes = nbytes
    buffer.version = 0
    buffer.writer = ""
    buffer.read_only = False
    buffer.block = buffer._users = None
    if not nbytes:
        buffer.ptr = 0
        return buffer
    stream = current_stream(device)
    if pinned:
        pool = _pool(device, PINNED_MEMORY)
    else:
        pool = stream.pool or _device_pool(stream)
    size = (nbytes + SMALL_STEP - 1) & -SMALL_STEP if nbytes <= SMALL_LIMIT else size_class(nbytes)
    home = (stream.pinned_bins if pinned else stream.bins).get(size)
    try:
        block = home.pop() if home else pool.obtain(nbytes, stream)
    except IndexError:  # another thread took the last one
        block = pool.obtain(nbytes, stream)
    buffer.ptr = block.address
    buffer._pool = pool
    buffer._stream = stream
    buffer.block = block
    pool.allocations += 1
    allocated = pool.allocated = pool.allocated + block.size
    if allocated > pool.peak_allocated:
        pool.peak_allocated = allocated
    if recording.listener is not None:
        recording.listener.allocated(buffer)
    return buffer


def wrap_host(array: npt.NDArray[Any], device: Device) -> Buffer:
    """Give a buffer over the memory of a C-contiguous NumPy array, which it keeps alive, without copying."""
    buffer = wrap_device(array.ctypes.data if array.nbytes else 0, array.nbytes, device, array)
    buffer.read_only = not array.flags.writeable
    return buffer


def wrap_device(address: int, nbytes: int, device: Device, owner: object) -> Buffer:
    """Give a buffer over a part of memory that `owner` holds, and keep the owner."""
    buffer = allocate(0, device)
    buffer.nbytes, buffer.ptr, buffer._owner = nbytes, address, owner
    return buffer


def mem_info(device: Device | str) -> tuple[int, int]:
    """Give (free, total) bytes of a device; free is 0 where the provider cannot tell."""
    return Device(device).provider.memory_info(Device(device).index)


def memory_stats(device: Device | str) -> dict[str, int]:
    """Give the allocator's figures for a device, in bytes and counts, the same on every provider."""
    target = Device(device)
    pool = _pools.get((target, DEVICE_MEMORY))
    free, total = mem_info(target)
    names = ("allocated", "reserved", *("peak_allocated", "peak_reserved"), *("allocations", "provider_allocations"))
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
    pool = _pools.get((Device(device), DEVICE_MEMORY))
    if pool is not None:
        pool.reset()


def empty_cache(device: Device | str | None = None) -> None:
    """Give cached blocks of a device, or of all, back to the provider."""
    target = None if device is None else Device(device)
    for (owner, _), pool in list(_pools.items()):
        if target is None or owner == target:
            pool.empty()


def _renew_locks() -> None:
    """In a forked child: a thread that is not here may have held them."""
    global _pools_lock
    _pools_lock = threading.Lock()
    for pool in _pools.values():
        pool.lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_locks)
