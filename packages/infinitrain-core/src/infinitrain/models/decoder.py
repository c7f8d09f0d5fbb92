"""LLaMA 3 and Mixtral: one decoder, with the names of Hugging Face's weights.

Legend: B batch, T time, C channels (n_embd), H query heads, G key heads, D head size, F width of the feed-forward
network, E experts, K experts of a token, N = B T tokens, V vocabulary.
Source: Grattafiori et al. 2024, arXiv:2407.21783; Jiang et al. 2024, arXiv:2401.04088.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from infinitrain import dtype as dt
from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import ConfigError
from infinitrain.models.language_model import LanguageModel
from infinitrain.nn import functional as F
from infinitrain.nn import init
from infinitrain.nn.container import ModuleList
from infinitrain.nn.embedding import Embedding
from infinitrain.nn.linear import Linear
from infinitrain.nn.module import Module
from infinitrain.nn.normalization import RMSNorm
from infinitrain.ops.create import arange
from infinitrain.ops.shape import cat
from infinitrain.ops.sort import topk
from infinitrain.random import Generator
from infinitrain.tensor import Tensor

__all__ = ["Decoder", "DecoderConfig", "balance_loss"]


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """The sizes of a LLaMA 3 or, with `n_expert` above 0, of a Mixtral; the defaults are those of LLaMA 3 8B.

    Args:
        vocab_size: V, tokens that exist.
        block_size: The longest sequence, in tokens.
        n_layer: Layers.
        n_head: H, query heads.
        n_kv_head: G, key and value heads; divides H. Each serves H / G adjacent query heads.
        n_embd: C, divisible by H; the head size C / H is even.
        ffn_size: F, any width; of each expert where there are experts.
        rope_theta: Base of the rotary frequencies.
        rope_scaling: LLaMA 3.1's stretching of positions, or None.
        norm_eps: Added to the mean square in norms.
        tie_weights: Whether the head is the token embedding.
        n_expert: E; 0 for one feed-forward network.
        n_expert_per_token: K.
        balance_coefficient: Weight of the balance loss in training, where there are experts.

    Raises: ConfigError for sizes that do not fit together.
    """

    vocab_size: int = 128256
    block_size: int = 8192
    n_layer: int = 32
    n_head: int = 32
    n_kv_head: int = 8
    n_embd: int = 4096
    ffn_size: int = 14336
    rope_theta: float = 500000.0
    rope_scaling: F.RopeScaling | None = None
    norm_eps: float = 1e-5
    tie_weights: bool = False
    n_expert: int = 0
    n_expert_per_token: int = 2
    balance_coefficient: float = 0.02

    def __post_init__(self) -> None:
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_kv_head", "n_embd", "ffn_size"):
            if getattr(self, name) < 1:
                raise ConfigError(f"DecoderConfig: expected {name} of at least 1, found {getattr(self, name)}")
        if self.n_head % self.n_kv_head:
            raise ConfigError(
                f"DecoderConfig: expected n_head divisible by n_kv_head, found {self.n_head} and {self.n_kv_head}"
            )
        if self.n_embd % (2 * self.n_head):
            raise ConfigError(
                f"DecoderConfig: expected n_embd divisible by n_head into even heads, found {self.n_embd} and "
                f"{self.n_head}"
            )
        if self.n_expert and not 1 <= self.n_expert_per_token <= self.n_expert:
            raise ConfigError(
                f"DecoderConfig: expected n_expert_per_token in [1, {self.n_expert}], found {self.n_expert_per_token}"
            )

    @property
    def head_size(self) -> int:
        """D."""
        return self.n_embd // self.n_head

    def as_dict(self) -> dict[str, Any]:
        """Give the settings by name, as a checkpoint keeps them."""
        return asdict(self)


class Rotary:
    """The tables of rotary positions on each device: float32 whatever the model's dtype, and no part of its weights."""

    def __init__(self, config: DecoderConfig) -> None:
        self.config = config
        self._tables: dict[Device, tuple[Tensor, Tensor]] = {}

    def tables(self, time: int, device: Device) -> tuple[Tensor, Tensor]:
        """Give cos and sin of the first T positions, (T, D / 2)."""
        held = self._tables.get(device)
        if held is None:
            config = self.config
            sizes = (config.block_size, config.head_size, config.rope_theta, config.rope_scaling)
            held = self._tables[device] = F.rotary_tables(*sizes, device=device)
        return held[0][:time], held[1][:time]


class Attention(Module):
    """Causal self-attention with rotary positions, H query heads on G key heads."""

    def __init__(self, config: DecoderConfig, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.head_size = config.head_size
        narrow = config.n_kv_head * config.head_size
        self.q_proj = Linear(config.n_embd, config.n_embd, False, device, dtype, reset=False)
        self.k_proj = Linear(config.n_embd, narrow, False, device, dtype, reset=False)
        self.v_proj = Linear(config.n_embd, narrow, False, device, dtype, reset=False)
        self.o_proj = Linear(config.n_embd, config.n_embd, False, device, dtype, reset=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        batch, time, _ = x.shape
        q, k, v = (
            each(x).view(batch, time, -1, self.head_size).transpose(1, 2)  # (B, H or G, T, D)
            for each in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = F.rotary_embedding(q, cos, sin), F.rotary_embedding(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        result: Tensor = self.o_proj(y.transpose(1, 2).reshape(x.shape))
        return result


class FeedForward(Module):
    """down(silu(gate x) * up x), of width F."""

    def __init__(self, config: DecoderConfig, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.gate_proj = Linear(config.n_embd, config.ffn_size, False, device, dtype, reset=False)
        self.up_proj = Linear(config.n_embd, config.ffn_size, False, device, dtype, reset=False)
        self.down_proj = Linear(config.ffn_size, config.n_embd, False, device, dtype, reset=False)

    def forward(self, x: Tensor) -> Tensor:
        """(..., C) -> (..., C)."""
        result: Tensor = self.down_proj(F.swiglu(self.gate_proj(x), self.up_proj(x)))
        return result


class Expert(Module):
    """One of a mixture's networks, with Mixtral's names."""

    def __init__(self, config: DecoderConfig, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.w1 = Linear(config.n_embd, config.ffn_size, False, device, dtype, reset=False)
        self.w2 = Linear(config.ffn_size, config.n_embd, False, device, dtype, reset=False)
        self.w3 = Linear(config.n_embd, config.ffn_size, False, device, dtype, reset=False)

    def forward(self, x: Tensor) -> Tensor:
        """(N, C) -> (N, C)."""
        result: Tensor = self.w2(F.swiglu(self.w1(x), self.w3(x)))
        return result


class Mixture(Module):
    """A sum of K of E experts for each token, weighted by the router's softmax over the chosen ones.

    Every expert looks at every token, and what it was not chosen for counts with weight 0: the host need not know who
    was chosen, a step has fixed shapes and can be replayed, and an expert without a token has a gradient of 0. The
    price is E / K times the work.
    """

    def __init__(self, config: DecoderConfig, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.n_chosen = config.n_expert_per_token
        self.gate = Linear(config.n_embd, config.n_expert, False, device, dtype, reset=False)
        self.experts = ModuleList(Expert(config, device, dtype) for _ in range(config.n_expert))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, C) -> (B, T, C), and the router's scores (N, E)."""
        tokens = x.reshape(-1, x.shape[-1])  # (N, C)
        scores: Tensor = self.gate(tokens)  # (N, E)
        shares = F.softmax(scores.to(scores.dtype.accumulator), -1)
        best, chosen = topk(shares, self.n_chosen, -1)  # (N, K)
        weights = best / best.sum(-1, keepdim=True)
        picked = chosen.unsqueeze(-1) == arange(scores.shape[-1], device=x.device)  # (N, K, E)
        by_expert = (weights.unsqueeze(-1) * picked.to(weights.dtype)).sum(1).to(x.dtype)  # (N, E)
        total: Tensor | None = None
        for index, expert in enumerate(self.experts):
            part = expert(tokens) * by_expert[:, index : index + 1]
            total = part if total is None else total + part
        assert total is not None
        return total.reshape(x.shape), scores


def balance_loss(scores: Tensor, chosen_per_token: int) -> Tensor:
    """Give Mixtral's balance loss of the scores of all layers' routers, (L N, E).

    E times the sum over experts of the share of choices that fell on it times its mean share; a uniform router gives K.

    Source: Fedus, Zoph and Shazeer 2021, arXiv:2101.03961, equation 4, in Hugging Face's form.
    """
    experts = scores.shape[-1]
    shares = F.softmax(scores.to(scores.dtype.accumulator), -1)
    _, chosen = topk(shares, chosen_per_token, -1)  # (L N, K)
    picked = (chosen.unsqueeze(-1) == arange(experts, device=scores.device)).to(shares.dtype)  # (L N, K, E)
    return (picked.mean(0) * shares.mean(0)).sum() * experts


class Layer(Module):
    """Attention and a feed-forward network, each behind a norm and added to what it was given."""

    def __init__(self, config: DecoderConfig, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.n_embd, config.norm_eps, device=device, dtype=dtype)
        self.self_attn = Attention(config, device, dtype)
        self.post_attention_layernorm = RMSNorm(config.n_embd, config.norm_eps, device=device, dtype=dtype)
        self.is_mixture = config.n_expert > 0
        if self.is_mixture:
            self.block_sparse_moe = Mixture(config, device, dtype)
        else:
            self.mlp = FeedForward(config, device, dtype)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor | None]:
        """(B, T, C) -> (B, T, C), and the router's scores (N, E) where there are experts."""
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        normed = self.post_attention_layernorm(x)
        if not self.is_mixture:
            return x + self.mlp(normed), None
        y, scores = self.block_sparse_moe(normed)
        return x + y, scores


class Body(Module):
    """Everything between tokens and the head."""

    def __init__(self, config: DecoderConfig, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.embed_tokens = Embedding(config.vocab_size, config.n_embd, device=device, dtype=dtype, reset=False)
        self.layers = ModuleList(Layer(config, device, dtype) for _ in range(config.n_layer))
        self.norm = RMSNorm(config.n_embd, config.norm_eps, device=device, dtype=dtype)


class Decoder(LanguageModel):
    """A LLaMA 3 or Mixtral with Hugging Face's initialisation: N(0, 0.02), norms 1.

    Args:
        config: Sizes.
        device: Where parameters live; the current device if None.
        dtype: float32 if None.
        generator: Where first values come from; the default one if None.
    """

    config: DecoderConfig

    def __init__(
        self,
        config: DecoderConfig,
        device: Device | str | None = None,
        dtype: DType | None = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.model = Body(config, device, dtype)
        self.lm_head = Linear(config.n_embd, config.vocab_size, False, device, dtype, reset=False)
        if config.tie_weights:
            self.lm_head.weight = self.model.embed_tokens.weight
        self._rotary = Rotary(config)
        self._scores: list[Tensor] = []
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw first values anew, in the order of the parameters' names."""
        for name, parameter in self.named_parameters():
            if name.endswith("norm.weight"):
                init.ones_(parameter)
            else:
                init.normal_(parameter, 0.0, 0.02, generator)

    def hidden(self, idx: Tensor) -> Tensor:
        """Give what the head reads: (B, T) -> (B, T, C).

        Raises: ShapeError for an idx that is not (B, T), or longer than the block.
        """
        self._check_tokens(idx)
        x: Tensor = self.model.embed_tokens(idx)  # (B, T, C)
        cos, sin = self._rotary.tables(idx.shape[1], x.device)
        self._scores = []
        for layer in self.model.layers:
            x, scores = layer(x, cos, sin)
            if scores is not None:
                self._scores.append(scores)
        result: Tensor = self.model.norm(x)
        return result

    def logits(self, hidden: Tensor) -> Tensor:
        """Give the scores of the tokens: (..., C) -> (..., V)."""
        result: Tensor = self.lm_head(hidden)
        return result

    def extra_loss(self) -> Tensor | None:
        """Give the weighted balance loss of the last forward, where there are experts."""
        scores, self._scores = self._scores, []
        if not scores or not self.config.balance_coefficient:
            return None
        together = scores[0] if len(scores) == 1 else cat(scores, 0)
        loss = balance_loss(together, self.config.n_expert_per_token)
        return loss.to(dt.float32) * self.config.balance_coefficient
