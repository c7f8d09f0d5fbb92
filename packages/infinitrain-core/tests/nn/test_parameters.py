from __future__ import annotations

import infinitrain as it
import pytest
from infinitrain.nn import Parameter, ParameterDict, ParameterList


def test_list():
    first = Parameter(it.ones(2))
    rows = ParameterList([first, it.zeros(3)])
    rows[1] = it.ones(4)

    assert rows[0] is first
    assert rows[-1] is rows[1]
    assert [each.shape for each in rows] == [(2,), (4,)]
    assert all(each.requires_grad for each in rows.parameters())
    assert list(rows.state_dict()) == ["0", "1"]
    with pytest.raises(IndexError, match=r"expected an index in \[-2, 2\), found 2"):
        rows[2]


def test_dictionary():
    named = ParameterDict({"b": it.ones(2), "a": it.ones(3)})
    named["b"] = it.zeros(1)

    assert named.keys() == ["b", "a"]
    assert named["b"].shape == (1,)
    assert "a" in named
    assert list(named) == ["b", "a"]
    assert named.pop("a").shape == (3,)
    assert [key for key, _ in named.items()] == ["b"]
    assert len(named.values()) == len(named) == 1
    with pytest.raises(KeyError, match="expected one of b, found 'a'"):
        named["a"]


def test_moved_with_the_model(device):
    rows = ParameterList([it.ones(2)]).to(device)

    assert str(rows[0].device).startswith(device)
    assert isinstance(rows[0], Parameter)
