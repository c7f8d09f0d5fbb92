"""The two hosts of docs/hosts.md drive any provider by the header alone."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from toolchain import INCLUDES, STRICT, compile_text

HOSTS = Path(__file__).parents[2] / "docs" / "hosts"
MINIMAL = Path(__file__).parents[1] / "loader" / "providers" / "minimal.c"
FILLED = "2.5 2.5 2.5 2.5 2.5\n" * 3


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The host in C, as its first lines say to build it."""
    output = tmp_path_factory.mktemp("host") / "host"
    compile_text("gcc", (HOSTS / "host.c").read_text(), "-std=gnu11", *STRICT, output=output)
    return [str(output)]


@pytest.fixture(params=["c", "ctypes"])
def host(request):
    return request.getfixturevalue("program") if request.param == "c" else [sys.executable, str(HOSTS / "host.py")]


def library(name: str) -> str:
    (point,) = metadata.entry_points(group="infinitrain.providers", name=name)
    return str(point.load()())


@pytest.mark.parametrize("name", ["cpu", "fake"])
def test_host_fills_and_copies_back(host, name):
    done = subprocess.run([*host, library(name)], capture_output=True, text=True, check=True)
    first, rest = done.stdout.split("\n", 1)

    assert first.startswith(f"{name}:0 of ")
    assert rest == FILLED


def test_host_says_what_a_slot_said(host, tmp_path):
    broken = tmp_path / "libitp_broken.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-DINIT_FAILS", *INCLUDES, "-o", broken, MINIMAL], check=True)
    done = subprocess.run([*host, str(broken)], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "status 5: [init][UNAVAILABLE] no driver was found" in done.stderr


def test_host_says_that_there_is_no_library(host):
    done = subprocess.run([*host, "/nowhere/libitp_x.so"], capture_output=True, text=True, check=False)

    assert done.returncode != 0
    assert "/nowhere/libitp_x.so" in done.stderr
