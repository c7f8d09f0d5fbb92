"""The compilers that this machine has, and one way to run them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import infinitrain_capi

INCLUDES = [f"-I{infinitrain_capi.include_dir()}", f"-I{infinitrain_capi.sdk_dir()}"]
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
C_COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
CXX_COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]


def accepted(compilers: list[str], standards: tuple[tuple[str, ...], ...]) -> list[tuple[str, str]]:
    """Pair compilers with language standards, each under the first of its names that the compiler knows."""
    return [
        (compiler, name)
        for compiler in compilers
        for names in standards
        for name in [next((each for each in names if _knows(compiler, each)), None)]
        if name is not None
    ]


def _knows(compiler: str, standard: str) -> bool:
    language = "c++" if "++" in compiler else "c"
    command = [compiler, f"-std={standard}", "-x", language, "-fsyntax-only", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def compile_text(compiler: str, text: str, *flags: str, output: Path | None = None) -> None:
    """Compile a source text, or only check it where no output is named; fail with the compiler's words."""
    language = "c++" if "++" in compiler else "c"
    target = ["-fsyntax-only"] if output is None else ["-o", str(output)]
    command = [compiler, "-x", language, "-", *flags, *INCLUDES, *target]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


def run_text(text: str, folder: Path, *flags: str, compiler: str = "gcc") -> str:
    """Compile a program and give what it prints."""
    program = folder / "program"
    compile_text(compiler, text, *flags, output=program)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
