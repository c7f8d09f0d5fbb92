"""Taking rows of a matrix by number, and giving gradients back to them."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import ACCUMULATED, Op
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops import _base
from infinitrain.ops.cast import cast_to, contiguous
from infinitrain.ops.select import where
from infinitrain.ops.shape import movedim, reshape
from infinitrain.tensor import Tensor


class Embedding(Op):
    """y (N, C) = rows `index` (N) of weight (V, C); dy is added into those rows.

    Into the weight's gradient itself if there is one already, as that of a tied head.
    """

    rows: int
    padding: int | None

    @staticmethod
    def forward(ctx: Embedding, index: Tensor, weight: Tensor, padding: int | None) -> Tensor:
        ctx.rows, ctx.padding = weight.shape[0], padding
        ctx.save_for_backward(index)
        y = Tensor._empty((index.shape[0], weight.shape[1]), weight.dtype, weight.buffer.device)
        launch("EmbeddingForward", (index, weight), (y,))
        return y

    @staticmethod
    def backward(ctx: Embedding, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        if ctx.padding is not None:  # a padded position adds exactly 0
            grad = where(reshape(index != ctx.padding, (-1, 1)), grad, 0)
        total = ctx.accumulator(1)
        if total is not None:
            launch("EmbeddingBackward", (index, grad), (total,), accumulate=True)
            return None, ACCUMULATED
        return None, EmbeddingGrad.apply(index, grad, ctx.rows)


class EmbeddingGrad(Op):
    """dweight (V, C) with rows of dy added up; linear in dy."""

    @staticmethod
    def forward(ctx: EmbeddingGrad, index: Tensor, grad: Tensor, rows: int) -> Tensor:
        ctx.save_for_backward(index)
        dweight = Tensor._empty((rows, grad.shape[1]), grad.dtype, grad.buffer.device)
        launch("EmbeddingBackward", (index, grad), (dweight,))
        return dweight

    @staticmethod
    def backward(ctx: EmbeddingGrad, second: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return None, Embedding.apply(index, second, None)


def rows(x: Tensor, index: Tensor) -> Tensor:
    """Take rows of a matrix (V, C) by number (N) -> (N, C). Integer tensors too.

    Raises: IndexOutOfRange for a number outside [0, V); on an asynchronous device at the next synchronisation.
    """
    result: Tensor = Embedding.apply(index, x, None)
    return result


def embedding(index: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Give row `index[...]` of `weight` for each element.

    Shapes: index (...), weight (V, C) -> (..., C). Negative indices are errors. Row `padding_idx` (negatives count
    from the end) gets no gradient.

    Raises: ShapeError, DTypeError; IndexOutOfRange as `rows`.
    """
    if len(weight.shape) != 2:
        raise ShapeError(f"embedding: expected a weight of shape (V, C), found {weight.shape}")
    if not index.dtype.is_integer:
        raise DTypeError(f"embedding: expected an index of integers, found {index.dtype.name}")
    _base.require_same_device("embedding", index, weight)
    vocabulary, width = weight.shape
    if padding_idx is not None:
        if not -vocabulary <= padding_idx < vocabulary:
            raise IndexError(
                f"embedding: expected a padding_idx inside [-{vocabulary}, {vocabulary}), found {padding_idx}"
            )
        padding_idx %= vocabulary
    flat = contiguous(reshape(cast_to(index, dt.int64), -1))
    result: Tensor = Embedding.apply(flat, weight, padding_idx)
    return reshape(result, (*index.shape, width))


def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Take positions `index` (N) along a dimension.

    Raises: ShapeError unless the index has one dimension; IndexOutOfRange for numbers that are not there.
    """
    if len(index.shape) > 1 or not index.dtype.is_integer:
        raise ShapeError(f"index_select: expected an index of one dimension, of integers, found {index.shape}")
    axis = x._dim(dim)
    moved = movedim(x, axis, 0) if axis else x
    if not x.shape:
        moved = reshape(x, 1)
    width = 1
    for size in moved.shape[1:]:
        width *= size
    number = contiguous(reshape(cast_to(index, dt.int64), -1))
    picked = reshape(rows(reshape(moved, (moved.shape[0], width)), number), (number.shape[0], *moved.shape[1:]))
    return movedim(picked, 0, axis) if axis else picked


class Gather(Op):
    """y[.., i, ..] = x[.., index[.., i, ..], ..]; dy is added at those places."""

    dim: int
    shape: tuple[int, ...]

    @staticmethod
    def forward(ctx: Gather, x: Tensor, dim: int, index: Tensor) -> Tensor:
        ctx.dim, ctx.shape = dim, x.shape
        ctx.save_for_backward(index)
        y = Tensor._empty(index.shape, x.dtype, x.buffer.device)
        launch("GatherForward", (x, index), (y,), dim=dim)
        return y

    @staticmethod
    def backward(ctx: Gather, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return GatherGrad.apply(grad, ctx.dim, index, ctx.shape)


class GatherGrad(Op):
    """Zeros with dy added at the places of an index; linear in dy."""

    dim: int

    @staticmethod
    def forward(ctx: GatherGrad, grad: Tensor, dim: int, index: Tensor, shape: tuple[int, ...]) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        dx = Tensor._empty(shape, grad.dtype, grad.buffer.device)
        launch("GatherBackward", (grad, index), (dx,), dim=dim)
        return dx

    @staticmethod
    def backward(ctx: GatherGrad, second: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return Gather.apply(second, ctx.dim, index)


class Scatter(Op):
    """y = x with values written at the places of an index; dx = dy without those places, dvalues = dy there."""

    dim: int

    @staticmethod
    def forward(ctx: Scatter, x: Tensor, dim: int, index: Tensor, values: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        y = Tensor._empty(x.shape, x.dtype, x.buffer.device) if out is None else out
        if out is None:
            launch("Copy", (x,), (y,))
        launch("ScatterForward", (index, values), (y,), dim=dim)
        return y

    @staticmethod
    def backward(ctx: Scatter, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        zero = _base.full_like_device(index.shape, 0, grad.dtype, grad)
        return Scatter.apply(grad, ctx.dim, index, zero), None, None, Gather.apply(grad, ctx.dim, index)


class ScatterAdd(Op):
    """y = x with values added at the places of an index; dx = dy, dvalues = dy there."""

    dim: int

    @staticmethod
    def forward(
        ctx: ScatterAdd, x: Tensor, dim: int, index: Tensor, values: Tensor, out: Tensor | None = None
    ) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        y = Tensor._empty(x.shape, x.dtype, x.buffer.device) if out is None else out
        if out is None:
            launch("Copy", (x,), (y,))
        launch("GatherBackward", (values, index), (y,), dim=dim, accumulate=True)
        return y

    @staticmethod
    def backward(ctx: ScatterAdd, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return grad, None, None, Gather.apply(grad, ctx.dim, index)


def checked_index(name: str, x: Tensor, dim: int, index: Tensor) -> tuple[int, Tensor]:
    """Give the dimension from the start and the index as int64.

    Raises: ShapeError unless the index has the rank of `x` and is no larger in the other dimensions; DTypeError.
    """
    axis = x._dim(dim)
    if not index.dtype.is_integer:
        raise DTypeError(f"{name}: expected an index of integers, found {index.dtype.name}")
    fits = len(index.shape) == len(x.shape) and all(
        d == axis or mine <= theirs for d, (mine, theirs) in enumerate(zip(index.shape, x.shape, strict=True))
    )
    if not fits:
        raise ShapeError(
            f"{name}: expected an index of {len(x.shape)} dimensions, none but dimension {axis} larger than in "
            f"{x.shape}, found {index.shape}"
        )
    _base.require_same_device(name, x, index)
    return axis, cast_to(index, dt.int64)


def gather(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Give y[.., i, ..] = x[.., index[.., i, ..], ..] along `dim`; y has the shape of `index`.

    Raises: ShapeError, DTypeError; IndexOutOfRange for negative or too large numbers.
    """
    axis, number = checked_index("gather", x, dim, index)
    if not x.shape:
        return gather(reshape(x, 1), 0, reshape(number, 1)).reshape(())
    result: Tensor = Gather.apply(x, axis, number)
    return result


def scatter_values(name: str, x: Tensor, index: Tensor, values: Any) -> Tensor:
    """Give the values to scatter, a tensor or a number, in the shape of the index.

    Raises: ShapeError if there are fewer values than places.
    """
    if not isinstance(values, Tensor):
        number = _base.as_scalar(values)
        if number is None:
            raise TypeError(f"{name}: expected a tensor or a number, found {type(values).__name__}")
        return _base.full_like_device(index.shape, number, x.dtype, x)
    given: Tensor = cast_to(values, x.dtype)
    if given.shape == index.shape:
        return given
    if len(given.shape) != len(index.shape) or any(i > g for i, g in zip(index.shape, given.shape, strict=True)):
        raise ShapeError(f"{name}: expected values of shape {index.shape} or larger, found {given.shape}")
    return given[tuple([slice(size) for size in index.shape])]


def scatter(x: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """Give `x` with y[.., index[.., i, ..], ..] = src[.., i, ..]; the last of equal indices stays.

    Raises: ShapeError, DTypeError; IndexOutOfRange for negative or too large numbers.
    """
    axis, number = checked_index("scatter", x, dim, index)
    result: Tensor = Scatter.apply(x, axis, number, scatter_values("scatter", x, number, src))
    return result


def scatter_add(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Give `x` with src[.., i, ..] added at index[.., i, ..] along `dim`, in row-major order.

    Raises: ShapeError, DTypeError; IndexOutOfRange for negative or too large numbers.
    """
    axis, number = checked_index("scatter_add", x, dim, index)
    result: Tensor = ScatterAdd.apply(x, axis, number, scatter_values("scatter_add", x, number, src))
    return result
