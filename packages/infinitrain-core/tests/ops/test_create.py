"""New tensors from values and rules: what is refused, and how."""

from __future__ import annotations

import infinitrain as it
import pytest


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_full_refuses_an_integer_that_does_not_fit(device, dtype):
    with pytest.raises(OverflowError, match=f"full: expected an integer that {dtype} can hold"):
        it.full((2,), 2**63, dtype=dtype, device=device)


def test_full_of_a_float_takes_any_integer(device):
    assert it.full((2,), 2**70, dtype="float64", device=device).tolist() == [2.0**70] * 2


def test_arange_refuses_what_has_no_length():
    with pytest.raises(ValueError, match="expected finite numbers"):
        it.arange(0, float("nan"))
    with pytest.raises(OverflowError, match="arange: expected an integer that int64 can hold"):
        it.arange(0, 2**63)


def test_sizes_are_integers():
    with pytest.raises(it.errors.ShapeError, match="expected integers"):
        it.zeros(1.5)
    with pytest.raises(it.errors.ShapeError, match="expected integers"):
        it.zeros((2, 1.5))
