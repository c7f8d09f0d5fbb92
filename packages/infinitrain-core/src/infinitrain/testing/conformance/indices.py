"""Launches with one index out of range: which index, which bound, at which position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infinitrain.testing.conformance.case import Case, Output
from infinitrain.testing.conformance.layout import Array

__all__ = ["INDEXED", "Wrong", "bad_index"]

INDEXED = (
    *("CrossEntropyForward", "CrossEntropyBackward", "EmbeddingForward", "EmbeddingBackward"),
    *("GatherForward", "GatherBackward", "ScatterForward", "VocabParallelCrossEntropyBackward"),
)


@dataclass(frozen=True, slots=True)
class Wrong:
    """The index that is out of range.

    Attributes:
        index: Its value.
        bound: It has to be in [0, bound).
        position: Where it stands, counted over all elements.
        place: Where it stands, by dimension.
    """

    index: int
    bound: int
    position: int
    place: tuple[int, ...]


def bad_index(rng: np.random.Generator, name: str, trial: int) -> tuple[Case, Wrong]:
    """Make a launch with one bad index: negative, just too large, huge."""
    bound, n, columns = int(rng.integers(40, 60)), int(rng.integers(70, 90)), 3
    bad = (bound, -1, bound + 1, -7, 2**40, -(2**62), bound + 123, 2**63 - 1)[trial % 8]
    # Two-dimensional for gather and scatter along dimension 1; rows otherwise.
    shape = (2, n) if name.startswith(("Gather", "Scatter")) else (n,)
    index = rng.integers(0, bound, shape)
    position = (0, index.size - 1, int(rng.integers(0, index.size)))[min(trial, 2)]
    index.flat[position] = bad
    place = tuple(int(i) for i in np.unravel_index(position, shape))
    wrong = Wrong(bad, bound, position, place)

    def floats(*size: int) -> Array:
        return rng.standard_normal(size).astype(np.float32)

    def empty(*size: int) -> Output:
        return Output.empty(size, np.dtype(np.float32))

    index = index.astype(np.int64)
    label = f"index {bad} at {position}, bound {bound}"
    make = {
        "CrossEntropyForward": lambda: Case(label, (floats(n, bound), index), (empty(n), empty(n)), (-100,)),
        "CrossEntropyBackward": lambda: Case(
            label, (floats(n, bound), index, floats(n), floats(n)), (empty(n, bound),), (-100,)
        ),
        "VocabParallelCrossEntropyBackward": lambda: Case(
            label, (floats(n, columns), index, floats(n)), (empty(n, columns),), (0, bound, 0.0, -100)
        ),
        "EmbeddingForward": lambda: Case(label, (index, floats(bound, columns)), (empty(n, columns),)),
        "EmbeddingBackward": lambda: Case(
            label, (index, floats(n, columns)), (Output(floats(bound, columns), read=True),), (False,)
        ),
        "GatherForward": lambda: Case(label, (floats(2, bound), index), (empty(2, n),), (1,)),
        "GatherBackward": lambda: Case(
            label, (floats(2, n), index), (Output(floats(2, bound), read=True),), (1, False)
        ),
        "ScatterForward": lambda: Case(label, (index, floats(2, n)), (Output(floats(2, bound), read=True),), (1,)),
    }
    return make[name](), wrong
