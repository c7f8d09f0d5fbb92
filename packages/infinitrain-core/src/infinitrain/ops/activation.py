"""Activations of newer networks: SiLU, leaky ReLU, softplus."""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.ops._base import new_like, offers, require_floating, unary
from infinitrain.ops.compare import gt
from infinitrain.ops.select import where
from infinitrain.ops.unary import exp, log, sigmoid
from infinitrain.tensor import Tensor


class Silu(Op):
    """y = x s, s = 1 / (1 + e^-x); dx = dy s (1 + x (1 - s))."""

    @staticmethod
    def forward(ctx: Silu, x: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.save_for_backward(x)
        return unary("SiluForward", x, out)

    @staticmethod
    def backward(ctx: Silu, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return SiluGrad.apply(x, grad)


class SiluGrad(Op):
    """dx = dy silu'(x), of x and dy; silu'' = s (1 - s) (2 + x (1 - 2 s))."""

    @staticmethod
    def forward(ctx: SiluGrad, x: Tensor, grad: Tensor) -> Tensor:
        ctx.save_for_backward(x, grad)
        dx = new_like(x)
        launch("SiluBackward", (x, grad), (dx,))
        return dx

    @staticmethod
    def backward(ctx: SiluGrad, second: Tensor) -> Any:
        x, grad = ctx.saved_tensors
        s = sigmoid(x)
        return second * grad * (s * (1 - s) * (x * (1 - s * 2) + 2)), SiluGrad.apply(x, second)


class LeakyRelu(Op):
    """y = x where x > 0, else slope x; dx = dy, or slope dy."""

    slope: float

    @staticmethod
    def forward(ctx: LeakyRelu, x: Tensor, slope: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.slope = slope
        y = new_like(x)
        launch("LeakyReluForward", (x,), (y,), slope=slope)
        return y

    @staticmethod
    def backward(ctx: LeakyRelu, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return where(gt(x, 0), grad, grad * ctx.slope)


class Softplus(Op):
    """y = ln(1 + e^(beta x)) / beta, x above the threshold; dx = dy sigmoid(beta x), dy above."""

    numbers: tuple[float, float]

    @staticmethod
    def forward(ctx: Softplus, x: Tensor, beta: float, threshold: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.numbers = (beta, threshold)
        y = new_like(x)
        launch("SoftplusForward", (x,), (y,), beta=beta, threshold=threshold)
        return y

    @staticmethod
    def backward(ctx: Softplus, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        beta, threshold = ctx.numbers
        scaled = x * beta
        return where(gt(scaled, threshold), grad, grad * sigmoid(scaled))


def silu(x: Tensor) -> Tensor:
    """Give x / (1 + e^-x), also called swish.

    Raises: DTypeError for integers.
    Source: Elfwing, Uchibe and Doya 2017, arXiv:1702.03118.
    """
    require_floating(x, "silu")
    result: Tensor = Silu.apply(x)
    return result


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Give `x` where it is above 0, else negative_slope * x; NaN stays NaN.

    Raises: DTypeError for integers.
    Source: Maas, Hannun and Ng 2013.
    """
    require_floating(x, "leaky_relu")
    if not offers("LeakyReluForward", x):
        return where(gt(x, 0), x, x * negative_slope)
    result: Tensor = LeakyRelu.apply(x, float(negative_slope))
    return result


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Give ln(1 + e^(beta x)) / beta; `x` itself where beta x > threshold.

    Raises: DTypeError for integers.
    Source: Dugas et al. 2000.
    """
    require_floating(x, "softplus")
    if not offers("SoftplusForward", x):
        scaled = x * beta
        linear = gt(scaled, threshold)
        return where(linear, x, log(exp(where(linear, 0.0, scaled)) + 1) / beta)
    result: Tensor = Softplus.apply(x, float(beta), float(threshold))
    return result


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """Give silu(gate) * up, the gated unit of LLaMA's feed-forward network.

    Source: Shazeer 2020, arXiv:2002.05202.
    """
    return silu(gate) * up
