"""tox runs tests, nox does things to the tree, and what CI and the README call is the same."""

from __future__ import annotations

from pathlib import Path

from runners import nox_sessions, tox_environments

ROOT = Path(__file__).parents[2]


def test_no_name_stands_in_both_runners():
    assert nox_sessions() & tox_environments() == set()


def test_ci_runs_the_command_of_the_readme():
    command = "pip install tox && tox"

    assert command in (ROOT / "README.md").read_text()
    assert (ROOT / ".ci" / "run").read_text().rstrip().splitlines()[-1] == command


def test_every_provider_and_kind_is_in_the_matrix():
    expected = {f"{part}-{kind}" for part in ("core", "cpu", "fake") for kind in ("unit", "conformance")}

    assert expected <= tox_environments()
