"""What tox and nox offer, read from their files."""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def nox_sessions() -> set[str]:
    """List the sessions that nox offers: functions by their name, or by the one that the mark gives them."""
    found = set()
    for node in ast.parse((ROOT / "noxfile.py").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            marks = " ".join(ast.unparse(mark) for mark in node.decorator_list)
            named = re.search(r"nox\.session\(name='([\w-]+)'", marks)
            if "nox.session" in marks:
                found.add(named[1] if named else node.name)
    return found


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
