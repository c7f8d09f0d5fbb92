"""Softmax and its logarithm; low precision is computed in float32 and rounded once."""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.dtype import DType
from infinitrain.errors import ShapeError
from infinitrain.ops._base import cast_to, new_like, require_floating
from infinitrain.ops.cast import cast
from infinitrain.ops.reduce import amax, logsumexp
from infinitrain.ops.reduce import sum as reduce_sum
from infinitrain.ops.shape import transpose
from infinitrain.ops.unary import exp
from infinitrain.tensor import Tensor


class Softmax(Op):
    """y = softmax of x over the last dimension; dx = y (dy - sum(dy y)). A row that is all -inf gives NaN."""

    @staticmethod
    def forward(ctx: Softmax, x: Tensor) -> Tensor:
        y = new_like(x)
        launch("SoftmaxForward", (x,), (y,))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Softmax, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return SoftmaxGrad.apply(y, grad)


class SoftmaxGrad(Op):
    """dx = y (dy - sum(dy y)), of y and dy."""

    @staticmethod
    def forward(ctx: SoftmaxGrad, y: Tensor, grad: Tensor) -> Tensor:
        ctx.save_for_backward(y, grad)
        dx = new_like(y)
        launch("SoftmaxBackward", (y, grad), (dx,))
        return dx

    @staticmethod
    def backward(ctx: SoftmaxGrad, second: Tensor) -> Any:
        y, grad = ctx.saved_tensors
        along = reduce_sum(second * y, -1, keepdim=True)  # (..., 1)
        inner = reduce_sum(grad * y, -1, keepdim=True)
        return second * (grad - inner) - grad * along, SoftmaxGrad.apply(y, second)


class CausalSoftmax(Op):
    """y = softmax of scale x (..., Q, K) where key <= query + K - Q, 0 elsewhere; a row that sees no key is 0."""

    scale: float

    @staticmethod
    def forward(ctx: CausalSoftmax, x: Tensor, scale: float) -> Tensor:
        ctx.scale = scale
        y = new_like(x)
        launch("CausalSoftmaxForward", (x,), (y,), scale=scale)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: CausalSoftmax, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        # y is 0 where a key is not seen, so that the plain formula gives 0 there too.
        return SoftmaxGrad.apply(y, grad) * ctx.scale


class LogSoftmax(Op):
    """y = x - log(sum(exp(x))) over dim; dx = dy - exp(y) sum(dy)."""

    dim: int

    @staticmethod
    def forward(ctx: LogSoftmax, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        wide = cast_to(x, x.dtype.accumulator)
        apart = wide - amax(wide, dim, keepdim=True) if x.numel() else wide
        y = cast_to(apart - logsumexp(apart, dim, keepdim=True), x.dtype)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: LogSoftmax, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return grad - exp(y) * reduce_sum(grad, ctx.dim, keepdim=True)


def softmax(x: Tensor, dim: int = -1, dtype: DType | str | None = None) -> Tensor:
    """Give exp(x) / sum(exp(x)) over `dim`, the largest taken out first. A row that is all -inf gives NaN.

    Raises: DTypeError for integers, unless `dtype` names a floating-point one.
    """
    if dtype is not None:
        x = cast(x, dtype)
    require_floating(x, "softmax")
    if not x.shape:
        return softmax(x.reshape(1)).reshape(())
    axis, last = x._dim(dim), len(x.shape) - 1
    if axis == last:
        result: Tensor = Softmax.apply(x)
        return result
    turned: Tensor = Softmax.apply(transpose(x, axis, last))
    return transpose(turned, axis, last)


def log_softmax(x: Tensor, dim: int = -1, dtype: DType | str | None = None) -> Tensor:
    """Give the logarithm of the softmax over `dim`, without the underflow of log(softmax(x)).

    Raises: DTypeError for integers, unless `dtype` names a floating-point one.
    """
    if dtype is not None:
        x = cast(x, dtype)
    require_floating(x, "log_softmax")
    if not x.shape:
        return log_softmax(x.reshape(1)).reshape(())
    result: Tensor = LogSoftmax.apply(x, x._dim(dim))
    return result


def causal_softmax(x: Tensor, scale: float = 1.0) -> Tensor:
    """Give the softmax of scale x (..., Q, K) over the keys that each query may see, 0 elsewhere.

    The last query sees the last key: key <= query + K - Q. A query that sees no key gets zeros.

    Raises: ShapeError for fewer than two dimensions.
    """
    require_floating(x, "causal_softmax")
    if len(x.shape) < 2:
        raise ShapeError(f"causal_softmax: expected (..., Q, K), found shape {x.shape}")
    result: Tensor = CausalSoftmax.apply(x, scale)
    return result
