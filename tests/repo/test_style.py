"""Rules of the house that can be counted."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for top in (
        "capi/src",
        "packages/infinitrain-core/src",
        "packages/infinitrain-cpu/src",
        "packages/infinitrain-fake/src",
    )
    for path in (ROOT / top).rglob("*.py")
)
NATIVE = sorted(
    path
    for pattern in ("capi/sdk/reference/*.c", "packages/*/csrc/**/*.c*", "packages/*/csrc/**/*.h")
    for path in ROOT.glob(pattern)
)
#: Longer than 400 lines for a reason: one class whose methods are the user's vocabulary, and the list of its functions,
#: a name a line.
LONG = {"infinitrain/tensor.py": 650, "infinitrain/__init__.py": 600}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_are_short(path):
    assert len(path.read_text().splitlines()) <= LONG.get(f"{path.parent.name}/{path.name}", 400)


@pytest.mark.parametrize("path", NATIVE, ids=lambda path: str(path.relative_to(ROOT)))
def test_native_files_are_short(path):
    assert len(path.read_text().splitlines()) <= 450


def test_no_function_is_written_twice():
    """Two functions of four statements or more with the same body are one rule in two places."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if len(body) >= 4:
                    code = ast.dump(ast.Module(body=body, type_ignores=[]), include_attributes=False)
                    places[code].append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")

    assert [where for where in places.values() if len(where) > 1] == []
