"""Two-dimensional convolution. N images, C input and O output channels, H by W in and P by Q out, U by V taps.

The three operations are each other's derivatives: y is linear in x and in weight.
"""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import ACCUMULATED, Op
from infinitrain.autograd.grad_mode import state
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import new, require_floating, require_same_device
from infinitrain.ops.create import zeros
from infinitrain.ops.reduce import sum as reduce_sum
from infinitrain.ops.shape import cat, reshape
from infinitrain.ops.window import Pair, Size2d, batched, geometry, outputs, pair
from infinitrain.tensor import Tensor

#: What a convolution's kernels take beside tensors.
Settings = dict[str, Any]


class Conv2d(Op):
    """y (N, O, P, Q) = x (N, C, H, W) convolved with weight (O, C / groups, U, V), plus bias (O).

    The weight's gradient is added into what is there already where autograd allows it.
    """

    settings: Settings

    @staticmethod
    def forward(ctx: Conv2d, x: Tensor, weight: Tensor, bias: Tensor | None, size: Pair, settings: Settings) -> Tensor:
        need = ctx.needs_input_grad
        ctx.save_for_backward(x if need[1] else None, weight if need[0] else None)
        ctx.settings = settings
        ctx.shapes = (x.shape, weight.shape)  # type: ignore[attr-defined]
        y = new((x.shape[0], weight.shape[0], *size), x.dtype, x)
        launch("Conv2dForward", (x, weight, bias), (y,), **settings)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        need, (x_shape, weight_shape) = ctx.needs_input_grad, ctx.shapes
        dx = InputGrad.apply(grad, weight, x_shape, ctx.settings) if need[0] else None
        dweight: Any = None
        if need[1]:
            total = None if state.enabled else ctx.accumulator(1)
            if total is None:
                dweight = WeightGrad.apply(x, grad, weight_shape, ctx.settings)
            else:
                launch("Conv2dBackwardWeight", (x, grad), (total,), **ctx.settings, accumulate=True)
                dweight = ACCUMULATED
        return dx, dweight, reduce_sum(grad, (0, 2, 3)) if need[2] else None, None, None


class InputGrad(Op):
    """dx (N, C, H, W) of grad (N, O, P, Q) and weight: linear in both."""

    settings: Settings

    @staticmethod
    def forward(ctx: InputGrad, grad: Tensor, weight: Tensor, shape: tuple[int, ...], settings: Settings) -> Tensor:
        ctx.save_for_backward(grad, weight)
        ctx.settings = settings
        dx = new(shape, grad.dtype, grad)
        launch("Conv2dBackwardInput", (grad, weight), (dx,), **settings)
        return dx

    @staticmethod
    def backward(ctx: InputGrad, second: Tensor) -> Any:
        grad, weight = ctx.saved_tensors
        need = ctx.needs_input_grad
        size = (grad.shape[2], grad.shape[3])
        return (
            Conv2d.apply(second, weight, None, size, ctx.settings) if need[0] else None,
            WeightGrad.apply(second, grad, weight.shape, ctx.settings) if need[1] else None,
            None,
            None,
        )


class WeightGrad(Op):
    """dweight of x (N, C, H, W) and grad (N, O, P, Q): linear in both."""

    settings: Settings

    @staticmethod
    def forward(ctx: WeightGrad, x: Tensor, grad: Tensor, shape: tuple[int, ...], settings: Settings) -> Tensor:
        ctx.save_for_backward(x, grad)
        ctx.settings = settings
        dweight = new(shape, grad.dtype, grad)
        launch("Conv2dBackwardWeight", (x, grad), (dweight,), **settings)
        return dweight

    @staticmethod
    def backward(ctx: WeightGrad, second: Tensor) -> Any:
        x, grad = ctx.saved_tensors
        need = ctx.needs_input_grad
        size = (grad.shape[2], grad.shape[3])
        return (
            InputGrad.apply(grad, second, x.shape, ctx.settings) if need[0] else None,
            Conv2d.apply(x, second, None, size, ctx.settings) if need[1] else None,
            None,
            None,
        )


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size2d = 1,
    padding: Size2d | str = 0,
    dilation: Size2d = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve images with weights (a cross-correlation, as in torch: taps are not turned round).

    Args:
        x: (N, C, H, W), or one image (C, H, W).
        weight: (O, C / groups, U, V).
        bias: (O,), or None.
        stride: Steps between outputs, one number or (height, width).
        padding: Zeros on each side; "valid" for none, "same" for as many as keep H and W (with stride 1).
        dilation: Steps between taps.
        groups: Parts of the channels that see each other; C and O are multiples of it.

    Returns: (N, O, P, Q) with P = floor((H + 2 padding - dilation (U - 1) - 1) / stride) + 1, or (O, P, Q).
    Raises: ShapeError, DTypeError, DeviceMismatch for what does not fit.
    """
    require_floating(x, "conv2d")
    require_same_device("conv2d", x, weight, bias)
    if x.dtype is not weight.dtype or (bias is not None and bias.dtype is not weight.dtype):
        found = ", ".join(t.dtype.name for t in (x, weight, bias) if t is not None)
        raise DTypeError(f"conv2d: expected operands of one dtype, found {found}. Cast them, or use autocast.")
    images, single = batched("conv2d", x)
    channels = images.shape[1]
    if groups < 1 or len(weight.shape) != 4 or weight.shape[1] * groups != channels or weight.shape[0] % groups:
        raise ShapeError(
            f"conv2d: expected a weight (O, C / groups, U, V) with O a multiple of groups, found {weight.shape} for "
            f"x {x.shape} and groups {groups}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"conv2d: expected a bias of shape {weight.shape[:1]}, found {bias.shape}")
    kernel = pair("conv2d", "a kernel", weight.shape[2:], 1)
    steps, apart = pair("conv2d", "a stride", stride, 1), pair("conv2d", "a dilation", dilation, 1)
    if isinstance(padding, str):
        images, pad = _named_padding(images, padding, kernel, steps, apart)
    else:
        pad = pair("conv2d", "a padding", padding, 0)
    height, width = (outputs(images.shape[2 + d], kernel[d], steps[d], pad[d], apart[d]) for d in range(2))
    if height < 1 or width < 1:
        raise ShapeError(
            f"conv2d: expected images no smaller than the kernel, found {images.shape[2:]} with padding {pad} for a "
            f"kernel {kernel} with dilation {apart}"
        )
    settings = {**geometry(steps, pad, apart), "groups": groups}
    y: Tensor = Conv2d.apply(images, weight, bias, (height, width), settings)
    return reshape(y, y.shape[1:]) if single else y


def _named_padding(x: Tensor, padding: str, kernel: Pair, stride: Pair, dilation: Pair) -> tuple[Tensor, Pair]:
    """Give images and the padding of both sides; what does not divide by two is put right and below, as in torch."""
    if padding == "valid":
        return x, (0, 0)
    if padding != "same" or stride != (1, 1):
        raise ShapeError(
            f"conv2d: expected padding as numbers, 'valid', or 'same' with stride 1, found {padding!r} with stride "
            f"{stride}"
        )
    total = [dilation[d] * (kernel[d] - 1) for d in range(2)]
    for d in range(2):
        if total[d] % 2:
            shape = list(x.shape)
            shape[2 + d] = 1
            x = cat([x, zeros(shape, dtype=x.dtype, device=x.device)], 2 + d)
    return x, (total[0] // 2, total[1] // 2)
