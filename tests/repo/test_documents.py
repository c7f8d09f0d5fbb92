"""What the documents say of the tree and of its commands is true."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from runners import nox_sessions, tox_environments

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "capi/*.md", "packages/*/README.md", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
)


def code_blocks(text: str, language: str) -> str:
    """Join the fenced blocks of one language."""
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(path):
    prose = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", prose)
    missing = [target for target in targets if not (path.parent / target).exists()]

    assert missing == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_runner_commands_name_what_exists(path):
    text = code_blocks(path.read_text(), "(?:sh|console|bash)")
    sessions = set(re.findall(r"nox -s ([\w-]+)", text))
    environments = set(re.findall(r"tox -e ([\w,-]+)", text))

    assert sessions - nox_sessions() == set()
    assert {name for names in environments for name in names.split(",")} - tox_environments() == set()


def test_file_tree_of_the_readme_is_the_tree():
    tree = code_blocks((ROOT / "README.md").read_text(), "text")
    named = [line.split()[0] for line in tree.splitlines() if re.match(r"^\S+\s{2,}\S", line)]

    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_first_screen_has_the_two_commands():
    screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:40])

    assert "pip install nox && nox -s train" in screen
    assert "pip install tox && tox" in screen


def test_infinitrain_commands_of_the_documents_parse():
    """Every `infinitrain ...` line of a shell block, `--help` appended, is accepted by the command itself."""
    pytest.importorskip("tyro", reason="the training extra is not installed in this environment")
    commands = {
        line.removeprefix("$ ").split("#")[0].strip()
        for path in DOCUMENTS
        for line in code_blocks(path.read_text(), "(?:sh|console|bash)").splitlines()
        if line.removeprefix("$ ").startswith("infinitrain ")
    }
    for command in sorted(commands):
        words = [word for word in shlex.split(command) if "..." not in word]
        result = subprocess.run(
            [sys.executable, "-m", "infinitrain.cli.main", *words[1:], "--help"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, f"{command}\n{result.stderr}"


@pytest.mark.parametrize(("language", "name"), [("c", "host.c"), ("python", "host.py")])
def test_hosts_are_shown_as_they_are(language, name):
    shown = code_blocks((ROOT / "docs" / "hosts.md").read_text(), language)
    text = (ROOT / "docs" / "hosts" / name).read_text()

    assert shown == text
    assert len(text.splitlines()) < 100


def test_abi_reference_is_that_of_the_header():
    from infinitrain_capi.reference import render_reference

    assert (ROOT / "docs" / "abi-reference.md").read_text() == render_reference()


def test_environment_variables_are_those_that_are_read():
    from infinitrain.config import VARIABLES

    rows = re.findall(
        r"^\| `(INFINITRAIN_\w+)` \| (.+) \|$", (ROOT / "docs" / "env.md").read_text(), flags=re.MULTILINE
    )
    sources = (ROOT / "packages" / "infinitrain-core" / "src").rglob("*.py")
    readers = [path.name for path in sources if re.search(r"os\.(environ|getenv)", path.read_text())]

    assert dict(rows) == VARIABLES
    assert readers == ["config.py"]


def test_slots_and_kernels_of_the_porting_page_exist():
    from infinitrain_capi import cdef_text
    from infinitrain_capi.table import load

    text = (ROOT / "docs" / "porting-from-privateuse1.md").read_text()
    header = cdef_text()
    slots = set(re.findall(r"`((?:runtime|guard|ccl|graphs)\.\w+)`", text))
    kernels = set(re.findall(r"`([A-Z]\w*(?:Forward|Backward\w*|Scalar|Grad)|Cast|Fill|Copy)`", text))
    structs = dict(re.findall(r"typedef struct itp_(runtime|guard|ccl|graphs) \{(.*?)\n\} ", header, flags=re.DOTALL))

    assert len(slots) > 30
    assert len(kernels) > 30
    assert [slot for slot in sorted(slots) if f"(*{slot.split('.')[1]})(" not in structs[slot.split(".")[0]]] == []
    assert kernels - set(load()) == set()
    assert [name for name in re.findall(r"`(ITP_\w+|itp_\w+)`", text) if name not in header] == []
