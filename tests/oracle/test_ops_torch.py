"""Every operation, forward and backward, against PyTorch: values, in float64, float32 and bfloat16, on each device."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import infinitrain as it  # noqa: E402
from infinitrain.nn import functional as F  # noqa: E402

OURS = SimpleNamespace(
    **{name: getattr(F, name) for name in F.__all__}
    | {name: getattr(it, name) for name in dir(it) if not name.startswith("_")}
)
THEIRS = SimpleNamespace(
    **{name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}
    | {
        name: getattr(torch.nn.functional, name)
        for name in (
            *("relu", "gelu", "softmax", "log_softmax", "cross_entropy", "layer_norm", "linear", "embedding"),
            *("mse_loss", "nll_loss", "silu", "leaky_relu", "softplus", "rms_norm"),
            *("l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "logsigmoid"),
            *("binary_cross_entropy", "binary_cross_entropy_with_logits"),
        )
    }
)


def plain_attention(*args, **kwargs):
    """PyTorch's own composition: its fused kernel has no second derivative."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(*args, **kwargs)


THEIRS.scaled_dot_product_attention = plain_attention
THEIRS.embedding = lambda index, weight, padding_idx=None: torch.nn.functional.embedding(index, weight, padding_idx)

#: (rtol, atol) by dtype; both sides round differently, bfloat16 to 8 bits.
TOLERANCE = {"float64": (1e-9, 1e-11), "float32": (3e-5, 3e-5), "bfloat16": (4e-2, 4e-2)}


@pytest.fixture(params=["cpu", "fake:1"], scope="session")
def device(request):
    return request.param


def n(*shape):
    """Normal numbers."""
    return ("normal", shape)


def p(*shape):
    """Positive numbers."""
    return ("positive", shape)


def i(high, *shape):
    """Whole numbers below `high`."""
    return (high, shape)


def u(*shape):
    """Numbers within (-1, 1)."""
    return ("unit", shape)


def c(*shape):
    """Positive numbers that get no gradient."""
    return ("constant", shape)


def m(*shape):
    """A mask."""
    return ("mask", shape)


def make(kind, shape, rng):
    if kind == "normal":
        return rng.standard_normal(shape)
    if kind in ("positive", "constant"):
        return rng.uniform(0.3, 2.0, shape)
    if kind == "unit":
        return rng.uniform(-0.9, 0.9, shape)
    if kind == "mask":
        return rng.random(shape) < 0.5
    return rng.integers(0, kind, shape)


CASES = {
    # ---- elementwise ----
    "neg": (lambda lib, x: -x, n(3, 4)),
    "abs": (lambda lib, x: lib.abs(x), n(3, 4)),
    "reciprocal": (lambda lib, x: lib.reciprocal(x), p(3, 4)),
    "sqrt": (lambda lib, x: lib.sqrt(x), p(3, 4)),
    "rsqrt": (lambda lib, x: lib.rsqrt(x), p(3, 4)),
    "exp": (lambda lib, x: lib.exp(x), n(3, 4)),
    "log": (lambda lib, x: lib.log(x), p(3, 4)),
    "sin": (lambda lib, x: lib.sin(x), n(3, 4)),
    "cos": (lambda lib, x: lib.cos(x), n(3, 4)),
    "tanh": (lambda lib, x: lib.tanh(x), n(3, 4)),
    "sigmoid": (lambda lib, x: lib.sigmoid(x), n(3, 4)),
    "relu": (lambda lib, x: lib.relu(x), n(3, 4)),
    "gelu": (lambda lib, x: lib.gelu(x), n(3, 4)),
    "gelu_tanh": (lambda lib, x: lib.gelu(x, approximate="tanh"), n(3, 4)),
    "square": (lambda lib, x: lib.square(x), n(3, 4)),
    "clamp": (lambda lib, x: lib.clamp(x, -0.5, 0.7), n(3, 4)),
    "clamp_min": (lambda lib, x: x.clamp(min=0.1), n(3, 4)),
    "clamp_max": (lambda lib, x: x.clamp(max=0.1), n(3, 4)),
    "clamp_crossed": (lambda lib, x: x.clamp(0.5, -0.2), n(3, 4)),
    "clamp_tensors": (lambda lib, x, y, z: lib.clamp(x, y, z), n(3, 4), n(4), n(3, 1)),
    "clamp_tensor_min": (lambda lib, x, y: lib.clip(x, y), n(3, 4), n(4)),
    "clamp_tensor_max": (lambda lib, x, y: lib.clamp(x, max=y), n(3, 1), n(1, 4)),
    "silu": (lambda lib, x: lib.silu(x), n(3, 4)),
    "leaky_relu": (lambda lib, x: lib.leaky_relu(x) + lib.leaky_relu(x, 0.3), n(3, 4)),
    "softplus": (lambda lib, x: lib.softplus(x) + lib.softplus(x, 3.0, 0.7), n(3, 4)),
    "tan": (lambda lib, x: lib.tan(x), u(3, 4)),
    "asin": (lambda lib, x: lib.asin(x), u(3, 4)),
    "acos": (lambda lib, x: lib.acos(x), u(3, 4)),
    "atan": (lambda lib, x: lib.atan(x), n(3, 4)),
    "sinh": (lambda lib, x: lib.sinh(x), n(3, 4)),
    "cosh": (lambda lib, x: lib.cosh(x), n(3, 4)),
    "asinh": (lambda lib, x: lib.asinh(x), n(3, 4)),
    "acosh": (lambda lib, x: lib.acosh(x + 1), p(3, 4)),
    "atanh": (lambda lib, x: lib.atanh(x), u(3, 4)),
    "expm1": (lambda lib, x: lib.expm1(x), n(3, 4)),
    "log1p": (lambda lib, x: lib.log1p(x), u(3, 4)),
    "log2": (lambda lib, x: lib.log2(x), p(3, 4)),
    "log10": (lambda lib, x: lib.log10(x), p(3, 4)),
    "erf": (lambda lib, x: lib.erf(x), n(3, 4)),
    "atan2": (lambda lib, x, y: lib.atan2(x, y), n(3, 1), n(1, 4)),
    "hypot": (lambda lib, x, y: lib.hypot(x, y), n(3, 1), n(1, 4)),
    "logaddexp": (lambda lib, x, y: lib.logaddexp(x, y), n(3, 1), n(1, 4)),
    "copysign": (lambda lib, x, y: lib.copysign(x, y), n(3, 1), n(1, 4)),
    "fmod": (lambda lib, x, y: lib.fmod(x, y), n(3, 4), p(4)),
    "sign": (lambda lib, x: lib.sign(x) * x, n(3, 4)),
    "floor": (lambda lib, x: lib.floor(x * 3) + x, n(3, 4)),
    "ceil": (lambda lib, x: lib.ceil(x * 3) + x, n(3, 4)),
    "trunc": (lambda lib, x: lib.trunc(x * 3) + x, n(3, 4)),
    "round": (lambda lib, x: lib.round(x * 3) + x, n(3, 4)),
    "add": (lambda lib, x, y: x + y, n(3, 4), n(3, 4)),
    "add_broadcast_both": (lambda lib, x, y: x + y, n(3, 1), n(1, 4)),
    "add_broadcast_rank": (lambda lib, x, y: x + y, n(4), n(2, 3, 4)),
    "add_0d": (lambda lib, x, y: x + y, n(), n(5)),
    "add_alpha": (lambda lib, x, y: lib.add(x, y, alpha=2), n(3), n(3)),
    "sub": (lambda lib, x, y: x - y, n(3, 1), n(2, 1, 4)),
    "mul": (lambda lib, x, y: x * y, n(3, 1), n(1, 4)),
    "mul_self": (lambda lib, x: x * x * x, n(3)),
    "div": (lambda lib, x, y: x / y, n(3, 1), p(1, 4)),
    "remainder": (lambda lib, x, y: x % y, n(3, 4), p(4)),
    "pow": (lambda lib, x, y: x**y, p(3, 1), n(1, 4)),
    "pow_scalar": (lambda lib, x: x**3 + x**0.5 + x**-1 + x**2.5 + x**0 + x**1 + x**2, p(3, 4)),
    "rpow": (lambda lib, x: 2.0**x, n(3, 4)),
    "scalars": (lambda lib, x: (2 - x) * 3 + 1.5 / x - x / 4, p(3, 4)),
    "maximum": (lambda lib, x, y: lib.maximum(x, y), n(3, 1), n(1, 4)),
    "maximum_ties": (lambda lib, x: lib.maximum(x, x * 1), n(3)),
    "minimum": (lambda lib, x, y: lib.minimum(x, y), n(3, 1), n(1, 4)),
    "where": (lambda lib, c, x, y: lib.where(c, x, y), m(3, 4), n(3, 1), n(4)),
    "where_scalar_first": (lambda lib, c, x: lib.where(c, 0.5, x), m(2, 3, 4), n(3, 1)),
    "masked_fill_broadcast": (lambda lib, c, x: x.masked_fill(c, -2.0), m(4), n(3, 4)),
    "where_scalar": (lambda lib, c, x: lib.where(c, x, 0.5), m(3, 4), n(3, 4)),
    "masked_fill": (lambda lib, c, x: x.masked_fill(c, 7.0), m(3, 4), n(3, 4)),
    "comparison_in_graph": (lambda lib, x: x * (x < 0), n(3, 4)),
    "tril": (lambda lib, x: lib.tril(x, 1), n(2, 4, 3)),
    "triu": (lambda lib, x: lib.triu(x, -1), n(2, 4, 3)),
    "transposed_operand": (lambda lib, x, y: lib.exp(x.t()) + y, n(3, 4), n(4, 3)),
    # ---- reductions ----
    "sum": (lambda lib, x: x.sum(), n(3, 4)),
    "sum_dim": (lambda lib, x: x.sum(1), n(3, 4, 2)),
    "sum_dims": (lambda lib, x: x.sum((0, 2), keepdim=True), n(3, 4, 2)),
    "sum_expanded": (lambda lib, x: x.expand(5, 3).sum(0), n(3)),
    "mean": (lambda lib, x: x.mean(), n(3, 4)),
    "mean_dim": (lambda lib, x: x.mean(-1, keepdim=True), n(3, 4)),
    "var": (lambda lib, x: x.var(), n(3, 4)),
    "var_dim": (lambda lib, x: x.var(1, correction=0), n(3, 4)),
    "std": (lambda lib, x: x.std(0), n(5, 4)),
    "norm": (lambda lib, x: x.norm(), n(3, 4)),
    "norm_dim": (lambda lib, x: x.norm(dim=1), n(3, 4)),
    "norm_1": (lambda lib, x: x.norm(p=1), n(3, 4)),
    "norm_0": (lambda lib, x: x.norm(p=0, dim=1) + x.sum(1), n(3, 4)),
    "norm_3": (lambda lib, x: x.norm(p=3, dim=1), n(3, 4)),
    "norm_half": (lambda lib, x: x.norm(p=0.5, dim=0, keepdim=True), n(3, 4)),
    "norm_inf": (lambda lib, x: x.norm(p=math.inf, dim=0), n(3, 4)),
    "norm_minus_inf": (lambda lib, x: x.norm(p=-math.inf), n(3, 4)),
    "prod": (lambda lib, x: lib.prod(x), n(3, 4)),
    "prod_dim": (lambda lib, x: x.prod(1, keepdim=True), n(3, 4, 2)),
    "cumsum": (lambda lib, x: lib.cumsum(x, 1), n(3, 4, 2)),
    "cumsum_last": (lambda lib, x: x.cumsum(-1), n(3, 9)),
    "cumprod": (lambda lib, x: lib.cumprod(x, 1), n(3, 4, 2)),
    "sort": (lambda lib, x: lib.sort(x, 1)[0], n(3, 4, 2)),
    "sort_descending": (lambda lib, x: x.sort(descending=True)[0], n(3, 9)),
    "topk": (lambda lib, x: lib.topk(x, 3, 1)[0], n(3, 4, 2)),
    "topk_smallest": (lambda lib, x: x.topk(2, largest=False)[0], n(3, 9)),
    "topk_index": (lambda lib, x: x.gather(0, x.topk(2, 0)[1]), n(7, 3)),
    "amax": (lambda lib, x: x.amax(1), n(3, 4)),
    "amax_ties": (lambda lib, x: lib.relu(x - 9).amax(1), n(3, 4)),
    "amin": (lambda lib, x: x.amin((0, 1)), n(3, 4)),
    "max_dim": (lambda lib, x: x.max(1)[0], n(3, 4)),
    "min_dim": (lambda lib, x: x.min(0, keepdim=True)[0], n(3, 4)),
    "logsumexp": (lambda lib, x: x.logsumexp(1), n(3, 4)),
    "softmax": (lambda lib, x: lib.softmax(x, -1), n(3, 4)),
    "softmax_middle": (lambda lib, x: lib.softmax(x, 1), n(3, 4, 2)),
    "log_softmax": (lambda lib, x: lib.log_softmax(x, 1), n(3, 4)),
    "log_softmax_0": (lambda lib, x: lib.log_softmax(x, 0), n(3, 4)),
    # ---- products ----
    "matmul": (lambda lib, x, y: x @ y, n(3, 4), n(4, 5)),
    "matmul_1d": (lambda lib, x, y: x @ y, n(4), n(4)),
    "matmul_1d_2d": (lambda lib, x, y: x @ y, n(4), n(4, 5)),
    "matmul_2d_1d": (lambda lib, x, y: x @ y, n(3, 4), n(4)),
    "matmul_batched": (lambda lib, x, y: x @ y, n(2, 3, 4), n(2, 4, 5)),
    "matmul_fold": (lambda lib, x, y: x @ y, n(2, 3, 4), n(4, 5)),
    "matmul_broadcast": (lambda lib, x, y: x @ y, n(2, 1, 3, 4), n(3, 4, 5)),
    "matmul_left_2d": (lambda lib, x, y: x @ y, n(3, 4), n(2, 4, 5)),
    "matmul_transposed": (lambda lib, x, y: x.transpose(0, 1) @ y.mT, n(4, 3), n(5, 4)),
    "matmul_strided": (lambda lib, x, y: x[:, ::2] @ y, n(3, 8), n(4, 5)),
    "linear": (lambda lib, x, w, b: lib.linear(x, w, b), n(2, 3, 4), n(5, 4), n(5)),
    "linear_no_bias": (lambda lib, x, w: lib.linear(x, w), n(3, 4), n(5, 4)),
    "linear_1d": (lambda lib, x, w, b: lib.linear(x, w, b), n(4), n(5, 4), n(5)),
    "linear_twice": (lambda lib, x, w, b: lib.linear(lib.linear(x, w, b), w, b), n(3, 4), n(4, 4), n(4)),
    # ---- norms, losses, attention ----
    "layer_norm": (lambda lib, x, w, b: lib.layer_norm(x, (4,), w, b), n(2, 3, 4), n(4), n(4)),
    "rms_norm": (lambda lib, x, w: lib.rms_norm(x, (4,), w, 1e-5), n(2, 3, 4), n(4)),
    "rms_norm_2": (lambda lib, x: lib.rms_norm(x, (3, 4)), n(2, 3, 4)),
    "layer_norm_2": (lambda lib, x: lib.layer_norm(x, (3, 4)), n(2, 3, 4)),
    "layer_norm_twice": (
        lambda lib, x, w, b: lib.layer_norm(lib.layer_norm(x, (4,), w, b), (4,), w, b),
        n(3, 4),
        n(4),
        n(4),
    ),
    "cross_entropy": (lambda lib, x, t: lib.cross_entropy(x, t), n(5, 4), i(4, 5)),
    "cross_entropy_sum": (lambda lib, x, t: lib.cross_entropy(x, t, reduction="sum"), n(5, 4), i(4, 5)),
    "cross_entropy_none": (lambda lib, x, t: lib.cross_entropy(x, t, reduction="none"), n(5, 4), i(4, 5)),
    "cross_entropy_ignore": (lambda lib, x, t: lib.cross_entropy(x, t, ignore_index=2), n(9, 4), i(4, 9)),
    "cross_entropy_1d": (lambda lib, x, t: lib.cross_entropy(x, t), n(4), i(4)),
    "cross_entropy_3d": (lambda lib, x, t: lib.cross_entropy(x, t), n(2, 4, 3), i(4, 2, 3)),
    "cross_entropy_smooth": (
        lambda lib, x, t: lib.cross_entropy(x, t, ignore_index=1, label_smoothing=0.1),
        n(9, 4),
        i(4, 9),
    ),
    "nll_loss": (lambda lib, x, t: lib.nll_loss(lib.log_softmax(x, 1), t, ignore_index=1), n(9, 4), i(4, 9)),
    "nll_loss_weight": (
        lambda lib, x, w, t: lib.nll_loss(lib.log_softmax(x, 1), t, w, ignore_index=1),
        n(3, 4, 2),
        c(4),
        i(4, 3, 2),
    ),
    "cross_entropy_weight": (lambda lib, x, w, t: lib.cross_entropy(x, t, w), n(5, 4), c(4), i(4, 5)),
    "cross_entropy_weight_smooth": (
        lambda lib, x, w, t: lib.cross_entropy(x, t, w, ignore_index=1, label_smoothing=0.2),
        n(9, 4),
        c(4),
        i(4, 9),
    ),
    "cross_entropy_weight_none": (
        lambda lib, x, w, t: lib.cross_entropy(x, t, w, reduction="none", label_smoothing=0.2),
        n(3, 4, 2),
        c(4),
        i(4, 3, 2),
    ),
    "cross_entropy_probabilities": (
        lambda lib, x, t: lib.cross_entropy(x, lib.softmax(t, 1), label_smoothing=0.1),
        n(3, 4, 2),
        n(3, 4, 2),
    ),
    "cross_entropy_probabilities_weight": (
        lambda lib, x, t, w: lib.cross_entropy(x, t, w, reduction="none"),
        n(3, 4),
        p(3, 4),
        c(4),
    ),
    "l1_loss": (lambda lib, x, y: lib.l1_loss(x, y), n(3, 4), n(3, 4)),
    "smooth_l1_loss": (lambda lib, x, y: lib.smooth_l1_loss(x, y, beta=0.7), n(3, 4), n(3, 4)),
    "smooth_l1_loss_0": (lambda lib, x, y: lib.smooth_l1_loss(x, y, reduction="sum", beta=0.0), n(3, 4), n(3, 4)),
    "huber_loss": (lambda lib, x, y: lib.huber_loss(x, y, reduction="none", delta=0.7), n(3, 4), n(3, 4)),
    "logsigmoid": (lambda lib, x: lib.logsigmoid(x * 20), n(30)),
    "bce": (lambda lib, x, t: lib.binary_cross_entropy(lib.sigmoid(x), lib.sigmoid(t)), n(3, 4), n(3, 4)),
    "bce_weight": (
        lambda lib, x, w: lib.binary_cross_entropy(lib.sigmoid(x), lib.sigmoid(w).detach(), w, reduction="sum"),
        n(3, 4),
        c(3, 4),
    ),
    "bce_logits": (
        lambda lib, x, t: lib.binary_cross_entropy_with_logits(x * 8, lib.sigmoid(t)),
        n(3, 4),
        n(3, 4),
    ),
    "bce_logits_weights": (
        lambda lib, x, t, w, v: lib.binary_cross_entropy_with_logits(
            x, lib.sigmoid(t), w, pos_weight=v, reduction="none"
        ),
        n(3, 4),
        c(3, 4),
        c(3, 1),
        c(4),
    ),
    "kl_div": (
        lambda lib, x, t: lib.kl_div(lib.log_softmax(x, 1), lib.softmax(t, 1), reduction="none"),
        n(3, 4),
        n(3, 4),
    ),
    "kl_div_batch": (
        lambda lib, x, t: lib.kl_div(lib.log_softmax(x, 1), lib.softmax(t, 1), reduction="batchmean"),
        n(3, 4),
        n(3, 4),
    ),
    "kl_div_log": (
        lambda lib, x, t: lib.kl_div(x, lib.log_softmax(t, 1), reduction="sum", log_target=True),
        n(3, 4),
        n(3, 4),
    ),
    "mse_loss": (lambda lib, x, y: lib.mse_loss(x, y), n(3, 4), n(3, 4)),
    "attention": (
        lambda lib, q, k, v: lib.scaled_dot_product_attention(q, k, v),
        n(2, 3, 4, 5),
        n(2, 3, 6, 5),
        n(2, 3, 6, 7),
    ),
    "attention_causal": (
        lambda lib, q, k, v: lib.scaled_dot_product_attention(q, k, v, is_causal=True),
        n(2, 3, 4, 5),
        n(2, 3, 4, 5),
        n(2, 3, 4, 5),
    ),
    "attention_mask": (
        lambda lib, c, q, k, v: lib.scaled_dot_product_attention(q, k, v, attn_mask=c),
        m(4, 6),
        n(2, 3, 4, 5),
        n(2, 3, 6, 5),
        n(2, 3, 6, 5),
    ),
    "attention_bias": (
        lambda lib, b, q, k, v: lib.scaled_dot_product_attention(q, k, v, attn_mask=b, scale=0.3),
        n(4, 6),
        n(2, 3, 4, 5),
        n(2, 3, 6, 5),
        n(2, 3, 6, 5),
    ),
    "attention_views": (
        lambda lib, x: lib.scaled_dot_product_attention(
            *[part.view(2, 4, 2, 3).transpose(1, 2) for part in x.split(6, dim=2)], is_causal=True
        ),
        n(2, 4, 18),
    ),
    # ---- index ----
    "embedding": (lambda lib, t, w: lib.embedding(t, w), i(7, 2, 5), n(7, 3)),
    "embedding_padding": (lambda lib, t, w: lib.embedding(t, w, padding_idx=-1), i(7, 2, 9), n(7, 3)),
    "tied": (lambda lib, t, w: lib.linear(lib.embedding(t, w), w), i(7, 5), n(7, 3)),
    "gather": (lambda lib, t, x: x.gather(1, t), i(4, 3, 6), n(3, 4)),
    "gather_smaller": (lambda lib, t, x: x.gather(0, t), i(3, 2, 2), n(3, 4)),
    "scatter_add": (lambda lib, t, x, y: x.scatter_add(1, t, y), i(4, 3, 6), n(3, 4), n(3, 6)),
    "index_select": (lambda lib, t, x: x.index_select(1, t), i(4, 6), n(3, 4, 2)),
    "index_int": (lambda lib, x: x[1], n(3, 4)),
    "index_negative": (lambda lib, x: x[-1, ..., -2], n(3, 4, 2)),
    "index_slices": (lambda lib, x: x[1:, None, ::2, -1:], n(3, 4, 2)),
    "index_tensor": (lambda lib, t, x: x[t], i(3, 2, 4), n(3, 4)),
    "index_tensor_middle": (lambda lib, t, x: x[:, t], i(4, 2, 3), n(3, 4, 2)),
    "index_two_tensors": (lambda lib, t, u, x: x[t, u], i(3, 5), i(4, 5), n(3, 4, 2)),
    "index_apart": (lambda lib, t, u, x: x[t, :, u], i(3, 5), i(2, 5), n(3, 4, 2)),
    "index_int_tensor": (lambda lib, t, x: x[:, 1, t], i(2, 5), n(3, 4, 2)),
    "index_slice_tensor": (lambda lib, t, x: x[1:, t, :1], i(4, 5), n(3, 4, 2)),
    "index_mask": (lambda lib, c, x: x[c], m(3, 4), n(3, 4)),
    "index_mask_rows": (lambda lib, c, x: x[c], m(3), n(3, 4)),
    "index_mask_last": (lambda lib, c, x: x[..., c], m(4), n(3, 4)),
    "masked_select": (lambda lib, c, x: lib.masked_select(x, c), m(4), n(3, 4)),
    "index_add": (lambda lib, t, x, y: x.index_add(1, t, y, alpha=0.5), i(4, 6), n(3, 4, 2), n(3, 6, 2)),
    "take_along_dim": (lambda lib, t, x: lib.take_along_dim(x, t, 1), i(4, 1, 6), n(3, 4)),
    "take_along_flat": (lambda lib, t, x: lib.take_along_dim(x, t), i(12, 5), n(3, 4)),
    "roll": (lambda lib, x: lib.roll(x, (2, -1), (1, 0)), n(3, 5)),
    "roll_flat": (lambda lib, x: lib.roll(x, 7), n(3, 5)),
    "repeat": (lambda lib, x: x.repeat(2, 1, 3), n(3, 2)),
    "tile": (lambda lib, x: lib.tile(x, (2,)), n(3, 2)),
    "diagonal": (lambda lib, x: lib.diagonal(x, 1, 2, 0), n(3, 4, 5)),
    "diagonal_below": (lambda lib, x: x.diagonal(-2), n(5, 4)),
    "flip": (lambda lib, x: x.flip((0, 1)), n(3, 4)),
    # ---- shape ----
    "reshape": (lambda lib, x: x.reshape(2, -1) * 2, n(3, 4)),
    "reshape_copy": (lambda lib, x: x.transpose(0, 1).reshape(12), n(3, 4)),
    "view": (lambda lib, x: x.view(4, 3), n(3, 4)),
    "permute": (lambda lib, x: x.permute(2, 0, 1), n(3, 4, 2)),
    "movedim": (lambda lib, x: x.movedim(0, 2), n(3, 4, 2)),
    "expand": (lambda lib, x: x.expand(2, 3, 4), n(3, 1)),
    "squeeze": (lambda lib, x: x.squeeze() * x.squeeze(1).unsqueeze(0), n(3, 1)),
    "flatten": (lambda lib, x: x.flatten(1), n(2, 3, 4)),
    "cat": (lambda lib, x, y: lib.cat([x, y, x], 1), n(3, 4), n(3, 2)),
    "stack": (lambda lib, x, y: lib.stack([x, y], 1), n(3, 4), n(3, 4)),
    "split": (lambda lib, x: lib.split(x, 2, 1)[1] * lib.split(x, [2, 2, 1], 1)[0], n(3, 5)),
    "chunk": (lambda lib, x: lib.chunk(x, 2, 1)[0], n(3, 5)),
    "unbind": (lambda lib, x: lib.unbind(x, 1)[2], n(3, 5)),
    "narrow": (lambda lib, x: x.narrow(1, 1, 3), n(3, 5)),
    "select": (lambda lib, x: x.select(1, 2), n(3, 5)),
    "repeat_interleave": (lambda lib, x: x.repeat_interleave(3, 1), n(3, 2)),
    "contiguous": (lambda lib, x: x.t().contiguous() * 2, n(3, 2)),
    "clone": (lambda lib, x: x.clone() * x, n(3, 2)),
}


def tensors(spec, device, dtype, seed):
    """Make the same operands for both; floating-point ones require grad."""
    rng = np.random.default_rng(seed)
    ours, theirs = [], []
    for kind, shape in spec:
        array = np.asarray(make(kind, shape, rng))
        whole = array.dtype.kind != "f"
        learns = not whole and kind != "constant"
        ours.append(it.tensor(array, dtype=None if whole else dtype, device=device, requires_grad=learns))
        reference = torch.tensor(array) if whole else torch.tensor(array).to(getattr(torch, dtype))
        theirs.append(reference.requires_grad_(learns))
    return ours, theirs


def compare(found, expected, dtype, what):
    rtol, atol = TOLERANCE[dtype]
    assert tuple(found.shape) == tuple(expected.shape), what
    assert found.dtype.name == str(expected.dtype).removeprefix("torch."), what
    np.testing.assert_allclose(
        found.detach().cpu().numpy().astype(np.float64),
        expected.detach().to(torch.float64 if expected.is_floating_point() else expected.dtype).numpy(force=True),
        rtol=rtol,
        atol=atol,
        err_msg=what,
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("name", CASES)
def test_forward_and_backward_equal_pytorch(name, dtype, device):
    function, *spec = CASES[name]
    ours, theirs = tensors(spec, device, dtype, seed=len(name))

    y, expected = function(OURS, *ours), function(THEIRS, *theirs)

    compare(y, expected, dtype, f"{name} forward")
    start = np.random.default_rng(1).standard_normal(expected.shape)
    y.backward(it.tensor(start, dtype=dtype, device=device))
    expected.backward(torch.tensor(start).to(expected.dtype))
    for position, (x, reference) in enumerate(zip(ours, theirs, strict=True)):
        if x.requires_grad:
            assert str(x.grad.device).startswith(device)
            compare(x.grad, reference.grad, dtype, f"{name} gradient of operand {position}")


TWICE = [
    name
    for name in CASES
    if name not in ("remainder", "fmod", "amax_ties", "maximum_ties", "cumprod") and not name.startswith(("var", "std"))
]


@pytest.mark.parametrize("name", TWICE)
def test_second_derivative_equals_pytorch(name):
    function, *spec = CASES[name]
    ours, theirs = tensors(spec, "cpu", "float64", seed=3)
    leaves = [x for x in ours if x.requires_grad]
    references = [x for x in theirs if x.requires_grad]
    start = np.random.default_rng(1).standard_normal(tuple(function(THEIRS, *theirs).shape))

    first = it.autograd.grad(function(OURS, *ours), leaves, it.tensor(start, dtype=it.float64), create_graph=True)
    expected_first = torch.autograd.grad(function(THEIRS, *theirs), references, torch.tensor(start), create_graph=True)
    total = sum(((g * g).sum() for g in first), it.zeros((), dtype=it.float64))
    expected_total = sum((g * g).sum() for g in expected_first)

    if not expected_total.requires_grad:
        return
    # Where a derivative is constant, theirs may record zeros and ours nothing: both mean 0.
    seconds = it.autograd.grad(total, leaves, allow_unused=True) if total.requires_grad else [None] * len(leaves)
    for x, second, expected in zip(
        leaves,
        seconds,
        torch.autograd.grad(expected_total, references, allow_unused=True),
        strict=True,
    ):
        wanted = torch.zeros(x.shape, dtype=torch.float64) if expected is None else expected
        got = it.zeros_like(x) if second is None else second
        compare(got, wanted, "float64", f"{name} second derivative")


@pytest.mark.parametrize("length", [1, 5, 1000])
def test_argmax_and_its_values_equal_pytorch(length, device):
    array = np.random.default_rng(0).integers(0, 4, (3, length)).astype(np.float32)

    values, indices = it.tensor(array, device=device).max(1)

    expected = torch.tensor(array).max(1)
    assert values.tolist() == expected.values.tolist()
    assert indices.tolist() == np.argmax(array, 1).tolist()
    assert it.tensor(array, device=device).argmin().item() == int(np.argmin(array))


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.0, 2.5, -3.0], np.float32),
        np.array([[1.0, 2.0], [3.0, 400.0]], np.float32),
        np.array([1e-6, 1.0, 1e6], np.float32),
        np.array([np.nan, np.inf, 1.0], np.float32),
        np.array([[True, False]]),
        np.array([1, -20, 300]),
        np.zeros((0,), np.float32),
        np.zeros((2, 0), np.float32),
        np.float32(1.5),
        np.arange(5000, dtype=np.float32).reshape(50, 100),
        np.array([1.5, 2.5], np.float64),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_repr_equals_pytorch(array):
    expected = repr(torch.tensor(array)).replace("torch.", "infinitrain.")

    # Only the number of blanks before an ellipsis differs.
    assert repr(it.tensor(array)).split() == expected.split()


def test_gpt_block_gradients_equal_pytorch(device):
    """The operations of a transformer block together, with a tied head."""
    rng = np.random.default_rng(0)
    shapes = {
        "wte": (11, 8),
        "ln": (8,),
        "lnb": (8,),
        "qkv": (24, 8),
        "qkvb": (24,),
        "out": (8, 8),
        "up": (32, 8),
        "down": (8, 32),
    }
    arrays = {name: (rng.standard_normal(shape) / math.sqrt(8)).astype(np.float32) for name, shape in shapes.items()}
    ids = rng.integers(0, 11, (2, 6))

    def loss(lib, w, tokens):
        x = lib.embedding(tokens, w["wte"])
        h = lib.linear(lib.layer_norm(x, (8,), w["ln"], w["lnb"]), w["qkv"], w["qkvb"])
        q, k, v = (part.view(2, 6, 2, 4).transpose(1, 2) for part in h.split(8, 2))
        y = lib.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).contiguous().view(2, 6, 8)
        x = x + lib.linear(y, w["out"])
        x = x + lib.linear(
            lib.gelu(lib.linear(lib.layer_norm(x, (8,), w["ln"], w["lnb"]), w["up"]), approximate="tanh"), w["down"]
        )
        logits = lib.linear(x, w["wte"])
        return lib.cross_entropy(logits[:, :-1].reshape(-1, 11), tokens[:, 1:].reshape(-1))

    ours = {name: it.tensor(array, device=device, requires_grad=True) for name, array in arrays.items()}
    theirs = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}
    found, expected = loss(OURS, ours, it.tensor(ids, device=device)), loss(THEIRS, theirs, torch.tensor(ids))
    found.backward()
    expected.backward()

    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    for name in shapes:
        compare(ours[name].grad, theirs[name].grad, "float32", name)
