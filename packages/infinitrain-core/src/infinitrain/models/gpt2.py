"""GPT-2, with the names of the published weights; linear weights are (out, in), the transpose of the published ones.

Legend: B batch, T time, C channels (n_embd), H heads, D = C / H, V vocabulary.
Source: Radford et al. 2019; the layer order is the published code's (norms before attention and MLP).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import ConfigError
from infinitrain.models.language_model import LanguageModel
from infinitrain.nn import functional as F
from infinitrain.nn import init
from infinitrain.nn.activation import GELU, Dropout
from infinitrain.nn.container import ModuleList
from infinitrain.nn.embedding import Embedding
from infinitrain.nn.linear import Linear
from infinitrain.nn.module import Module
from infinitrain.nn.normalization import LayerNorm
from infinitrain.ops.create import arange
from infinitrain.random import Generator
from infinitrain.tensor import Tensor

__all__ = ["GPT2", "GPT2Config"]


@dataclass(frozen=True, slots=True)
class GPT2Config:
    """The sizes of a GPT-2; the defaults are those of the published 124M model.

    Args:
        vocab_size: V, tokens that exist.
        block_size: The longest sequence, in tokens.
        n_layer: Blocks.
        n_head: Heads; divides n_embd.
        n_embd: C.
        dropout: Probability, in [0, 1), after embeddings, attention and MLP.
        bias: Whether linear layers and norms have a bias.
        tie_weights: Whether the head is the token embedding.
        padded_vocab_size: Rows of the embedding, for sizes that a device multiplies faster, or None for V. Logits of
            padding exist nowhere outside the head: not in the loss, not in sampling.

    Raises: ConfigError for sizes that do not fit together.
    """

    vocab_size: int = 50257
    block_size: int = 1024
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768
    dropout: float = 0.0
    bias: bool = True
    tie_weights: bool = True
    padded_vocab_size: int | None = None

    def __post_init__(self) -> None:
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                raise ConfigError(f"GPT2Config: expected {name} of at least 1, found {getattr(self, name)}")
        if self.n_embd % self.n_head:
            raise ConfigError(f"GPT2Config: expected n_embd divisible by n_head, found {self.n_embd} and {self.n_head}")
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"GPT2Config: expected dropout in [0, 1), found {self.dropout}")
        if self.padded_vocab_size is not None and self.padded_vocab_size < self.vocab_size:
            raise ConfigError(
                f"GPT2Config: expected padded_vocab_size of at least vocab_size {self.vocab_size}, found "
                f"{self.padded_vocab_size}"
            )

    @property
    def rows(self) -> int:
        """Rows of the embedding, padding included."""
        return self.padded_vocab_size or self.vocab_size

    def as_dict(self) -> dict[str, Any]:
        """Give the settings by name, as a checkpoint keeps them."""
        return asdict(self)


class Attention(Module):
    """Causal self-attention with H heads."""

    def __init__(self, config: GPT2Config, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.n_head = config.n_head
        self.dropout = config.dropout
        self.c_attn = Linear(config.n_embd, 3 * config.n_embd, config.bias, device, dtype, reset=False)
        self.c_proj = Linear(config.n_embd, config.n_embd, config.bias, device, dtype, reset=False)
        self.resid_dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        batch, time, channels = x.shape
        heads = (batch, time, self.n_head, channels // self.n_head)
        q, k, v = (part.view(heads).transpose(1, 2) for part in self.c_attn(x).split(channels, 2))  # (B, H, T, D)
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        y = y.transpose(1, 2).reshape(x.shape)  # (B, T, C)
        result: Tensor = self.resid_dropout(self.c_proj(y))
        return result


class MLP(Module):
    """Two linear layers of width 4 C with GELU between."""

    def __init__(self, config: GPT2Config, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.c_fc = Linear(config.n_embd, 4 * config.n_embd, config.bias, device, dtype, reset=False)
        self.gelu = GELU(approximate="tanh")
        self.c_proj = Linear(4 * config.n_embd, config.n_embd, config.bias, device, dtype, reset=False)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        result: Tensor = self.dropout(self.c_proj(self.gelu(self.c_fc(x))))
        return result


class Block(Module):
    """Attention and MLP, each behind a norm and added to what it was given."""

    def __init__(self, config: GPT2Config, device: Device | str | None, dtype: DType | None) -> None:
        super().__init__()
        self.ln_1 = LayerNorm(config.n_embd, bias=config.bias, device=device, dtype=dtype)
        self.attn = Attention(config, device, dtype)
        self.ln_2 = LayerNorm(config.n_embd, bias=config.bias, device=device, dtype=dtype)
        self.mlp = MLP(config, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        x = x + self.attn(self.ln_1(x))
        result: Tensor = x + self.mlp(self.ln_2(x))
        return result


class GPT2(LanguageModel):
    """A GPT-2 with the published initialisation: N(0, 0.02), divided by sqrt(2 n_layer) where a branch is added.

    Args:
        config: Sizes.
        device: Where parameters live; the current device if None.
        dtype: float32 if None.
        generator: Where first values come from; the default one if None.
    """

    config: GPT2Config

    def __init__(
        self,
        config: GPT2Config,
        device: Device | str | None = None,
        dtype: DType | None = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.wte = Embedding(config.rows, config.n_embd, device=device, dtype=dtype, reset=False)
        self.wpe = Embedding(config.block_size, config.n_embd, device=device, dtype=dtype, reset=False)
        self.drop = Dropout(config.dropout)
        self.h = ModuleList(Block(config, device, dtype) for _ in range(config.n_layer))
        self.ln_f = LayerNorm(config.n_embd, bias=config.bias, device=device, dtype=dtype)
        self.lm_head = Linear(config.n_embd, config.rows, False, device, dtype, reset=False)
        if config.tie_weights:
            self.lm_head.weight = self.wte.weight
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw first values anew, in the order of the parameters' names."""
        branch = 0.02 / sqrt(2 * self.config.n_layer)
        for name, parameter in self.named_parameters():
            if ".ln_" in name or name.startswith("ln_"):
                init.constant_(parameter, float(name.endswith("weight")))
            elif name.endswith("bias"):
                init.zeros_(parameter)
            else:
                init.normal_(parameter, 0.0, branch if name.endswith("c_proj.weight") else 0.02, generator)

    def num_parameters(self, positions: bool = True) -> int:
        """Count the parameters, the shared ones once; without the position table if `positions` is false."""
        count = sum(parameter.numel() for parameter in self.parameters())
        return count if positions else count - self.wpe.weight.numel()

    def hidden(self, idx: Tensor) -> Tensor:
        """Give what the head reads: (B, T) -> (B, T, C).

        Raises: ShapeError for an idx that is not (B, T), or longer than the block.
        """
        self._check_tokens(idx)
        positions = arange(idx.shape[1], device=idx.device)  # (T,)
        x = self.drop(self.wte(idx) + self.wpe(positions))  # (B, T, C)
        for block in self.h:
            x = block(x)
        result: Tensor = self.ln_f(x)
        return result

    def logits(self, hidden: Tensor) -> Tensor:
        """Give the scores of the tokens that exist: (..., C) -> (..., V)."""
        scores: Tensor = self.lm_head(hidden)  # (..., rows)
        if self.config.rows == self.config.vocab_size:
            return scores
        return scores[..., : self.config.vocab_size]
