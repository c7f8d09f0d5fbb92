from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import CheckpointError
from infinitrain.nn import Linear, Module, Sequential
from infinitrain.nn.state import ties


class Tied(Module):
    def __init__(self, tied=True):
        super().__init__()
        self.a = Linear(2, 2, bias=False)
        self.b = Linear(2, 2, bias=False)
        if tied:
            self.b.weight = self.a.weight
        self.register_buffer("kept", it.ones(1))
        self.register_buffer("lost", it.ones(1), persistent=False)


def test_state_dict_has_every_name_and_shares_memory():
    model = Tied()
    state = model.state_dict()

    assert list(state) == ["kept", "a.weight", "b.weight"]
    assert state["a.weight"].data_ptr() == state["b.weight"].data_ptr() == model.a.weight.data_ptr()
    assert not state["a.weight"].requires_grad
    assert model.state_dict(keep_vars=True)["a.weight"] is model.a.weight
    assert list(model.state_dict(prefix="m")) == ["m.kept", "m.a.weight", "m.b.weight"]
    assert ties(model) == {"b.weight": "a.weight"}


def test_load_copies_values(device):
    source, target = Sequential(Linear(2, 3)), Sequential(Linear(2, 3)).to(device)
    weight = target[0].weight
    result = target.load_state_dict(source.state_dict())
    source[0].requires_grad_(False)
    source[0].weight.zero_()

    assert result == ([], [])
    assert target[0].weight is weight
    assert weight.detach().numpy().any()


def test_load_converts_to_the_modules_dtype():
    source, target = Linear(2, 2).to(it.float64), Linear(2, 2)
    target.load_state_dict(source.state_dict())

    assert target.weight.dtype is it.float32
    np.testing.assert_array_equal(target.weight.detach().numpy(), source.weight.detach().numpy().astype("f4"))


def test_load_keeps_ties():
    source, target = Tied(), Tied()
    target.load_state_dict(source.state_dict())

    assert target.a.weight is target.b.weight
    np.testing.assert_array_equal(target.b.weight.detach().numpy(), source.a.weight.detach().numpy())


def test_tied_state_fills_an_untied_model():
    source, target = Tied(), Tied(tied=False)
    target.load_state_dict(source.state_dict())

    np.testing.assert_array_equal(target.b.weight.detach().numpy(), source.a.weight.detach().numpy())


def test_untied_state_with_two_values_is_refused_by_a_tied_model():
    source, target = Tied(tied=False), Tied()
    before = target.a.weight.detach().numpy().copy()

    with pytest.raises(CheckpointError, match=r"b\.weight and a\.weight: expected one value, since the model shares"):
        target.load_state_dict(source.state_dict())
    np.testing.assert_array_equal(target.a.weight.detach().numpy(), before)


def test_all_problems_are_named_and_nothing_changes():
    target = Sequential(Linear(2, 3), Linear(3, 1))
    state = Sequential(Linear(2, 3), Linear(4, 1)).state_dict()
    state["0.weight"].fill_(7.0)
    state["extra"] = state.pop("0.bias")

    with pytest.raises(CheckpointError) as caught:
        target.load_state_dict(state)
    message = str(caught.value)
    assert "load_state_dict of Sequential: " in message
    assert "missing keys: 0.bias" in message
    assert "unexpected keys: extra" in message
    assert "1.weight: expected shape (1, 3), found (1, 4)" in message
    assert not (target[0].weight.detach().numpy() == 7.0).any()


def test_not_strict_reports_instead():
    target = Linear(2, 2)
    result = target.load_state_dict({"weight": it.ones(2, 2), "more": it.ones(1)}, strict=False)

    assert result.missing_keys == ["bias"]
    assert result.unexpected_keys == ["more"]
    assert target.weight.detach().numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(CheckpointError, match="weight: expected shape"):
        target.load_state_dict({"weight": it.ones(3, 2)}, strict=False)
