"""A module imports only from what stands to its left in the flow of the house."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "packages" / "infinitrain-core" / "src" / "infinitrain"

#: The flow of the house (docs/reading-order.md), from the contract to the training command.
ORDER = (
    "errors",
    "config",
    "recording",
    "dtype",
    "_abi",
    "device",
    "memory",
    "stream",
    "lifetime",
    "strided",
    "copy",
    "dispatch",
    "tensor",
    "autograd",
    "random",
    "ops",
    "program",
    "utils",
    "nn",
    "optim",
    "models",
    "checkpoint",
    "data",
    "train",
    "testing",
    "cli",
)
#: Two layers may know each other's names where one is written as two rooms.
TOGETHER = (
    {"device", "memory", "stream"},
    {"copy", "dispatch", "strided"},
    {"tensor", "autograd"},
    {"random", "ops"},
)


def layer_of(path: Path) -> str:
    """Name the top-level module or package that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[tuple[str, int]]:
    """List (layer, line) of each import of ours that runs when the module is imported."""
    package = ["infinitrain", *path.relative_to(SOURCE).parts[:-1]]
    found: set[tuple[str, int]] = set()
    for node in module_level(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "infinitrain" and len(parts) > 1 and parts[1] in ORDER:
                found.add((parts[1], node.lineno))
    return found


def module_level(tree: ast.Module) -> list[ast.stmt]:
    """Give the statements that run at import: not those in functions, not those for type checkers only."""
    found: list[ast.stmt] = []
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        node = pending.pop()
        found.append(node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending.extend(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            pending.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
    return found


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def test_every_top_level_module_has_its_place_in_the_order():
    known = {*ORDER, "__main__", "array_api"}

    assert {layer_of(path) for path in MODULES} - known == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_to_the_left(path):
    own = layer_of(path)
    if own not in ORDER:
        return
    companions = next((group for group in TOGETHER if own in group), {own})
    uphill = [
        f"line {line}: {layer}"
        for layer, line in sorted(imported_layers(path))
        if ORDER.index(layer) > ORDER.index(own) and layer not in companions
    ]

    assert uphill == []
