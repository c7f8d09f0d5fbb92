"""The launches that are tried for each row: odd sizes, size 1, nothing, 0-d, special values, every optional tensor.

A function takes (row, T, U) and yields `Case`s. The registry has a function for every row; a row without one is a
failing test. Cases are the same in every run: their random numbers come from the names.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.driver import TABLE
from infinitrain.testing.conformance.reference import expect

__all__ = ["CASES", "cases", "cases_of", "dtype_pairs", "rng_of"]

Maker = Callable[[KernelRow, str, str], Iterator[Case]]
CASES: dict[str, Maker] = {}


def cases_of(*names: str) -> Callable[[Maker], Maker]:
    """Register a function as the maker of cases of kernels."""

    def register(function: Maker) -> Maker:
        CASES.update(dict.fromkeys(names, function))
        return function

    return register


def rng_of(*words: str) -> np.random.Generator:
    """Give random numbers that depend on names only."""
    return np.random.default_rng(zlib.crc32(" ".join(words).encode()))


def dtype_pairs(row: KernelRow) -> list[tuple[str, str]]:
    """List every (T, U) that a row is defined for; "" where it has no T or U."""
    return [(t, u) for t in row.dtypes or ("",) for u in row.other_dtypes or ("",)]


@cache
def cases(name: str, t: str, u: str) -> tuple[tuple[Case, list[Expected | None]], ...]:
    """Make the cases of a row for these dtypes, each with what it has to give."""
    with np.errstate(all="ignore"):
        made = tuple(CASES[name](TABLE[name], t, u))
    return tuple((case, expect(name, case)) for case in made)


for _module in (
    *("base", "elementwise", "functions", "gemm", "images", "index"),
    *("optim", "products", "random", "reduce", "rows", "sort"),
):
    import_module(f"{__name__}.{_module}")
