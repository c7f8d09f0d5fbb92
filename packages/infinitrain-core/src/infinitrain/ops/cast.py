"""Other dtypes, other devices, other memory: Cast, ToDevice, Clone, and the methods that choose between them."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.copy import copy_ as route_copy
from infinitrain.device import Device
from infinitrain.dispatch import launch
from infinitrain.dtype import DType
from infinitrain.tensor import Tensor

_DTYPE_NAMES = frozenset(name for each in dt.ALL for name in (each.name, each.short))


class Cast(Op):
    """y = x converted to a dtype (round to nearest even; saturating to integers); the gradient converted back."""

    dtype: DType

    @staticmethod
    def forward(ctx: Cast, x: Tensor, dtype: DType) -> Tensor:
        ctx.dtype = x.dtype
        y = Tensor._empty(x.shape, dtype, x.buffer.device)
        launch("Cast", (x,), (y,))
        return y

    @staticmethod
    def backward(ctx: Cast, grad: Tensor) -> Any:
        return Cast.apply(grad, ctx.dtype) if grad.dtype is not ctx.dtype else grad


class ToDevice(Op):
    """y = x on another device; the gradient copied back."""

    device: Device

    @staticmethod
    def forward(ctx: ToDevice, x: Tensor, device: Device) -> Tensor:
        ctx.device = x.device
        y = Tensor._empty(x.shape, x.dtype, device)
        route_copy(y, x)
        return y

    @staticmethod
    def backward(ctx: ToDevice, grad: Tensor) -> Any:
        return ToDevice.apply(grad, ctx.device)


class Clone(Op):
    """y = x in compact memory of its own."""

    @staticmethod
    def forward(ctx: Clone, x: Tensor) -> Tensor:
        y = Tensor._empty(x.shape, x.dtype, x.buffer.device)
        launch("Copy", (x,), (y,))
        return y

    @staticmethod
    def backward(ctx: Clone, grad: Tensor) -> Any:
        return grad


def clone(x: Tensor) -> Tensor:
    """Copy a tensor into compact memory of its own; gradients pass."""
    result: Tensor = Clone.apply(x)
    return result


def contiguous(x: Tensor) -> Tensor:
    """Give `x` itself if it is compact row-major, else a compact copy."""
    return x if x.is_contiguous() else clone(x)


def cast(x: Tensor, dtype: DType | str) -> Tensor:
    """Convert to a dtype; `x` itself where it has it already."""
    return cast_to(x, dt.parse(dtype))


def cast_to(x: Tensor, dtype: DType) -> Tensor:
    """Convert to a dtype that is parsed already; integers and bools carry no gradient."""
    if x.dtype is dtype:
        return x
    if dtype.is_floating_point:
        result: Tensor = Cast.apply(x, dtype)
        return result
    return Cast.forward(Cast(), x, dtype)


def to(
    x: Tensor,
    *args: Any,
    dtype: DType | str | None = None,
    device: Device | str | None = None,
    non_blocking: bool = False,
    copy: bool = False,
) -> Tensor:
    """Move to a device, convert to a dtype, or both: `to("fake:1")`, `to(float64)`, `to(device, dtype)`, `to(other)`.

    Gives `x` itself where nothing changes and `copy` is false. Gradients come back as `x` was. `non_blocking` is a
    permission that the copy router does not use: when the call returns, `x` may change.
    """
    for arg in args:
        if isinstance(arg, Tensor):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, bool):
            continue  # non_blocking
        elif isinstance(arg, DType):
            dtype = arg
        elif isinstance(arg, Device):
            device = arg
        elif isinstance(arg, str):
            if arg in _DTYPE_NAMES:
                dtype = arg
            else:
                device = arg
        elif arg is not None:
            raise TypeError(f"to: expected a device, a dtype or a tensor, found {type(arg).__name__}")
    y = x
    there = x.device if device is None else Device(device)
    wanted = x.dtype if dtype is None else dt.parse(dtype)
    # The narrower of the two dtypes travels.
    if there != x.device and wanted.itemsize < x.dtype.itemsize:
        y = cast(y, wanted)
    if there != x.device:
        y = ToDevice.apply(y, there)
    y = cast(y, wanted)
    return clone(y) if copy and y is x else y


def cpu(x: Tensor) -> Tensor:
    """Copy to the host's device; `x` itself if it is there."""
    return to(x, device=Device("cpu"))


def as_bool(x: Tensor) -> Tensor:
    """Convert to bool: x != 0."""
    return cast(x, dt.bool_)


def as_int(x: Tensor) -> Tensor:
    """Convert to int32."""
    return cast(x, dt.int32)


def as_long(x: Tensor) -> Tensor:
    """Convert to int64."""
    return cast(x, dt.int64)


def as_float(x: Tensor) -> Tensor:
    """Convert to float32."""
    return cast(x, dt.float32)


def as_double(x: Tensor) -> Tensor:
    """Convert to float64."""
    return cast(x, dt.float64)


def as_half(x: Tensor) -> Tensor:
    """Convert to float16."""
    return cast(x, dt.float16)


def as_bfloat16(x: Tensor) -> Tensor:
    """Convert to bfloat16."""
    return cast(x, dt.bfloat16)


def type_as(x: Tensor, other: Tensor) -> Tensor:
    """Convert to the dtype of another tensor."""
    return cast(x, other.dtype)
