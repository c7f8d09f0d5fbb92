"""Dropout: zeros drawn from the generator, the rest scaled up."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.ops._base import new_like, require_floating
from infinitrain.random import Generator, draw_state
from infinitrain.tensor import Tensor


class Dropout(Op):
    """y = x / (1 - p) where a drawn number is at least p, else 0; dx likewise, by the same mask."""

    p: float

    @staticmethod
    def forward(ctx: Dropout, x: Tensor, p: float, generator: Generator | None) -> Tensor:
        ctx.p = p
        y, mask = new_like(x), Tensor._empty(x.shape, dt.bool_, x.buffer.device)
        launch("DropoutForward", (x, draw_state(x.numel(), x.device, generator)), (y, mask), p=p)
        ctx.save_for_backward(mask)
        return y

    @staticmethod
    def backward(ctx: Dropout, grad: Tensor) -> Any:
        (mask,) = ctx.saved_tensors
        return DropoutGrad.apply(grad, mask, ctx.p)


class DropoutGrad(Op):
    """dx = dy / (1 - p) where the mask is true, else 0; linear in dy."""

    p: float

    @staticmethod
    def forward(ctx: DropoutGrad, grad: Tensor, mask: Tensor, p: float) -> Tensor:
        ctx.p = p
        ctx.save_for_backward(mask)
        dx = new_like(grad)
        launch("DropoutBackward", (grad, mask), (dx,), p=p)
        return dx

    @staticmethod
    def backward(ctx: DropoutGrad, second: Tensor) -> Any:
        (mask,) = ctx.saved_tensors
        return DropoutGrad.apply(second, mask, ctx.p)


def dropout(x: Tensor, p: float = 0.5, training: bool = True, generator: Generator | None = None) -> Tensor:
    """Zero each element with probability `p` and scale the others by 1 / (1 - p); `x` itself if not training.

    p = 0 changes nothing and draws nothing; p = 1 gives zeros.

    Raises: ValueError for a p outside [0, 1]; DTypeError for integers.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout: expected a probability in [0, 1], found {p}")
    if not training or p == 0.0:
        return x
    require_floating(x, "dropout")
    result: Tensor = Dropout.apply(x, float(p), generator)
    return result
