"""Reductions. Low precision accumulates in float32 and rounds once; NaN wins in max and min."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import no_grad
from infinitrain.dispatch import has_kernel, launch
from infinitrain.dtype import DType
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import (
    cast_to,
    dims_of,
    dropped_shape,
    full_like_device,
    kept_shape,
    require_floating,
    scalar_tensor,
)
from infinitrain.ops.arithmetic import div, mul
from infinitrain.ops.cast import contiguous
from infinitrain.ops.compare import eq, logical_not, logical_or
from infinitrain.ops.create import arange
from infinitrain.ops.extremes import maximum, minimum
from infinitrain.ops.rounding import sign
from infinitrain.ops.select import where
from infinitrain.ops.shape import transpose
from infinitrain.ops.unary import exp, log, sqrt
from infinitrain.strided import compact_strides
from infinitrain.tensor import Tensor

Dims = int | Sequence[int] | None


def reduced(kernel: str, x: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """Run a reduction kernel; the output is given to it with size 1 in each reduced dimension."""
    kept = kept_shape(x.shape, dims)
    y = Tensor._empty(kept if keepdim else dropped_shape(x.shape, dims), x.dtype, x.buffer.device)
    target = y if keepdim or not dims else y._alias(kept, compact_strides(kept))
    launch(kernel, (x,), (target,))
    return y


def spread(grad: Tensor, shape: tuple[int, ...], dims: tuple[int, ...]) -> Tensor:
    """Repeat a reduced gradient over the dimensions that were reduced (a view, no copy)."""
    kept = kept_shape(shape, dims)
    return (grad if grad.shape == kept else grad.reshape(kept)).expand(shape)


class Sum(Op):
    """y = sum of x over dims; dx = dy, repeated."""

    shape: tuple[int, ...]
    dims: tuple[int, ...]

    @staticmethod
    def forward(ctx: Sum, x: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        ctx.shape, ctx.dims = x.shape, dims
        return reduced("SumForward", x, dims, keepdim)

    @staticmethod
    def backward(ctx: Sum, grad: Tensor) -> Any:
        return spread(grad, ctx.shape, ctx.dims)


class Mean(Op):
    """y = mean of x over dims; dx = dy / count, repeated."""

    shape: tuple[int, ...]
    dims: tuple[int, ...]

    @staticmethod
    def forward(ctx: Mean, x: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        ctx.shape, ctx.dims = x.shape, dims
        return reduced("MeanForward", x, dims, keepdim)

    @staticmethod
    def backward(ctx: Mean, grad: Tensor) -> Any:
        count = _count(ctx.shape, ctx.dims)
        return spread(div(grad, float(count)) if count else grad, ctx.shape, ctx.dims)


class Extreme(Op):
    """y = largest or smallest of x over dims; dy is shared equally among the ties."""

    shape: tuple[int, ...]
    dims: tuple[int, ...]

    @staticmethod
    def forward(ctx: Extreme, x: Tensor, kernel: str, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        ctx.shape, ctx.dims = x.shape, dims
        y = reduced(kernel, x, dims, keepdim)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Extreme, grad: Tensor) -> Any:
        x, y = ctx.saved_tensors
        with no_grad():
            # A NaN result came from the NaNs.
            ties = logical_or(eq(x, spread(y.detach(), ctx.shape, ctx.dims)), logical_not(eq(x, x)))
            count = sum(cast_to(ties, grad.dtype), ctx.dims, keepdim=True)
        shared = div(grad.reshape(count.shape), count)
        return where(ties, shared.expand(ctx.shape), 0)


class Norm(Op):
    """y = sqrt(sum of x^2) over dims, computed in float32 at least; dx = dy x / y, 0 where y is 0."""

    shape: tuple[int, ...]
    dims: tuple[int, ...]

    @staticmethod
    def forward(ctx: Norm, x: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        ctx.shape, ctx.dims = x.shape, dims
        if len(dims) == len(x.shape):
            total = Tensor._empty((), x.dtype.accumulator, x.buffer.device)
            if x.numel():
                launch("SquaredNorm", (x,), (total,))
            else:
                launch("Fill", (), (total,), value=0)
        else:
            wide = cast_to(x, x.dtype.accumulator)
            total = reduced("SumForward", mul(wide, wide), dims, False)
        y = cast_to(sqrt(total), x.dtype)
        if keepdim:
            y = y._alias(kept_shape(x.shape, dims), compact_strides(kept_shape(x.shape, dims)))
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Norm, grad: Tensor) -> Any:
        x, y = ctx.saved_tensors
        flat = eq(y, 0)
        scale = where(flat, 0, div(grad, where(flat, 1, y)))
        return mul(x, spread(scale, ctx.shape, ctx.dims))


class PowerNorm(Op):
    """y = (sum of |x|^p)^(1/p), in float32 at least; dx = dy sign(x) (|x| / y)^(p - 1), 0 where x or y is 0."""

    p: float
    dims: tuple[int, ...]

    @staticmethod
    def forward(ctx: PowerNorm, x: Tensor, p: float, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        ctx.p, ctx.dims = p, dims
        size = cast_to(x, x.dtype.accumulator).abs()
        y = cast_to(sum(size**p, dims, keepdim) ** (1 / p), x.dtype)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: PowerNorm, grad: Tensor) -> Any:
        x, y = ctx.saved_tensors
        whole = spread(y, x.shape, ctx.dims)
        flat = logical_or(eq(whole, 0), eq(x, 0))
        share = where(flat, 1, x.abs() / where(flat, 1, whole)) ** (ctx.p - 1)
        return where(flat, 0, spread(grad, x.shape, ctx.dims) * share * sign(x))


def _count(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    """Count the elements that one result is made of."""
    count = 1
    for d in dims:
        count *= shape[d]
    return count


def sum(x: Tensor, dim: Dims = None, keepdim: bool = False, dtype: DType | str | None = None) -> Tensor:
    """Add up over `dim` (all by default); nothing gives 0. Bools and small integers become (u)int64.

    Raises: IndexError for a dimension that is not there; ShapeError for one named twice.
    """
    dims = dims_of(x, dim, "sum")
    if dtype is not None:
        x = cast_to(x, dt.parse(dtype))
    elif not x.dtype.is_floating_point:
        x = cast_to(x, dt.uint64 if x.dtype.is_integer and not x.dtype.is_signed else dt.int64)
    result: Tensor = Sum.apply(x, dims, keepdim)
    return result


def mean(x: Tensor, dim: Dims = None, keepdim: bool = False, dtype: DType | str | None = None) -> Tensor:
    """Average over `dim` (all by default); nothing gives NaN.

    Raises: DTypeError for integers, unless `dtype` names a floating-point one.
    """
    if dtype is not None:
        x = cast_to(x, dt.parse(dtype))
    require_floating(x, "mean")
    result: Tensor = Mean.apply(x, dims_of(x, dim, "mean"), keepdim)
    return result


def var(x: Tensor, dim: Dims = None, correction: float = 1, keepdim: bool = False) -> Tensor:
    """Give the variance over `dim`: squared distances from the mean, divided by count - correction.

    The mean is taken first, so that a large mean costs no digits.

    Raises: DTypeError for integers.
    """
    require_floating(x, "var")
    dims = dims_of(x, dim, "var")
    wide = cast_to(x, x.dtype.accumulator)
    apart = wide - mean(wide, dims, keepdim=True)
    total = sum(mul(apart, apart), dims, keepdim) if dims else mul(apart, apart)
    left = _count(x.shape, dims) - correction
    return cast_to(div(total, float(left if left > 0 else 0)), x.dtype)


def std(x: Tensor, dim: Dims = None, correction: float = 1, keepdim: bool = False) -> Tensor:
    """Give the standard deviation: the square root of `var`."""
    return sqrt(var(x, dim, correction, keepdim))


def norm(x: Tensor, p: float = 2, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Give the p-norm over `dim` (all by default): (sum of |x|^p)^(1/p). A zero vector has gradient 0.

    p = 0 counts what is not 0; infinity gives the largest magnitude, -infinity the smallest. Nothing has norm 0.

    Raises: DTypeError for integers; ShapeError for -infinity over nothing.
    """
    require_floating(x, "norm")
    dims = dims_of(x, dim, "norm")
    if p == 2:
        result: Tensor = Norm.apply(x, dims, keepdim)
        return result
    if p == 0:
        return cast_to(sum(cast_to(cast_to(x, dt.bool_), x.dtype.accumulator), dims, keepdim), x.dtype)
    size = x.abs()
    if p == 1:
        return sum(size, dims, keepdim)
    if p == float("inf"):
        return amax(size, dims, keepdim) if _count(x.shape, dims) else sum(size, dims, keepdim)
    if p == float("-inf"):
        return amin(size, dims, keepdim)
    powers: Tensor = PowerNorm.apply(x, float(p), dims, keepdim)
    return powers


def _extreme(kernel: str, name: str, x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """Check that there is something to choose from, and choose."""
    dims = dims_of(x, dim, name)
    if _count(x.shape, dims) == 0:
        raise ShapeError(f"{name}: expected at least one element to reduce, found shape {x.shape} over {dims}")
    result: Tensor = Extreme.apply(x, kernel, dims, keepdim)
    return result


def amax(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Give the largest over `dim` (all by default); NaN wins; a gradient is shared equally among ties.

    Raises: ShapeError if there is nothing to choose from.
    """
    return _extreme("MaxForward", "amax", x, dim, keepdim)


def amin(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Give the smallest over `dim` (all by default); NaN wins; a gradient is shared equally among ties.

    Raises: ShapeError if there is nothing to choose from.
    """
    return _extreme("MinForward", "amin", x, dim, keepdim)


class ValuesIndices(NamedTuple):
    """What `max` and `min` over one dimension give."""

    values: Tensor
    indices: Tensor


def max(x: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Give the largest element; with `dim` (values, indices); with a tensor the larger of each pair.

    Indices name the first position; the gradient goes to them.
    """
    if isinstance(dim, Tensor):
        return maximum(x, dim)
    return amax(x) if dim is None else _with_index(argmax(x, dim, True), x, dim, keepdim)


def min(x: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Give the smallest element; with `dim` (values, indices); with a tensor the smaller of each pair.

    Indices name the first position; the gradient goes to them.
    """
    if isinstance(dim, Tensor):
        return minimum(x, dim)
    return amin(x) if dim is None else _with_index(argmin(x, dim, True), x, dim, keepdim)


def _with_index(index: Tensor, x: Tensor, dim: int, keepdim: bool) -> ValuesIndices:
    """Take the elements that `index` names along `dim`."""
    if not x.shape:
        return ValuesIndices(x.clone(), index)
    values = x.gather(dim, index)
    return ValuesIndices(values, index) if keepdim else ValuesIndices(values.squeeze(dim), index.squeeze(dim))


def _first_place(kernel: str, x: Tensor, axis: int) -> Tensor:
    """Find the first position of the extreme by reductions and comparisons, for a provider without the kernel."""
    best = reduced(kernel, x, (axis,), True)
    hit = logical_or(eq(x, best), logical_not(eq(x, x)))
    size = x.shape[axis]
    places = arange(size, device=x.device).reshape([size if d == axis else 1 for d in range(x.ndim)])
    return reduced("MinForward", where(hit, places, size), (axis,), True)


def _argextreme(kernel: str, name: str, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """Find the first position of the extreme; NaN wins."""
    with no_grad():
        source = x if dim is not None else x.reshape(-1)
        if not source.shape:
            x._dim(0 if dim is None else dim)
            return scalar_tensor(0, dt.int64, x)
        axis, last = source._dim(0 if dim is None else dim), len(source.shape) - 1
        if not source.shape[axis]:
            raise ShapeError(f"{name}: expected at least one element to reduce, found shape {x.shape} over {dim}")
        if has_kernel(kernel, x.device, x.dtype):
            rows = transpose(source, axis, last) if axis != last else source
            first = Tensor._empty((*rows.shape[:-1], 1), dt.int64, x.buffer.device)
            launch(kernel, (rows,), (first,))
            first = contiguous(transpose(first, axis, last)) if axis != last else first
        else:
            first = _first_place(kernel.removeprefix("Arg"), source, axis)
        if dim is None:
            return first.reshape((1,) * x.ndim if keepdim else ())
        return first if keepdim else first.reshape(dropped_shape(source.shape, (axis,)))


def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Give the first position (int64) of the largest over `dim`, or of all in row-major order; NaN wins."""
    return _argextreme("ArgMaxForward", "argmax", x, dim, keepdim)


def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Give the first position (int64) of the smallest over `dim`, or of all in row-major order; NaN wins."""
    return _argextreme("ArgMinForward", "argmin", x, dim, keepdim)


def _truth(kernel: str, x: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """Reduce bools by their largest (any) or smallest (all); nothing gives false or true."""
    with no_grad():
        if _count(x.shape, dims):
            return reduced(kernel, cast_to(x.detach(), dt.bool_), dims, keepdim)
        shape = kept_shape(x.shape, dims) if keepdim else dropped_shape(x.shape, dims)
        return full_like_device(shape, kernel == "MinForward", dt.bool_, x)


def any(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Tell whether any element over `dim` is true (not 0); nothing gives false."""
    return _truth("MaxForward", x, dims_of(x, dim, "any"), keepdim)


def all(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Tell whether all elements over `dim` are true (not 0); nothing gives true."""
    return _truth("MinForward", x, dims_of(x, dim, "all"), keepdim)


def logsumexp(x: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """Give log(sum(exp(x))) over `dim`, the largest taken out first; -inf for nothing or all -inf."""
    require_floating(x, "logsumexp")
    dims = dims_of(x, dim, "logsumexp")
    if _count(x.shape, dims) == 0:
        return log(sum(x, dims, keepdim))
    with no_grad():
        top = amax(x, dims, True)
        top = where(eq(top.abs(), float("inf")), 0, top)  # infinities stay infinities, without inf - inf
    total = log(sum(exp(x - top), dims, True)) + top
    return total if keepdim else total.reshape(dropped_shape(x.shape, dims))


def check_index_dtype(index: Tensor, name: str) -> Tensor:
    """Give an index as int64.

    Raises: DTypeError if it is not of integers.
    """
    if not index.dtype.is_integer:
        raise DTypeError(f"{name}: expected an index of integers, found {index.dtype.name}")
    return cast_to(index, dt.int64)
