"""Linear layer."""

from __future__ import annotations

from math import sqrt

from infinitrain.device import Device
from infinitrain.dtype import DType, float32
from infinitrain.nn import functional as F
from infinitrain.nn import init
from infinitrain.nn.module import Module
from infinitrain.nn.parameter import Parameter
from infinitrain.random import Generator
from infinitrain.tensor import Tensor, device_of

__all__ = ["Identity", "Linear", "new_parameter"]


def new_parameter(shape: tuple[int, ...], device: Device | str | None, dtype: DType | None) -> Parameter:
    """Give a parameter with undefined values; float32 on the current device where nothing is said."""
    return Parameter(Tensor._empty(shape, float32 if dtype is None else dtype, device_of(device)))


class Linear(Module):
    """y = x W^T + b.

    Shapes: x (..., in), weight (out, in), bias (out) -> (..., out).
    First values: U(-k, k) for both, k = 1 / sqrt(in), as in torch; undefined with `reset=False`, for a model that
    draws its own.
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        generator: Generator | None = None,
        reset: bool = True,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = new_parameter((out_features, in_features), device, dtype)
        self.register_parameter("bias", new_parameter((out_features,), device, dtype) if bias else None)
        if reset:
            self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw first values anew."""
        init.kaiming_uniform_(self.weight, a=sqrt(5.0), generator=generator)
        if self.bias is not None:
            bound = 1.0 / sqrt(self.in_features) if self.in_features else 0.0
            init.uniform_(self.bias, -bound, bound, generator)

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)."""
        return F.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Give sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Identity(Module):
    """Gives back its argument."""

    def forward(self, x: Tensor) -> Tensor:
        """Give `x`."""
        return x
