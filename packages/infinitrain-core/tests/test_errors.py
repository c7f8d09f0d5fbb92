"""The tree of errors is the one that its module draws."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest
from infinitrain import errors

CLASSES = [getattr(errors, name) for name in errors.__all__]


def test_every_error_is_listed_and_drawn():
    defined = {name for name, each in inspect.getmembers(errors, inspect.isclass) if each.__module__ == errors.__name__}

    assert set(errors.__all__) == defined
    for name in defined:
        assert re.search(rf"\b{name}\b", errors.__doc__)


@pytest.mark.parametrize("each", CLASSES)
def test_each_is_an_infinitrain_error_and_the_builtin_that_is_drawn(each):
    assert issubclass(each, errors.InfinitrainError)
    line = next(line for line in errors.__doc__.splitlines() if re.search(rf"\b{each.__name__}\b", line))
    builtin = re.search(r"\((\w+)\)", line)
    if builtin:
        assert issubclass(each, getattr(__builtins__, builtin[1], None) or __builtins__[builtin[1]])


@pytest.mark.parametrize("each", CLASSES)
def test_the_message_is_what_is_printed_and_travels_between_processes(each):
    error = each("what failed: expected a, found b")

    assert str(error) == "what failed: expected a, found b"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
