"""Batch normalisation, made of reductions and elementwise operations."""

from __future__ import annotations

from math import prod

from infinitrain.autograd.grad_mode import no_grad
from infinitrain.errors import ShapeError
from infinitrain.ops._base import cast_to, require_floating, require_same_device
from infinitrain.ops.reduce import mean
from infinitrain.ops.shape import reshape
from infinitrain.ops.unary import rsqrt
from infinitrain.tensor import Tensor


def batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | Tensor = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Give (x - mean) / sqrt(var + eps) weight + bias for each channel, in float32 at least, rounded once.

    Args:
        x: (N, C) or (N, C, ...).
        running_mean: (C,), the mean that is used unless `training`; in training it moves towards the batch's.
        running_var: (C,), likewise; it moves towards the unbiased variance, while x is divided by the biased one.
        weight: (C,), or None for 1.
        bias: (C,), or None for 0.
        training: Take mean and variance from the batch. Without running values they always are.
        momentum: The share of the batch in the new running values; a 0-d tensor where it changes.
        eps: Added to the variance.

    Raises: ShapeError for shapes that do not fit, or one value a channel in training, which has no variance.
    Source: Ioffe and Szegedy 2015, arXiv:1502.03167.
    """
    require_floating(x, "batch_norm")
    require_same_device("batch_norm", x, running_mean, running_var, weight, bias)
    if len(x.shape) < 2:
        raise ShapeError(f"batch_norm: expected x (N, C, ...), found {x.shape}")
    channels = x.shape[1]
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, tensor in given.items():
        if tensor is not None and tensor.shape != (channels,):
            raise ShapeError(f"batch_norm: expected {name} of shape ({channels},), found {tensor.shape}")
    if (running_mean is None) != (running_var is None):
        raise ShapeError("batch_norm: expected running_mean and running_var both or neither, found one")
    along = (1, channels, *(1,) * (len(x.shape) - 2))
    wide = cast_to(x, x.dtype.accumulator)
    if training or running_mean is None or running_var is None:
        dims = (0, *range(2, len(x.shape)))
        count = prod(x.shape[d] for d in dims)
        if count == 1 and training:
            raise ShapeError(f"batch_norm: expected more than one value a channel in training, found shape {x.shape}")
        average = mean(wide, dims, keepdim=True)
        apart = wide - average
        spread = mean(apart * apart, dims, keepdim=True)
        if training and running_mean is not None and running_var is not None:
            with no_grad():
                unbiased = spread * (count / (count - 1)) if count > 1 else spread
                _move(running_mean, reshape(average, (channels,)), momentum)
                _move(running_var, reshape(unbiased, (channels,)), momentum)
    else:
        apart = wide - reshape(cast_to(running_mean, wide.dtype), along)
        spread = reshape(cast_to(running_var, wide.dtype), along)
    y = apart * rsqrt(spread + eps)
    if weight is not None:
        y = y * reshape(cast_to(weight, wide.dtype), along)
    if bias is not None:
        y = y + reshape(cast_to(bias, wide.dtype), along)
    return cast_to(y, x.dtype)


def _move(running: Tensor, found: Tensor, momentum: float | Tensor) -> None:
    """Let a running value go its share of the way to what was found."""
    running.copy_(running + (found - running) * momentum)
