"""Ways to lay an array into memory: compact, shifted, with gaps, turned, flipped, broadcast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["COMPACT", "MATRIX", "STRIDED", "Placement", "place"]

Array = np.ndarray[Any, Any]

#: Layouts of the same elements. A dimension that is broadcast in the given array keeps its stride of 0, except where
#: the layout is compact.
COMPACT = ("compact", "shifted")
STRIDED = ("gaps", "turned", "flipped")
MATRIX = ("padded rows", "padded columns")
MARGIN = 5  # elements before and behind


@dataclass(frozen=True, slots=True)
class Placement:
    """A block's bytes with an array's elements in them.

    Attributes:
        block: All bytes, uint8.
        offset: Bytes from the block's begin to the first element.
        strides: In elements; None where the launch says NULL, which is compact row-major.
        shape: Of the array.
        dtype: Of its elements.
    """

    block: Array
    offset: int
    strides: tuple[int, ...] | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def view(self, block: Array | None = None) -> Array:
        """Give the elements in this block's bytes, or in another block that is laid out alike."""
        memory = self.block if block is None else block
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        strides = None if self.strides is None else tuple(s * self.dtype.itemsize for s in self.strides)
        return np.ndarray(self.shape, self.dtype, memory.data, self.offset, strides)


def compact_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Give row-major strides in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _strides(shape: tuple[int, ...], own: tuple[bool, ...], how: str) -> tuple[int, ...]:
    """Lay out the dimensions that are not broadcast, innermost first."""
    order = list(range(len(shape)))[::-1]
    if how == "turned":
        order = order[::-1]
    elif how == "padded columns" and len(order) > 1:
        order[0], order[1] = order[1], order[0]
    result, step = [0] * len(shape), 2 if how == "gaps" else 1
    for position, dim in enumerate(order):
        if not own[dim]:
            continue
        result[dim] = -step if how == "flipped" else step
        step *= max(shape[dim], 1)
        # A hole behind each row and each plane; "turned" alone stays dense, as a transposed tensor is.
        step += 3 if how in ("gaps", "flipped", "padded rows", "padded columns") and position < len(order) - 1 else 0
    return tuple(result)


def place(array: Array, how: str, poison: int) -> Placement:
    """Lay an array out. What is not an element holds the byte `poison`."""
    item, shape = array.dtype.itemsize, array.shape
    if how in COMPACT or array.size == 0:
        margin = MARGIN * item if how != "compact" and array.size else 0
        block = np.full(array.size * item + 2 * margin, poison, np.uint8)
        placement = Placement(block, margin, None, shape, array.dtype)
    else:
        own = tuple(stride != 0 or size < 2 for stride, size in zip(array.strides, shape, strict=True))
        strides = _strides(shape, own, how)
        reach = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
        low = sum(r for r in reach if r < 0)
        high = sum(r for r in reach if r > 0)
        block = np.full((high - low + 1 + 2 * MARGIN) * item, poison, np.uint8)
        placement = Placement(block, (MARGIN - low) * item, strides, shape, array.dtype)
    if array.size:
        placement.view()[...] = array
    return placement
