from __future__ import annotations

import infinitrain as it
from infinitrain.nn import functional as F


def test_every_listed_function_is_there_and_defined_once():
    for name in F.__all__:
        function = getattr(F, name)
        assert function.__module__.startswith("infinitrain.ops.")
        assert getattr(it, name, function) is function
