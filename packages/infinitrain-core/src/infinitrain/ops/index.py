"""Indexing: views by integers, slices, None, Ellipsis; copies by integer tensors and masks. Both can be written to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from infinitrain import dtype as dt
from infinitrain.autograd.function import ACCUMULATED, Op
from infinitrain.autograd.grad_mode import no_grad, state
from infinitrain.autograd.inplace import apply_inplace
from infinitrain.autograd.views import mark_view
from infinitrain.copy import copy_ as route_copy
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, IndexOutOfRange, ShapeError
from infinitrain.ops._base import as_scalar, broadcast_shapes, cast_to, scalar_tensor, sum_to
from infinitrain.ops.cast import contiguous
from infinitrain.ops.create import arange, tensor
from infinitrain.ops.embedding import index_select, rows
from infinitrain.ops.keys import Geometry, Parsed, parse
from infinitrain.ops.select import where
from infinitrain.ops.shape import expand, permute, reshape
from infinitrain.tensor import Tensor


class Index(Op):
    """A view by integers and slices; dx has dy at the view's places and 0 elsewhere."""

    shape: tuple[int, ...]
    key: Any

    @staticmethod
    def forward(ctx: Index, x: Tensor, geometry: Geometry, key: Any) -> Tensor:
        ctx.shape, ctx.key = x.shape, key
        return x._alias(*geometry)

    @staticmethod
    def backward(ctx: Index, grad: Tensor) -> Any:
        total = ctx.accumulator(0)
        if total is not None:
            part = total._alias(*_geometry(total, ctx.key))
            launch("AddForward", (part, grad), (part,))
            return ACCUMULATED
        return IndexGrad.apply(grad, ctx.shape, ctx.key)


class IndexGrad(Op):
    """Zeros with dy at the places that a key names."""

    key: Any

    @staticmethod
    def forward(ctx: IndexGrad, grad: Tensor, shape: tuple[int, ...], key: Any) -> Tensor:
        ctx.key = key
        dx = Tensor._empty(shape, grad.dtype, grad.buffer.device)
        launch("Fill", (), (dx,), value=0)
        route_copy(dx._alias(*_geometry(dx, key)), grad)
        return dx

    @staticmethod
    def backward(ctx: IndexGrad, second: Tensor) -> Any:
        return getitem(second, ctx.key)


def _geometry(x: Tensor, key: Any) -> Geometry:
    """Give the view that a key of integers, slices, None and Ellipsis names."""
    return parse(x, key).geometry


def _basic(x: Tensor, parsed: Parsed) -> Tensor:
    """Make the view of the part of a key that is not tensors."""
    if state.enabled:
        view: Tensor = Index.apply(x, parsed.geometry, parsed.basic_key)
        return mark_view(view, x)
    return x._alias(*parsed.geometry)


def getitem(x: Tensor, key: Any) -> Tensor:
    """Give `x[key]`: a view for integers, slices, None and Ellipsis; a copy for tensors, masks and negative steps.

    Negative integers count from the end. Masks wait for the device, as the result's shape depends on them.

    Raises: IndexError for what is out of range or has the wrong type.
    """
    parsed = parse(x, key)
    view = _basic(x, parsed)
    if parsed.flips:
        view = flip(view, parsed.flips)
    return _gather(view, parsed) if parsed.tensors else view


def flip(x: Tensor, dims: int | Sequence[int]) -> Tensor:
    """Give a copy with the order of elements along `dims` reversed."""
    for dim in [dims] if isinstance(dims, int) else dims:
        axis = x._dim(dim)
        size = x.shape[axis]
        x = index_select(x, axis, arange(size - 1, -1, -1, device=x.device)) if size else x
    return x


def _gather(x: Tensor, parsed: Parsed) -> Tensor:
    """Take what index tensors name: their dimensions become one, by which rows are taken."""
    dims = sorted(parsed.tensors)
    flat, rest = _merged(x, dims)
    lead = parsed.lead
    index, shape = _linear([parsed.tensors[d] for d in dims], [x.shape[d] for d in dims])
    picked = rows(flat, index)  # (N, rest)
    result = reshape(picked, (*shape, *rest))
    # Index tensors side by side leave their dimensions in place; apart, at the front.
    if lead:
        order = [*range(len(shape), len(shape) + lead), *range(len(shape)), *range(len(shape) + lead, result.ndim)]
        result = permute(result, order)
    return result


def _merged(x: Tensor, dims: list[int]) -> tuple[Tensor, tuple[int, ...]]:
    """Bring indexed dimensions to the front and make them one: (product, rest product), rest."""
    others = [d for d in range(len(x.shape)) if d not in dims]
    moved = permute(x, [*dims, *others])
    rest = tuple([x.shape[d] for d in others])
    count = 1
    for d in dims:
        count *= x.shape[d]
    width = 1
    for size in rest:
        width *= size
    return reshape(moved, (count, width)), rest


def _linear(indices: list[Tensor], sizes: list[int]) -> tuple[Tensor, tuple[int, ...]]:
    """Make one flat row number of several index tensors, which broadcast; negatives count from the end.

    What is out of range stays so, for the kernel to find.
    """
    shape: tuple[int, ...] = ()
    for index in indices:
        shape = broadcast_shapes(shape, index.shape)
    with no_grad():
        total: Tensor | None = None
        bad: Tensor | None = None
        for index, size in zip(indices, sizes, strict=True):
            place = cast_to(index, dt.int64)
            wrapped = (place < 0) & (place >= -size)
            place = where(wrapped, place + size, place)
            if len(indices) > 1:
                wrong = (place < 0) | (place >= size)
                bad = wrong if bad is None else bad | wrong
            total = place if total is None else total * size + place
        if total is None:
            raise IndexOutOfRange("index: expected at least one index tensor, found none")
        if bad is not None:
            total = where(bad, -1, total)
        return contiguous(expand(total, shape)).reshape((-1,)) if total.numel() else total.reshape((0,)), shape


class IndexPut(Op):
    """Write values at the places of a key; the old gradient is 0 there, the values' gradient is what is there."""

    key: Any
    shape: tuple[int, ...]

    @staticmethod
    def forward(ctx: IndexPut, x: Tensor, values: Tensor, key: Any, out: Tensor) -> Tensor:
        ctx.key, ctx.shape = key, values.shape
        _write(out, values, key)
        return out

    @staticmethod
    def backward(ctx: IndexPut, grad: Tensor) -> Any:
        dx = dvalues = None
        if ctx.needs_input_grad[1]:
            dvalues = sum_to(getitem(grad, ctx.key), ctx.shape)
        if ctx.needs_input_grad[0]:
            dx = grad.clone()
            setitem(dx, ctx.key, 0)
        return dx, dvalues


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """Write `x[key] = value`, as if the value were copied first; it broadcasts to what the key names.

    Raises: ShapeError if it does not; IndexError for what is out of range; AutogradError for a leaf that requires
    grad.
    """
    if not isinstance(value, Tensor):
        number = as_scalar(value)
        if number is None:
            value = tensor(value, dtype=x.dtype, device=x.device)
        else:
            value = scalar_tensor(number, x.dtype, x)
    elif value.device != x.device:
        value = value.to(x.device)
    value = cast_to(value, x.dtype)
    if value.buffer is x.buffer:
        value = value.clone()
    apply_inplace(IndexPut, "setitem", x, value, key)


def _write(x: Tensor, values: Tensor, key: Any) -> None:
    """Write into the memory of `x` at the places of a key; no history."""
    if isinstance(key, Tensor) and key.dtype.is_bool and not values.shape and key.shape == x.shape[: key.ndim]:
        mask = expand(key.reshape((*key.shape, *[1] * (x.ndim - key.ndim))), x.shape)
        launch("WhereForward", (mask, values.broadcast_to(x.shape), x), (x,))  # without waiting for the mask
        return
    parsed = parse(x, key)
    base = x._alias(*parsed.geometry)
    if parsed.flips:
        turned = flip(base, parsed.flips)
        _put(turned, values, parsed)
        route_copy(base, flip(turned, parsed.flips))
    else:
        _put(base, values, parsed)


def _put(base: Tensor, values: Tensor, parsed: Parsed) -> None:
    """Write into the view of a key, at the places of its index tensors if there are any."""
    if not parsed.tensors:
        route_copy(base, _fit(values, base.shape))
        return
    dims = sorted(parsed.tensors)
    index, shape = _linear([parsed.tensors[d] for d in dims], [base.shape[d] for d in dims])
    others = [d for d in range(len(base.shape)) if d not in dims]
    moved = permute(base, [*dims, *others])
    rest = moved.shape[len(dims) :]
    lead = parsed.lead
    target = (*rest[:lead], *shape, *rest[lead:])
    fitted = _fit(values, target)
    if lead:  # bring the index dimensions to the front, as in the rows
        n = len(shape)
        fitted = permute(fitted, [*range(lead, lead + n), *range(lead), *range(lead + n, fitted.ndim)])
    count = 1
    for size in moved.shape[: len(dims)]:
        count *= size
    flat = moved.reshape((count, -1)) if moved.numel() else moved.reshape((count, 0))
    work = contiguous(flat)
    width = work.shape[1]
    if index.numel() and width:
        wide = contiguous(expand(index.reshape((-1, 1)), (index.numel(), width)))
        launch("ScatterForward", (wide, contiguous(fitted).reshape((-1, width))), (work,), dim=0)
    if work.buffer is not base.buffer:
        route_copy(moved, work.reshape(moved.shape))


def _fit(values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Broadcast values to the shape that a key names; leading sizes of 1 may be too many.

    Raises: ShapeError if they do not fit.
    """
    while len(values.shape) > len(shape) and values.shape[0] == 1:
        values = values.reshape(values.shape[1:])
    try:
        return expand(values, shape)
    except ShapeError:
        raise ShapeError(f"setitem: expected values that broadcast to {shape}, found {values.shape}") from None


def nonzero(x: Tensor) -> Tensor:
    """Give the positions of elements that are not 0, row by row: (count, dimensions), int64; waits for the device."""
    found = np.argwhere(x.detach().to("cpu").numpy() != 0)
    return tensor(found.astype(np.int64), device=x.device)


def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """Give the elements where the mask, which broadcasts, is true, as one dimension; waits for the device."""
    if not mask.dtype.is_bool:
        raise DTypeError(f"masked_select: expected a bool mask, found {mask.dtype.name}")
    shape = broadcast_shapes(x.shape, mask.shape)
    return getitem(expand(x, shape), expand(mask, shape))


def select(x: Tensor, dim: int, index: int) -> Tensor:
    """Give the view at one position of a dimension, without the dimension."""
    return getitem(x, (*[slice(None)] * x._dim(dim), index))


def narrow(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Give the view of `length` positions of a dimension from `start`.

    Raises: IndexError if they are not there.
    """
    axis = x._dim(dim)
    size = x.shape[axis]
    first = start + size if start < 0 else start
    if not (0 <= first <= size and 0 <= length <= size - first):
        raise IndexError(f"narrow: expected positions inside [0, {size}), found start {start} and length {length}")
    return getitem(x, (*[slice(None)] * axis, slice(first, first + length)))
