"""Signs, whole parts and squares; what is flat passes a gradient of zeros."""

from __future__ import annotations

from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import no_grad
from infinitrain.ops._base import (
    Operand,
    as_tensors,
    binary,
    full_like_device,
    offers,
    require_floating,
    scalar_tensor,
    sum_to,
    unary,
)
from infinitrain.tensor import Tensor


class Square(Op):
    """y = x^2; dx = 2 dy x."""

    @staticmethod
    def forward(ctx: Square, x: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.save_for_backward(x)
        return unary("SquareForward", x, out)

    @staticmethod
    def backward(ctx: Square, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * x * 2


class Flat(Op):
    """A function of steps: dx = 0."""

    kernel: str

    @classmethod
    def of(cls, kernel: str) -> type[Flat]:
        """Make the operation of one kernel."""
        return type(kernel.removesuffix("Forward"), (cls,), {"kernel": kernel})

    @staticmethod
    def forward(ctx: Flat, x: Tensor, out: Tensor | None = None) -> Tensor:
        return unary(ctx.kernel, x, out)

    @staticmethod
    def backward(ctx: Flat, grad: Tensor) -> Any:
        return full_like_device(grad.shape, 0, grad.dtype, grad)


Sign, Floor, Ceil, Trunc, Round = (Flat.of(f"{name}Forward") for name in ("Sign", "Floor", "Ceil", "Trunc", "Round"))


class SignByParts(Op):
    """`Sign` for a provider without its kernel: NaN from the operand, else (x > 0) - (x < 0)."""

    @staticmethod
    def forward(ctx: SignByParts, x: Tensor) -> Tensor:
        zero = scalar_tensor(0, x.dtype, x)
        parts = (x > zero).to(x.dtype) - (x < zero).to(x.dtype)
        return parts.where(x == x, x) if x.dtype.is_floating_point else parts

    @staticmethod
    def backward(ctx: SignByParts, grad: Tensor) -> Any:
        return full_like_device(grad.shape, 0, grad.dtype, grad)


class Fmod(Op):
    """y = a - b trunc(a / b), with the sign of a; da = dy, db = -dy trunc(a / b)."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Fmod, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        need = ctx.needs_input_grad[1]
        ctx.save_for_backward(a if need else None, b if need else None)
        return binary("FmodForward", a, b, out)

    @staticmethod
    def backward(ctx: Fmod, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes
        return (
            sum_to(grad, shapes[0]) if need[0] else None,
            sum_to(-(grad * trunc(a / b)), shapes[1]) if need[1] else None,
        )


class Copysign(Op):
    """y = |a| with the sign of b; da = dy with the sign that a's was multiplied by, 0 where a is 0; db = 0."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: Copysign, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        ctx.save_for_backward(a, b)
        return binary("CopysignForward", a, b, out)

    @staticmethod
    def backward(ctx: Copysign, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes
        da = db = None
        if need[0]:
            da = sum_to(grad * (sign(a) * copysign(scalar_tensor(1, b.dtype, b), b)), shapes[0])
        if need[1]:
            db = full_like_device(shapes[1], 0, grad.dtype, grad)
        return da, db


def square(x: Tensor) -> Tensor:
    """Give x * x; integers wrap."""
    result: Tensor = Square.apply(x) if offers("SquareForward", x) else x * x
    return result


def sign(x: Tensor) -> Tensor:
    """Give -1, 0 or 1 in the dtype of `x`; NaN stays NaN."""
    result: Tensor = (Sign if offers("SignForward", x) else SignByParts).apply(x)
    return result


def _whole(op: type[Op], x: Tensor) -> Tensor:
    """Run a rounding; integers and bools are whole already."""
    result: Tensor = op.apply(x) if x.dtype.is_floating_point else x.clone()
    return result


def floor(x: Tensor) -> Tensor:
    """Give the largest whole number <= x, in the dtype of `x`."""
    return _whole(Floor, x)


def ceil(x: Tensor) -> Tensor:
    """Give the smallest whole number >= x, in the dtype of `x`."""
    return _whole(Ceil, x)


def trunc(x: Tensor) -> Tensor:
    """Give `x` without its fraction, in the dtype of `x`."""
    return _whole(Trunc, x)


def round(x: Tensor, decimals: int = 0) -> Tensor:
    """Give the nearest whole number, ties to even, in the dtype of `x`.

    With `decimals`, the nearest multiple of 10^-decimals, by way of a product (as NumPy does).

    Raises: DTypeError for integers with `decimals`.
    """
    if decimals == 0:
        return _whole(Round, x)
    require_floating(x, "round with decimals")
    scale = 10.0 ** abs(decimals)
    return _whole(Round, x * scale) / scale if decimals > 0 else _whole(Round, x / scale) * scale


def fmod(a: Operand, b: Operand) -> Tensor:
    """Give the remainder with the sign of the dividend (C); integers by 0 give 0."""
    result: Tensor = Fmod.apply(*as_tensors(a, b, "fmod"))
    return result


def copysign(a: Operand, b: Operand) -> Tensor:
    """Give |a| with the sign of b, that of a zero included; integers become float32."""
    a, b = as_tensors(a, b, "copysign")
    if not a.dtype.is_floating_point:
        a, b = a.to(dt.float32), b.to(dt.float32)
    result: Tensor = Copysign.apply(a, b)
    return result


def nextafter(a: Tensor, b: Tensor) -> Tensor:
    """Give the value of the dtype that follows `a` in the direction of `b`. No gradient flows.

    Raises: DTypeError for integers.
    """
    a, b = as_tensors(a, b, "nextafter")
    require_floating(a, "nextafter")
    with no_grad():
        return binary("NextafterForward", a, b, None)
