"""What tox and nox offer, read from their files."""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def nox_sessions() -> set[str]:
    """List the functions that nox offers as sessions."""
    tree = ast.parse((ROOT / "noxfile.py").read_text())
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any("nox.session" in ast.unparse(mark) for mark in node.decorator_list)
    }


def tox_environments() -> set[str]:
    """List tox's environments, factors expanded."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini")
    names: set[str] = set()
    for line in parser["tox"]["env_list"].split():
        expanded = [""]
        for piece in re.split(r"(\{[^}]*\})", line):
            choices = piece[1:-1].split(",") if piece.startswith("{") else [piece]
            expanded = [head + tail for head in expanded for tail in choices]
        names.update(expanded)
    return names
