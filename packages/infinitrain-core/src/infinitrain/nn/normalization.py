"""Normalization over trailing dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.nn import functional as F
from infinitrain.nn import init
from infinitrain.nn.linear import new_parameter
from infinitrain.nn.module import Module
from infinitrain.nn.parameter import Parameter
from infinitrain.tensor import Tensor

__all__ = ["LayerNorm", "RMSNorm"]


class LayerNorm(Module):
    """y = (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, biased variance, in float32 at least.

    Shapes: x (..., *normalized_shape); weight and bias (*normalized_shape).
    First values: weight 1, bias 0.
    Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450.
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape: tuple[int, ...] = shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", new_parameter(shape, device, dtype) if elementwise_affine else None)
        self.register_parameter("bias", new_parameter(shape, device, dtype) if elementwise_affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1 and bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(..., *normalized_shape) -> the same shape."""
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Give shape and settings."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    """y = x / sqrt(mean(x^2) + eps) * weight over the last dimensions, in float32 at least, rounded once.

    Shapes: x (..., *normalized_shape); weight (*normalized_shape).
    First values: weight 1.
    Source: Zhang and Sennrich 2019, arXiv:1910.07467.
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape: tuple[int, ...] = shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", new_parameter(shape, device, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """(..., *normalized_shape) -> the same shape."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Give shape and settings."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
