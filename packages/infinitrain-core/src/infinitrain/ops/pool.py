"""Pools over windows of images (N, C, H, W) or (C, H, W)."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.errors import ShapeError
from infinitrain.ops._base import new, require_floating
from infinitrain.ops.embedding import gather
from infinitrain.ops.shape import reshape
from infinitrain.ops.window import Pair, Size2d, always_sees, batched, geometry, outputs, pair
from infinitrain.tensor import Tensor

Settings = dict[str, Any]


class MaxPool2d(Op):
    """y and the place of each largest element in its plane; dy goes to that place."""

    settings: Settings
    shape: tuple[int, ...]

    @staticmethod
    def forward(ctx: MaxPool2d, x: Tensor, size: Pair, settings: Settings) -> tuple[Tensor, Tensor]:
        y = new((*x.shape[:2], *size), x.dtype, x)
        index = new((*x.shape[:2], *size), dt.int64, x)
        launch("MaxPool2dForward", (x,), (y, index), **settings)
        ctx.save_for_backward(index)
        ctx.mark_non_differentiable(index)
        ctx.settings, ctx.shape = settings, x.shape
        return y, index

    @staticmethod
    def backward(ctx: MaxPool2d, grad: Tensor, _: Any) -> Any:
        (index,) = ctx.saved_tensors
        return MaxPool2dGrad.apply(grad, index, ctx.shape, ctx.settings), None, None


class MaxPool2dGrad(Op):
    """dx of dy and the places: linear in dy, whose derivative picks from the places."""

    @staticmethod
    def forward(ctx: MaxPool2dGrad, grad: Tensor, index: Tensor, shape: tuple[int, ...], settings: Settings) -> Tensor:
        ctx.save_for_backward(index)
        dx = new(shape, grad.dtype, grad)
        launch("MaxPool2dBackward", (grad, index), (dx,), **settings)
        return dx

    @staticmethod
    def backward(ctx: MaxPool2dGrad, second: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        planes, places = index.shape[:2], index.shape[2] * index.shape[3]
        flat = reshape(second, (*planes, second.shape[2] * second.shape[3]))
        return reshape(gather(flat, 2, reshape(index, (*planes, places))), index.shape), None, None, None


class AvgPool2d(Op):
    """y = means of windows: linear."""

    settings: Settings
    shape: tuple[int, ...]

    @staticmethod
    def forward(ctx: AvgPool2d, x: Tensor, size: Pair, settings: Settings) -> Tensor:
        ctx.settings, ctx.shape = settings, x.shape
        y = new((*x.shape[:2], *size), x.dtype, x)
        launch("AvgPool2dForward", (x,), (y,), **settings)
        return y

    @staticmethod
    def backward(ctx: AvgPool2d, grad: Tensor) -> Any:
        return AvgPool2dGrad.apply(grad, ctx.shape, ctx.settings), None, None


class AvgPool2dGrad(Op):
    """dx of dy: linear, and the pool's own transpose."""

    settings: Settings
    size: Pair

    @staticmethod
    def forward(ctx: AvgPool2dGrad, grad: Tensor, shape: tuple[int, ...], settings: Settings) -> Tensor:
        ctx.settings, ctx.size = settings, (grad.shape[2], grad.shape[3])
        dx = new(shape, grad.dtype, grad)
        launch("AvgPool2dBackward", (grad,), (dx,), **settings)
        return dx

    @staticmethod
    def backward(ctx: AvgPool2dGrad, second: Tensor) -> Any:
        return AvgPool2d.apply(second, ctx.size, ctx.settings), None, None


def _windows(name: str, x: Tensor, kernel: Pair, stride: Pair, pad: Pair, dilation: Pair, ceil_mode: bool) -> Pair:
    """Give the output's size.

    Raises: ShapeError for windows that do not fit.
    """
    for d in range(2):
        if pad[d] > (dilation[d] * (kernel[d] - 1) + 1) // 2:
            raise ShapeError(
                f"{name}: expected padding of at most half of the window, found padding {pad} and kernel {kernel} with "
                f"dilation {dilation}"
            )
    size = [outputs(x.shape[2 + d], kernel[d], stride[d], pad[d], dilation[d], ceil_mode) for d in range(2)]
    if min(size) < 1:
        raise ShapeError(
            f"{name}: expected images no smaller than the window, found {x.shape[2:]} with padding {pad} for a kernel "
            f"{kernel} with dilation {dilation}"
        )
    return size[0], size[1]


def max_pool2d(
    x: Tensor,
    kernel_size: Size2d,
    stride: Size2d | None = None,
    padding: Size2d = 0,
    dilation: Size2d = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take the largest element of each window; padding never counts, NaN wins.

    Args:
        x: (N, C, H, W) or (C, H, W), floating-point.
        kernel_size: Elements of a window, one number or (height, width).
        stride: Steps between windows; the kernel's size if None.
        padding: On each side, at most half of the window.
        dilation: Steps between the elements of a window.
        ceil_mode: Keep a last window that ends outside.
        return_indices: Give (y, index) with index int64, the place h W + w of each in its plane.

    Raises: ShapeError, DTypeError for what does not fit.
    """
    require_floating(x, "max_pool2d")
    images, single = batched("max_pool2d", x)
    kernel = pair("max_pool2d", "a kernel", kernel_size, 1)
    steps = kernel if stride is None else pair("max_pool2d", "a stride", stride, 1)
    pad, apart = pair("max_pool2d", "a padding", padding, 0), pair("max_pool2d", "a dilation", dilation, 1)
    size = _windows("max_pool2d", images, kernel, steps, pad, apart, ceil_mode)
    for d in range(2):
        if not always_sees(images.shape[2 + d], size[d], kernel[d], steps[d], pad[d], apart[d]):
            raise ShapeError(
                f"max_pool2d: expected windows that see at least one element, found some in the padding alone: images "
                f"{images.shape[2:]}, kernel {kernel}, padding {pad}, dilation {apart}"
            )
    settings = {"kernel_h": kernel[0], "kernel_w": kernel[1], **geometry(steps, pad, apart)}
    y, index = MaxPool2d.apply(images, size, settings)
    if single:
        y, index = reshape(y, y.shape[1:]), reshape(index, index.shape[1:])
    return (y, index) if return_indices else y


def avg_pool2d(
    x: Tensor,
    kernel_size: Size2d,
    stride: Size2d | None = None,
    padding: Size2d = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Average each window.

    Args:
        x: (N, C, H, W) or (C, H, W), floating-point.
        kernel_size: Elements of a window, one number or (height, width).
        stride: Steps between windows; the kernel's size if None.
        padding: On each side, at most half of the window.
        ceil_mode: Keep a last window that ends outside.
        count_include_pad: Divide by the positions in image and padding, else by those in the image.
        divisor_override: Divide by this instead.

    Raises: ShapeError, DTypeError for what does not fit; ValueError for a divisor of 0.
    """
    require_floating(x, "avg_pool2d")
    if divisor_override == 0:
        raise ValueError("avg_pool2d: expected a divisor other than 0, found 0")
    images, single = batched("avg_pool2d", x)
    kernel = pair("avg_pool2d", "a kernel", kernel_size, 1)
    steps = kernel if stride is None else pair("avg_pool2d", "a stride", stride, 1)
    pad = pair("avg_pool2d", "a padding", padding, 0)
    size = _windows("avg_pool2d", images, kernel, steps, pad, (1, 1), ceil_mode)
    settings = {
        "kernel_h": kernel[0],
        "kernel_w": kernel[1],
        **geometry(steps, pad),
        "count_include_pad": count_include_pad,
        "divisor": divisor_override or 0,
    }
    y: Tensor = AvgPool2d.apply(images, size, settings)
    return reshape(y, y.shape[1:]) if single else y
