"""Cross-entropy, layer normalisation, embedding and dropout: the values that others get wrong."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import DTypeError, IndexOutOfRange, ShapeError


def values(x):
    return x.detach().cpu().numpy().astype(np.float64)


@pytest.mark.parametrize("dtype", [it.float32, it.bfloat16], ids=lambda d: d.name)
def test_cross_entropy_of_large_logits_is_finite(dtype, device):
    """BC-109."""
    x = it.tensor([[1000.0, 0.0], [1000.0, 0.0]], dtype=dtype, device=device, requires_grad=True)
    y = it.tensor([[-1e4, 0.0, 1e4]] * 3, dtype=dtype, device=device, requires_grad=True)

    first = it.cross_entropy(x, it.tensor([0, 1], device=device), reduction="none")
    second = it.cross_entropy(y, it.tensor([2, 1, 0], device=device), reduction="none")
    (first.sum() + second.sum()).backward()

    np.testing.assert_allclose(values(first), [0, 1000], rtol=4e-3)
    np.testing.assert_allclose(values(second), [0, 1e4, 2e4], rtol=4e-3)
    assert np.isfinite(values(x.grad)).all()
    assert np.isfinite(values(y.grad)).all()


@pytest.mark.parametrize(("reduction", "expected"), [("mean", 0), ("sum", 0), ("none", [0, 0])])
def test_bc046_all_targets_ignored(reduction, expected, device):
    """BC-046, with this project's answer for the mean: 0."""
    x = it.tensor([[1.0, 2.0], [3.0, 4.0]], device=device, requires_grad=True)
    target = it.full((2,), -100, device=device)

    for smoothing in (0.0, 0.1):
        loss = it.cross_entropy(x, target, reduction=reduction, label_smoothing=smoothing)
        assert loss.tolist() == expected
        loss.sum().backward()

    assert x.grad.tolist() == [[0, 0], [0, 0]]


def test_bc007_micro_batches_share_one_divisor(device):
    """16 valid targets at once, or 3 and 13: sums over the total count have the gradient of the whole."""
    rng = np.random.default_rng(7)
    logits, target = rng.normal(size=(32, 5)), rng.integers(0, 5, 32)
    target[[*range(3, 16)]] = -100  # 3 valid ones in the first half
    target[[*range(29, 32)]] = -100  # 13 in the second
    whole = it.tensor(logits, dtype=it.float32, device=device, requires_grad=True)
    parts = it.tensor(logits, dtype=it.float32, device=device, requires_grad=True)
    t = it.tensor(target, device=device)
    loss = it.cross_entropy(whole, t)
    loss.backward()
    total = (target >= 0).sum()
    shares = []
    for begin in (0, 16):
        part = it.cross_entropy(parts[begin : begin + 16], t[begin : begin + 16], reduction="sum") / int(total)
        part.backward()
        shares.append(part.item())

    assert total == 16
    assert sum(shares) == pytest.approx(loss.item(), rel=1e-6)
    np.testing.assert_allclose(values(parts.grad), values(whole.grad), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("target", [4, -1])
def test_target_out_of_range_is_an_index_error(target, device):
    with pytest.raises(IndexOutOfRange, match=str(target)):  # noqa: PT012 - at the next synchronisation
        it.cross_entropy(it.zeros(2, 4, device=device), it.tensor([0, target], device=device))
        it.synchronize(device)


def test_cross_entropy_refuses_what_does_not_fit(device):
    x = it.zeros(2, 4, device=device)
    with pytest.raises(ShapeError, match="targets"):
        it.cross_entropy(x, it.zeros(3, dtype=it.int64, device=device))
    with pytest.raises(DTypeError, match="class numbers"):
        it.cross_entropy(x, it.zeros(2, device=device))
    with pytest.raises(ValueError, match="reduction"):
        it.cross_entropy(x, it.zeros(2, dtype=it.int64, device=device), reduction="max")
    with pytest.raises(ValueError, match="label_smoothing"):
        it.cross_entropy(x, it.zeros(2, dtype=it.int64, device=device), label_smoothing=2)
    assert it.cross_entropy(x, it.zeros(2, dtype=it.int32, device=device)).item() == pytest.approx(np.log(4))


def test_bc071_layer_norm_keeps_its_digits_when_the_mean_is_large(device):
    """BC-071."""
    rng = np.random.default_rng(0)
    rows = [np.arange(40000, 40004), 1000 + np.arange(16) * 1e-3, 2000 + rng.standard_normal(4)]
    for row in rows:
        array = row.astype(np.float32)
        wide = array.astype(np.float64)
        expected = (wide - wide.mean()) / np.sqrt(wide.var() + 1e-5)
        x = it.tensor(array, device=device, requires_grad=True)
        y = it.layer_norm(x, len(row))
        y.square().sum().backward()
        np.testing.assert_allclose(values(y), expected, atol=1e-3)
        assert np.isfinite(values(x.grad)).all()


def test_layer_norm_refuses_what_does_not_fit(device):
    x = it.zeros(2, 3, device=device)
    with pytest.raises(ShapeError, match="last dimensions"):
        it.layer_norm(x, (2,))
    with pytest.raises(ShapeError, match="weight"):
        it.layer_norm(x, (3,), it.ones(2, device=device))
    assert it.layer_norm(it.zeros(0, 3, device=device), 3).shape == (0, 3)


@pytest.mark.parametrize("wrong", [10, -1])
def test_bc085_embedding_out_of_range_is_an_index_error(wrong, device):
    """BC-085."""
    weight = it.zeros(10, 2, device=device)

    with pytest.raises(IndexOutOfRange, match=str(wrong)):  # noqa: PT012 - at the next synchronisation
        it.embedding(it.tensor([0, wrong], device=device), weight)
        it.synchronize(device)


@pytest.mark.parametrize("padding", [0, -1])
@pytest.mark.parametrize("count", [769, 5000])
def test_bc110_padding_row_gets_no_gradient(padding, count, device):
    """BC-110."""
    index = np.random.default_rng(0).integers(0, 10, count)
    weight = it.zeros(10, 8, device=device, requires_grad=True)

    it.embedding(it.tensor(index, device=device), weight, padding_idx=padding).sum().backward()

    hits = np.bincount(index, minlength=10).astype(float)
    hits[padding] = 0
    assert values(weight.grad).tolist() == np.repeat(hits[:, None], 8, 1).tolist()


def test_embedding_shapes(device):
    weight = it.arange(6, device=device).reshape(3, 2)

    assert it.embedding(it.tensor([[2], [0]], dtype=it.uint8, device=device), weight).tolist() == [[[4, 5]], [[0, 1]]]
    assert it.embedding(it.zeros(0, dtype=it.int64, device=device), weight).shape == (0, 2)
    with pytest.raises(ShapeError, match="weight"):
        it.embedding(it.tensor([0], device=device), it.ones(3, device=device))
    with pytest.raises(DTypeError, match="integers"):
        it.embedding(it.tensor([0.0], device=device), weight)


def test_gather_and_scatter_out_of_range(device):
    x = it.zeros(2, 3, device=device)
    for wrong in (3, -1):
        index = it.tensor([[wrong], [0]], device=device)
        for call in (lambda i=index: x.gather(1, i), lambda i=index: x.scatter(1, i, 1.0)):
            with pytest.raises(IndexOutOfRange):  # noqa: PT012
                call()
                it.synchronize(device)
    with pytest.raises(ShapeError, match="index"):
        x.gather(1, it.tensor([0], device=device))


def test_dropout_of_probability_zero_one_and_wrong(device):
    """BC-119."""
    x = it.ones(1_000_000, device=device, requires_grad=True)

    assert it.dropout(x, 0.0) is x
    assert it.dropout(x, 0.5, training=False) is x
    y = it.dropout(x, 1.0)
    y.sum().backward()
    assert y.sum().item() == 0
    assert x.grad.abs().sum().item() == 0
    for wrong in (1.5, -0.1):
        with pytest.raises(ValueError, match="probability"):
            it.dropout(x, wrong)


def test_dropout_scales_and_uses_one_mask(device):
    it.manual_seed(3)
    x = it.ones(100_000, device=device, requires_grad=True)

    y = it.dropout(x, 0.25)
    y.sum().backward()

    assert set(np.unique(values(y)).round(5).tolist()) == {0.0, 1.33333}
    assert abs((values(y) == 0).mean() - 0.25) < 0.01
    assert it.equal(y, x.grad)
