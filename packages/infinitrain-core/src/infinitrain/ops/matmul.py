"""Matrix products and the linear layer.

Letters: R rows, I inputs, O outputs; M, K, N the sizes of a product.
"""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import ACCUMULATED, Op
from infinitrain.autograd.grad_mode import state
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import broadcast_shapes, promote, require_floating, require_same_device, sum_to
from infinitrain.ops.reduce import sum as reduce_sum
from infinitrain.ops.shape import reshape, squeeze, transpose, unsqueeze
from infinitrain.strided import Strided
from infinitrain.tensor import Tensor


class Matmul(Op):
    """y = a @ b for matrices and stacks of them; da = dy @ b^T, db = a^T @ dy, summed over what was broadcast."""

    @staticmethod
    def forward(ctx: Matmul, a: Tensor, b: Tensor) -> Tensor:
        need = ctx.needs_input_grad
        ctx.save_for_backward(a if need[1] else None, b if need[0] else None)
        ctx.shapes = (a.shape, b.shape)  # type: ignore[attr-defined]
        lead = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        y = Tensor._empty((*lead, a.shape[-2], b.shape[-1]), a.dtype, a.buffer.device)
        left: Strided = a if a.shape[:-2] == lead else a.broadcast_to(lead + a.shape[-2:])
        right: Strided = b if b.shape[:-2] == lead else b.broadcast_to(lead + b.shape[-2:])
        launch("MatmulForward", (left, right), (y,))
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        need, shapes = ctx.needs_input_grad, ctx.shapes
        return (
            sum_to(matmul(grad, transpose(b, -2, -1)), shapes[0]) if need[0] else None,
            sum_to(matmul(transpose(a, -2, -1), grad), shapes[1]) if need[1] else None,
        )


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Multiply matrices; leading dimensions broadcast, vectors stand for a row (left) or a column (right).

    Raises: ShapeError for 0-d operands or inner sizes that differ; DTypeError for integers; DeviceMismatch.
    """
    if not a.shape or not b.shape:
        raise ShapeError(f"matmul: expected vectors, matrices or stacks of them, found {a.shape} @ {b.shape}")
    if a.shape[-1] != b.shape[-2 if len(b.shape) > 1 else 0]:
        raise ShapeError(f"matmul: expected inner sizes that agree, found {a.shape} @ {b.shape} on {a.device}")
    require_floating(a, "matmul")
    require_floating(b, "matmul")
    require_same_device("matmul", a, b)
    a, b = promote(a, b)
    if len(a.shape) == 1:
        y = matmul(unsqueeze(a, 0), b)
        return squeeze(y, -1 if len(b.shape) == 1 else -2)
    if len(b.shape) == 1:
        return squeeze(matmul(a, unsqueeze(b, 1)), -1)
    if len(a.shape) > 2 and len(b.shape) == 2 and a.is_contiguous():
        # One product of many rows instead of many products.
        folded: Tensor = Matmul.apply(reshape(a, (-1, a.shape[-1])) if a.numel() else a, b)
        return reshape(folded, (*a.shape[:-1], b.shape[1]))
    result: Tensor = Matmul.apply(a, b)
    return result


def matmul_operator(a: Tensor, b: Any) -> Any:
    """Give a @ b."""
    return matmul(a, b) if isinstance(b, Tensor) else NotImplemented


class Linear(Op):
    """y (..., O) = x (..., I) @ weight (O, I)^T + bias (O).

    Gradients of weight and bias are added into what is there already where autograd allows it.
    """

    @staticmethod
    def forward(ctx: Linear, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        need = ctx.needs_input_grad
        ctx.save_for_backward(x if need[1] else None, weight if need[0] else None)
        y = Tensor._empty((*x.shape[:-1], weight.shape[0]), x.dtype, x.buffer.device)
        launch("LinearForward", (_rows(x), weight, bias), (_rows(y),))
        return y

    @staticmethod
    def backward(ctx: Linear, grad: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        need = ctx.needs_input_grad
        if state.enabled:  # recorded: by operations that can be differentiated again
            flat = reshape(grad, (-1, grad.shape[-1]))
            return (
                matmul(grad, weight) if need[0] else None,
                matmul(transpose(flat, 0, 1), reshape(x, (-1, x.shape[-1]))) if need[1] else None,
                reduce_sum(flat, 0) if len(need) > 2 and need[2] else None,
            )
        rows = _rows(grad)
        dx: Tensor | None = None
        if need[0]:
            dx = Tensor._empty((*grad.shape[:-1], weight.shape[1]), grad.dtype, grad.buffer.device)
            launch("LinearBackwardInput", (rows, weight), (_rows(dx),))
        dweight: Any = None
        if need[1]:
            shape = (grad.shape[-1], x.shape[-1])
            dweight = _into(ctx, 1, "LinearBackwardWeight", (_rows(x), rows), shape, grad)
        dbias: Any = None
        if len(need) > 2 and need[2]:
            dbias = _into(ctx, 2, "LinearBackwardBias", (rows,), (grad.shape[-1],), grad)
        return dx, dweight, dbias


def _into(ctx: Op, index: int, kernel: str, operands: tuple[Any, ...], shape: tuple[int, ...], like: Tensor) -> Any:
    """Run a gradient kernel, adding into the gradient so far of argument `index` if there is one."""
    total = ctx.accumulator(index)
    if total is not None:
        launch(kernel, operands, (total,), accumulate=True)
        return ACCUMULATED
    fresh = Tensor._empty(shape, like.dtype, like.buffer.device)
    launch(kernel, operands, (fresh,))
    return fresh


def _rows(x: Tensor) -> Tensor:
    """Show (..., C) as (R, C), outside the graph; copied only where the layout demands it."""
    if len(x.shape) == 2:
        return x
    if x.is_contiguous():
        count = x.numel() // x.shape[-1] if x.shape[-1] else 0
        return x._alias((count, x.shape[-1]), (x.shape[-1], 1))
    return reshape(x, (-1, x.shape[-1]) if x.numel() else (0, x.shape[-1]))


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Give x @ weight^T + bias.

    Shapes: x (..., I), weight (O, I), bias (O,) -> (..., O).

    Raises: ShapeError, DTypeError, DeviceMismatch for operands that do not fit.
    """
    if len(weight.shape) != 2 or not x.shape or x.shape[-1] != weight.shape[1]:
        raise ShapeError(f"linear: expected x (..., I) and a weight (O, I), found {x.shape} and {weight.shape}")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"linear: expected a bias of shape {weight.shape[:1]}, found {bias.shape}")
    if x.dtype is not weight.dtype or (bias is not None and bias.dtype is not weight.dtype):
        found = ", ".join(t.dtype.name for t in (x, weight, bias) if t is not None)
        raise DTypeError(f"linear: expected operands of one dtype, found {found}. Cast them, or use autocast.")
    result: Tensor = Linear.apply(x, weight, bias)
    return result
