"""LLaMA 3 and Mixtral beyond what the comparison with Hugging Face shows."""

from __future__ import annotations

import infinitrain as it
import ml_dtypes
import numpy as np
import pytest
from infinitrain import nn
from infinitrain.errors import ConfigError, ShapeError
from infinitrain.models import Decoder, DecoderConfig, create, family_of, model_config
from infinitrain.nn import functional as F
from infinitrain.optim import AdamW
from infinitrain.testing.gradcheck import gradcheck

TINY = {"n_layer": 2, "n_head": 4, "n_kv_head": 2, "n_embd": 32, "ffn_size": 48}


def tiny(device, **changes):
    it.manual_seed(3)
    return Decoder(DecoderConfig(61, 32, **{**TINY, **changes}), device)


def tokens(device, rows=2, time=16):
    return it.tensor(np.random.default_rng(1).integers(0, 61, (rows, time)), device=device)


# ---- the parts ----


def test_bc035_rotary_tables_keep_positions_apart_whatever_the_models_dtype(device):
    config = DecoderConfig(61, 1024, **TINY)
    model = Decoder(config, device).to(it.bfloat16)
    cos, sin = model._rotary.tables(1024, it.Device(device))
    angles = np.arange(1024)[:, None] * config.rope_theta ** -(np.arange(0, 8, 2) / 8)

    np.testing.assert_allclose(cos.cpu().numpy(), np.cos(angles), atol=6e-8)
    np.testing.assert_allclose(sin.cpu().numpy(), np.sin(angles), atol=6e-8)
    assert (sin[256] != sin[257]).any().item()
    x = it.ones(1, 1, 1024, 8, device=device, dtype=it.bfloat16)
    turned = F.rotary_embedding(x, cos, sin).to(it.float32).cpu().numpy()[0, 0]
    c, s = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    expected = np.concatenate([c - s, c + s], -1).astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(turned, expected)


def test_interleaved_pairs_are_the_other_ones_reordered(device):
    cos, sin = F.rotary_tables(5, 8, device=device)
    x = it.randn(2, 5, 8, device=device)
    order = [0, 2, 4, 6, 1, 3, 5, 7]

    found = F.rotary_embedding(x, cos, sin, interleaved=True).cpu().numpy()[..., order]

    halves = it.tensor(np.ascontiguousarray(x.cpu().numpy()[..., order]), device=device)
    np.testing.assert_array_equal(found, F.rotary_embedding(halves, cos, sin).cpu().numpy())


def test_scaling_leaves_short_wavelengths_and_stretches_long_ones():
    scaling = F.RopeScaling(8.0, 1.0, 4.0, 8192)
    frequencies = np.array([1.0, 2 * np.pi / 2048, 2 * np.pi / 4096, 2 * np.pi / 8192, 1e-5])

    stretched = scaling.apply(frequencies) / frequencies

    np.testing.assert_allclose(stretched, [1.0, 1.0, 1 / 8 + (7 / 8) / 3, 1 / 8, 1 / 8])
    with pytest.raises(ConfigError, match="0 < low < high"):
        F.RopeScaling(8.0, 4.0, 1.0, 8192)


def test_bc107_rms_norm_of_large_half_values_does_not_overflow(device):
    x = np.tile([1000.0, -1000.0], (2, 2048)).astype(np.float16)

    found = F.rms_norm(it.tensor(x, device=device), 4096, eps=1e-5).cpu().numpy()

    np.testing.assert_array_equal(found, np.sign(x))


def test_bc108_rms_norm_keeps_its_inputs_dtype_and_small_values(device):
    small = it.full((2, 64), 1e-4, dtype=it.float16, device=device)
    weight = it.ones(64, device=device)
    mixed = F.rms_norm(it.ones(2, 64, dtype=it.bfloat16, device=device), 64, weight)

    assert mixed.dtype is it.bfloat16
    found = F.rms_norm(small, 64, weight, eps=0.0)
    assert found.dtype is it.float16
    np.testing.assert_allclose(found.cpu().numpy(), np.ones((2, 64)), rtol=1e-3)


def test_gradients_of_the_parts_are_those_of_differences(device):
    it.manual_seed(2)
    x, gate = (it.randn(3, 8, dtype=it.float64, device=device, requires_grad=True) for _ in range(2))
    weight = it.randn(8, dtype=it.float64, device=device, requires_grad=True)
    cos, sin = (each.to(it.float64) for each in F.rotary_tables(3, 8, device=device))

    assert gradcheck(lambda a, w: F.rms_norm(a, 8, w, 1e-5), (x, weight))
    assert gradcheck(lambda a: F.rotary_embedding(a, cos, sin), (x,))
    assert gradcheck(lambda a: F.rotary_embedding(a, cos, sin, interleaved=True), (x,))
    assert gradcheck(F.swiglu, (gate, x))


def test_shapes_that_do_not_fit_are_refused(device):
    x = it.ones(2, 3, 8, device=device)
    cos, sin = F.rotary_tables(4, 8, device=device)

    with pytest.raises(ShapeError, match=r"expected x \(..., T, D\) with D even"):
        F.rotary_embedding(x, cos, sin)
    with pytest.raises(ShapeError, match="expected an even head size, found 7"):
        F.rotary_tables(4, 7)
    with pytest.raises(ShapeError, match=r"expected last dimensions \(4,\)"):
        F.rms_norm(x, 4)
    with pytest.raises(ShapeError, match=r"expected a weight of shape \(8,\), found \(4,\)"):
        F.rms_norm(x, 8, it.ones(4, device=device))
    assert repr(nn.RMSNorm(8, 1e-6)) == "RMSNorm((8,), eps=1e-06, elementwise_affine=True)"


# ---- the models ----


def test_bc120_key_heads_divide_the_query_heads():
    with pytest.raises(ConfigError, match="n_head divisible by n_kv_head, found 8 and 3"):
        DecoderConfig(n_head=8, n_kv_head=3)


@pytest.mark.parametrize("changes", [{"n_embd": 36}, {"n_layer": 0}, {"n_expert": 4, "n_expert_per_token": 5}])
def test_sizes_that_do_not_fit_are_refused(changes):
    with pytest.raises(ConfigError, match="DecoderConfig: expected"):
        DecoderConfig(61, 32, **{**TINY, **changes})


def test_later_tokens_do_not_change_earlier_scores(device):
    model = tiny(device, n_expert=4).eval()
    whole = tokens(device)

    full, part = model(whole)[0].detach().cpu().numpy(), model(whole[:, :9])[0].detach().cpu().numpy()

    np.testing.assert_allclose(full[:, :9], part, rtol=1e-5, atol=1e-6)


def test_bc111_balance_loss_is_added_in_training_only(device):
    batch = tokens(device)
    model, plain = (tiny(device, n_expert=4, balance_coefficient=coefficient) for coefficient in (0.5, 0.0))
    with_balance, without = model(batch, batch)[1], plain(batch, batch)[1]
    with_balance.backward()
    without.backward()

    # Near a uniform router the balance loss is the number of experts of a token.
    assert with_balance.item() - without.item() == pytest.approx(0.5 * 2, rel=0.05)
    gates = [each.model.layers[0].block_sparse_moe.gate.weight.grad for each in (model, plain)]
    assert (gates[0] != gates[1]).any().item()
    assert model.eval()(batch, batch)[1].item() == pytest.approx(without.item(), rel=1e-6)


def test_expert_without_tokens_has_a_gradient_of_zero(device):
    model = tiny(device, n_expert=4, n_expert_per_token=1, n_layer=1)
    layer = model.model.layers[0].block_sparse_moe
    with it.no_grad():
        layer.gate.weight.zero_()  # equal shares: the first expert is chosen
    model(tokens(device), tokens(device))[1].backward()

    assert (layer.experts[0].w1.weight.grad != 0).any().item()
    for expert in list(layer.experts)[1:]:
        np.testing.assert_array_equal(expert.w2.weight.grad.cpu().numpy(), 0)


@pytest.mark.parametrize("changes", [{}, {"n_expert": 4}, {"tie_weights": True}])
def test_training_learns_replayed_as_eager(device, changes):
    def run(wrap):
        model = tiny(device, **changes)
        optimizer = AdamW(model.parameters(), lr=1e-2)

        @wrap
        def step(batch):
            optimizer.zero_grad()
            loss = model(batch, batch)[1]
            loss.backward()
            optimizer.step()
            return loss

        batch = tokens(device)
        return [step(batch).item() for _ in range(8)]

    replayed = run(it.compile)

    assert replayed == run(lambda function: function)
    assert replayed[-1] < 0.8 * replayed[0]


def test_generation_goes_on_from_what_it_wrote(device):
    model = tiny(device)
    prompt = tokens(device, 1, 4)

    written = model.generate(prompt, 6, temperature=0.0)

    assert written.shape == (1, 10)
    for position in range(4, 10):
        best = model.eval()(written[:, :position])[0][0, -1].argmax().item()
        assert written[0, position].item() == best


@pytest.mark.parametrize(
    ("name", "count"), [("llama3-8b", 8_030_261_248), ("llama3.2-1b", 1_235_814_400), ("mixtral-8x7b", 46_702_792_704)]
)
def test_published_sizes_have_the_published_number_of_parameters(name, count):
    """Counted by shape: nobody has the memory to make them in a test."""
    c = model_config(name)
    narrow = c.n_kv_head * c.head_size
    attention = 2 * c.n_embd * c.n_embd + 2 * c.n_embd * narrow
    network = 3 * c.n_embd * c.ffn_size
    layer = attention + 2 * c.n_embd + (c.n_expert * (network + c.n_embd) if c.n_expert else network)
    total = c.n_layer * layer + c.n_embd + (1 if c.tie_weights else 2) * c.vocab_size * c.n_embd

    assert total == count


def test_small_models_are_of_their_family(device):
    assert [family_of(f"{family}-mini") for family in ("gpt2", "llama3", "mixtral")] == ["gpt2", "llama3", "mixtral"]
    model = create("mixtral-tiny", device=device, vocab_size=61)
    assert model.num_parameters() == sum(parameter.numel() for parameter in set(model.parameters()))
    with pytest.raises(ConfigError, match=r"expected settings among .* found dropout"):
        create("llama3-tiny", device=device, dropout=0.1)
