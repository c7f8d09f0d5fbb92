"""Each id in the header has its conformance test, and no test proves an id that is not there."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "capi" / "include" / "infinitrain" / "provider.h"
KIT = ROOT / "packages" / "infinitrain-core" / "src" / "infinitrain" / "testing" / "conformance"


def header_ids() -> list[str]:
    """List the ids in the header's comments, as `rt_04`."""
    return [f"{area.lower()}_{number}" for area, number in re.findall(r"\[ITP-([A-Z]+)-(\d\d)\]", HEADER.read_text())]


def tested_ids() -> set[str]:
    """List the ids that names of conformance tests begin with."""
    found: set[str] = set()
    for path in KIT.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                match = re.match(r"test_([a-z]+_\d\d)_", node.name)
                if match:
                    found.add(match.group(1))
    return found


def test_no_id_is_given_twice():
    twice = [name for name, count in Counter(header_ids()).items() if count > 1]

    assert twice == []


def test_every_id_of_the_header_has_a_test():
    assert sorted(set(header_ids()) - tested_ids()) == []


def test_every_tested_id_stands_in_the_header():
    assert sorted(tested_ids() - set(header_ids())) == []
