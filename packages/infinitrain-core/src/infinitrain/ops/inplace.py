"""Operations in place: the target keeps its shape and dtype, or is left as it was.

Where operand and target have one dtype the kernel writes over its input; else the result is computed first and copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.autograd.inplace import apply_inplace, check_writable
from infinitrain.copy import copy_ as route_copy
from infinitrain.dispatch import launch
from infinitrain.dtype import promote_types
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops import arithmetic, embedding, functions, power, rounding, select, unary
from infinitrain.ops._base import (
    Operand,
    Scalar,
    as_attr,
    as_scalar,
    broadcast_shapes,
    cast_to,
    check_range,
    scalar_dtype,
    sum_to,
)
from infinitrain.ops.cast import ToDevice
from infinitrain.ops.shape import expand
from infinitrain.tensor import Tensor


class CopyInto(Op):
    """y = source, broadcast, in the target's memory; the target's old value gets no gradient."""

    shape: tuple[int, ...]

    @staticmethod
    def forward(ctx: CopyInto, x: Tensor, source: Tensor, out: Tensor) -> Tensor:
        ctx.shape = source.shape
        route_copy(out, expand(source, out.shape))
        return out

    @staticmethod
    def backward(ctx: CopyInto, grad: Tensor) -> Any:
        return None, sum_to(grad, ctx.shape)


class FillWith(Op):
    """y = a number everywhere; no gradient flows."""

    @staticmethod
    def forward(ctx: FillWith, x: Tensor, value: Scalar, out: Tensor) -> Tensor:
        launch("Fill", (), (out,), value=value)
        return out

    @staticmethod
    def backward(ctx: FillWith, grad: Tensor) -> Any:
        return None, None


def _check_shape(name: str, x: Tensor, other: tuple[int, ...]) -> None:
    """Raise ShapeError if a result with `other` would be larger than the target."""
    if broadcast_shapes(x.shape, other) != x.shape:
        raise ShapeError(f"{name}: expected operands that broadcast to the target's shape {x.shape}, found {other}")


def _check_kind(name: str, x: Tensor, result: Any) -> None:
    """Raise DTypeError if the result's dtype is of a higher kind than the target's."""
    rank = [(d.is_floating_point, not d.is_bool) for d in (x.dtype, result)]
    if rank[1] > rank[0]:
        raise DTypeError(f"{name}: expected a result that {x.dtype.name} can hold, found {result.name}")


def copy_(x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """Write another tensor's values over this one's: any dtype, device and shape that broadcasts.

    Overlapping memory is read before it is written. Gradients go to the source.

    Raises: ShapeError for a larger or another shape, or an expanded target.
    """
    check_writable(x, "copy_")
    _check_shape("copy_", x, source.shape)
    if source.dtype is not x.dtype:
        source = cast_to(source, x.dtype)
    if source.device != x.device:
        if source.shape == x.shape and not source._requires_grad and not x._requires_grad:
            route_copy(x, source)
            x._mark_written("copy_")
            return x
        source = ToDevice.apply(source, x.device)
    return apply_inplace(CopyInto, "copy_", x, source)


def fill_(x: Tensor, value: Operand) -> Tensor:
    """Write one value everywhere: a number or a 0-d tensor.

    Raises: ShapeError for a tensor with dimensions.
    """
    if isinstance(value, Tensor):
        if value.shape:
            raise ShapeError(f"fill_: expected a number or a 0-d tensor, found shape {value.shape}")
        return copy_(x, value)
    number = as_scalar(value)
    if number is None:
        raise TypeError(f"fill_: expected a number, found {type(value).__name__}")
    check_range(number, x.dtype, "fill_")
    return apply_inplace(FillWith, "fill_", x, number)


def zero_(x: Tensor) -> Tensor:
    """Write 0 everywhere."""
    return apply_inplace(FillWith, "zero_", x, 0)


def _assign(name: str, x: Tensor, result: Tensor) -> Tensor:
    """Copy a computed result over its target."""
    _check_kind(name, x, result.dtype)
    _check_shape(name, x, result.shape)
    return apply_inplace(CopyInto, name, x, cast_to(result, x.dtype))


def _binary(
    name: str, op: type[Op], function: Callable[..., Tensor], with_number: type[Op] | None = None
) -> Callable[..., Tensor]:
    """Make the in-place form of an operation of two operands."""

    def method(self: Tensor, other: Operand, alpha: Scalar = 1) -> Tensor:
        if alpha != 1:
            other = arithmetic.mul(other, alpha)
        check_writable(self, name)
        if isinstance(other, Tensor):
            _check_shape(name, self, other.shape)
            if (
                other.dtype is self.dtype
                and not self.dtype.is_bool
                and (op is not arithmetic.Div or self.dtype.is_floating_point)
            ):
                return apply_inplace(op, name, self, _apart(self, other))
            _check_kind(name, self, promote_types(self.dtype, other.dtype))
        else:
            number = as_scalar(other)
            if number is None:
                raise TypeError(f"{name}: expected a tensor or a number, found {type(other).__name__}")
            _check_kind(name, self, scalar_dtype(self.dtype, number))
            if with_number is not None and not self.dtype.is_bool:
                check_range(number, self.dtype, name)
                return apply_inplace(with_number, name, self, number)
        return _assign(name, self, function(self, other))

    method.__name__ = name
    method.__doc__ = f"Write the result of `{name[:-1]}` over the tensor; a larger or higher result is an error."
    return method


def _apart(x: Tensor, other: Tensor) -> Tensor:
    """Give an operand that the write cannot change before it is read."""
    if other.buffer is x.buffer and (other.offset != x.offset or other.strides != x.strides or other.shape != x.shape):
        return other.clone()
    return other


def sub_(x: Tensor, other: Operand, alpha: Scalar = 1) -> Tensor:
    """Write x - alpha other over `x`; a larger or higher result is an error."""
    number = as_scalar(other)
    if number is not None and not isinstance(number, bool):
        check_range(number, x.dtype, "sub_")
        if -(1 << 63) < number * alpha < 1 << 63:
            _check_kind("sub_", x, scalar_dtype(x.dtype, number * alpha))
            return apply_inplace(arithmetic.AddScalar, "sub_", x, -(number * alpha))
    return _sub(x, other, alpha)


def _unary(name: str, op: type[Op], floats_only: bool = True) -> Callable[..., Tensor]:
    """Make the in-place form of an operation of one operand."""

    def method(self: Tensor) -> Tensor:
        if floats_only and not self.dtype.is_floating_point:
            raise DTypeError(f"{name}: expected a floating-point tensor, found {self.dtype.name}")
        return apply_inplace(op, name, self)

    method.__name__ = name
    method.__doc__ = f"Write the result of `{name[:-1]}` over the tensor."
    return method


def clamp_(x: Tensor, min: Operand = None, max: Operand = None) -> Tensor:
    """Hold the elements between bounds, in place."""
    return _assign("clamp_", x, select.clamp(x, min, max))


def masked_fill_(x: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """Write a value where the mask is true."""
    number = as_scalar(value)
    if number is None or not mask.dtype.is_bool:
        return _assign("masked_fill_", x, select.masked_fill(x, mask, value))
    check_writable(x, "masked_fill_")
    check_range(number, x.dtype, "masked_fill_")
    _check_shape("masked_fill_", x, mask.shape)
    return apply_inplace(select.MaskedFill, "masked_fill_", x, mask, as_attr(number, x.dtype))


def pow_(x: Tensor, exponent: Operand) -> Tensor:
    """Write x to the power of an exponent over `x`."""
    return _assign("pow_", x, power.power(x, exponent))


def scatter_(x: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """Write values at the places of an index; see `scatter`."""
    axis, number = embedding.checked_index("scatter_", x, dim, index)
    values = embedding.scatter_values("scatter_", x, number, src)
    return apply_inplace(embedding.Scatter, "scatter_", x, axis, number, values)


def scatter_add_(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Add values at the places of an index; see `scatter_add`."""
    axis, number = embedding.checked_index("scatter_add_", x, dim, index)
    values = embedding.scatter_values("scatter_add_", x, number, src)
    return apply_inplace(embedding.ScatterAdd, "scatter_add_", x, axis, number, values)


_sub = _binary("sub_", arithmetic.Sub, arithmetic.sub)

METHODS: dict[str, Callable[..., Any]] = {
    "abs_": _unary("abs_", unary.Abs, floats_only=False),
    "add_": _binary("add_", arithmetic.Add, arithmetic.add, arithmetic.AddScalar),
    "clamp_": clamp_,
    "copy_": copy_,
    "cos_": _unary("cos_", unary.Cos),
    "div_": _binary("div_", arithmetic.Div, arithmetic.div),
    "exp_": _unary("exp_", unary.Exp),
    "fill_": fill_,
    "floor_divide_": _binary("floor_divide_", arithmetic.FloorDivide, arithmetic.floor_divide),
    "log_": _unary("log_", unary.Log),
    "masked_fill_": masked_fill_,
    "mul_": _binary("mul_", arithmetic.Mul, arithmetic.mul, arithmetic.MulScalar),
    "neg_": _unary("neg_", unary.Neg, floats_only=False),
    "pow_": pow_,
    "reciprocal_": _unary("reciprocal_", unary.Reciprocal),
    "relu_": _unary("relu_", unary.Relu, floats_only=False),
    "remainder_": _binary("remainder_", arithmetic.Remainder, arithmetic.remainder),
    "rsqrt_": _unary("rsqrt_", unary.Rsqrt),
    "scatter_": scatter_,
    "scatter_add_": scatter_add_,
    "sigmoid_": _unary("sigmoid_", unary.Sigmoid),
    "sin_": _unary("sin_", unary.Sin),
    "sqrt_": _unary("sqrt_", unary.Sqrt),
    "sub_": sub_,
    "tanh_": _unary("tanh_", unary.Tanh),
    "zero_": zero_,
}
#: Of floats only: those that nothing but their name and operation tells apart.
_FUNCTIONS: dict[str, type[Op]] = {
    "acos": functions.Acos,
    "acosh": functions.Acosh,
    "asin": functions.Asin,
    "asinh": functions.Asinh,
    "atan": functions.Atan,
    "atanh": functions.Atanh,
    "cosh": functions.Cosh,
    "erf": functions.Erf,
    "expm1": functions.Expm1,
    "log10": functions.Log10,
    "log1p": functions.Log1p,
    "log2": functions.Log2,
    "sinh": functions.Sinh,
    "tan": functions.Tan,
    "ceil": rounding.Ceil,
    "floor": rounding.Floor,
    "round": rounding.Round,
    "trunc": rounding.Trunc,
}
METHODS |= {f"{name}_": _unary(f"{name}_", op) for name, op in _FUNCTIONS.items()}
METHODS |= {
    "fmod_": _binary("fmod_", rounding.Fmod, rounding.fmod),
    "sign_": _unary("sign_", rounding.Sign, floats_only=False),
    "square_": _unary("square_", rounding.Square, floats_only=False),
}
METHODS |= {
    "__iadd__": METHODS["add_"],
    "__isub__": METHODS["sub_"],
    "__imul__": METHODS["mul_"],
    "__itruediv__": METHODS["div_"],
}
