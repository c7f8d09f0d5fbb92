"""What `infinitrain new-provider` writes: a package that builds and works as it is, and keeps the house's style."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from infinitrain.cli.new_provider import LANGUAGES, write

ROOT = Path(__file__).parents[2]
LONGEST = "a_name_of_as_many_letters_as_can"


def conformance(python, provider, tmp_path):
    """Prove a provider's tier 0, two tests at a time; gives the report."""
    report = tmp_path / "report.json"
    python.run(
        *("python", "-m", "pytest", "--pyargs", "infinitrain.testing.conformance", "-n", "2", "-q"),
        *("-p", "no:cacheprovider", "--provider", provider, "--tier", "0", "--conformance-json", report),
        cwd=tmp_path,
    )
    return json.loads(report.read_text())


def test_tier_0_in_c_plus_plus_untouched(python, acme_untouched, tmp_path):
    report = conformance(python, acme_untouched, tmp_path)
    tier = report["tiers"]["0"]

    assert set(report["summary"]) == {"passed", "skipped"}  # no failure, no error
    assert report["summary"]["passed"] > 100
    assert report["provider"]["name"] == "acme"
    assert tier["right"] == tier["offered"] == tier["kernels"] > 0


def test_library_for_tier_0_is_short():
    """At most 200 lines that are not blank and not comments."""
    lines = 0
    top = ROOT / "packages/infinitrain-core/src/infinitrain/cli/template/c"
    for file in sorted(top.rglob("*.[ch]")):
        code = subprocess.run(
            ["gcc", "-fpreprocessed", "-dD", "-E", "-P", file], capture_output=True, text=True, check=True
        )
        lines += sum(bool(line.strip()) for line in code.stdout.splitlines())

    assert 100 < lines <= 200


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["a", "my_chip", LONGEST])
def test_style_is_right_whatever_the_name(name, language, tmp_path):
    folder = tmp_path / "package"
    write(name, folder, language)
    native = [path for path in folder.rglob("*") if path.suffix in {".c", ".cc", ".h"}]
    tools = Path(sys.executable).parent

    def check(*command):
        result = subprocess.run([shutil.which(command[0], path=tools) or command[0], *command[1:]], cwd=folder)
        assert result.returncode == 0

    assert len(native) == 6
    assert (folder / "csrc/runtime.c").exists() == (language == "c")
    check("clang-format", "--dry-run", "--Werror", *native)
    check("ruff", "check", "--no-cache", "--config", ROOT / "pyproject.toml", ".")
    check("ruff", "format", "--no-cache", "--config", ROOT / "pyproject.toml", "--check", ".")
    check("mypy", "--strict", "--cache-dir", tmp_path / "mypy", "src")
