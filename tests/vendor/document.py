"""Run a document: its shell blocks one after the other, its files written where their first line says."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(r"^```(sh|c)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
#: Kept from one block to the next: the working folder and what is exported.
AFTER = 'code=$?; pwd > "$STATE/folder"; export -p > "$STATE/environment"; exit $code'


@dataclass
class Document:
    """What the blocks said, in order."""

    commands: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def said(self, words: str) -> str:
        """Give what the one block said that has these words."""
        (found,) = [out for text, out in zip(self.commands, self.outputs, strict=True) if words in text]
        return found


def run(text: str, folder: Path, state: Path, environment: dict[str, str], after: Callable[[int], None]) -> Document:
    """Run the blocks of a text, beginning in a folder; `after` is called with the number of each shell block."""
    document = Document()
    (state / "folder").write_text(str(folder))
    (state / "environment").write_text("")
    for language, block in BLOCK.findall(text):
        where = Path((state / "folder").read_text().strip())
        if language == "c":
            name = re.match(r"/\* (\S+) \*/\n", block)
            if name is not None:
                (where / name[1]).write_text(block)
            continue
        script = f". \"$STATE/environment\"\nset -e\ntrap '{AFTER}' EXIT\n{block}"
        begin = time.monotonic()
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=where,
            env={**environment, "STATE": str(state)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{block}exits with {done.returncode}:\n{done.stdout}"
        document.seconds.append(time.monotonic() - begin)
        document.commands.append(block)
        document.outputs.append(done.stdout)
        after(len(document.outputs))
    return document


def clean_environment(wheelhouse: Path) -> dict[str, str]:
    """Give an environment that knows the wheels, and nothing of the one that runs the tests."""
    ours = ("INFINITRAIN_", "PYTHON", "VIRTUAL_ENV", "TOX_", "COV_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **kept,
        "PATH": os.pathsep.join(["/usr/local/bin", "/usr/bin", "/bin"]),
        "PIP_FIND_LINKS": f"{os.environ.get('PIP_FIND_LINKS', '')} {wheelhouse}".strip(),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_QUIET": "1",
        "PIP_NO_COMPILE": "1",
        "COLUMNS": "120",
    }
