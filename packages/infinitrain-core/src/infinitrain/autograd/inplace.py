"""In-place operations under autograd: the written tensor gets a new history, and so do its base and its views."""

from __future__ import annotations

from typing import Any

from infinitrain.autograd.function import Node, Op, _next_number, edges_of
from infinitrain.autograd.grad_mode import state
from infinitrain.autograd.views import refresh
from infinitrain.errors import AutogradError, ShapeError
from infinitrain.tensor import Tensor


def check_writable(x: Tensor, name: str) -> None:
    """Raise ShapeError if several elements of `x` are one place in memory."""
    for size, stride in zip(x.shape, x.strides, strict=True):
        if stride == 0 and size > 1:
            raise ShapeError(
                f"{name}: expected a tensor whose elements are separate, found an expanded one of shape {x.shape} "
                f"with strides {x.strides}. Write into a clone()."
            )


def apply_inplace(op: type[Op], name: str, x: Tensor, *args: Any) -> Tensor:
    """Run `op.forward(ctx, x, *args, x)`, which writes into `x`, and give `x` the history that follows.

    Raises: AutogradError for a leaf that requires grad; ShapeError for an expanded tensor.
    """
    check_writable(x, name)
    ctx = op()
    if state.enabled:
        ctx._edges = edges_of((x, *args))
        if not ctx._edges:
            return _write(op, ctx, name, x, args)
        if (x._requires_grad and x._node is None) or (x._base is not None and is_leaf_with_grad(x._base)):
            raise AutogradError(
                f"{name}: expected a tensor that may change, found a leaf that requires grad (or a view of one). "
                "Do it under no_grad(), or on a clone()."
            )
        state.enabled = False
        ctx._target, ctx._target_version = x, x.buffer.version
        try:
            _write(op, ctx, name, x, args)
        finally:
            state.enabled = True
            ctx._target = None
        ctx._number = _next_number()
        ctx._seal((x,))
        ctx._meta = ((x.shape, x.dtype, x.buffer.device),)
        _rebase(x, ctx)
        return x
    return _write(op, ctx, name, x, args)


def _write(op: type[Op], ctx: Op, name: str, x: Tensor, args: tuple[Any, ...]) -> Tensor:
    """Run the write and count it once: a forward that saves its output has counted it already."""
    before = x.buffer.version
    op.forward(ctx, x, *args, x)
    if x.buffer.version == before:
        x.buffer.version += 1
    x.buffer.writer = name
    return x


def is_leaf_with_grad(x: Tensor) -> bool:
    """Tell whether `x` is a leaf that gradients are collected for."""
    return x._requires_grad and x._node is None


def _rebase(x: Tensor, ctx: Node) -> None:
    """Make `ctx` the history of `x`; where `x` is a view, the base's history first."""
    base = x._base
    if base is None:
        x._node, x._out_index, x._requires_grad = ctx, 0, True
        return
    node = CopySlices()
    node.inner = ctx
    node.geometry = (x.shape, x.strides, x.offset - base.offset)
    own = edges_of((base,))
    node._edges = (own[0] if own else None, *ctx._edges[1:])
    node._number = _next_number()
    node.base_strides = base.strides
    node._meta = ((base.shape, base.dtype, base.buffer.device),)
    base._node, base._out_index, base._requires_grad = node, 0, True
    refresh(x)


class CopySlices(Op):
    """The history of a base after an in-place operation `inner` on a view of it."""

    twice_differentiable = False
    inner: Node
    geometry: tuple[tuple[int, ...], tuple[int, ...], int]
    base_strides: tuple[int, ...]

    @property
    def name(self) -> str:
        """The operation that wrote through the view."""
        return self.inner.name

    def free(self) -> None:
        """Let go of what the inner operation saved."""
        super().free()
        self.inner.free()

    @staticmethod
    def backward(ctx: CopySlices, grad: Tensor) -> tuple[Any, ...]:
        """The slice's gradient goes through the inner backward, the rest passes."""
        whole = _in_layout(grad, ctx.base_strides)
        part = whole._alias(*ctx.geometry)
        returned = ctx.inner.backward(ctx.inner, part.clone())  # type: ignore[attr-defined]
        results = returned if isinstance(returned, tuple) else (returned,)
        if results[0] is None:
            part.zero_()
        else:
            part.copy_(results[0])
        del part
        return (whole, *results[1:])


class AsStrided(Op):
    """A view of `base`, by its geometry."""

    twice_differentiable = False
    geometry: tuple[tuple[int, ...], tuple[int, ...], int]
    base_strides: tuple[int, ...]
    base_shape: tuple[int, ...]

    @classmethod
    def attach(cls, view: Tensor, base: Tensor) -> None:
        """Make this the history of an existing view."""
        node = cls()
        node._edges = edges_of((base,))
        node._number = _next_number()
        node.geometry = (view.shape, view.strides, view.offset - base.offset)
        node.base_shape = base.shape
        node.base_strides = base.strides
        node._meta = ((view.shape, view.dtype, view.buffer.device),)
        view._node, view._out_index, view._requires_grad = node, 0, True

    @staticmethod
    def backward(ctx: AsStrided, grad: Tensor) -> tuple[Any, ...]:
        """Add the gradient at the view's places into zeros of the base's shape."""
        shape, strides, offset = ctx.geometry
        summed = [d for d, (size, stride) in enumerate(zip(shape, strides, strict=True)) if stride == 0 and size > 1]
        if summed:
            grad = grad.sum(summed, keepdim=True)
            shape = grad.shape
        zeros = Tensor._empty(ctx.base_shape, grad.dtype, grad.device).zero_()
        whole = _in_layout(zeros, ctx.base_strides)
        whole._alias(shape, strides, offset).copy_(grad)
        return (whole,)


def _in_layout(x: Tensor, strides: tuple[int, ...]) -> Tensor:
    """Copy `x` into new memory with the given strides (those of a base, which may be transposed)."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(x.shape, strides, strict=True))
    flat = Tensor._empty((max(span, 0) if x.numel() else 0,), x.dtype, x.device)
    copy = flat._alias(x.shape, strides, 0)
    copy.copy_(x)
    return copy
