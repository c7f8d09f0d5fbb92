"""One side is renewed and the other stays as it is, to the byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from changes import release_wheel
from conftest import OURS, WHEELHOUSE, Python

VENDOR = "infinitrain-maca"


@pytest.fixture
def copy(python, tmp_path, maca_two):
    """The same environment once more, to be changed: files are linked, and replaced when they are renewed."""
    folder = tmp_path / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    copy = Python(folder, python.environment)
    packages = copy.packages
    shutil.rmtree(packages)
    shutil.copytree(python.packages, packages, copy_function=os.link)
    for program in (python.folder / "bin").iterdir():
        if not (folder / "bin" / program.name).exists():
            shutil.copy(program, folder / "bin")
    return copy


def infinitrain(python: Python, *words: object) -> str:
    return python.run("python", "-m", "infinitrain.cli.main", *words)


def test_vendor_alone(python, desk, maca_two):
    """From 0.1.0, which the page installed, to 0.2.0."""
    assert desk.untouched["version"] == "0.1.0"
    assert python.listed("maca")["version"] == "0.2.0"
    assert python.files(*OURS) == desk.core_before


def test_core_alone(copy, maca_two, tmp_path):
    (wheel,) = WHEELHOUSE.glob("infinitrain_core-*.whl")
    version = wheel.name.split("-")[1]
    later = release_wheel(wheel, f"{version}.post1", tmp_path)
    vendor, core = copy.files(VENDOR), copy.files("infinitrain-core")
    before = infinitrain(copy, "doctor", "maca")
    copy.run("python", "-m", "pip", "install", "--no-index", "--no-deps", "--upgrade", later)
    after = infinitrain(copy, "doctor", "maca")

    assert f"infinitrain {version}," in before
    assert f"infinitrain {version}.post1," in after
    assert "maca: well" in after
    assert copy.files("infinitrain-core") != core
    assert copy.files(VENDOR) == vendor != {}


def test_vendor_goes_and_the_core_stays(copy, desk):
    copy.run("python", "-m", "pip", "uninstall", "--yes", VENDOR)
    core = {
        Path(path).relative_to(desk.python.packages.parents[2]): digest for path, digest in desk.core_before.items()
    }
    left = {Path(path).relative_to(copy.folder): digest for path, digest in copy.files(*OURS).items()}

    assert "not installed" in copy.run("python", "-m", "infinitrain.cli.main", "doctor", "maca", expect=1)
    assert "All is well." in infinitrain(copy, "doctor")
    assert left == core
