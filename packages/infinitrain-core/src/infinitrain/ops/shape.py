"""Views and copies that change the shape. Views share memory and version with what they show."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import state
from infinitrain.autograd.views import mark_view
from infinitrain.errors import ShapeError
from infinitrain.ops._base import require_same_device, sum_to
from infinitrain.ops.cast import cast, clone, contiguous
from infinitrain.strided import broadcast_strides, compact_strides
from infinitrain.tensor import Tensor

Shape = tuple[int, ...]


class ViewOp(Op):
    """A view: forward is given the view's geometry, backward what the operation left in `ctx.note`."""

    note: Any

    @classmethod
    def show(cls, x: Tensor, shape: Shape, strides: Shape, offset: int = 0, note: Any = None) -> Tensor:
        """Make the view, recorded where that is asked for."""
        if state.enabled:
            view: Tensor = cls.apply(x, shape, strides, offset, note)
            return mark_view(view, x)
        return x._alias(shape, strides, offset)

    @staticmethod
    def forward(ctx: ViewOp, x: Tensor, shape: Shape, strides: Shape, offset: int, note: Any) -> Tensor:
        ctx.note = note
        return x._alias(shape, strides, offset)


class Reshape(ViewOp):
    """The same elements in the same order; dx has the old shape."""

    @staticmethod
    def backward(ctx: Reshape, grad: Tensor) -> Any:
        return reshape(grad, ctx.note)


class Permute(ViewOp):
    """Dimensions in another order; dx puts them back."""

    @staticmethod
    def backward(ctx: Permute, grad: Tensor) -> Any:
        inverse = [0] * len(ctx.note)
        for new, old in enumerate(ctx.note):
            inverse[old] = new
        return permute(grad, inverse)


class Expand(ViewOp):
    """Elements repeated by stride 0; dx is the sum over the repetitions."""

    @staticmethod
    def backward(ctx: Expand, grad: Tensor) -> Any:
        return sum_to(grad, ctx.note)


def sizes_of(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Give sizes written as `f(2, 3)` or as `f((2, 3))`."""
    if len(args) == 1 and not isinstance(args[0], int):
        return tuple(args[0])
    return args


def _resolve(x: Tensor, shape: Shape, name: str) -> Shape:
    """Replace the one -1 in a shape.

    Raises: ShapeError if the element counts differ.
    """
    count = x.numel()
    if -1 in shape:
        known = prod([size for size in shape if size != -1])
        if shape.count(-1) > 1 or (known == 0 or count % known):
            raise ShapeError(f"{name}: expected a shape of {count} elements with at most one -1, found {shape}")
        shape = tuple([count // known if size == -1 else size for size in shape])
    if prod(shape) != count or any(size < 0 for size in shape):
        raise ShapeError(f"{name}: expected a shape of {count} elements for {x.shape}, found {shape}")
    return shape


def view_strides(shape: Shape, strides: Shape, new_shape: Shape) -> Shape | None:
    """Give the strides by which `new_shape` shows the same elements in the same order; None if there are none.

    Runs of dimensions that lie in memory as one are found; each must be cut without a remainder.
    """
    runs: list[tuple[int, int]] = []  # (elements, stride of the innermost), outermost run first
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == stride * size:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    result: list[int] = []
    position = len(runs) - 1
    left, step = runs[position] if runs else (1, 1)
    for size in reversed(new_shape):
        if left == 1 and size != 1 and position > 0:
            position -= 1
            left, step = runs[position]
        if size != 1 and left % size:
            return None
        result.append(step)
        left //= size
        step *= size
    return tuple(reversed(result)) if left == 1 and position <= 0 else None


def view(x: Tensor, *shape: Any) -> Tensor:
    """Show the same memory in another shape; one size may be -1. A dtype instead of a shape is not supported.

    Raises: ShapeError if the element counts differ, or if the layout allows no view: use reshape().
    """
    wanted = _resolve(x, sizes_of(shape), "view")
    if x.is_contiguous():
        return Reshape.show(x, wanted, compact_strides(wanted), 0, x.shape)
    strides = view_strides(x.shape, x.strides, wanted)
    if strides is None:
        raise ShapeError(
            f"view: expected a layout that shows {wanted} without a copy, found shape {x.shape} with strides "
            f"{x.strides}. Use reshape()."
        )
    return Reshape.show(x, wanted, strides, 0, x.shape)


def reshape(x: Tensor, *shape: Any) -> Tensor:
    """Give the elements in another shape, as a view where the layout allows it; one size may be -1.

    Raises: ShapeError if the element counts differ.
    """
    wanted = _resolve(x, sizes_of(shape), "reshape")
    if wanted == x.shape:
        return x
    if not x.is_contiguous():
        strides = view_strides(x.shape, x.strides, wanted)
        if strides is not None:
            return Reshape.show(x, wanted, strides, 0, x.shape)
        x = clone(x)
    return Reshape.show(x, wanted, compact_strides(wanted), 0, x.shape)


def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Make the dimensions from `start_dim` to `end_dim`, inclusive, one; all by default. A 0-d tensor becomes (1,)."""
    if not x.shape:
        return reshape(x, 1)
    start, end = x._dim(start_dim), x._dim(end_dim)
    if start > end:
        raise ShapeError(f"flatten: expected start_dim not after end_dim, found {start_dim} and {end_dim}")
    return reshape(x, (*x.shape[:start], prod(x.shape[start : end + 1]), *x.shape[end + 1 :]))


def permute(x: Tensor, *dims: Any) -> Tensor:
    """Give a view with the dimensions in the order `dims`.

    Raises: ShapeError unless each dimension is named once.
    """
    order = tuple([x._dim(d) for d in sizes_of(dims)])
    if len(order) != len(x.shape) or len(set(order)) != len(order):
        raise ShapeError(f"permute: expected each of {len(x.shape)} dimensions once, found {sizes_of(dims)}")
    return Permute.show(x, tuple([x.shape[d] for d in order]), tuple([x.strides[d] for d in order]), 0, order)


def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Give a view with two dimensions exchanged."""
    order = list(range(len(x.shape)))
    a, b = x._dim(dim0), x._dim(dim1)
    if not order:
        return x
    order[a], order[b] = b, a
    return permute(x, order)


def t(x: Tensor) -> Tensor:
    """Give the transpose of a matrix (a vector is itself).

    Raises: ShapeError for more than two dimensions.
    """
    if len(x.shape) > 2:
        raise ShapeError(f"t: expected at most two dimensions, found shape {x.shape}. Use transpose().")
    return transpose(x, 0, 1) if len(x.shape) == 2 else x


def movedim(x: Tensor, source: int, destination: int) -> Tensor:
    """Give a view with one dimension moved to another place, the others in order."""
    order = [d for d in range(len(x.shape)) if d != x._dim(source)]
    order.insert(x._dim(destination), x._dim(source))
    return permute(x, order)


def expand(x: Tensor, *shape: Any) -> Tensor:
    """Give a view that repeats dimensions of size 1, and leading ones; -1 keeps a size.

    Raises: ShapeError if a size is neither equal nor expandable.
    """
    sizes = sizes_of(shape)
    lead = len(sizes) - len(x.shape)
    wanted = tuple([x.shape[d - lead] if size == -1 and d >= lead else size for d, size in enumerate(sizes)])
    if wanted == x.shape:
        return x
    return Expand.show(x, wanted, broadcast_strides(x.shape, x.strides, wanted), 0, x.shape)


def expand_as(x: Tensor, other: Tensor) -> Tensor:
    """Expand to the shape of another tensor."""
    return expand(x, other.shape)


def reshape_as(x: Tensor, other: Tensor) -> Tensor:
    """Reshape to the shape of another tensor."""
    return reshape(x, other.shape)


def view_as(x: Tensor, other: Tensor) -> Tensor:
    """View in the shape of another tensor."""
    return view(x, other.shape)


def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """Give a view with a dimension of size 1 at `dim`, which counts in the result."""
    ndim = len(x.shape) + 1
    if not -ndim <= dim < ndim:
        raise IndexError(f"unsqueeze: expected a dim in [{-ndim}, {ndim - 1}], found {dim}")
    at = dim % ndim
    stride = x.strides[at] * x.shape[at] if at < ndim - 1 else 1
    return Reshape.show(x, (*x.shape[:at], 1, *x.shape[at:]), (*x.strides[:at], stride, *x.strides[at:]), 0, x.shape)


def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Give a view without dimensions of size 1: all of them, or those of `dim` that have size 1."""
    if dim is None:
        gone = {d for d, size in enumerate(x.shape) if size == 1}
    else:
        gone = {x._dim(d) for d in ([dim] if isinstance(dim, int) else dim)}
        gone = {d for d in gone if x.shape and x.shape[d] == 1}
    if not gone:
        return x
    kept = [d for d in range(len(x.shape)) if d not in gone]
    return Reshape.show(x, tuple([x.shape[d] for d in kept]), tuple([x.strides[d] for d in kept]), 0, x.shape)


class Cat(Op):
    """y = tensors one after another along dim; dx_i = the part of dy."""

    dim: int
    sizes: list[int]

    @staticmethod
    def forward(ctx: Cat, dim: int, *tensors: Tensor) -> Tensor:
        from infinitrain.copy import copy_

        ctx.dim, ctx.sizes = dim, [x.shape[dim] for x in tensors]
        first = tensors[0]
        shape = list(first.shape)
        shape[dim] = sum(ctx.sizes)
        y = Tensor._empty(tuple(shape), first.dtype, first.buffer.device)
        start = 0
        for x in tensors:
            copy_(y._alias(x.shape, y.strides, start * y.strides[dim]), x)
            start += x.shape[dim]
        return y

    @staticmethod
    def backward(ctx: Cat, grad: Tensor) -> Any:
        return None, *split(grad, ctx.sizes, ctx.dim)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along a dimension; dtypes promote, other sizes are equal.

    Raises: ShapeError for no tensors, or sizes that differ; DeviceMismatch.
    """
    if not tensors:
        raise ShapeError("cat: expected at least one tensor, found none")
    first = tensors[0]
    axis = first._dim(dim)
    require_same_device("cat", *tensors)
    rest = [(*x.shape[:axis], *x.shape[axis + 1 :]) for x in tensors]
    if not first.shape or any(
        r != rest[0] or len(x.shape) != len(first.shape) for r, x in zip(rest, tensors, strict=True)
    ):
        raise ShapeError(
            f"cat: expected shapes equal but for dimension {axis}, found {', '.join(str(x.shape) for x in tensors)}"
        )
    dtype = dt.result_type(*tensors)
    result: Tensor = Cat.apply(axis, *[cast(x, dtype) for x in tensors])
    return result


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension.

    Raises: ShapeError for no tensors, or shapes that differ.
    """
    if not tensors or any(x.shape != tensors[0].shape for x in tensors):
        found = ", ".join(str(x.shape) for x in tensors) or "none"
        raise ShapeError(f"stack: expected tensors of one shape, found {found}")
    return cat([unsqueeze(x, dim) for x in tensors], dim % (len(tensors[0].shape) + 1))


class Split(Op):
    """Views one after another along dim; dx joins their gradients."""

    materialize = False
    dim: int
    sizes: list[int]

    @staticmethod
    def forward(ctx: Split, x: Tensor, sizes: list[int], dim: int) -> tuple[Tensor, ...]:
        ctx.dim, ctx.sizes = dim, sizes
        parts = []
        start = 0
        for size in sizes:
            shape = (*x.shape[:dim], size, *x.shape[dim + 1 :])
            parts.append(x._alias(shape, x.strides, start * x.strides[dim]))
            start += size
        return tuple(parts)

    @staticmethod
    def backward(ctx: Split, *grads: Tensor | None) -> Any:
        parts: list[Tensor] = []
        for grad, meta in zip(grads, ctx._meta, strict=True):
            if grad is None and meta is not None:
                grad = Tensor._empty(*meta).zero_()
            parts.append(grad)  # type: ignore[arg-type]
        return cat(parts, ctx.dim)


def split(x: Tensor, sizes: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Give views along a dimension: of the given sizes, or of one size with a smaller last.

    Raises: ShapeError if the sizes do not add up.
    """
    axis = x._dim(dim)
    total = x.shape[axis] if x.shape else 0
    if isinstance(sizes, int):
        if sizes <= 0:
            raise ShapeError(f"split: expected a positive size, found {sizes}")
        parts = [min(sizes, total - start) for start in range(0, total, sizes)] or [0]
    else:
        parts = list(sizes)
    if sum(parts) != total or any(size < 0 for size in parts) or not x.shape:
        raise ShapeError(f"split: expected sizes that add up to {total}, found {parts} for shape {x.shape}")
    views = tuple(Split.apply(x, parts, axis))
    return tuple([mark_view(part, x) for part in views])


def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Give at most `chunks` views of equal size along a dimension; the last may be smaller."""
    if chunks <= 0:
        raise ShapeError(f"chunk: expected a positive number, found {chunks}")
    return split(x, max(1, -(-x.shape[x._dim(dim)] // chunks)), dim)


def unbind(x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Give views without a dimension, one for each of its positions."""
    axis = x._dim(dim)
    if not x.shape:
        raise ShapeError("unbind: expected a tensor with dimensions, found a 0-d tensor")
    return tuple([squeeze(part, axis) for part in split(x, 1, axis)]) if x.shape[axis] else ()


def repeat_interleave(x: Tensor, repeats: int, dim: int) -> Tensor:
    """Repeat each element along a dimension, the copies side by side."""
    axis = x._dim(dim)
    wide = unsqueeze(x, axis + 1)
    shape = (*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :])
    return reshape(contiguous(expand(wide, shape)), (*x.shape[:axis], x.shape[axis] * repeats, *x.shape[axis + 1 :]))
