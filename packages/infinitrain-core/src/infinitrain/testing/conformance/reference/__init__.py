"""What each row of the kernel table has to give, computed with NumPy in float64, or exactly where it is determined.

A function takes a `Case` and gives one `Expected` for each output that is present. The registry has a function for
every row; a row without one is a failing test.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected

__all__ = ["REFERENCES", "expect", "reference"]

Reference = Callable[[Case], list[Expected | None]]
REFERENCES: dict[str, Reference] = {}


def reference(*names: str) -> Callable[[Reference], Reference]:
    """Register a function as the reference of kernels."""

    def register(function: Reference) -> Reference:
        REFERENCES.update(dict.fromkeys(names, function))
        return function

    return register


def expect(name: str, case: Case) -> list[Expected | None]:
    """Compute what a launch of a row has to give."""
    with np.errstate(all="ignore"):
        return REFERENCES[name](case)


for _module in (
    *("base", "elementwise", "functions", "gemm", "images", "index"),
    *("optim", "products", "random", "reduce", "rows", "sort"),
):
    import_module(f"{__name__}.{_module}")
