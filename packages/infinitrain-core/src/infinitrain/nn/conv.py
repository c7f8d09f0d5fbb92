"""Convolution and pools as modules."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import ConfigError
from infinitrain.nn import functional as F
from infinitrain.nn import init
from infinitrain.nn.linear import new_parameter
from infinitrain.nn.module import Module
from infinitrain.nn.parameter import Parameter
from infinitrain.ops.window import Size2d, pair
from infinitrain.random import Generator
from infinitrain.tensor import Tensor

__all__ = ["AvgPool2d", "Conv2d", "MaxPool2d"]


class Conv2d(Module):
    """y = x convolved with weight, plus bias; see `functional.conv2d`.

    Shapes: x (N, in, H, W) or (in, H, W), weight (out, in / groups, U, V), bias (out) -> (N, out, P, Q) or (out, P, Q).
    First values: U(-k, k) for both, k = 1 / sqrt(in U V / groups), as in torch.

    Raises: ConfigError for channels that groups do not divide, or a padding_mode other than zeros.
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size2d,
        stride: Size2d = 1,
        padding: Size2d | str = 0,
        dilation: Size2d = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ConfigError(
                f"Conv2d: expected channels that are multiples of groups, found in_channels {in_channels}, "
                f"out_channels {out_channels}, groups {groups}"
            )
        if padding_mode != "zeros":
            raise ConfigError(f"Conv2d: expected padding_mode 'zeros', found {padding_mode!r}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = pair("Conv2d", "a kernel", kernel_size, 1)
        self.stride, self.dilation = pair("Conv2d", "a stride", stride, 1), pair("Conv2d", "a dilation", dilation, 1)
        self.padding = padding if isinstance(padding, str) else pair("Conv2d", "a padding", padding, 0)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = new_parameter(shape, device, dtype)
        self.register_parameter("bias", new_parameter((out_channels,), device, dtype) if bias else None)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw first values anew."""
        init.kaiming_uniform_(self.weight, a=sqrt(5.0), generator=generator)
        if self.bias is not None:
            bound = 1.0 / sqrt(max(prod(self.weight.shape[1:]), 1))
            init.uniform_(self.bias, -bound, bound, generator)

    def forward(self, x: Tensor) -> Tensor:
        """(N, in, H, W) -> (N, out, P, Q)."""
        return F.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        """Give sizes and what differs from the defaults."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, value, default in (
            ("padding", self.padding, (0, 0)),
            ("dilation", self.dilation, (1, 1)),
            ("groups", self.groups, 1),
            ("bias", self.bias is not None, True),
        ):
            if value != default:
                text += f", {name}={value!r}"
        return text


class MaxPool2d(Module):
    """The largest element of each window; settings as `functional.max_pool2d`.

    Shapes: (N, C, H, W) or (C, H, W) -> (N, C, P, Q) or (C, P, Q), with `return_indices` a pair of them.
    """

    def __init__(
        self,
        kernel_size: Size2d,
        stride: Size2d | None = None,
        padding: Size2d = 0,
        dilation: Size2d = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, x: Tensor) -> Any:
        """(N, C, H, W) -> (N, C, P, Q)."""
        return F.max_pool2d(
            x, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        """Give the window."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class AvgPool2d(Module):
    """The mean of each window; settings as `functional.avg_pool2d`. Shapes as `MaxPool2d`."""

    def __init__(
        self,
        kernel_size: Size2d,
        stride: Size2d | None = None,
        padding: Size2d = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, H, W) -> (N, C, P, Q)."""
        return F.avg_pool2d(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        """Give the window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
