"""Build small providers with gcc, right ones and wrong ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import infinitrain_capi
import pytest

SOURCE = Path(__file__).parent / "providers" / "minimal.c"


class Compiler:
    """Build variants of the minimal provider; the same variant is built once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, file_name: str, *defines: str, reference: bool = False) -> Path:
        """Compile with `-D` for each define into a library of the given name."""
        library = self.folder / file_name
        if library.exists():
            return library
        sources = [SOURCE]
        flags = ["-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-z,lazy"]
        if reference:
            sources += sorted((infinitrain_capi.sdk_dir() / "reference").glob("*.c"))
            flags += ["-DREFERENCE", "-ffp-contract=off", "-w"]
        includes = [f"-I{infinitrain_capi.include_dir()}", f"-I{infinitrain_capi.sdk_dir()}"]
        command = ["gcc", *flags, *includes, *[f"-D{define}" for define in defines], "-o", library, *sources, "-lm"]
        subprocess.run(command, check=True)
        return library


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    return Compiler(tmp_path_factory.mktemp("providers"))


@pytest.fixture
def run():
    """Run Python code in a fresh process and give its output; a provider is never unloaded from this one."""

    def in_fresh_process(code: str, *arguments: object, expect: int = 0, **environment: object) -> str:
        import os

        result = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        )
        assert result.returncode == expect, result.stdout + result.stderr
        return result.stdout + result.stderr

    return in_fresh_process
