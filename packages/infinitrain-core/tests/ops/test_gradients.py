"""Every operation's gradient against central differences in float64 (B5), on each device."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.testing import GradcheckError, gradcheck


def normal(*shape):
    return ("normal", shape)


def positive(*shape):
    return ("positive", shape)


def distinct(*shape):
    """Values far enough apart that no step of a difference changes their order."""
    return ("distinct", shape)


INDEX = [[2, 0, 1], [1, 1, 3]]

CASES = {
    "neg": (lambda x: -x, normal(3)),
    "abs": (lambda x: x.abs(), distinct(3, 4)),
    "reciprocal": (lambda x: x.reciprocal(), positive(3)),
    "sqrt": (lambda x: x.sqrt(), positive(3)),
    "rsqrt": (lambda x: x.rsqrt(), positive(3)),
    "exp": (lambda x: x.exp(), normal(3)),
    "log": (lambda x: x.log(), positive(3)),
    "sin": (lambda x: x.sin(), normal(3)),
    "cos": (lambda x: x.cos(), normal(3)),
    "tanh": (lambda x: x.tanh(), normal(3)),
    "sigmoid": (lambda x: x.sigmoid(), normal(3)),
    "relu": (lambda x: x.relu(), distinct(3, 4)),
    "gelu": (lambda x: x.gelu(), normal(3, 4)),
    "gelu_tanh": (lambda x: x.gelu("tanh"), normal(3, 4)),
    "clamp": (lambda x: x.clamp(-0.6, 0.6), distinct(3, 4)),
    "clamp_tensors": (lambda x, a: x.clamp(a - 1, a + 1), distinct(3, 4), distinct(4)),
    "silu": (lambda x: it.silu(x), normal(3, 4)),
    "leaky_relu": (lambda x: it.leaky_relu(x, 0.2), distinct(3, 4)),
    "softplus": (lambda x: it.softplus(x, 2.0), normal(3, 4)),
    "square": (lambda x: x.square(), normal(3, 4)),
    "tan": (lambda x: (x * 0.3).tan(), normal(3)),
    "asin": (lambda x: (x * 0.3).asin() - (x * 0.2).acos(), normal(3)),
    "atan": (lambda x: x.atan(), normal(3)),
    "sinh": (lambda x: x.sinh() * x.cosh(), normal(3)),
    "asinh": (lambda x: x.asinh(), normal(3)),
    "acosh": (lambda x: (x + 1).acosh(), positive(3)),
    "atanh": (lambda x: (x * 0.3).atanh(), normal(3)),
    "expm1": (lambda x: x.expm1(), normal(3)),
    "logarithms": (lambda x: x.log1p() + x.log2() * x.log10(), positive(3)),
    "erf": (lambda x: x.erf(), normal(3)),
    "atan2": (lambda x, y: it.atan2(x, y), normal(3, 1), positive(4)),
    "hypot": (lambda x, y: it.hypot(x, y), positive(3, 1), positive(4)),
    "logaddexp": (lambda x, y: it.logaddexp(x, y), normal(3, 1), normal(4)),
    "copysign": (lambda x, y: it.copysign(x, y.detach()), distinct(3, 4), distinct(4)),
    "fmod": (lambda x, y: it.fmod(x, y), distinct(3, 4), positive(1)),
    "roundings": (lambda x: x * (x.floor() + x.ceil() + x.trunc() + x.sign()), distinct(3, 4)),
    "add": (lambda x, y: x + y, normal(3, 1), normal(2, 1, 4)),
    "sub": (lambda x, y: x - y, normal(3, 1), normal(2, 1, 4)),
    "mul": (lambda x, y: x * y, normal(3, 1), normal(2, 1, 4)),
    "div": (lambda x, y: x / y, normal(3, 1), positive(2, 1, 4)),
    "remainder": (lambda x, y: x % y, distinct(3, 4), positive(1)),
    "pow": (lambda x, y: x**y, positive(3, 1), normal(4)),
    "pow_number": (lambda x: x**3 - x**0.5 + x**-2, positive(3)),
    "maximum": (lambda x, y: it.maximum(x, y), distinct(3, 4), positive(4)),
    "minimum": (lambda x, y: it.minimum(x, y), distinct(3, 4), positive(4)),
    "where": (lambda x, y: it.where(x.detach() > 0, x * 2, y), distinct(3, 4), normal(4)),
    "masked_fill": (lambda x: x.masked_fill(x.detach() > 0, 3.0), distinct(3, 4)),
    "tril": (lambda x: it.tril(x, -1), normal(2, 3, 4)),
    "triu": (lambda x: it.triu(x, 1), normal(2, 3, 4)),
    "cast": (lambda x: x.to(it.float64) * 2, normal(3)),
    "sum": (lambda x: x.sum((0, 2)), normal(2, 3, 4)),
    "mean": (lambda x: x.mean(1, keepdim=True), normal(2, 3)),
    "var": (lambda x: x.var(1), normal(2, 5)),
    "std": (lambda x: x.std(), normal(2, 5)),
    "norm": (lambda x: x.norm(), normal(2, 5)),
    "norm_dim": (lambda x: x.norm(dim=0), normal(2, 5)),
    "norm_1": (lambda x: x.norm(1), distinct(2, 5)),
    "norm_inf": (lambda x: x.norm(float("inf"), dim=1), distinct(2, 5)),
    "norm_3": (lambda x: x.norm(3, dim=1), distinct(2, 5)),
    "norm_half": (lambda x: x.norm(0.5, dim=0), distinct(2, 5)),
    "prod": (lambda x: x.prod(), positive(2, 3)),
    "prod_dims": (lambda x: x.prod((0, 2), keepdim=True), normal(2, 3, 2)),
    "prod_one_zero": (
        lambda x: (x * it.tensor([1.0, 0.0, 1.0], dtype=it.float64, device=x.device)).prod(1),
        normal(2, 3),
    ),
    "cumsum": (lambda x: x.cumsum(0), normal(3, 4)),
    "cumprod": (lambda x: x.cumprod(1), normal(3, 4)),
    "sort": (lambda x: x.sort(0, descending=True).values, distinct(3, 4)),
    "topk": (lambda x: x.topk(2, 0).values, distinct(3, 4)),
    "amax": (lambda x: x.amax(1), distinct(3, 4)),
    "amin": (lambda x: x.amin(), distinct(3, 4)),
    "max": (lambda x: x.max(0).values, distinct(3, 4)),
    "logsumexp": (lambda x: x.logsumexp((0, 1)), normal(3, 4)),
    "softmax": (lambda x: x.softmax(0), normal(3, 4)),
    "log_softmax": (lambda x: x.log_softmax(-1), normal(3, 4)),
    "matmul": (lambda a, b: a @ b, normal(2, 1, 3, 4), normal(5, 4, 2)),
    "matmul_vectors": (lambda a, b: a @ b, normal(4), normal(4)),
    "linear": (it.linear, normal(2, 3, 4), normal(5, 4), normal(5)),
    "layer_norm": (lambda x, w, b: it.layer_norm(x, (4,), w, b), normal(3, 4), normal(4), normal(4)),
    "layer_norm_weight_only": (lambda x, w: it.layer_norm(x, 4, w), normal(3, 4), normal(4)),
    "mse_loss": (it.mse_loss, normal(3), normal(3)),
    "attention": (it.scaled_dot_product_attention, normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 3)),
    "attention_causal": (
        lambda q, k, v: it.scaled_dot_product_attention(q, k, v, is_causal=True),
        normal(2, 3, 4),
        normal(2, 5, 4),
        normal(2, 5, 3),
    ),
    "attention_causal_blind_rows": (
        lambda q, k, v: it.scaled_dot_product_attention(q, k, v, is_causal=True),
        normal(4, 3),
        normal(2, 3),
        normal(2, 3),
    ),
    "attention_grouped": (it.scaled_dot_product_attention, normal(1, 4, 2, 3), normal(1, 2, 3, 3), normal(1, 2, 3, 3)),
    "cross_entropy": (
        lambda x: it.cross_entropy(x, it.tensor([0, 2, 1], device=x.device), ignore_index=1),
        normal(3, 4),
    ),
    "cross_entropy_smooth": (
        lambda x: it.cross_entropy(x, it.tensor([0, 2, 1], device=x.device), label_smoothing=0.2),
        normal(3, 4),
    ),
    "nll_loss": (lambda x: it.nll_loss(x, it.tensor([0, 2, 1], device=x.device), ignore_index=1), normal(3, 4)),
    "embedding": (lambda w: it.embedding(it.tensor(INDEX, device=w.device), w), normal(4, 2)),
    "gather": (lambda x: x.gather(1, it.tensor(INDEX, device=x.device)), normal(2, 4)),
    "scatter": (
        lambda x, v: x.scatter(1, it.tensor([[2, 0], [1, 3]], device=x.device), v),
        normal(2, 4),
        normal(2, 2),
    ),
    "scatter_add": (lambda x, v: x.scatter_add(1, it.tensor(INDEX, device=x.device), v), normal(2, 4), normal(2, 3)),
    "index_select": (lambda x: x.index_select(1, it.tensor([2, 0, 2], device=x.device)), normal(2, 3, 2)),
    "slice": (lambda x: x[1:, ::2, None], normal(3, 4)),
    "backwards": (lambda x: x[::-1, 1], normal(3, 4)),
    "index_tensor": (lambda x: x[:, it.tensor(INDEX, device=x.device)], normal(2, 4)),
    "index_mask": (lambda x: x[it.tensor([True, False, True], device=x.device)], normal(3, 4)),
    "reshape": (lambda x: x.t().reshape(-1), normal(3, 4)),
    "permute": (lambda x: x.permute(2, 0, 1) * 2, normal(2, 3, 4)),
    "expand": (lambda x: x.expand(2, 3, 4), normal(3, 1)),
    "squeeze": (lambda x: x.squeeze().unsqueeze(1), normal(3, 1)),
    "cat": (lambda x, y: it.cat([x, y, x], 1), normal(2, 3), normal(2, 1)),
    "stack": (lambda x, y: it.stack([x, y], -1), normal(2, 3), normal(2, 3)),
    "split": (lambda x: it.split(x, 2, 1)[::2], normal(2, 5)),
    "unbind": (lambda x: it.unbind(x, 1), normal(2, 3)),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 0), normal(2, 3)),
    "clone": (lambda x: x.clone() * x.contiguous(), normal(2, 3)),
    "to_device": (lambda x: x.to("fake:0") * 2, normal(3)),
}


def operands(spec, device):
    rng = np.random.default_rng(7)
    result = []
    for kind, shape in spec:
        if kind == "normal":
            array = rng.standard_normal(shape)
        elif kind == "positive":
            array = rng.uniform(0.5, 2.0, shape)
        else:
            size = int(np.prod(shape))
            array = (rng.permutation(size) - size / 2 + 0.3).reshape(shape) * 0.37
        result.append(it.tensor(array, dtype=it.float64, device=device, requires_grad=True))
    return result


@pytest.mark.parametrize("name", CASES)
def test_gradient_equals_differences(name, device):
    function, *spec = CASES[name]

    assert gradcheck(function, operands(spec, device))


def test_gradcheck_finds_a_wrong_gradient(device):
    class Wrong(it.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    with pytest.raises(GradcheckError, match=r"for input 0 at \(\d,\), found"):
        gradcheck(Wrong.apply, operands([normal(2)], device))
    with pytest.raises(TypeError, match="float64"):
        gradcheck(lambda x: x, [it.ones(1, device=device)])
