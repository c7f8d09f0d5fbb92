"""Elementary functions beyond those that training needs. Forward and derivative stand together."""

from __future__ import annotations

import math
from typing import Any

from infinitrain import dtype as dt
from infinitrain.autograd.function import Op
from infinitrain.ops._base import Operand, as_tensors, binary, floating, sum_to, unary
from infinitrain.ops.rounding import square
from infinitrain.ops.unary import exp, reciprocal, rsqrt, sigmoid
from infinitrain.tensor import Tensor


class Function(Op):
    """y = f(x); dx = dy f'(x). A subclass names the kernel and gives the slope, of x, or of y where `from_output`."""

    kernel: str
    from_output = False

    @staticmethod
    def forward(ctx: Function, x: Tensor, out: Tensor | None = None) -> Tensor:
        if not ctx.from_output:
            ctx.save_for_backward(x)
        y = unary(ctx.kernel, x, out)
        if ctx.from_output:
            ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Function, grad: Tensor) -> Any:
        return grad * ctx.slope(*ctx.saved_tensors)

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        """Give f'(x)."""
        raise NotImplementedError


class Tan(Function):
    """1 + y^2."""

    kernel = "TanForward"
    from_output = True

    @staticmethod
    def slope(y: Tensor, /) -> Tensor:
        return square(y) + 1


class Asin(Function):
    """1 / sqrt(1 - x^2)."""

    kernel = "AsinForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return rsqrt(1 - square(x))


class Acos(Function):
    """-1 / sqrt(1 - x^2)."""

    kernel = "AcosForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return -rsqrt(1 - square(x))


class Atan(Function):
    """1 / (1 + x^2)."""

    kernel = "AtanForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return reciprocal(square(x) + 1)


class Sinh(Function):
    """The hyperbolic cosine."""

    kernel = "SinhForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return cosh(x)


class Cosh(Function):
    """The hyperbolic sine."""

    kernel = "CoshForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return sinh(x)


class Asinh(Function):
    """1 / sqrt(x^2 + 1)."""

    kernel = "AsinhForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return rsqrt(square(x) + 1)


class Acosh(Function):
    """1 / sqrt(x^2 - 1)."""

    kernel = "AcoshForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return rsqrt(square(x) - 1)


class Atanh(Function):
    """1 / (1 - x^2)."""

    kernel = "AtanhForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return reciprocal(1 - square(x))


class Expm1(Function):
    """e^x, which is y + 1."""

    kernel = "Expm1Forward"
    from_output = True

    @staticmethod
    def slope(y: Tensor, /) -> Tensor:
        return y + 1


class Log1p(Function):
    """1 / (1 + x)."""

    kernel = "Log1pForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return reciprocal(x + 1)


class Log2(Function):
    """1 / (x ln 2)."""

    kernel = "Log2Forward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return reciprocal(x * math.log(2))


class Log10(Function):
    """1 / (x ln 10)."""

    kernel = "Log10Forward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return reciprocal(x * math.log(10))


class Erf(Function):
    """2 / sqrt(pi) e^(-x^2)."""

    kernel = "ErfForward"

    @staticmethod
    def slope(x: Tensor, /) -> Tensor:
        return exp(-square(x)) * (2 / math.sqrt(math.pi))


class FunctionOfTwo(Op):
    """y = f(a, b), broadcast; a subclass names the kernel and gives both slopes."""

    kernel: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def forward(ctx: FunctionOfTwo, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        ctx.shapes = (a.shape, b.shape)
        ctx.save_for_backward(a, b)
        return binary(ctx.kernel, a, b, out)

    @staticmethod
    def backward(ctx: FunctionOfTwo, grad: Tensor) -> Any:
        need, shapes = ctx.needs_input_grad, ctx.shapes
        slopes = ctx.slopes(*ctx.saved_tensors)
        return tuple(
            sum_to(grad * slope, shape) if wanted else None
            for slope, shape, wanted in zip(slopes, shapes, need[:2], strict=True)
        )

    @staticmethod
    def slopes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """Give df/da and df/db."""
        raise NotImplementedError


class Atan2(FunctionOfTwo):
    """b / (a^2 + b^2) and -a / (a^2 + b^2)."""

    kernel = "Atan2Forward"

    @staticmethod
    def slopes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        inverse = reciprocal(square(a) + square(b))
        return b * inverse, -(a * inverse)


class Hypot(FunctionOfTwo):
    """a / y and b / y."""

    kernel = "HypotForward"

    @staticmethod
    def slopes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        y = hypot(a, b)
        return a / y, b / y


class Logaddexp(FunctionOfTwo):
    """The shares e^a / e^y and e^b / e^y, as sigmoids of the difference."""

    kernel = "LogaddexpForward"

    @staticmethod
    def slopes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return sigmoid(a - b), sigmoid(b - a)


def _two(op: type[Op], name: str, a: Operand, b: Operand) -> Tensor:
    """Run an operation of two floats; integers become float32."""
    a, b = as_tensors(a, b, name)
    if not a.dtype.is_floating_point:
        a, b = a.to(dt.float32), b.to(dt.float32)
    result: Tensor = op.apply(a, b)
    return result


def tan(x: Tensor) -> Tensor:
    """Give the tangent; integers become float32."""
    result: Tensor = Tan.apply(floating(x))
    return result


def asin(x: Tensor) -> Tensor:
    """Give the inverse sine, NaN outside [-1, 1]; integers become float32."""
    result: Tensor = Asin.apply(floating(x))
    return result


def acos(x: Tensor) -> Tensor:
    """Give the inverse cosine, NaN outside [-1, 1]; integers become float32."""
    result: Tensor = Acos.apply(floating(x))
    return result


def atan(x: Tensor) -> Tensor:
    """Give the inverse tangent; integers become float32."""
    result: Tensor = Atan.apply(floating(x))
    return result


def sinh(x: Tensor) -> Tensor:
    """Give the hyperbolic sine; integers become float32."""
    result: Tensor = Sinh.apply(floating(x))
    return result


def cosh(x: Tensor) -> Tensor:
    """Give the hyperbolic cosine; integers become float32."""
    result: Tensor = Cosh.apply(floating(x))
    return result


def asinh(x: Tensor) -> Tensor:
    """Give the inverse hyperbolic sine; integers become float32."""
    result: Tensor = Asinh.apply(floating(x))
    return result


def acosh(x: Tensor) -> Tensor:
    """Give the inverse hyperbolic cosine, NaN below 1; integers become float32."""
    result: Tensor = Acosh.apply(floating(x))
    return result


def atanh(x: Tensor) -> Tensor:
    """Give the inverse hyperbolic tangent, NaN outside [-1, 1]; integers become float32."""
    result: Tensor = Atanh.apply(floating(x))
    return result


def expm1(x: Tensor) -> Tensor:
    """Give e^x - 1, exact near 0; integers become float32."""
    result: Tensor = Expm1.apply(floating(x))
    return result


def log1p(x: Tensor) -> Tensor:
    """Give ln(1 + x), exact near 0; integers become float32."""
    result: Tensor = Log1p.apply(floating(x))
    return result


def log2(x: Tensor) -> Tensor:
    """Give the logarithm to base 2; integers become float32."""
    result: Tensor = Log2.apply(floating(x))
    return result


def log10(x: Tensor) -> Tensor:
    """Give the logarithm to base 10; integers become float32."""
    result: Tensor = Log10.apply(floating(x))
    return result


def erf(x: Tensor) -> Tensor:
    """Give the error function; integers become float32."""
    result: Tensor = Erf.apply(floating(x))
    return result


def atan2(a: Operand, b: Operand) -> Tensor:
    """Give the angle of the point (b, a) in [-pi, pi]; integers become float32."""
    return _two(Atan2, "atan2", a, b)


def hypot(a: Operand, b: Operand) -> Tensor:
    """Give sqrt(a^2 + b^2), without overflow of the squares; integers become float32."""
    return _two(Hypot, "hypot", a, b)


def logaddexp(a: Operand, b: Operand) -> Tensor:
    """Give ln(e^a + e^b), without overflow; integers become float32."""
    return _two(Logaddexp, "logaddexp", a, b)
