"""Elementwise operations of one tensor. Forward and derivative stand together; all can be differentiated twice."""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.ops._base import floating, new_like, require_floating, unary
from infinitrain.ops.rounding import sign
from infinitrain.tensor import Tensor


class Neg(Op):
    """y = -x; dx = -dy."""

    @staticmethod
    def forward(ctx: Neg, x: Tensor, out: Tensor | None = None) -> Tensor:
        return unary("NegForward", x, out)

    @staticmethod
    def backward(ctx: Neg, grad: Tensor) -> Any:
        return neg(grad)


class Abs(Op):
    """y = |x|; dx = dy with the sign of x, 0 at 0."""

    @staticmethod
    def forward(ctx: Abs, x: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.save_for_backward(x)
        return unary("AbsForward", x, out)

    @staticmethod
    def backward(ctx: Abs, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * sign(x)


class Reciprocal(Op):
    """y = 1/x; dx = -dy y^2."""

    @staticmethod
    def forward(ctx: Reciprocal, x: Tensor, out: Tensor | None = None) -> Tensor:
        y = unary("ReciprocalForward", x, out)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Reciprocal, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return neg(grad * (y * y))


class Sqrt(Op):
    """y = sqrt(x); dx = dy / (2 y)."""

    @staticmethod
    def forward(ctx: Sqrt, x: Tensor, out: Tensor | None = None) -> Tensor:
        y = unary("SqrtForward", x, out)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Sqrt, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return grad / (y * 2)


class Rsqrt(Op):
    """y = x^(-1/2); dx = -dy y^3 / 2."""

    @staticmethod
    def forward(ctx: Rsqrt, x: Tensor, out: Tensor | None = None) -> Tensor:
        y = unary("RsqrtForward", x, out)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Rsqrt, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return grad * (y * y * y) * -0.5


class Exp(Op):
    """y = e^x; dx = dy y."""

    @staticmethod
    def forward(ctx: Exp, x: Tensor, out: Tensor | None = None) -> Tensor:
        y = unary("ExpForward", x, out)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Exp, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return grad * y


class Log(Op):
    """y = ln x; dx = dy / x."""

    @staticmethod
    def forward(ctx: Log, x: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.save_for_backward(x)
        return unary("LogForward", x, out)

    @staticmethod
    def backward(ctx: Log, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad / x


class Sin(Op):
    """y = sin x; dx = dy cos x."""

    @staticmethod
    def forward(ctx: Sin, x: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.save_for_backward(x)
        return unary("SinForward", x, out)

    @staticmethod
    def backward(ctx: Sin, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * cos(x)


class Cos(Op):
    """y = cos x; dx = -dy sin x."""

    @staticmethod
    def forward(ctx: Cos, x: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.save_for_backward(x)
        return unary("CosForward", x, out)

    @staticmethod
    def backward(ctx: Cos, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return neg(grad * sin(x))


class Tanh(Op):
    """y = tanh x; dx = dy (1 - y^2)."""

    @staticmethod
    def forward(ctx: Tanh, x: Tensor, out: Tensor | None = None) -> Tensor:
        y = unary("TanhForward", x, out)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Tanh, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return TanhGrad.apply(y, grad)


class TanhGrad(Op):
    """dx = dy (1 - y^2), of y and dy."""

    @staticmethod
    def forward(ctx: TanhGrad, y: Tensor, grad: Tensor) -> Tensor:
        ctx.save_for_backward(y, grad)
        dx = new_like(y)
        launch("TanhBackward", (y, grad), (dx,))
        return dx

    @staticmethod
    def backward(ctx: TanhGrad, second: Tensor) -> Any:
        y, grad = ctx.saved_tensors
        return second * grad * y * -2, second * (1 - y * y)


class Sigmoid(Op):
    """y = 1 / (1 + e^-x); dx = dy y (1 - y)."""

    @staticmethod
    def forward(ctx: Sigmoid, x: Tensor, out: Tensor | None = None) -> Tensor:
        y = unary("SigmoidForward", x, out)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Sigmoid, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return SigmoidGrad.apply(y, grad)


class SigmoidGrad(Op):
    """dx = dy y (1 - y), of y and dy."""

    @staticmethod
    def forward(ctx: SigmoidGrad, y: Tensor, grad: Tensor) -> Tensor:
        ctx.save_for_backward(y, grad)
        dx = new_like(y)
        launch("SigmoidBackward", (y, grad), (dx,))
        return dx

    @staticmethod
    def backward(ctx: SigmoidGrad, second: Tensor) -> Any:
        y, grad = ctx.saved_tensors
        return second * grad * (1 - y * 2), second * (y * (1 - y))


class Relu(Op):
    """y = max(x, 0), NaN stays; dx = dy where y > 0."""

    @staticmethod
    def forward(ctx: Relu, x: Tensor, out: Tensor | None = None) -> Tensor:
        y = unary("ReluForward", x, out)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Relu, grad: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return ReluGrad.apply(y, grad)


class ReluGrad(Op):
    """dx = dy where y > 0; linear in dy, flat in y."""

    @staticmethod
    def forward(ctx: ReluGrad, y: Tensor, grad: Tensor) -> Tensor:
        ctx.save_for_backward(y)
        dx = new_like(y)
        launch("ReluBackward", (y, grad), (dx,))
        return dx

    @staticmethod
    def backward(ctx: ReluGrad, second: Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return None, ReluGrad.apply(y, second)


class Gelu(Op):
    """GELU, by erf or by the tanh approximation. Source: Hendrycks and Gimpel 2016, arXiv:1606.08415."""

    by_tanh: bool

    @staticmethod
    def forward(ctx: Gelu, x: Tensor, by_tanh: bool) -> Tensor:
        ctx.save_for_backward(x)
        ctx.by_tanh = by_tanh
        y = new_like(x)
        launch("GeluForward", (x,), (y,), tanh=by_tanh)
        return y

    @staticmethod
    def backward(ctx: Gelu, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return GeluGrad.apply(x, grad, ctx.by_tanh)


class GeluGrad(Op):
    """dx = dy gelu'(x), of x and dy."""

    by_tanh: bool

    @staticmethod
    def forward(ctx: GeluGrad, x: Tensor, grad: Tensor, by_tanh: bool) -> Tensor:
        ctx.save_for_backward(x, grad)
        ctx.by_tanh = by_tanh
        dx = new_like(x)
        launch("GeluBackward", (x, grad), (dx,), tanh=by_tanh)
        return dx

    @staticmethod
    def backward(ctx: GeluGrad, second: Tensor) -> Any:
        x, grad = ctx.saved_tensors
        through_grad = GeluGrad.apply(x, second, ctx.by_tanh)
        return second * grad * _gelu_curvature(x, ctx.by_tanh), through_grad


def _gelu_curvature(x: Tensor, by_tanh: bool) -> Tensor:
    """The second derivative of GELU."""
    if not by_tanh:  # d/dx (Phi(x) + x phi(x)) = (2 - x^2) phi(x)
        return (2 - x * x) * exp(x * x * -0.5) * 0.3989422804014327
    c, k = 0.7978845608028654, 0.044715
    t = tanh((x + x * x * x * k) * c)
    slope = (1 + x * x * (3 * k)) * c
    bend = x * (6 * k * c)
    s = 1 - t * t
    return s * slope + x * s * (bend - t * slope * slope * 2) * 0.5


def neg(x: Tensor) -> Tensor:
    """Give -x; integers wrap."""
    result: Tensor = Neg.apply(x)
    return result


def positive(x: Tensor) -> Tensor:
    """Give `x` itself."""
    return x


def absolute(x: Tensor) -> Tensor:
    """Give |x|; the smallest integer wraps to itself."""
    result: Tensor = Abs.apply(x)
    return result


def reciprocal(x: Tensor) -> Tensor:
    """Give 1/x; integers become float32."""
    result: Tensor = Reciprocal.apply(floating(x))
    return result


def sqrt(x: Tensor) -> Tensor:
    """Give the square root, NaN below zero; integers become float32."""
    result: Tensor = Sqrt.apply(floating(x))
    return result


def rsqrt(x: Tensor) -> Tensor:
    """Give 1/sqrt(x); integers become float32."""
    result: Tensor = Rsqrt.apply(floating(x))
    return result


def exp(x: Tensor) -> Tensor:
    """Give e^x; integers become float32."""
    result: Tensor = Exp.apply(floating(x))
    return result


def log(x: Tensor) -> Tensor:
    """Give the natural logarithm, -inf at 0, NaN below; integers become float32."""
    result: Tensor = Log.apply(floating(x))
    return result


def sin(x: Tensor) -> Tensor:
    """Give the sine; integers become float32."""
    result: Tensor = Sin.apply(floating(x))
    return result


def cos(x: Tensor) -> Tensor:
    """Give the cosine; integers become float32."""
    result: Tensor = Cos.apply(floating(x))
    return result


def tanh(x: Tensor) -> Tensor:
    """Give the hyperbolic tangent; integers become float32."""
    result: Tensor = Tanh.apply(floating(x))
    return result


def sigmoid(x: Tensor) -> Tensor:
    """Give 1 / (1 + e^-x); integers become float32."""
    result: Tensor = Sigmoid.apply(floating(x))
    return result


def relu(x: Tensor) -> Tensor:
    """Give max(x, 0); NaN stays NaN."""
    result: Tensor = Relu.apply(x)
    return result


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """Give x Phi(x): by erf for "none", by the tanh formula for "tanh".

    Raises: ValueError for another `approximate`; DTypeError for integers.
    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415.
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: expected approximate 'none' or 'tanh', found {approximate!r}")
    require_floating(x, "gelu")
    result: Tensor = Gelu.apply(x, approximate == "tanh")
    return result
