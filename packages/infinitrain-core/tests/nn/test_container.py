from __future__ import annotations

import infinitrain as it
import pytest
from infinitrain.nn import GELU, Linear, ModuleDict, ModuleList, ReLU, Sequential, Tanh


def test_sequential_calls_in_order():
    model = Sequential(Linear(1, 1), ReLU())
    with it.no_grad():
        model[0].weight.fill_(-1.0)
        model[0].bias.fill_(0.0)

    assert model(it.tensor([[2.0], [-3.0]])).tolist() == [[0.0], [3.0]]


def test_sequential_by_name():
    model = Sequential({"a": ReLU(), "b": Tanh()})

    assert [name for name, _ in model.named_children()] == ["a", "b"]
    assert isinstance(model[1], Tanh)


def test_slices_share_modules():
    model = Sequential(ReLU(), Tanh(), GELU())
    part = model[1:]

    assert isinstance(part, Sequential)
    assert list(part) == [model[1], model[2]]
    assert model[-1] is model[2]


def test_list_changes_keep_names_in_order():
    parts = ModuleList([ReLU()])
    parts.append(Tanh())
    parts.extend([GELU()])
    parts.insert(1, Linear(1, 1))
    del parts[0]
    parts[0] = Linear(2, 2)

    assert [name for name, _ in parts.named_children()] == ["0", "1", "2"]
    assert [type(part).__name__ for part in parts] == ["Linear", "Tanh", "GELU"]
    assert parts[0].in_features == 2
    assert [name for name, _ in parts.named_parameters()] == ["0.weight", "0.bias"]
    assert len(parts) == 3


def test_same_module_twice_counts_once():
    layer = Linear(1, 1)
    parts = ModuleList([layer, layer])

    assert len(parts) == 2
    assert len(list(parts.parameters())) == 2


def test_index_out_of_range():
    with pytest.raises(IndexError, match=r"ModuleList: expected an index in \[-1, 1\), found 1"):
        ModuleList([ReLU()])[1]


def test_dict():
    parts = ModuleDict({"a": Linear(1, 1), "b": ReLU()})
    parts["c"] = Tanh()
    taken = parts.pop("b")

    assert isinstance(taken, ReLU)
    assert parts.keys() == list(parts) == ["a", "c"]
    assert [name for name, _ in parts.items()] == ["a", "c"]
    assert len(parts.values()) == len(parts) == 2
    assert "a" in parts
    assert "b" not in parts
    assert [name for name, _ in parts.named_parameters()] == ["a.weight", "a.bias"]


def test_dict_errors():
    parts = ModuleDict()

    with pytest.raises(KeyError, match="expected one of no key, found 'x'"):
        parts["x"]
    with pytest.raises(KeyError, match="attribute 'keys' exists already"):
        parts["keys"] = ReLU()
