"""Random numbers: the same bits everywhere, states, distributions."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import AutogradError


def values(x):
    return x.cpu().numpy()


def philox(seed, counter):
    """Philox-4x32-10 (Salmon et al. 2011), by Python integers."""
    x = [counter & 0xFFFFFFFF, counter >> 32 & 0xFFFFFFFF, 0, 0]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [second >> 32 ^ x[1] ^ key[0], second & 0xFFFFFFFF, first >> 32 ^ x[3] ^ key[1], first & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return x


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 5, -1])
def test_uniform_numbers_are_philox_words(seed, device):
    g = it.Generator(seed)
    first, second = it.rand(6, generator=g, device=device), it.rand(3, generator=g, device=device)

    words = [philox(seed % 2**64, c) for c in range(3)]
    expected = [(w >> 8) * 2.0**-24 for block in words[:2] for w in block][:6]
    assert first.tolist() == expected
    assert second.tolist() == [(w >> 8) * 2.0**-24 for w in words[2]][:3]
    assert g.offset == 3


@pytest.mark.parametrize("draw", ["rand", "randn", "randint", "randperm", "bernoulli", "dropout", "bfloat16"])
def test_same_seed_gives_same_bits_on_every_device(draw, device):
    def drawn(place):
        it.manual_seed(42)
        return {
            "rand": lambda: it.rand(3, 5, device=place),
            "randn": lambda: it.randn(1000, device=place),
            "randint": lambda: it.randint(-5, 1000, (64,), device=place),
            "randperm": lambda: it.randperm(50, device=place),
            "bernoulli": lambda: it.bernoulli(it.full((100,), 0.3, device=place)),
            "dropout": lambda: it.dropout(it.ones(100, device=place)),
            "bfloat16": lambda: it.randn(100, dtype=it.bfloat16, device=place),
        }[draw]()

    assert values(drawn(device)).tobytes() == values(drawn("cpu")).tobytes()


def test_state_goes_on_where_it_was(device):
    g = it.Generator(7)
    it.rand(5, generator=g, device=device)
    state = g.get_state()
    expected = it.randn(8, generator=g, device=device)

    other = it.Generator()
    other.set_state(state)

    assert it.equal(it.randn(8, generator=other, device=device), expected)
    with pytest.raises(ValueError, match="get_state"):
        other.set_state({"seed": 1})


def test_default_generator_and_its_state(device):
    it.manual_seed(5)
    state = it.get_rng_state()
    first = it.rand(4, device=device)
    it.set_rng_state(state)

    assert it.equal(it.rand(4, device=device), first)
    assert it.initial_seed() == 5
    assert not it.equal(it.rand(4, device=device), first)


def test_distributions(device):
    it.manual_seed(0)
    normal = values(it.randn(200_000, device=device)).astype(np.float64)
    uniform = values(it.empty(200_000, device=device).uniform_(-2, 6)).astype(np.float64)
    whole = values(it.randint(3, 8, (50_000,), device=device))

    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1) < 0.01
    assert abs((normal**4).mean() - 3) < 0.1
    assert uniform.min() >= -2
    assert uniform.max() < 6
    assert abs(uniform.mean() - 2) < 0.03
    assert set(np.unique(whole).tolist()) == {3, 4, 5, 6, 7}
    assert abs(np.bincount(whole)[3:] / 50_000 - 0.2).max() < 0.01


def test_randint_is_what_its_documentation_says(device):
    g = it.Generator(9)
    x = it.randint(10, 1010, (5,), generator=g, device=device)

    words = [w >> 8 for c in range(3) for w in philox(9, c)]
    assert x.tolist() == [10 + (words[i] * 2**24 + words[5 + i]) % 1000 for i in range(5)]
    assert it.randint(5, size=(2, 3), dtype=it.uint8, device=device).dtype is it.uint8
    with pytest.raises(ValueError, match="range"):
        it.randint(5, 5, (1,), device=device)


def test_randperm_is_a_permutation(device):
    assert sorted(it.randperm(1000, device=device).tolist()) == list(range(1000))
    assert it.randperm(0, device=device).shape == (0,)


def test_in_place_draws_fill_views_in_their_own_order(device):
    it.manual_seed(1)
    x = it.zeros(2, 3, device=device)
    x.t().normal_(5, 2)
    it.manual_seed(1)
    y = it.empty(3, 2, device=device).normal_(5, 2)

    assert it.equal(x.t(), y)
    assert x._version == 1


def test_in_place_draws_refuse_what_has_a_history(device):
    w = it.zeros(3, device=device, requires_grad=True)
    with pytest.raises(AutogradError, match="no_grad"):
        w.normal_()
    with it.no_grad():
        w.uniform_()
    with pytest.raises(ValueError, match="std"):
        it.zeros(1, device=device).normal_(std=-1)
    with pytest.raises(ValueError, match="probability"):
        it.zeros(1, device=device).bernoulli_(2)


def test_bernoulli(device):
    x = it.zeros(10_000, device=device).bernoulli_(0.25)

    assert set(np.unique(values(x)).tolist()) == {0.0, 1.0}
    assert abs(x.mean().item() - 0.25) < 0.02
    assert it.bernoulli(it.tensor([0.0, 1.0], device=device)).tolist() == [0, 1]
