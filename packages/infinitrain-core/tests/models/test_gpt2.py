from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import ConfigError, IndexOutOfRange, ShapeError
from infinitrain.models import GPT2, GPT2Config
from infinitrain.nn import Parameter
from infinitrain.optim import AdamW

SMALL = GPT2Config(vocab_size=61, block_size=16, n_layer=2, n_head=2, n_embd=8)


def made(config=SMALL, device="cpu", seed=0):
    return GPT2(config, device=device, generator=it.Generator(seed))


def tokens(*shape, device="cpu", seed=0, vocab=61):
    return it.tensor(np.random.default_rng(seed).integers(0, vocab, shape), device=device)


def test_names_and_shapes_of_parameters():
    model = made()
    block = {
        "ln_1.weight": (8,),
        "ln_1.bias": (8,),
        "attn.c_attn.weight": (24, 8),
        "attn.c_attn.bias": (24,),
        "attn.c_proj.weight": (8, 8),
        "attn.c_proj.bias": (8,),
        "ln_2.weight": (8,),
        "ln_2.bias": (8,),
        "mlp.c_fc.weight": (32, 8),
        "mlp.c_fc.bias": (32,),
        "mlp.c_proj.weight": (8, 32),
        "mlp.c_proj.bias": (8,),
    }
    expected = {"wte.weight": (61, 8), "wpe.weight": (16, 8)}
    for layer in range(2):
        expected |= {f"h.{layer}.{name}": shape for name, shape in block.items()}
    expected |= {"ln_f.weight": (8,), "ln_f.bias": (8,)}

    assert {name: p.shape for name, p in model.named_parameters()} == expected
    assert list(dict(model.named_parameters())) == list(expected)
    assert list(model.state_dict())[-1] == "lm_head.weight"
    assert model.lm_head.weight is model.wte.weight


def test_number_of_parameters():
    """B15: 12 C^2 + 13 C in each block, and the tables."""
    model = made()

    assert model.num_parameters() == (61 + 16) * 8 + 2 * (12 * 64 + 13 * 8) + 16
    assert model.num_parameters(positions=False) == model.num_parameters() - 16 * 8
    untied = GPT2Config(**{**SMALL.as_dict(), "tie_weights": False})
    assert made(untied).num_parameters() == model.num_parameters() + 61 * 8
    bare = GPT2Config(**{**SMALL.as_dict(), "bias": False})
    assert made(bare).num_parameters() == (61 + 16) * 8 + 2 * (12 * 64 + 2 * 8) + 8


def test_first_values():
    model = GPT2(GPT2Config(vocab_size=500, block_size=64, n_layer=8, n_head=2, n_embd=64), generator=it.Generator(0))
    spread = {name: p.detach().numpy().std() for name, p in model.named_parameters()}

    assert spread["wte.weight"] == pytest.approx(0.02, rel=0.03)
    assert spread["wpe.weight"] == pytest.approx(0.02, rel=0.05)
    assert spread["h.3.attn.c_attn.weight"] == pytest.approx(0.02, rel=0.03)
    assert spread["h.3.attn.c_proj.weight"] == pytest.approx(0.02 / 4, rel=0.05)
    assert spread["h.3.mlp.c_proj.weight"] == pytest.approx(0.02 / 4, rel=0.05)
    assert all(spread[name] == 0.0 for name in spread if "ln_" in name or name.endswith("bias"))
    assert model.ln_f.weight.detach().numpy().min() == 1.0


def test_same_seed_gives_the_same_model_everywhere(device):
    it.manual_seed(5)
    offset = it.get_rng_state()["offset"]
    here, there = made(device="cpu"), made(device=device)

    assert it.get_rng_state()["offset"] == offset
    for a, b in zip(here.parameters(), there.parameters(), strict=True):
        np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())


def test_loss_is_the_mean_over_valid_targets(device):
    model = made(device=device)
    idx, targets = tokens(2, 9, device=device), np.array(tokens(2, 9, seed=1).numpy())
    targets[0, :5] = -100
    logits, loss = model(idx, it.tensor(targets, device=device))
    z = logits.detach().numpy().astype("f8").reshape(-1, 61)
    flat = targets.reshape(-1)
    logp = z - np.log(np.exp(z).sum(1, keepdims=True))
    expected = -logp[np.arange(18), np.maximum(flat, 0)][flat >= 0].mean()

    assert logits.shape == (2, 9, 61)
    assert loss.item() == pytest.approx(expected, rel=1e-5)
    assert model(idx)[1] is None


def test_later_tokens_do_not_change_earlier_logits(device):
    model = made(device=device)
    idx = np.array(tokens(1, 12).numpy())
    changed = idx.copy()
    changed[0, 7:] = (changed[0, 7:] + 1) % 61
    a = model(it.tensor(idx, device=device))[0].detach().numpy()
    b = model(it.tensor(changed, device=device))[0].detach().numpy()

    np.testing.assert_allclose(b[:, :7], a[:, :7], rtol=1e-5, atol=1e-6)
    assert np.abs(b[:, 7:] - a[:, 7:]).max() > 1e-3


def test_evaluation_is_deterministic_and_equals_no_dropout(device):
    """BC-117."""
    config = GPT2Config(**{**SMALL.as_dict(), "dropout": 0.5})
    model, plain = made(config, device), made(device=device)
    idx = tokens(2, 8, device=device)
    model.eval()
    a, b = (model(idx)[0].detach().numpy() for _ in range(2))

    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(a, plain(idx)[0].detach().numpy())
    model.train()
    assert np.abs(model(idx)[0].detach().numpy() - a).max() > 1e-3


def test_dropout_trains(device):
    it.manual_seed(0)
    model = made(GPT2Config(**{**SMALL.as_dict(), "dropout": 0.2}), device)
    idx = tokens(2, 8, device=device)
    _, loss = model(idx, idx)
    loss.backward()

    assert all(np.isfinite(p.grad.numpy()).all() for p in model.parameters())


def test_smaller_batches_and_sequences_after_training(device):
    """BC-136: the same logits as a fresh model's for every length, after a larger batch was trained."""
    model = made(device=device)
    optimizer = AdamW(model.parameters(), lr=1e-2)
    idx = tokens(4, 16, device=device)
    _, loss = model(idx, idx)
    loss.backward()
    optimizer.step()
    fresh = made(device=device, seed=1)
    fresh.load_state_dict(model.state_dict())
    whole = fresh(idx)[0].detach().numpy()

    for length in (1, 2, 7, 16):
        short = model(idx[:1, :length])[0].detach().numpy()
        np.testing.assert_allclose(short, whole[:1, :length], rtol=1e-5, atol=1e-6)


def test_padded_rows_are_in_no_logit_and_no_loss(device):
    padded = made(GPT2Config(**{**SMALL.as_dict(), "padded_vocab_size": 64}), device)
    plain = made(device=device)
    with it.no_grad():
        padded.wte.weight.fill_(100.0)  # the padding would win every softmax
        padded.wte.weight[:61].copy_(plain.wte.weight)
        for (name, a), b in zip(padded.named_parameters(), plain.parameters(), strict=True):
            if name != "wte.weight":
                a.copy_(b)
    idx = tokens(2, 5, device=device)
    logits, loss = padded(idx, idx)
    loss.backward()

    assert padded.wte.weight.shape == (64, 8)
    np.testing.assert_allclose(logits.detach().numpy(), plain(idx)[0].detach().numpy(), rtol=1e-5, atol=1e-6)
    assert not padded.wte.weight.grad.numpy()[61:].any()
    assert padded.generate(idx, 3, temperature=0.0).numpy().max() < 61


# ---- generation ----


def peaked(device):
    """A model whose next token is the current one plus 1: the head reads a one-hot table."""
    model = made(GPT2Config(vocab_size=8, block_size=4, n_layer=1, n_head=1, n_embd=8, tie_weights=False), device)
    with it.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.wte.weight.copy_(it.eye(8, device=device))
        model.ln_f.weight.fill_(1.0)
        model.lm_head.weight.copy_(it.tensor(np.roll(np.eye(8, dtype="f4"), 1, axis=0) * 20.0, device=device))
    return model


@pytest.mark.parametrize("settings", [{"temperature": 0.0}, {"top_k": 1}, {"temperature": 0.5}])
def test_generation_goes_on_beyond_the_block(device, settings):
    model = peaked(device)
    result = model.generate(it.tensor([[1], [5]], device=device), 9, **settings)

    assert result.tolist() == [[(1 + k) % 8 for k in range(10)], [(5 + k) % 8 for k in range(10)]]
    assert model.training
    assert str(result.device) == str(it.Device(device))


def test_generation_is_the_same_for_the_same_generator(device):
    model = made(device=device)
    idx = tokens(2, 3, device=device)
    a, b = (model.generate(idx, 20, generator=it.Generator(3)).tolist() for _ in range(2))
    other = model.generate(idx, 20, generator=it.Generator(4)).tolist()

    assert a == b
    assert a != other
    assert [row[:3] for row in a] == idx.tolist()


def test_draws_follow_the_softmax():
    model = made(GPT2Config(vocab_size=4, block_size=2, n_layer=1, n_head=1, n_embd=4, tie_weights=False))
    with it.no_grad():
        model.ln_f.weight.zero_()
        model.ln_f.bias.copy_(it.tensor([1.0, 0.0, 0.0, 0.0]))
        model.lm_head.weight.zero_()
        model.lm_head.weight[:, 0].copy_(it.tensor([0.0, 1.0, 2.0, float("-inf")]))
    idx = it.zeros(20000, 1, dtype=it.int64)
    counts = np.bincount(model.generate(idx, 1, generator=it.Generator(0)).numpy()[:, 1], minlength=4) / 20000
    kept = np.bincount(model.generate(idx, 1, top_k=2, generator=it.Generator(0)).numpy()[:, 1], minlength=4)
    shares = np.exp([0.0, 1.0, 2.0])

    np.testing.assert_allclose(counts, [*(shares / shares.sum()), 0.0], atol=0.01)
    assert kept[0] == kept[3] == 0
    assert kept[2] / 20000 == pytest.approx(shares[2] / (shares[1] + shares[2]), abs=0.01)


def test_each_token_is_reported():
    seen = []
    peaked("cpu").generate(it.tensor([[0]]), 3, temperature=0.0, on_token=lambda token: seen.append(token.tolist()))

    assert seen == [[[1]], [[2]], [[3]]]


def test_generation_restores_the_mode_after_an_error():
    model = made().eval()
    with pytest.raises(ConfigError, match=r"temperature of at least 0 and top_k of at least 1, found -1.0 and None"):
        model.generate(tokens(1, 1), 1, temperature=-1.0)
    with pytest.raises(ConfigError, match=r"found 1\.0 and 0"):
        model.generate(tokens(1, 1), 1, top_k=0)
    with pytest.raises(ShapeError):
        model.train().generate(tokens(1, 0), 1)
    assert model.training


# ---- errors ----


@pytest.mark.parametrize("shape", [(3,), (1, 17), (1, 0), (1, 2, 3)])
def test_shape_of_tokens(shape):
    with pytest.raises(ShapeError, match=r"expected tokens \(B, T\) with T in \[1, 16\], found shape"):
        made()(tokens(*shape))


def test_shape_of_targets():
    with pytest.raises(ShapeError, match=r"expected targets of shape \(1, 3\), found \(1, 2\)"):
        made()(tokens(1, 3), tokens(1, 2))


def test_token_outside_the_vocabulary(device):
    with pytest.raises(IndexOutOfRange, match=r"61.*position 1.*61"):
        made(device=device)(it.tensor([[0, 61]], device=device))[0].detach().numpy()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_layer": 0}, "expected n_layer of at least 1, found 0"),
        ({"n_head": 3}, "expected n_embd divisible by n_head, found 8 and 3"),
        ({"dropout": 1.0}, r"expected dropout in \[0, 1\), found 1.0"),
        ({"padded_vocab_size": 60}, "padded_vocab_size of at least vocab_size 61, found 60"),
    ],
)
def test_sizes_are_checked(changes, message):
    with pytest.raises(ConfigError, match=message):
        GPT2Config(**{**SMALL.as_dict(), **changes})


def test_tied_weight_has_one_gradient_of_both_uses(device):
    model = made(device=device)
    untied = made(GPT2Config(**{**SMALL.as_dict(), "tie_weights": False}), device)
    untied.load_state_dict(model.state_dict())
    idx = tokens(2, 6, device=device)
    for each in (model, untied):
        each(idx, tokens(2, 6, seed=2, device=device))[1].backward()
    together = untied.wte.weight.grad.numpy() + untied.lm_head.weight.grad.numpy()

    np.testing.assert_allclose(model.wte.weight.grad.numpy(), together, rtol=1e-4, atol=1e-7)
    assert isinstance(model.lm_head.weight, Parameter)
