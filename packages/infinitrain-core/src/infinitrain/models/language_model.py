"""What every language model does with its logits: the loss, and going on writing. B batch, T time, V vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from infinitrain import dtype as dt
from infinitrain.autograd import no_grad
from infinitrain.errors import ConfigError, ShapeError
from infinitrain.nn import functional as F
from infinitrain.nn.module import Module
from infinitrain.ops.create import tensor
from infinitrain.ops.shape import cat
from infinitrain.random import Generator, rand
from infinitrain.tensor import Tensor

__all__ = ["LanguageModel", "ModelConfig"]


class ModelConfig(Protocol):
    """What every model's configuration says."""

    @property
    def vocab_size(self) -> int:
        """V, tokens that exist."""

    @property
    def block_size(self) -> int:
        """The longest sequence, in tokens."""

    def as_dict(self) -> dict[str, Any]:
        """Give the settings by name, as a checkpoint keeps them."""


class LanguageModel(Module):
    """A model that gives the scores of the next token; a subclass writes `hidden` and `logits`."""

    config: ModelConfig

    def hidden(self, idx: Tensor) -> Tensor:
        """Give what the head reads: (B, T) -> (B, T, C)."""
        raise NotImplementedError

    def logits(self, hidden: Tensor) -> Tensor:
        """Give the scores of the tokens that exist: (..., C) -> (..., V)."""
        raise NotImplementedError

    def extra_loss(self) -> Tensor | None:
        """Give what training adds to the loss of the last forward, if anything."""
        return None

    def num_parameters(self) -> int:
        """Count the parameters, the shared ones once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def _check_tokens(self, idx: Tensor) -> None:
        if idx.ndim != 2 or not 1 <= idx.shape[1] <= self.config.block_size:
            raise ShapeError(
                f"{type(self).__name__}: expected tokens (B, T) with T in [1, {self.config.block_size}], "
                f"found shape {idx.shape}"
            )

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Give logits and, with targets, the mean cross-entropy over targets other than -100.

        Shapes: idx (B, T) int64, targets (B, T) int64 -> (B, T, V), ().
        """
        logits = self.logits(self.hidden(idx))
        if targets is None:
            return logits, None
        if targets.shape != idx.shape:
            raise ShapeError(f"{type(self).__name__}: expected targets of shape {idx.shape}, found {targets.shape}")
        loss = F.cross_entropy(logits.reshape(-1, self.config.vocab_size), targets.reshape(-1))
        extra = self.extra_loss() if self.training else None
        return logits, loss if extra is None else loss + extra

    def generate(
        self,
        idx: Tensor,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_k: int | None = None,
        generator: Generator | None = None,
        on_token: Callable[[Tensor], None] | None = None,
    ) -> Tensor:
        """Go on writing: (B, T) -> (B, T + max_new_tokens), in evaluation mode and without gradients.

        Only the last `block_size` tokens are seen. Tokens are drawn on the host in float64, so that the same
        generator gives the same text wherever the logits agree.

        Args:
            idx: Tokens to begin with, at least one.
            max_new_tokens: How many to add.
            temperature: Divides the logits; 0 takes the most likely token (the first of equals).
            top_k: Draw among the k most likely tokens only; equals of the k-th are all kept.
            generator: Where the draws come from; the default one if None.
            on_token: Called with each new (B, 1).

        Raises: ConfigError for a negative temperature or a top_k below 1; ShapeError as `hidden`.
        """
        if not temperature >= 0.0 or (top_k is not None and top_k < 1):
            raise ConfigError(
                f"generate: expected temperature of at least 0 and top_k of at least 1, found {temperature} and {top_k}"
            )
        was_training = self.training
        self.eval()
        try:
            with no_grad():
                for _ in range(max_new_tokens):
                    seen = idx[:, -self.config.block_size :]
                    scores = self.logits(self.hidden(seen)[:, -1])  # (B, V)
                    chosen = _choose(scores.to(dt.float64).cpu().numpy(), temperature, top_k, generator)
                    token = tensor(chosen[:, None], device=idx.device)  # (B, 1)
                    if on_token is not None:
                        on_token(token)
                    idx = cat([idx, token], 1)
        finally:
            self.train(was_training)
        return idx


def _choose(scores: Any, temperature: float, top_k: int | None, generator: Generator | None) -> Any:
    """Draw one token for each row: (B, V) float64 -> (B,) int64."""
    if temperature == 0.0:
        return scores.argmax(axis=1)
    scores = scores / temperature
    if top_k is not None and top_k < scores.shape[1]:
        least = np.partition(scores, -top_k, axis=1)[:, -top_k, None]
        scores = np.where(scores < least, -np.inf, scores)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    sums = np.cumsum(shares, axis=1)
    draws = rand(scores.shape[0], dtype=dt.float64, device="cpu", generator=generator).numpy()
    # The first token whose running sum exceeds the draw; tokens of share 0 are never it.
    return (sums > draws[:, None] * sums[:, -1:]).argmax(axis=1)
