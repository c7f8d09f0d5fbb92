"""Order along a dimension: sort, argsort, topk, searchsorted, unique. Every order is stable and NaN is the largest."""

from __future__ import annotations

from typing import Any, NamedTuple

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import no_grad
from infinitrain.dispatch import launch
from infinitrain.errors import ShapeError
from infinitrain.ops._base import cast_to, require_same_device
from infinitrain.ops.cast import contiguous
from infinitrain.ops.embedding import GatherGrad
from infinitrain.ops.reduce import ValuesIndices
from infinitrain.ops.shape import movedim
from infinitrain.tensor import Tensor


class Chosen(Op):
    """Elements of the last dimension in some order, and where they stood; dy goes back to those places."""

    shape: tuple[int, ...]

    @staticmethod
    def forward(ctx: Chosen, x: Tensor, kernel: str, k: int, attributes: dict[str, Any]) -> tuple[Tensor, Tensor]:
        shape = (*x.shape[:-1], k)
        values = Tensor._empty(shape, x.dtype, x.buffer.device)
        indices = Tensor._empty(shape, dt.int64, x.buffer.device)
        launch(kernel, (x,), (values, indices), **attributes)
        ctx.shape = x.shape
        ctx.save_for_backward(indices)
        ctx.mark_non_differentiable(indices)
        return values, indices

    @staticmethod
    def backward(ctx: Chosen, grad: Tensor, _: Any) -> Any:
        (indices,) = ctx.saved_tensors
        return GatherGrad.apply(grad, len(ctx.shape) - 1, indices, ctx.shape)


def _choose(x: Tensor, dim: int, kernel: str, size: int, **attributes: Any) -> ValuesIndices:
    """Run a kernel of rows along any dimension; a 0-d tensor is a row of one."""
    if not x.shape:
        values, indices = Chosen.apply(x.reshape(1), kernel, size, attributes)
        # All that can be chosen of one element is it, or nothing.
        return ValuesIndices(values.reshape(()), indices.reshape(())) if size else ValuesIndices(values, indices)
    axis, last = x._dim(dim), len(x.shape) - 1
    values, indices = Chosen.apply(movedim(x, axis, last) if axis != last else x, kernel, size, attributes)
    if axis == last:
        return ValuesIndices(values, indices)
    return ValuesIndices(movedim(values, last, axis), movedim(indices, last, axis))


def sort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> ValuesIndices:
    """Put the elements along `dim` in order: (values, indices), both of x's shape.

    NaN counts as the largest; equal elements keep their order in both directions, whatever `stable` says. The
    gradient of the values goes to where each stood.
    """
    del stable
    size = x.shape[x._dim(dim)] if x.shape else 1
    return _choose(x, dim, "SortForward", size, descending=descending)


def argsort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Give the positions (int64) that put the elements along `dim` in order, as `sort` does."""
    with no_grad():
        return sort(x, dim, descending, stable).indices


def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> ValuesIndices:
    """Give the k largest (or smallest) elements along `dim` and their positions: size k instead of the dimension's.

    NaN counts as the largest; of equal elements the first are taken. In order if `sorted`, else by position. The
    gradient of the values goes to where each stood.

    Raises: ShapeError unless 0 <= k <= size.
    """
    size = x.shape[x._dim(dim)] if x.shape else 1
    if not 0 <= k <= size:
        raise ShapeError(f"topk: expected k in [0, {size}], the size of dimension {dim} of {x.shape}, found {k}")
    return _choose(x, dim, "TopKForward", k, k=k, largest=largest, sorted=sorted)


def _ranks(order: Tensor) -> Tensor:
    """Give for each element the place that an argsort along the last dimension puts it to: the inverse."""
    places = _positions(order.shape[-1], order).expand(order.shape)
    return order.scatter(len(order.shape) - 1, order, contiguous(places))


def _positions(n: int, like: Tensor) -> Tensor:
    from infinitrain.ops.create import arange

    return arange(n, device=like.device)


def searchsorted(sorted_sequence: Tensor, values: Tensor, right: bool = False) -> Tensor:
    """Give how many elements of a sorted row are below (with `right`: at most) each value, int64.

    Both are sorted together: no comparison of every pair, and nothing leaves the device.

    Shapes: sorted_sequence (N) and values of any shape, or (..., N) and (..., M) with equal leading sizes.

    Raises: ShapeError for other shapes; DTypeError where dtypes have no common one; DeviceMismatch.
    """
    require_same_device("searchsorted", sorted_sequence, values)
    if len(sorted_sequence.shape) == 1 and len(values.shape) != 1:
        return searchsorted(sorted_sequence, values.reshape(-1), right).reshape(values.shape)
    if not values.shape or sorted_sequence.shape[:-1] != values.shape[:-1]:
        raise ShapeError(
            f"searchsorted: expected (N) or equal leading sizes, found {sorted_sequence.shape} and {values.shape}"
        )
    from infinitrain.ops.shape import cat

    with no_grad():
        last, m = len(values.shape) - 1, values.shape[-1]
        parts = [sorted_sequence, values] if right else [values, sorted_sequence]
        together = _ranks(argsort(cat(parts, last)))
        mine = together.narrow(last, sorted_sequence.shape[-1] if right else 0, m)
        return mine - _ranks(argsort(values))


class Unique(NamedTuple):
    """What `unique_all` gives.

    Attributes:
        values: The different elements, ascending; each NaN is one.
        indices: Where each occurs first.
        inverse_indices: For each element of x the place of its value, in x's shape.
        counts: How often each value occurs.
    """

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


def unique_all(x: Tensor) -> Unique:
    """Give the different elements of `x`, with where they are (array API). Waits for the device: the number is data."""
    from infinitrain.ops.index import nonzero
    from infinitrain.ops.scan import cumsum
    from infinitrain.ops.shape import cat

    with no_grad():
        flat = x.detach().reshape(-1)
        n = flat.shape[0]
        values, order = sort(flat)
        if n == 0:
            return Unique(values, order, order.reshape(x.shape), order)
        first = cat([_positions(1, x) == 0, values[1:] != values[:-1]])
        starts = nonzero(first).reshape(-1)
        group = cumsum(cast_to(first, dt.int64), 0) - 1
        inverse = group.index_select(0, _ranks(order)).reshape(x.shape)
        ends = cat([starts[1:], _positions(1, x) + n])
        return Unique(values.index_select(0, starts), order.index_select(0, starts), inverse, ends - starts)


def unique_values(x: Tensor) -> Tensor:
    """Give the different elements of `x`, ascending."""
    return unique_all(x).values


def unique_counts(x: Tensor) -> tuple[Tensor, Tensor]:
    """Give the different elements of `x`, ascending, and how often each occurs."""
    found = unique_all(x)
    return found.values, found.counts


def unique_inverse(x: Tensor) -> tuple[Tensor, Tensor]:
    """Give the different elements of `x`, ascending, and for each element of `x` the place of its value."""
    found = unique_all(x)
    return found.values, found.inverse_indices
