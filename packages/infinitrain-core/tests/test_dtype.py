"""Element types against NumPy and the array API's promotion tables."""

from __future__ import annotations

import copy
import itertools
import pickle

import ml_dtypes
import numpy as np
import pytest
from infinitrain import dtype as dt
from infinitrain.errors import DTypeError

NUMPY_TYPES = [each for each in dt.ALL if each is not dt.bfloat16]


def kind(each):
    return "f" if each.is_floating_point else "b" if each.is_bool else "i"


PAIRS = list(itertools.product(NUMPY_TYPES, NUMPY_TYPES))
SAME_KIND = [
    (a, b)
    for a, b in PAIRS
    if (kind(a) == kind(b) or "b" in (kind(a), kind(b))) and not (dt.uint64 in (a, b) and (a.is_signed or b.is_signed))
]


@pytest.mark.parametrize(("a", "b"), SAME_KIND, ids=str)
def test_promotion_within_a_kind_is_numpys(a, b):
    expected = dt.from_numpy(np.promote_types(a.numpy, b.numpy))

    assert dt.promote_types(a, b) is expected


@pytest.mark.parametrize(("a", "b"), [(a, b) for a, b in PAIRS if {kind(a), kind(b)} == {"f", "i"}], ids=str)
def test_a_float_wins_over_integers(a, b):
    expected = a if a.is_floating_point else b

    assert dt.promote_types(a, b) is expected


def test_half_types_meet_in_float32():
    assert dt.promote_types(dt.bfloat16, dt.float16) is dt.float32
    assert dt.promote_types(dt.bfloat16, dt.bfloat16) is dt.bfloat16
    assert dt.promote_types(dt.bfloat16, dt.float64) is dt.float64


def test_uint64_with_signed_has_no_type():
    with pytest.raises(DTypeError, match="no integer type holds both"):
        dt.promote_types(dt.uint64, dt.int8)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((dt.uint8, 2), dt.uint8),
        ((dt.uint8, 2.0), dt.float32),
        ((dt.bool_, 2), dt.int64),
        ((dt.bool_, True), dt.bool_),
        ((dt.bfloat16, 2.0), dt.bfloat16),
        ((dt.float16, 3), dt.float16),
        ((dt.float64, 1.0, dt.float32), dt.float64),
        ((1, 2.0), dt.float32),
        ((True, 3), dt.int64),
    ],
)
def test_python_scalars_are_weak(operands, expected):
    assert dt.result_type(*operands) is expected


def test_bits_are_those_of_the_header():
    from infinitrain._native import lib

    names = ["BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "BF16", "F16", "F32", "F64"]

    assert [each.bit for each in dt.ALL] == [getattr(lib, f"ITP_DT_{name}") for name in names]
    assert [each.short.upper() for each in dt.ALL] == names


@pytest.mark.parametrize("each", dt.ALL, ids=str)
def test_names_numpy_and_copies_give_the_same_object(each):
    assert dt.parse(each.name) is dt.parse(each.short) is dt.parse(each.numpy) is each
    assert copy.deepcopy(each) is each
    assert pickle.loads(pickle.dumps(each)) is each
    assert each.itemsize == each.numpy.itemsize


def test_python_types_and_numpy_classes_parse():
    assert dt.parse(float) is dt.float32
    assert dt.parse(int) is dt.int64
    assert dt.parse(bool) is dt.bool_
    assert dt.parse(np.float64) is dt.float64
    assert dt.parse(ml_dtypes.bfloat16) is dt.bfloat16


@pytest.mark.parametrize("spec", ["float31", "complex64", np.complex64, np.dtype(">f4"), "U3", object()])
def test_unknown_types_are_refused(spec):
    with pytest.raises(DTypeError, match="expected one of"):
        dt.parse(spec)
