"""Products that add to something or come from vectors: addmm, baddbmm, outer.

On a provider with the fused kernels each is one launch; elsewhere it is made of matmul, mul and add.
"""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.dispatch import launch
from infinitrain.errors import ShapeError
from infinitrain.ops._base import (
    broadcast_shapes,
    cast_to,
    new,
    offers,
    promote,
    require_floating,
    require_same_device,
    sum_to,
)
from infinitrain.ops.matmul import matmul
from infinitrain.ops.shape import reshape, transpose
from infinitrain.tensor import Tensor


class AddProduct(Op):
    """y = beta c + alpha a b, c (broadcast to y) unread where beta is 0; dc = beta dy, da = alpha dy b^T."""

    factors: tuple[float, float]
    shape: tuple[int, ...]

    @staticmethod
    def forward(ctx: AddProduct, c: Tensor, a: Tensor, b: Tensor, beta: float, alpha: float) -> Tensor:
        ctx.save_for_backward(a, b)
        ctx.factors, ctx.shape = (beta, alpha), c.shape
        y = new((*a.shape[:-1], b.shape[-1]), a.dtype, a)
        if beta:
            launch("Copy", (c.broadcast_to(y.shape),), (y,))
        launch("Gemm", (a, b), (y,), alpha=float(alpha), beta=float(beta))
        return y

    @staticmethod
    def backward(ctx: AddProduct, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, (beta, alpha) = ctx.needs_input_grad, ctx.factors
        return (
            sum_to(grad * beta, ctx.shape) if need[0] else None,
            matmul(grad, transpose(b, -2, -1)) * alpha if need[1] else None,
            matmul(transpose(a, -2, -1), grad) * alpha if need[2] else None,
            None,
            None,
        )


def _add_product(name: str, dims: int, c: Tensor, a: Tensor, b: Tensor, beta: float, alpha: float) -> Tensor:
    for operand in (c, a, b):
        require_floating(operand, name)
    require_same_device(name, c, a, b)
    if len(a.shape) != dims or len(b.shape) != dims or a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        wanted = "(M, K) and (K, N)" if dims == 2 else "(B, M, K) and (B, K, N)"
        raise ShapeError(f"{name}: expected factors {wanted}, found {a.shape} and {b.shape}")
    shape = (*a.shape[:-1], b.shape[-1])
    if len(c.shape) > dims or broadcast_shapes(c.shape, shape) != shape:
        raise ShapeError(f"{name}: expected an input that broadcasts to {shape}, found {c.shape}")
    a, b = promote(a, b)
    c, a = promote(c, a)
    b = cast_to(b, a.dtype)
    if offers("Gemm", a):
        result: Tensor = AddProduct.apply(c, a, b, beta, alpha)
        return result
    product = matmul(a, b) * alpha
    return product + c * beta if beta else product


def addmm(c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """Give beta c + alpha a @ b; c is not read where beta is 0.

    Shapes: c broadcast to (M, N), a (M, K), b (K, N) -> (M, N).
    Raises: ShapeError, DTypeError, DeviceMismatch for what does not fit.
    """
    return _add_product("addmm", 2, c, a, b, beta, alpha)


def baddbmm(c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """Give `addmm` of each of B matrices: c broadcast to (B, M, N), a (B, M, K), b (B, K, N) -> (B, M, N)."""
    return _add_product("baddbmm", 3, c, a, b, beta, alpha)


class Outer(Op):
    """y (M, N) = a (M) b (N)^T; da = dy b, db = dy^T a."""

    @staticmethod
    def forward(ctx: Outer, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        y = new((*a.shape, *b.shape), a.dtype, a)
        launch("OuterForward", (a, b), (y,))
        return y

    @staticmethod
    def backward(ctx: Outer, grad: Tensor) -> Any:
        return OuterGrad.apply(*ctx.saved_tensors, grad)


class OuterGrad(Op):
    """da = dy b and db = dy^T a, of a, b and dy: linear in each."""

    @staticmethod
    def forward(ctx: OuterGrad, a: Tensor, b: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(a, b, grad)
        da, db = new(a.shape, a.dtype, a), new(b.shape, b.dtype, b)
        launch("OuterBackward", (a, b, grad), (da, db))
        return da, db

    @staticmethod
    def backward(ctx: OuterGrad, second_a: Tensor, second_b: Tensor) -> Any:
        a, b, grad = ctx.saved_tensors
        return (
            matmul(grad, second_b),
            matmul(transpose(grad, 0, 1), second_a),
            outer(second_a, b) + outer(a, second_b),
        )


def outer(a: Tensor, b: Tensor) -> Tensor:
    """Give the products of all pairs: a (M,), b (N,) -> (M, N).

    Raises: ShapeError for anything but vectors; DeviceMismatch.
    """
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise ShapeError(f"outer: expected two vectors, found {a.shape} and {b.shape}")
    require_same_device("outer", a, b)
    a, b = promote(a, b)
    if a.dtype.is_floating_point and offers("OuterForward", a) and offers("OuterBackward", a):
        result: Tensor = Outer.apply(a, b)
        return result
    product: Tensor = reshape(a, (a.shape[0], 1)) * b
    return product
