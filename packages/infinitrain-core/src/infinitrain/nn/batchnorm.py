"""Batch normalisation as modules."""

from __future__ import annotations

from infinitrain.autograd import no_grad
from infinitrain.device import Device
from infinitrain.dtype import DType, float32, int64
from infinitrain.errors import ShapeError
from infinitrain.nn import functional as F
from infinitrain.nn import init
from infinitrain.nn.linear import new_parameter
from infinitrain.nn.module import Module
from infinitrain.nn.parameter import Parameter
from infinitrain.ops.create import ones, zeros
from infinitrain.tensor import Tensor

__all__ = ["BatchNorm1d", "BatchNorm2d"]


class _BatchNorm(Module):
    """What the ranks share; see `functional.batch_norm`."""

    ranks: tuple[int, ...]
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        shape = (num_features,)
        self.register_parameter("weight", new_parameter(shape, device, dtype) if affine else None)
        self.register_parameter("bias", new_parameter(shape, device, dtype) if affine else None)
        tracked, kind = track_running_stats, float32 if dtype is None else dtype
        self.register_buffer("running_mean", zeros(shape, dtype=kind, device=device) if tracked else None)
        self.register_buffer("running_var", ones(shape, dtype=kind, device=device) if tracked else None)
        self.register_buffer("num_batches_tracked", zeros((), dtype=int64, device=device) if tracked else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1, bias to 0, and the running values to those of no batch."""
        if self.weight is not None and self.bias is not None:
            init.ones_(self.weight)
            init.zeros_(self.bias)
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            with no_grad():
                self.running_mean.zero_()
                self.running_var.fill_(1)
                self.num_batches_tracked.zero_()

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, ...) -> the same shape."""
        if x.ndim not in self.ranks or x.shape[1] != self.num_features:
            raise ShapeError(
                f"{type(self).__name__}: expected {' or '.join(str(rank) for rank in self.ranks)} dimensions with "
                f"{self.num_features} channels, found shape {x.shape}"
            )
        share: float | Tensor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            with no_grad():
                self.num_batches_tracked.add_(1)
                if self.momentum is None:  # the mean of all batches so far
                    share = 1.0 / self.num_batches_tracked.to(float32)
        return F.batch_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            share,
            self.eps,
        )

    def extra_repr(self) -> str:
        """Give size and settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L); see `functional.batch_norm`.

    Running mean and variance are buffers, used in `eval()`; `momentum` None makes them the mean of all batches.
    First values: weight 1, bias 0, mean 0, variance 1.

    Raises: ShapeError for another rank or number of channels.
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of images (N, C, H, W); as `BatchNorm1d`."""

    ranks = (4,)
