from __future__ import annotations

import copy
import pickle

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import DTypeError
from infinitrain.nn import Parameter
from infinitrain.nn.parameter import replace_memory


def test_parameter_shares_memory_and_requires_grad(device):
    data = it.tensor([1.0, 2.0], device=device)
    parameter = Parameter(data)
    data.fill_(5.0)

    assert parameter.requires_grad
    assert parameter.is_leaf
    assert parameter.tolist() == [5.0, 5.0]


def test_parameter_of_integers_needs_requires_grad_false():
    data = it.tensor([1, 2])

    with pytest.raises(DTypeError, match="expected a floating-point tensor, found int64"):
        Parameter(data)
    assert not Parameter(data, requires_grad=False).requires_grad


def test_parameter_survives_deepcopy_and_pickle(device):
    parameter = Parameter(it.tensor([1.0, 2.0], device=device))

    for copied in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert type(copied) is Parameter
        assert copied.requires_grad
        assert str(copied.device) == str(parameter.device)
        assert copied.tolist() == [1.0, 2.0]
        assert copied.data_ptr() != parameter.data_ptr()


def test_replace_memory_keeps_the_object(device):
    parameter = Parameter(it.zeros(2, 3, device=device))
    replace_memory(parameter, it.ones(2, 3, dtype=it.float64, device=device))

    assert parameter.dtype is it.float64
    assert parameter.requires_grad
    np.testing.assert_array_equal(parameter.detach().numpy(), np.ones((2, 3)))


def test_repr_says_what_it_is():
    assert repr(Parameter(it.zeros(1))).startswith("Parameter containing:\n")
