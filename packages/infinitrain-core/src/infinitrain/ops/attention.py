"""Scaled dot-product attention. B batch, H query heads, G key heads, T queries, S keys, D head size."""

from __future__ import annotations

from math import sqrt
from typing import Any

from infinitrain.autograd.function import Op
from infinitrain.autograd.grad_mode import no_grad, state
from infinitrain.dispatch import launch
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import broadcast_shapes, require_floating, require_same_device
from infinitrain.ops.compare import gt
from infinitrain.ops.dropout import dropout
from infinitrain.ops.matmul import matmul
from infinitrain.ops.reduce import amax
from infinitrain.ops.reduce import any as any_of
from infinitrain.ops.select import where
from infinitrain.ops.shape import expand, repeat_interleave, transpose
from infinitrain.ops.softmax import causal_softmax, softmax
from infinitrain.tensor import Tensor


class CausalAttention(Op):
    """y = p v with p = causal softmax of scale q k^T. The probabilities are saved and written over the scores."""

    scale: float

    @staticmethod
    def forward(ctx: CausalAttention, q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
        ctx.scale = scale
        p = _product(q, _turned(k))  # (..., T, S)
        launch("CausalSoftmaxForward", (p,), (p,), scale=scale)
        ctx.save_for_backward(q, k, v, p)
        return _product(p, v)

    @staticmethod
    def backward(ctx: CausalAttention, grad: Tensor) -> Any:
        q, k, v, p = ctx.saved_tensors
        if state.enabled:  # recorded: by operations that can be differentiated again
            p = causal_softmax(matmul(q, transpose(k, -2, -1)), ctx.scale)
            inner = matmul(grad, transpose(v, -2, -1))
            ds = p * (inner - (inner * p).sum(-1, keepdim=True)) * ctx.scale
            return matmul(ds, k), matmul(transpose(ds, -2, -1), q), matmul(transpose(p, -2, -1), grad)
        need = ctx.needs_input_grad
        dq = dk = dv = None
        if need[2]:
            dv = _product(_turned(p), grad)
        if need[0] or need[1]:
            ds = _product(grad, _turned(v))
            launch("CausalSoftmaxBackward", (p, ds), (ds,), scale=ctx.scale)
            dq = _product(ds, k) if need[0] else None
            dk = _product(_turned(ds), q) if need[1] else None
        return dq, dk, dv


def _turned(x: Tensor) -> Tensor:
    """Exchange the last two dimensions, outside the graph."""
    shape, strides = x.shape, x.strides
    return x._alias((*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2]))


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply stacks of matrices with the same leading sizes, outside the graph."""
    y = Tensor._empty((*a.shape[:-1], b.shape[-1]), a.dtype, a.buffer.device)
    launch("MatmulForward", (a, b), (y,))
    return y


def _check(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Raise ShapeError or DTypeError for operands that do not fit."""
    name = "scaled_dot_product_attention"
    for x in (q, k, v):
        require_floating(x, name)
    require_same_device(name, q, k, v)
    if q.dtype is not k.dtype or q.dtype is not v.dtype:
        raise DTypeError(f"{name}: expected one dtype, found {q.dtype.name}, {k.dtype.name} and {v.dtype.name}")
    fits = len(q.shape) == len(k.shape) == len(v.shape) >= 2 and q.shape[-1] == k.shape[-1]
    if not fits or k.shape[:-1] != v.shape[:-1]:
        raise ShapeError(
            f"{name}: expected query (..., T, D), key (..., S, D) and value (..., S, E), "
            f"found {q.shape}, {k.shape} and {v.shape}"
        )


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Give softmax(scale q k^T + mask) v; scale is 1/sqrt(D) by default.

    Shapes: query (B, H, T, D), key (B, G, S, D), value (B, G, S, E) -> (B, H, T, E), other leading dimensions too.
    Where G divides H, each key head serves H / G adjacent query heads. `attn_mask` broadcasts to (B, H, T, S): bools
    say what is seen, floats are added. `is_causal` aligns bottom-right: the last query sees the last key. A query
    that sees no key gives 0, with gradient 0.

    Raises: ShapeError, DTypeError, DeviceMismatch; ValueError for a mask together with `is_causal`.
    """
    _check(query, key, value)
    if is_causal and attn_mask is not None:
        raise ValueError("scaled_dot_product_attention: expected attn_mask or is_causal, found both")
    factor = 1.0 / sqrt(query.shape[-1]) if scale is None else scale
    if len(query.shape) > 2 and query.shape[-3] != key.shape[-3]:
        heads, groups = query.shape[-3], key.shape[-3]
        if groups == 0 or heads % groups:
            raise ShapeError(
                "scaled_dot_product_attention: expected key heads that divide the query heads, "
                f"found {groups} and {heads}"
            )
        key = repeat_interleave(key, heads // groups, -3)
        value = repeat_interleave(value, heads // groups, -3)
    lead = broadcast_shapes(query.shape[:-2], key.shape[:-2])
    query, key, value = (expand(x, lead + x.shape[-2:]) for x in (query, key, value))
    if is_causal and not dropout_p:
        result: Tensor = CausalAttention.apply(query, key, value, factor)
        return result
    scores = matmul(query, transpose(key, -2, -1))  # (..., T, S)
    if is_causal:
        probabilities = causal_softmax(scores, factor)
    else:
        probabilities = _masked_softmax(scores * factor, attn_mask)
    return matmul(dropout(probabilities, dropout_p) if dropout_p else probabilities, value)


def _masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Give the softmax over the keys that a mask shows; rows that see none are 0 and get no gradient.

    Such rows are replaced before the softmax, not after: a NaN would come back through its backward.
    """
    if mask is None:
        return softmax(scores, -1)
    if mask.dtype.is_bool:
        shown = any_of(mask, -1, keepdim=True)  # (..., T, 1)
        scores = where(mask, scores, float("-inf"))
    else:
        with no_grad():
            shown = (
                gt(amax(mask, -1, keepdim=True), float("-inf")) if mask.shape[-1] else any_of(mask, -1, keepdim=True)
            )
        scores = scores + mask.to(scores.dtype)
    return where(shown, softmax(where(shown, scores, 0), -1), 0)
