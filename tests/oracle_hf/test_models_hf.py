"""Logits, loss and every gradient of the three families, against Hugging Face's models with the same random weights."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import infinitrain as it  # noqa: E402
from infinitrain.models import GPT2, Decoder, DecoderConfig, GPT2Config  # noqa: E402
from infinitrain.models.decoder import balance_loss  # noqa: E402
from infinitrain.nn.functional import RopeScaling  # noqa: E402

VOCABULARY, TIME = 97, 24
LLAMA31 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 44,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "attn_implementation": "eager",
    "rms_norm_eps": 1e-5,
}


def decoder_config(**changes):
    sizes = {"n_layer": 2, "n_head": 4, "n_kv_head": 2, "n_embd": 32, "ffn_size": 44, "rope_theta": 10000.0}
    return DecoderConfig(VOCABULARY, 64, **{**sizes, **changes})


def llama(groups, tied, scaled):
    rope = LLAMA31 if scaled else {"rope_type": "default", "rope_theta": 10000.0}
    theirs = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**SIZES, num_key_value_heads=groups, tie_word_embeddings=tied, rope_parameters=rope)
    )
    scaling = RopeScaling(8.0, 1.0, 4.0, 32) if scaled else None
    return theirs, decoder_config(n_kv_head=groups, tie_weights=tied, rope_scaling=scaling)


def randomised(model):
    """Give weights that are not alike: the published initialisation hides mistakes behind values near 0 and 1."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2 + (parameter.ndim == 1))
    return model


def weights_of(theirs):
    """Give their parameters and gradients by the names of published checkpoints, each expert's matrix apart."""
    found = {}
    for name, parameter in theirs.named_parameters():
        values = [parameter.detach().numpy(), None if parameter.grad is None else parameter.grad.numpy()]
        if ".mlp.experts." in name:
            for expert in range(parameter.shape[0]):
                own = [None if each is None else each[expert] for each in values]
                prefix = name.partition("mlp.experts")[0] + f"block_sparse_moe.experts.{expert}."
                if name.endswith("gate_up_proj"):
                    for position, target in enumerate(("w1", "w3")):
                        halves = [None if each is None else np.split(each, 2)[position] for each in own]
                        found[f"{prefix}{target}.weight"] = halves
                else:
                    found[f"{prefix}w2.weight"] = own
        elif name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
            found[name.removeprefix("transformer.")] = [None if each is None else each.T for each in values]
        else:
            found[name.removeprefix("transformer.").replace("mlp.gate.weight", "block_sparse_moe.gate.weight")] = values
    return found


def compare(theirs, ours, device, **expects):
    """Hold one forward and backward of ours to theirs."""
    rows = np.random.default_rng(2).integers(0, VOCABULARY, (2, TIME + 1))
    inputs, targets = np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, 1:])
    theirs.train()
    expected = theirs(torch.from_numpy(inputs), **expects)
    scores = expected.logits.reshape(-1, VOCABULARY)
    loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(targets).reshape(-1))
    if expects:
        loss = loss + theirs.config.router_aux_loss_coef * expected.aux_loss
    loss.backward()
    weights = weights_of(theirs)
    named = dict(ours.named_parameters())
    assert set(named) == set(weights)
    with it.no_grad():
        for name, parameter in named.items():
            parameter.copy_(it.tensor(np.ascontiguousarray(weights[name][0]), device=device))

    logits, found = ours(it.tensor(inputs, device=device), it.tensor(targets, device=device))
    found.backward()

    np.testing.assert_allclose(logits.detach().cpu().numpy(), expected.logits.detach().numpy(), rtol=1e-4, atol=2e-5)
    assert found.item() == pytest.approx(loss.item(), rel=1e-5)
    for name, parameter in named.items():
        gradient = weights[name][1]
        scale = float(np.abs(gradient).max())
        np.testing.assert_allclose(
            parameter.grad.cpu().numpy(), gradient, rtol=1e-3, atol=2e-5 * max(scale, 1e-3), err_msg=name
        )


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("groups", "tied"), [(4, False), (2, False), (1, True)])
def test_llama_is_hugging_faces(device, groups, tied, scaled):
    """Rotary positions with and without LLaMA 3.1's scaling, grouped keys, tied and untied heads."""
    theirs, config = llama(groups, tied, scaled)

    compare(randomised(theirs), Decoder(config, device), device)


@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_bc111_mixtral_is_hugging_faces_balance_loss_included(device, chosen):
    theirs = transformers.MixtralForCausalLM(
        transformers.MixtralConfig(
            **SIZES,
            num_key_value_heads=2,
            num_local_experts=5,
            num_experts_per_tok=chosen,
            router_aux_loss_coef=0.02,
            output_router_logits=True,
            tie_word_embeddings=False,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        )
    )
    config = decoder_config(n_expert=5, n_expert_per_token=chosen, balance_coefficient=0.02)

    compare(randomised(theirs), Decoder(config, device), device, output_router_logits=True)


def test_gpt2_is_hugging_faces(device):
    sizes = {"vocab_size": VOCABULARY, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4}
    dropouts = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **dropouts, attn_implementation="eager"))
    ours = GPT2(GPT2Config(VOCABULARY, 64, n_layer=2, n_head=4, n_embd=32), device)

    compare(randomised(theirs), ours, device)


def test_balance_loss_of_a_uniform_router_is_the_number_of_choices(device):
    scores = it.zeros(30, 6, device=device)

    for chosen in (1, 2, 4):
        assert balance_loss(scores, chosen).item() == pytest.approx(chosen)
