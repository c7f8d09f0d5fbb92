"""One large launch of each kernel, of a size that models have, to measure it by."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from infinitrain_capi.table import KernelRow

from infinitrain.testing.conformance.case import Case, Output, dtype_of
from infinitrain.testing.conformance.cases import CASES

__all__ = ["MANY", "Workload", "dtypes_of", "workload"]

#: Elements of an elementwise launch: 16 MB in float32.
MANY = 1 << 22
#: Sizes of the letters in SHAPES.
SIZES = {"R": 1024, "C": 1024, "O": 1024, "I": 1024, "M": 512, "N": 512, "K": 512, "V": 8192, "L": 256, "Q": 256}
#: The shapes of inputs and outputs of kernels whose operands differ in shape; 4 stands for a batch of 4.
SHAPES: dict[str, tuple[str, ...]] = {
    "MatmulForward": ("MK", "KN", "MN"),
    "LinearForward": ("RI", "OI", "O", "RO"),
    "LinearBackwardInput": ("RO", "OI", "RI"),
    "LinearBackwardWeight": ("RI", "RO", "OI"),
    "LinearBackwardBias": ("RO", "O"),
    "SoftmaxForward": ("RC", "RC"),
    "SoftmaxBackward": ("RC", "RC", "RC"),
    "CausalSoftmaxForward": ("4LQ", "4LQ"),
    "CausalSoftmaxBackward": ("4LQ", "4LQ", "4LQ"),
    "LayerNormForward": ("RC", "C", "C", "RC", "R", "R"),
    "LayerNormBackward": ("RC", "C", "R", "R", "RC", "RC", "C", "C"),
    "CrossEntropyForward": ("LV", "L", "L", "L"),
    "CrossEntropyBackward": ("LV", "L", "L", "L", "LV"),
    "EmbeddingForward": ("R", "VC", "RC"),
    "EmbeddingBackward": ("R", "RC", "VC"),
}
#: Multiplications and additions of products, by their letters.
FLOPS = {
    "MatmulForward": "MNK",
    "LinearForward": "ROI",
    "LinearBackwardInput": "ROI",
    "LinearBackwardWeight": "ROI",
}
#: What is read and written where that is not all of the operands: the rows that are looked up.
TOUCHED = {"EmbeddingForward": ("R", "RC", "RC"), "EmbeddingBackward": ("R", "RC", "VC")}


@dataclass(frozen=True, slots=True)
class Workload:
    """A launch, the bytes of all its operands and outputs, and the floating-point operations of a product."""

    name: str
    dtype: str
    label: str
    case: Case
    nbytes: int
    flops: int


def dtypes_of(row: KernelRow) -> tuple[str, ...]:
    """Give the dtypes that a row is measured in: float32, and for products bfloat16 too; "" for a row without T."""
    if not row.dtypes:
        return ("",)
    wanted = ("f32", "bf16") if row.name in FLOPS else ("f32",) if "f32" in row.dtypes else row.dtypes[:1]
    return tuple(dtype for dtype in wanted if dtype in row.dtypes)


def workload(row: KernelRow, t: str) -> Workload | None:
    """Make the launch of a row for a dtype of T; None where the table says too little to make one."""
    shapes = SHAPES.get(row.name)
    if shapes is not None:
        sizes = [tuple(SIZES.get(letter, 4) for letter in shape) for shape in shapes]
        case = _of_shapes(row, t, sizes)
        label = " ".join("x".join(str(size) for size in shape) for shape in sizes)
    elif row.same_rank:
        count = len(row.inputs) + len(row.outputs)
        case, label = _of_shapes(row, t, [(MANY,)] * count), f"{MANY} elements"
    else:
        largest = max(
            CASES[row.name](row, t, row.other_dtypes[0] if row.other_dtypes else ""), key=_nbytes, default=None
        )
        if largest is None or not _nbytes(largest):
            return None
        case, label = largest, largest.label
    flops = 2 * prod(SIZES[letter] for letter in FLOPS[row.name]) if row.name in FLOPS else 0
    nbytes = _nbytes(case)
    if row.name in TOUCHED:
        operands = zip((*row.inputs, *row.outputs), TOUCHED[row.name], strict=True)
        nbytes = sum(
            dtype_of(each, t, "").itemsize * prod(SIZES[letter] for letter in shape) for each, shape in operands
        )
    return Workload(row.name, t, label, case, nbytes, flops)


def _of_shapes(row: KernelRow, t: str, shapes: list[tuple[int, ...]]) -> Case:
    u = row.other_dtypes[0] if row.other_dtypes else ""
    arrays = [
        _values(shape, dtype_of(operand, t, u).numpy)
        for operand, shape in zip((*row.inputs, *row.outputs), shapes, strict=True)
    ]
    count = len(row.inputs)
    outputs = tuple(Output(array) for array in arrays[count:])
    return Case("", tuple(arrays[:count]), outputs, _attributes(row))


def _values(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Give numbers that are in every function's domain, and valid as indices: 0 and 1 by turns, or around a half."""
    count = prod(shape)
    if dtype.kind in "iub":
        return (np.arange(count) % 2).astype(dtype).reshape(shape)
    return (0.25 + (np.arange(count) % 64) / 128).astype(dtype).reshape(shape)


def _attributes(row: KernelRow) -> tuple[int | float | bool, ...]:
    found: list[Any] = []
    for attribute in row.attributes:
        if attribute.default is not None:
            found.append(attribute.default)
        else:
            found.append(0.5 if attribute.kind in ("f64", "scalar") else 0)
    return tuple(found)


def _nbytes(case: Case) -> int:
    arrays = (*case.inputs, *(None if each is None else each.array for each in case.outputs))
    return sum(array.nbytes for array in arrays if array is not None)
