"""Run the command as a user does, on a small text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Two voices with their own words, so that a model has something to learn in a few steps.
TEXT = "".join(
    f"KING: the crown is heavy and the night is long, act {n % 7}.\nFOOL: a fool may laugh where kings must weep.\n\n"
    for n in range(300)
)


class Run:
    """A folder of a run and the means to start it."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.text = folder.parent / "text.txt"
        self.text.write_text(TEXT)
        self.environment = {**os.environ, "INFINITRAIN_CACHE": str(cache), "COLUMNS": "120"}

    def command(self, *arguments: object, model: str = "gpt2-tiny") -> list[str]:
        """Give the words of a command line that trains."""
        fixed = ["--data", self.text, "--out", self.folder, "--batch-size", 4, "--seq-len", 16, "--sample-tokens", 8]
        words = [sys.executable, "-m", "infinitrain.cli.main", "train", model, *fixed, *arguments]
        return [str(word) for word in words]

    def __call__(self, *arguments: object, expect: int = 0, model: str = "gpt2-tiny") -> str:
        """Train and give what was printed."""
        result = subprocess.run(
            self.command(*arguments, model=model),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env=self.environment,
        )
        printed = result.stdout + result.stderr
        assert result.returncode == expect, printed
        return printed

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Begin training and do not wait."""
        return subprocess.Popen(
            self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment
        )

    @property
    def log(self) -> list[dict]:
        return [json.loads(line) for line in (self.folder / "log.jsonl").read_text().splitlines()]

    @property
    def losses(self) -> list[float]:
        return [record["loss"] for record in self.log]

    @property
    def summary(self) -> dict:
        return json.loads((self.folder / "summary.json").read_text())


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def new_run(tmp_path, cache):
    def make(name: str = "run") -> Run:
        return Run(tmp_path / name, cache)

    return make


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        from importlib import metadata

        names = {point.name for point in metadata.entry_points(group="infinitrain.providers")}
        metafunc.parametrize("device", [name for name in ("cpu", "fake:1") if name.partition(":")[0] in names])
