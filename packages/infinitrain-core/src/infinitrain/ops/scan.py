"""Running totals along a dimension, and products: sums and products of floats are wide and rounded once."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import no_grad
from infinitrain.dispatch import launch
from infinitrain.dtype import DType
from infinitrain.errors import AutogradError
from infinitrain.ops._base import cast_to, dims_of, new_like
from infinitrain.ops.create import ones
from infinitrain.ops.index import flip
from infinitrain.ops.reduce import Dims, reduced, spread
from infinitrain.ops.shape import cat, permute
from infinitrain.tensor import Tensor


class CumSum(Op):
    """y[i] = sum of x[j] over j <= i; dx is the same from the other end."""

    dim: int
    reverse: bool

    @staticmethod
    def forward(ctx: CumSum, x: Tensor, dim: int, reverse: bool) -> Tensor:
        ctx.dim, ctx.reverse = dim, reverse
        y = new_like(x)
        launch("CumSumForward", (x,), (y,), dim=dim, reverse=reverse)
        return y

    @staticmethod
    def backward(ctx: CumSum, grad: Tensor) -> Any:
        return CumSum.apply(grad, ctx.dim, not ctx.reverse)


class CumProd(Op):
    """y[i] = product of x[j] over j <= i; dx without a division, so that zeros in x cost nothing."""

    dim: int

    @staticmethod
    def forward(ctx: CumProd, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x)
        y = new_like(x)
        launch("CumProdForward", (x,), (y,), dim=dim)
        return y

    @staticmethod
    def backward(ctx: CumProd, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return CumProdGrad.apply(x, grad, ctx.dim)


class CumProdGrad(Op):
    """dx of CumProd, of x and dy."""

    @staticmethod
    def forward(ctx: CumProdGrad, x: Tensor, grad: Tensor, dim: int) -> Tensor:
        dx = new_like(x)
        launch("CumProdBackward", (x, grad), (dx,), dim=dim)
        return dx

    @staticmethod
    def backward(ctx: CumProdGrad, second: Tensor) -> Any:
        raise AutogradError(
            "cumprod: expected at most one derivative, found a second one asked for. Write the product as "
            "exp(cumsum(log(x))) where x is positive."
        )


class Prod(Op):
    """y = product of x over dims; dx = dy times the product of the others: of those before and of those behind."""

    dims: tuple[int, ...]

    @staticmethod
    def forward(ctx: Prod, x: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
        ctx.dims = dims
        ctx.save_for_backward(x)
        return reduced("ProdForward", x, dims, keepdim)

    @staticmethod
    def backward(ctx: Prod, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        wide = spread(grad, x.shape, ctx.dims)
        if not ctx.dims or not x.numel():
            return wide
        kept = [d for d in range(len(x.shape)) if d not in ctx.dims]
        order = [*kept, *ctx.dims]
        moved = permute(x, order)
        rows = moved.reshape((*moved.shape[: len(kept)], -1))  # (kept, reduced elements)
        return wide * permute(_others(rows).reshape(moved.shape), [order.index(d) for d in range(len(order))])


def _others(rows: Tensor) -> Tensor:
    """Give for each element of a row the product of the row's other elements."""
    last, n = len(rows.shape) - 1, rows.shape[-1]
    one = ones((*rows.shape[:-1], 1), dtype=rows.dtype, device=rows.device)
    before = cat([one, cumprod(rows.narrow(last, 0, n - 1), last)], last)
    behind = cat([flip(cumprod(flip(rows.narrow(last, 1, n - 1), last), last), last), one], last)
    return before * behind


def _wide(x: Tensor, dtype: DType | str | None) -> Tensor:
    """Give what is totalled: as asked for; else bools and small integers become (u)int64."""
    if dtype is not None:
        return cast_to(x, dt.parse(dtype))
    if x.dtype.is_floating_point:
        return x
    return cast_to(x, dt.uint64 if x.dtype.is_integer and not x.dtype.is_signed else dt.int64)


def cumsum(x: Tensor, dim: int, dtype: DType | str | None = None) -> Tensor:
    """Give running sums along `dim`. Bools and small integers become (u)int64; half types add in float32 at least.

    Raises: IndexError for a dimension that is not there.
    """
    axis = x._dim(dim)
    x = _wide(x, dtype)
    if not x.shape:
        return x.clone()
    result: Tensor = CumSum.apply(x, axis, False)
    return result


def cumprod(x: Tensor, dim: int, dtype: DType | str | None = None) -> Tensor:
    """Give running products along `dim`. Bools and small integers become (u)int64. Zeros have the right gradient.

    Raises: IndexError for a dimension that is not there; AutogradError for a second derivative.
    """
    axis = x._dim(dim)
    x = _wide(x, dtype)
    if not x.shape:
        return x.clone()
    result: Tensor = CumProd.apply(x, axis)
    return result


def prod(x: Tensor, dim: Dims = None, keepdim: bool = False, dtype: DType | str | None = None) -> Tensor:
    """Multiply over `dim` (all by default); nothing gives 1. Bools and small integers become (u)int64.

    A zero has the gradient that the others' product gives; with two zeros all gradients are 0.

    Raises: IndexError for a dimension that is not there; ShapeError for one named twice.
    """
    result: Tensor = Prod.apply(_wide(x, dtype), dims_of(x, dim, "prod"), keepdim)
    return result


def count_nonzero(x: Tensor, dim: Dims = None) -> Tensor:
    """Count the elements over `dim` (all by default) that are not 0, int64; NaN is not 0."""
    from infinitrain.ops.reduce import sum as reduce_sum

    with no_grad():
        return reduce_sum(cast_to(cast_to(x, dt.bool_), dt.int64), dim)
