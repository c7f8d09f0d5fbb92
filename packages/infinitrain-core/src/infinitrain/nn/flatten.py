"""Flattening as a module."""

from __future__ import annotations

from infinitrain.nn.module import Module
from infinitrain.tensor import Tensor

__all__ = ["Flatten"]


class Flatten(Module):
    """Makes the dimensions from `start_dim` to `end_dim`, inclusive, one: all but the first by default."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Tensor) -> Tensor:
        """(N, ...) -> (N, the product of the rest)."""
        return x.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Give the dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
