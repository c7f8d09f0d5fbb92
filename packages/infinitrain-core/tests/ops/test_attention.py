"""Softmax and attention: masks, alignment, grouped heads, rows that see nothing."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import DTypeError, ShapeError


def values(x):
    return x.detach().cpu().numpy()


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def qkv(device, heads=2, groups=2, queries=3, keys=3, size=4, seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(2, heads, queries, size), (2, groups, keys, size), (2, groups, keys, size)]
    return [it.tensor(rng.standard_normal(s), dtype=it.float64, device=device, requires_grad=True) for s in shapes]


@pytest.mark.parametrize(("queries", "keys"), [(3, 3), (2, 5), (5, 2), (1, 4)])
def test_causal_mask_aligns_bottom_right(queries, keys, device):
    """BC-121."""
    q, k, v = qkv(device, queries=queries, keys=keys)
    scores = values(q) @ values(k).swapaxes(-1, -2) / 2
    seen = np.arange(keys) <= np.arange(queries)[:, None] + keys - queries
    weights = np.where(seen, np.exp(scores), 0)
    total = weights.sum(-1, keepdims=True)
    expected = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0) @ values(v)

    y = it.scaled_dot_product_attention(q, k, v, is_causal=True)

    np.testing.assert_allclose(values(y), expected, rtol=1e-10, atol=1e-12)


def test_causal_equals_its_mask(device):
    q, k, v = qkv(device)
    mask = it.tril(it.ones(3, 3, device=device)).to(it.bool)

    first = it.scaled_dot_product_attention(q, k, v, is_causal=True)
    first.sum().backward()
    gradients = [values(x.grad).copy() for x in (q, k, v)]
    for x in (q, k, v):
        x.grad = None
    second = it.scaled_dot_product_attention(q, k, v, mask)
    second.sum().backward()

    np.testing.assert_allclose(values(first), values(second), rtol=1e-12)
    for x, gradient in zip((q, k, v), gradients, strict=True):
        np.testing.assert_allclose(values(x.grad), gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_query_that_sees_nothing_gives_zero_and_no_gradient(kind, device):
    """BC-086."""
    q, k, v = qkv(device)
    seen = np.ones((3, 3), bool)
    seen[1] = False
    mask = seen if kind == "bool" else np.where(seen, 0.0, -np.inf)

    y = it.scaled_dot_product_attention(q, k, v, it.tensor(mask, device=device))
    y.sum().backward()

    assert not values(y)[:, :, 1].any()
    assert not values(q.grad)[:, :, 1].any()
    for x in (y, q.grad, k.grad, v.grad):
        assert np.isfinite(values(x)).all()
    expected = softmax(values(q) @ values(k).swapaxes(-1, -2) / 2) @ values(v)
    np.testing.assert_allclose(values(y)[:, :, ::2], expected[:, :, ::2], rtol=1e-10)


def test_softmax_of_a_masked_row_is_nan_in_that_row_only(device):
    """BC-086."""
    low = -float("inf")
    x = it.tensor([[low, low, low], [1.0, 2.0, 3.0]], device=device, requires_grad=True)

    y = x.softmax(-1)
    y.sum().backward()

    assert np.isnan(values(y)[0]).all()
    np.testing.assert_allclose(values(y)[1], softmax(np.array([1.0, 2.0, 3.0])), rtol=1e-6)
    assert np.isfinite(values(x.grad)[1]).all()


@pytest.mark.parametrize("groups", [1, 2, 4, 8])
def test_each_key_head_serves_adjacent_query_heads(groups, device):
    """BC-120."""
    q, k, v = qkv(device, heads=8, groups=groups)
    wide = [np.repeat(values(x), 8 // groups, axis=1) for x in (k, v)]

    y = it.scaled_dot_product_attention(q, k, v)

    np.testing.assert_allclose(values(y), softmax(values(q) @ wide[0].swapaxes(-1, -2) / 2) @ wide[1], rtol=1e-10)


def test_operands_that_do_not_fit_are_refused(device):
    q, k, v = qkv(device, heads=8, groups=3)
    with pytest.raises(ShapeError, match="3 and 8"):
        it.scaled_dot_product_attention(q, k, v)
    q, k, v = qkv(device)
    with pytest.raises(ValueError, match="both"):
        it.scaled_dot_product_attention(q, k, v, it.ones(3, 3, dtype=it.bool, device=device), is_causal=True)
    with pytest.raises(DTypeError, match="one dtype"):
        it.scaled_dot_product_attention(q, k.to(it.float32), v)
    with pytest.raises(ShapeError, match="query"):
        it.scaled_dot_product_attention(q, k[..., :2], v)


def test_dropout_in_attention_draws_from_the_generator(device):
    q, k, v = qkv(device)
    it.manual_seed(1)
    first = it.scaled_dot_product_attention(q, k, v, dropout_p=0.5, is_causal=True)
    it.manual_seed(1)
    second = it.scaled_dot_product_attention(q, k, v, dropout_p=0.5, is_causal=True)
    plain = it.scaled_dot_product_attention(q, k, v, is_causal=True)

    assert it.equal(first, second)
    assert not it.equal(first, plain)


def test_log_softmax_does_not_underflow(device):
    y = it.tensor([[0.0, -1000.0, 5.0]], device=device).log_softmax(-1)

    assert values(y)[0, 1] == pytest.approx(-1005.0067, rel=1e-6)
    assert it.tensor([1, 2], device=device).softmax(0, dtype=it.float32).dtype is it.float32
    with pytest.raises(DTypeError, match="softmax"):
        it.tensor([1, 2], device=device).softmax(0)
