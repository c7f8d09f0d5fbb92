"""Losses that compare two tensors element by element: squares, magnitudes, and what lies between.

Half types are computed in float32 and rounded once, after the reduction.
"""

from __future__ import annotations

from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import cast_to, promote, require_floating, require_same_device
from infinitrain.ops.compare import le, lt
from infinitrain.ops.reduce import mean
from infinitrain.ops.reduce import sum as reduce_sum
from infinitrain.ops.select import where
from infinitrain.ops.unary import absolute
from infinitrain.tensor import Tensor

REDUCTIONS = ("mean", "sum", "none")


def check_reduction(name: str, reduction: str, known: tuple[str, ...] = REDUCTIONS) -> None:
    """Raise ValueError for a reduction that a loss does not have."""
    if reduction not in known:
        listed = ", ".join(repr(each) for each in known[:-1])
        raise ValueError(f"{name}: expected reduction {listed} or {known[-1]!r}, found {reduction!r}")


def reduced(values: Tensor, reduction: str) -> Tensor:
    """Give the mean or the sum of all elements, or the elements themselves."""
    if reduction == "none":
        return values
    return mean(values) if reduction == "mean" else reduce_sum(values)


def two_wide(name: str, x: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Check two tensors of one shape and give both in the dtype that losses are computed in.

    Raises: ShapeError, DTypeError, DeviceMismatch for tensors that do not fit.
    """
    if x.shape != target.shape:
        raise ShapeError(f"{name}: expected two tensors of one shape, found {x.shape} and {target.shape}")
    require_floating(x, name)
    if target.dtype.is_bool:
        raise DTypeError(f"{name}: expected a target of numbers, found bool. Cast it, as by float().")
    require_same_device(name, x, target)
    x, target = promote(x, target)
    return cast_to(x, x.dtype.accumulator), cast_to(target, x.dtype.accumulator)


def mse_loss(x: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Give the squared distance, as its mean, its sum or element by element ("none").

    Raises: ShapeError unless both have one shape; ValueError for another reduction.
    """
    check_reduction("mse_loss", reduction)
    a, b = two_wide("mse_loss", x, target)
    apart = a - b
    return cast_to(reduced(apart * apart, reduction), x.dtype)


def l1_loss(x: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Give |x - target|, reduced as in `mse_loss`; the gradient where they are equal is 0."""
    check_reduction("l1_loss", reduction)
    a, b = two_wide("l1_loss", x, target)
    return cast_to(reduced(absolute(a - b), reduction), x.dtype)


def smooth_l1_loss(x: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Give d^2 / (2 beta) where d = |x - target| < beta, else d - beta / 2; reduced as in `mse_loss`.

    Raises: ValueError for a negative beta. With beta = 0 it is `l1_loss`.
    Source: Girshick 2015, arXiv:1504.08083.
    """
    if not beta >= 0:
        raise ValueError(f"smooth_l1_loss: expected a beta of at least 0, found {beta}")
    if beta == 0:
        return l1_loss(x, target, reduction)
    check_reduction("smooth_l1_loss", reduction)
    a, b = two_wide("smooth_l1_loss", x, target)
    apart = absolute(a - b)
    loss = where(lt(apart, beta), apart * apart * (0.5 / beta), apart - 0.5 * beta)
    return cast_to(reduced(loss, reduction), x.dtype)


def huber_loss(x: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Give d^2 / 2 where d = |x - target| <= delta, else delta (d - delta / 2); reduced as in `mse_loss`.

    Raises: ValueError unless delta is above 0.
    Source: Huber 1964.
    """
    if not delta > 0:
        raise ValueError(f"huber_loss: expected a delta above 0, found {delta}")
    check_reduction("huber_loss", reduction)
    a, b = two_wide("huber_loss", x, target)
    apart = absolute(a - b)
    loss = where(le(apart, delta), apart * apart * 0.5, (apart - 0.5 * delta) * delta)
    return cast_to(reduced(loss, reduction), x.dtype)
