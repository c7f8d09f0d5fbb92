"""Embedding table."""

from __future__ import annotations

from infinitrain.autograd import no_grad
from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import ConfigError
from infinitrain.nn import functional as F
from infinitrain.nn import init
from infinitrain.nn.linear import new_parameter
from infinitrain.nn.module import Module
from infinitrain.nn.parameter import Parameter
from infinitrain.random import Generator
from infinitrain.tensor import Tensor

__all__ = ["Embedding"]


class Embedding(Module):
    """Rows of a table by index.

    Shapes: index (...) int64 -> (..., C); weight (V, C).
    First values: N(0, 1), the padding row 0. The padding row gets no gradient.

    Args:
        num_embeddings: V.
        embedding_dim: C.
        padding_idx: A row in [-V, V) that stands for nothing, or None.
        device: Where the table lives.
        dtype: float32 if None.
        generator: Where first values come from.
        reset: Whether to draw first values; else they are undefined.

    Raises: ConfigError for a padding row outside the table.
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        device: Device | str | None = None,
        dtype: DType | None = None,
        generator: Generator | None = None,
        reset: bool = True,
    ) -> None:
        super().__init__()
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ConfigError(
                    f"Embedding: expected padding_idx in [{-num_embeddings}, {num_embeddings}), found {padding_idx}"
                )
            padding_idx %= num_embeddings
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.weight = new_parameter((num_embeddings, embedding_dim), device, dtype)
        if reset:
            self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw first values anew."""
        init.normal_(self.weight, generator=generator)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].zero_()

    def forward(self, index: Tensor) -> Tensor:
        """(...) -> (..., C)."""
        return F.embedding(index, self.weight, padding_idx=self.padding_idx)

    def extra_repr(self) -> str:
        """Give sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
