"""What stands between the brackets: keys, taken apart into a view and index tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infinitrain import dtype as dt
from infinitrain.errors import IndexOutOfRange
from infinitrain.tensor import Tensor

#: Shape, strides and offset (elements from the tensor's first) of a view.
Geometry = tuple[tuple[int, ...], tuple[int, ...], int]


@dataclass(slots=True)
class Parsed:
    """A key: the view of its integers, slices, None and Ellipsis, and index tensors by the view's dimensions.

    Attributes:
        flips: Dimensions of the view that a negative step walks backwards; the view itself goes forwards, because
            strides are never negative.
        lead: Where the dimensions of the index tensors go: integers count as such (NumPy's rule), and what stands side
            by side leaves its dimensions in place, what stands apart puts them at the front.
        basic_key: The key of the view: a full slice in place of each tensor, steps positive.
    """

    geometry: Geometry
    tensors: dict[int, Tensor]
    flips: list[int]
    lead: int
    basic_key: tuple[Any, ...]


def parse(x: Tensor, key: Any) -> Parsed:
    """Take a key apart.

    Raises: IndexError for too many indices, an integer out of range, a step of 0, a mask of another shape, or a
        type that is no index.
    """
    if type(key) is int and x.shape:  # the most common key
        size = x.shape[0]
        place = key + size if key < 0 else key
        if 0 <= place < size:
            return Parsed((x.shape[1:], x.strides[1:], place * x.strides[0]), {}, [], 0, (key,))
    items = _expanded(x, key if isinstance(key, tuple) else (key,))
    shape: list[int] = []
    strides: list[int] = []
    offset = 0
    tensors: dict[int, Tensor] = {}
    flips: list[int] = []
    basic: list[Any] = []
    dim = 0
    for item in items:
        if item is None:
            shape.append(1)
            strides.append(0)
            basic.append(None)
            continue
        size, stride = x.shape[dim], x.strides[dim]
        dim += 1
        if isinstance(item, slice):
            start, stop, step = item.indices(size)
            count = max(0, -(-(stop - start) // step)) if step > 0 else max(0, -(-(start - stop) // -step))
            if step < 0:
                flips.append(len(shape))
                start, step = start + (count - 1) * step if count else 0, -step
                item = slice(start, start + max(count - 1, 0) * step + (1 if count else 0), step)
            basic.append(item)
            offset += start * stride if count else 0
            shape.append(count)
            strides.append(stride * step)
        elif isinstance(item, Tensor):
            tensors[len(shape)] = item
            basic.append(slice(None))
            shape.append(size)
            strides.append(stride)
        else:
            place = item + size if item < 0 else item
            if not 0 <= place < size:
                raise IndexOutOfRange(
                    f"index {item} is out of range for dimension {dim - 1} of size {size} of shape {x.shape}"
                )
            basic.append(item)
            offset += place * stride
    return Parsed((tuple(shape), tuple(strides), offset), tensors, flips, _lead(items), tuple(basic))


def _lead(items: list[Any]) -> int:
    """Count the dimensions of the view before those of the index tensors; 0 if the index tensors stand apart."""
    places = [i for i, item in enumerate(items) if isinstance(item, int | Tensor)]
    if not places or places[-1] - places[0] >= len(places):
        return 0
    return places[0]


def _expanded(x: Tensor, key: tuple[Any, ...]) -> list[Any]:
    """Make one item for each dimension: Ellipsis and what is missing become slices, masks become index tensors."""
    items: list[Any] = []
    used = 0
    gap: int | None = None
    for item in key:
        if item is None:
            items.append(None)
        elif item is Ellipsis:
            if gap is not None:
                raise IndexError("index: expected at most one Ellipsis, found two")
            gap = len(items)
        else:
            for index in _as_index(x, item, used, key):
                items.append(index)
                used += 1
    ndim = len(x.shape)
    if used > ndim:
        raise IndexOutOfRange(f"index: expected at most {ndim} indices for shape {x.shape}, found {used}")
    at = len(items) if gap is None else gap
    items[at:at] = [slice(None)] * (ndim - used)
    return items


def _as_index(x: Tensor, item: Any, used: int, key: tuple[Any, ...]) -> list[Any]:
    """Give an integer, a slice or an index tensor for one item; several for a mask of several dimensions."""
    if isinstance(item, bool | np.bool_):
        raise IndexError("index: expected integers, slices, None, Ellipsis or tensors, found a Python bool")
    if isinstance(item, int | np.integer):
        return [int(item)]
    if isinstance(item, slice):
        if item.step == 0:
            raise IndexError("slice: expected a step other than 0, found 0")
        return [item]
    if isinstance(item, list | np.ndarray):
        from infinitrain.ops.create import tensor

        item = tensor(item, device=x.device) if len(item) else tensor(item, dtype=dt.int64, device=x.device)
    if not isinstance(item, Tensor):
        raise IndexError(f"index: expected integers, slices, None, Ellipsis or tensors, found {type(item).__name__}")
    if item.dtype.is_bool:
        return _mask_positions(x, item, used, key)
    if not item.dtype.is_integer:
        raise IndexError(f"index: expected a tensor of integers or bools, found {item.dtype.name}")
    return [item if item.device == x.device else item.to(x.device)]


def _mask_positions(x: Tensor, mask: Tensor, used: int, key: tuple[Any, ...]) -> list[Any]:
    """Give the positions where a mask is true, one index tensor for each of its dimensions; waits for the device."""
    from infinitrain.ops.create import tensor

    gap = next((i for i, item in enumerate(key) if item is Ellipsis), None)
    behind = gap is not None and any(item is mask for item in key[gap:])
    first = len(x.shape) - _width(key[(gap or 0) :]) if behind else used
    found = x.shape[first : first + len(mask.shape)]
    if mask.shape != found or not mask.shape:
        raise IndexError(f"mask: expected the shape {found} of the dimensions that it selects from, found {mask.shape}")
    places = np.nonzero(mask.detach().to("cpu").numpy())
    return [tensor(np.ascontiguousarray(p, dtype=np.int64), device=x.device) for p in places]


def _width(items: tuple[Any, ...]) -> int:
    """Count the dimensions that items of a key take up."""
    count = 0
    for item in items:
        if item is None or item is Ellipsis:
            continue
        count += len(item.shape) if isinstance(item, Tensor) and item.dtype.is_bool else 1
    return count
