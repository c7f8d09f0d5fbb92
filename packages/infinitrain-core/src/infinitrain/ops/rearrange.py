"""Repeating, turning and picking by views, copies and the kernels of indices; nothing here has its own kernel."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.copy import copy_ as route_copy
from infinitrain.dispatch import launch
from infinitrain.errors import ShapeError
from infinitrain.ops._base import broadcast_shapes
from infinitrain.ops.cast import clone, contiguous
from infinitrain.ops.embedding import gather, scatter_add
from infinitrain.ops.shape import ViewOp, cat, expand, reshape, sizes_of
from infinitrain.tensor import Tensor


def roll(x: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
    """Move elements `shifts` places towards higher indices along `dims`, the last ones to the front.

    Without `dims` the tensor is rolled as if it were flat.

    Raises: ShapeError unless there is a shift for every dimension.
    """
    if dims is None:
        if not isinstance(shifts, int):
            raise ShapeError(f"roll: expected one shift where no dims are given, found {tuple(shifts)}")
        return reshape(roll(reshape(x, -1), shifts, 0), x.shape)
    each, axes = ([v] if isinstance(v, int) else list(v) for v in (shifts, dims))
    if len(each) != len(axes):
        raise ShapeError(f"roll: expected as many shifts as dims, found {len(each)} and {len(axes)}")
    y = x
    for shift, dim in zip(each, axes, strict=True):
        axis = x._dim(dim)
        size = x.shape[axis] if x.shape else 0
        if size and shift % size:
            cut = size - shift % size
            y = cat([y.narrow(axis, cut, size - cut), y.narrow(axis, 0, cut)], axis)
    return clone(x) if y is x else y


def repeat(x: Tensor, *sizes: Any) -> Tensor:
    """Repeat the whole tensor `sizes` times along each dimension, leading ones being added where sizes are more.

    Raises: ShapeError for fewer sizes than dimensions, or negative ones.
    """
    times = sizes_of(sizes)
    lead = len(times) - len(x.shape)
    if lead < 0 or any(n < 0 for n in times):
        raise ShapeError(f"repeat: expected at least {len(x.shape)} sizes, none negative, found {times}")
    shape = (1,) * lead + x.shape
    spread = [part for n, size in zip(times, shape, strict=True) for part in (n, size)]
    apart = reshape(x, [part for size in shape for part in (1, size)])
    wide = tuple([n * size for n, size in zip(times, shape, strict=True)])
    if not prod(wide):
        return reshape(contiguous(expand(apart, spread)), wide)
    return reshape(clone(expand(apart, spread)), wide)


def tile(x: Tensor, *sizes: Any) -> Tensor:
    """Repeat the whole tensor as `repeat` does; sizes that are missing in front are 1."""
    times = sizes_of(sizes)
    return repeat(x, (1,) * (len(x.shape) - len(times)) + times)


class Diagonal(ViewOp):
    """The elements of two dimensions whose indices differ by the offset; dy goes back to those places."""

    @staticmethod
    def backward(ctx: Diagonal, grad: Tensor) -> Any:
        return DiagonalGrad.apply(grad, *ctx.note)


class DiagonalGrad(Op):
    """Zeros with dy on the diagonal."""

    note: tuple[Any, ...]

    @staticmethod
    def forward(ctx: DiagonalGrad, grad: Tensor, shape: tuple[int, ...], offset: int, a: int, b: int) -> Tensor:
        ctx.note = (offset, a, b)
        dx = Tensor._empty(shape, grad.dtype, grad.buffer.device)
        launch("Fill", (), (dx,), value=0)
        route_copy(dx._alias(*_diagonal_geometry(dx, offset, a, b)), grad)
        return dx

    @staticmethod
    def backward(ctx: DiagonalGrad, second: Tensor) -> Any:
        return diagonal(second, *ctx.note)


def _diagonal_geometry(x: Tensor, offset: int, a: int, b: int) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Give shape, strides and first element of a diagonal, which becomes the last dimension."""
    rows, columns = x.shape[a], x.shape[b]
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    kept = [d for d in range(len(x.shape)) if d not in (a, b)]
    start = (offset * x.strides[b] if offset >= 0 else -offset * x.strides[a]) if length else 0
    shape = (*[x.shape[d] for d in kept], length)
    return shape, (*[x.strides[d] for d in kept], x.strides[a] + x.strides[b]), start


def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Give the view of the elements with index2 - index1 = offset; it is the last dimension of the result.

    Raises: ShapeError unless `dim1` and `dim2` are two dimensions.
    """
    if len(x.shape) < 2 or x._dim(dim1) == x._dim(dim2):
        raise ShapeError(f"diagonal: expected two different dimensions, found {dim1} and {dim2} of {x.shape}")
    a, b = x._dim(dim1), x._dim(dim2)
    return Diagonal.show(x, *_diagonal_geometry(x, offset, a, b), (x.shape, offset, a, b))


def take_along_dim(x: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Take `x` at `indices` along `dim`, the other sizes broadcast; without `dim` both are flat.

    Raises: ShapeError if ranks differ or sizes do not broadcast; IndexOutOfRange for numbers that are not there.
    """
    if dim is None:
        return gather(reshape(x, -1), 0, reshape(indices, -1))
    axis = x._dim(dim)
    if len(x.shape) != len(indices.shape):
        raise ShapeError(f"take_along_dim: expected equal ranks, found {x.shape} and {indices.shape}")
    common = list(
        broadcast_shapes(
            (*x.shape[:axis], 1, *x.shape[axis + 1 :]), (*indices.shape[:axis], 1, *indices.shape[axis + 1 :])
        )
    )
    common[axis] = x.shape[axis]
    wide = expand(x, common)
    common[axis] = indices.shape[axis]
    return gather(wide, axis, contiguous(expand(indices, common)))


def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Give `x` with alpha * source[.., i, ..] added at position index[i] of `dim`, in ascending i.

    Shapes: index (N), source as x but for N in `dim`.

    Raises: ShapeError for other shapes; DTypeError for integers; IndexOutOfRange for numbers that are not there.
    """
    axis = x._dim(dim)
    expected = (*x.shape[:axis], index.shape[0] if index.shape else 1, *x.shape[axis + 1 :])
    if len(index.shape) > 1 or source.shape != expected:
        raise ShapeError(
            f"index_add: expected an index (N) and a source of {expected}, found {index.shape} and {source.shape}"
        )
    lined = reshape(index, [-1 if d == axis else 1 for d in range(len(expected))])
    return scatter_add(x, axis, contiguous(expand(lined, expected)), source * alpha if alpha != 1 else source)
