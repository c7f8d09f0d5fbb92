"""One launch to try: operands, outputs and attributes of a row; and what it has to give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from infinitrain_capi.table import Operand

from infinitrain.dtype import DType, parse
from infinitrain.testing.conformance.layout import Array

__all__ = ["Case", "Expected", "Output", "dtype_of"]


@dataclass(frozen=True, slots=True)
class Output:
    """An output before the launch: its shape, or for an `inout` one what it holds."""

    array: Array
    read: bool = False

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Output:
        """An output that the kernel writes in full."""
        return cls(np.zeros(shape, dtype))


@dataclass(frozen=True, slots=True)
class Case:
    """One launch of a row.

    Attributes:
        label: What is special about it, for the message.
        inputs: In schema order; None where an optional operand is absent. A dimension that is broadcast has stride 0.
        outputs: In schema order; None where an optional output is absent.
        attributes: In schema order, all of them.
        tags: "empty", "zero-d", "optional", "broadcast": which sentences of the header it is about.
    """

    label: str
    inputs: tuple[Array | None, ...]
    outputs: tuple[Output | None, ...]
    attributes: tuple[int | float | bool, ...] = ()
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Expected:
    """What one output has to hold.

    Attributes:
        value: In the output's dtype where every bit is determined, else in float64.
        magnitude: Sum of the magnitudes of the terms, by which the absolute tolerance of a reduction is scaled.
        any_zero: +0 and -0 are both right.
        raw: Compared bit by bit: a NaN keeps its bits.
    """

    value: Array
    magnitude: Array | None = None
    any_zero: bool = False
    raw: bool = False


def dtype_of(operand: Operand, t: str, u: str) -> DType:
    """Give the dtype of an operand or output when T is `t` and U is `u`."""
    if operand.type == "T":
        return parse(t)
    if operand.type == "U":
        return parse(u)
    if operand.type == "A":
        return parse(t).accumulator
    return parse(operand.type)
