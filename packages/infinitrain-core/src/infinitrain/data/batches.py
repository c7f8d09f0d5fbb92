"""Batches of token ids: a pure function of seed and step, so that a resumed run sees what the unbroken one saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from infinitrain.errors import DataError

__all__ = ["Batches", "Split"]


@dataclass(frozen=True, slots=True)
class Split:
    """Inputs and targets of one batch, int64 (B, T); targets are the inputs one token later."""

    inputs: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]


class Batches:
    """Random windows of a token array for training, and every window once for validation.

    Args:
        tokens: Token ids, (N,).
        batch_size: Rows of a batch.
        seq_len: Tokens of a row.
        seed: Fixes the order of all batches.

    Raises: DataError if the data is shorter than one row.
    """

    def __init__(self, tokens: npt.NDArray[Any], batch_size: int, seq_len: int, seed: int = 0) -> None:
        if len(tokens) < seq_len + 1:
            raise DataError(
                f"the data has {len(tokens)} tokens here: expected at least seq_len + 1 = {seq_len + 1}. "
                "Give more text, or a smaller --seq-len"
            )
        self.tokens = tokens
        self.batch_size = batch_size
        self.seq_len = seq_len
        self.seed = seed

    def at(self, index: int) -> Split:
        """Give the batch of an index: row starts are drawn from (seed, index) alone."""
        generator = np.random.Generator(np.random.Philox(key=self.seed, counter=index << 64))
        starts = generator.integers(0, len(self.tokens) - self.seq_len, self.batch_size)
        return self._rows(starts)

    def in_order(self, limit: int | None = None) -> Iterator[Split]:
        """Give windows side by side, each token predicted once; the last batch may have fewer rows.

        Args:
            limit: At most so many batches, spread evenly over the data; None for all.
        """
        starts = np.arange(0, len(self.tokens) - self.seq_len, self.seq_len)
        groups = [starts[begin : begin + self.batch_size] for begin in range(0, len(starts), self.batch_size)]
        if limit is not None and len(groups) > limit:
            groups = [groups[position * len(groups) // limit] for position in range(limit)]
        for group in groups:
            yield self._rows(group)

    def _rows(self, starts: npt.NDArray[Any]) -> Split:
        rows = self.tokens[starts[:, None] + np.arange(self.seq_len + 1)].astype(np.int64)
        return Split(np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, 1:]))
