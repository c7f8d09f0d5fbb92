"""A strided view of a buffer: what kernels are given. No arithmetic, no gradients."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any, Self

from infinitrain._native import ffi, lib
from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import ShapeError
from infinitrain.memory import Buffer, allocate

__all__ = ["MAX_NDIM", "Strided", "broadcast_shapes", "compact_strides"]

#: Dimensions that a descriptor has room for.
MAX_NDIM: int = lib.IT_MAX_NDIM
NULL = ffi.NULL
_layouts: dict[tuple[int, ...], tuple[tuple[int, ...], int]] = {}
_MAX_KEPT = 4096
#: Descriptors that a block of memory keeps of the whole compact tensors that were in it.
_MAX_VIEWS = 8
#: Every field is filled by it_describe, so the memory need not be cleared.
_new_descriptor = partial(ffi.new_allocator(should_clear_after_alloc=False), ffi.typeof("it_descriptor *"))


def compact_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Give the strides, in elements, of a row-major layout without gaps."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def layout_of(shape: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Give the compact strides of a shape and its number of elements; kept, as the same come at every step."""
    found = _layouts.get(shape)
    if found is None:
        if len(_layouts) >= _MAX_KEPT:
            _layouts.clear()
        found = _layouts[shape] = (compact_strides(shape), prod(shape))
    return found


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Give the common shape that all broadcast to, each dimension aligned from the right.

    Raises: ShapeError naming the shapes.
    """
    if len(set(shapes)) == 1:
        return shapes[0]
    ndim = max(len(shape) for shape in shapes)
    result = [1] * ndim
    for shape in shapes:
        for position, size in enumerate(shape, ndim - len(shape)):
            if size != 1:
                if result[position] not in (1, size):
                    listed = " and ".join(str(each) for each in shapes)
                    raise ShapeError(
                        f"shapes {listed} do not broadcast: expected sizes that are equal or 1 in dimension "
                        f"{position - ndim}, found {result[position]} and {size}"
                    )
                result[position] = size
    return tuple(result)


class Strided:
    """Buffer, shape, strides and offset (both in elements) and dtype.

    The C descriptor is built once and kept: building one costs more than a small launch.
    """

    __slots__ = ("_compact", "_desc", "_numel", "buffer", "dtype", "offset", "shape", "strides")

    def __init__(
        self,
        buffer: Buffer,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        dtype: DType,
    ) -> None:
        """Describe a view; nothing is allocated or checked."""
        self.buffer = buffer
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.dtype = dtype
        self._desc: Any = None
        self._compact: bool | None = None
        self._numel = -1

    @classmethod
    def _empty(cls, shape: tuple[int, ...], dtype: DType, device: Device) -> Self:
        """Allocate a compact tensor with undefined contents."""
        strides, count = layout_of(shape)
        self = cls(allocate(count * dtype.itemsize, device), shape, strides, 0, dtype)
        self._compact = True
        self._numel = count
        return self

    @property
    def device(self) -> Device:
        """The device that the memory is on."""
        return self.buffer.device

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def numel(self) -> int:
        """Count the elements."""
        if self._numel < 0:
            self._numel = prod(self.shape)
        return self._numel

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, gaps not counted."""
        return self.numel() * self.dtype.itemsize

    def is_contiguous(self) -> bool:
        """Whether elements lie in row-major order without gaps."""
        if self._compact is None:
            self._compact = _is_compact(self.shape, self.strides)
        return self._compact

    def overlaps_itself(self) -> bool:
        """Whether two elements may share memory, as in an expanded tensor."""
        if self.is_contiguous():
            return False
        reach = 1
        for stride, size in sorted(zip(self.strides, self.shape, strict=True)):
            if size > 1:
                if stride < reach:
                    return True
                reach += stride * (size - 1)
        return False

    @property
    def desc(self) -> Any:
        """The C descriptor (`it_descriptor *`, an `itp_tensor` with its shape and strides)."""
        found = self._desc
        if found is None:
            found = self._desc = self._describe()
        return found

    def _describe(self) -> Any:
        shape, dtype, block = self.shape, self.dtype, self.buffer.block
        kept = block.views if block is not None and self._compact and not self.offset else None
        if kept is not None:
            found = kept.get((shape, dtype))
            if found is not None:
                return found
        if len(shape) > MAX_NDIM:
            raise ShapeError(f"tensor with {len(shape)} dimensions: expected at most {MAX_NDIM}. Reshape it")
        buffer = self.buffer
        holder = _new_descriptor()
        lib.it_describe(
            holder,
            buffer.device.native,
            buffer.ptr,
            buffer.nbytes,
            dtype.packed,
            len(shape),
            shape,
            NULL if self._compact or self.is_contiguous() else self.strides,
            self.offset * dtype.itemsize,
            buffer.read_only,
        )
        if kept is not None:
            if len(kept) >= _MAX_VIEWS:
                kept.clear()
            kept[shape, dtype] = holder
        return holder

    def as_strided(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Strided:
        """View the same buffer through another shape, strides and offset; nothing is checked."""
        return Strided(self.buffer, shape, strides, offset, self.dtype)

    def broadcast_to(self, shape: tuple[int, ...]) -> Strided:
        """View with size-1 and missing leading dimensions repeated by stride 0.

        Raises: ShapeError if a size is neither equal nor 1.
        """
        return self.as_strided(shape, broadcast_strides(self.shape, self.strides, shape), self.offset)


def broadcast_strides(shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """Give the strides that repeat `shape` over `target`."""
    lead = len(target) - len(shape)
    if lead < 0 or any(a not in (1, b) for a, b in zip(shape, target[max(lead, 0) :], strict=True)):
        raise ShapeError(f"shape {shape} does not expand to {target}: expected equal sizes, or 1, from the right")
    own = tuple(
        0 if size == 1 and wanted != 1 else step
        for size, step, wanted in zip(shape, strides, target[lead:], strict=True)
    )
    return (0,) * lead + own


def _is_compact(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 0:
            return True
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True
