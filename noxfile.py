"""Actions on the tree. Tests are run by tox (tox.ini); no name stands in both."""

from __future__ import annotations

from pathlib import Path

import nox

ROOT = Path(__file__).parent
WHEELHOUSE = ROOT / "dist" / "wheelhouse"
PYTHON_SOURCES = (
    "capi/src",
    "packages/infinitrain-core/src",
    "packages/infinitrain-cpu/src",
    "packages/infinitrain-fake/src",
    "examples",
    "tools",
)
NATIVE_SUFFIXES = {".c", ".h", ".cc"}

nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["train"]
nox.options.error_on_external_run = True


def build_wheels(session: nox.Session) -> None:
    """Build every wheel into dist/wheelhouse."""
    session.run("python", "tools/wheelhouse.py")


def install_wheels(session: nox.Session, *requirements: str) -> None:
    """Build and install our wheels; everything else comes from the package index."""
    build_wheels(session)
    session.install("--quiet", "--find-links", str(WHEELHOUSE), *requirements)


def take_option(arguments: list[str], name: str, default: str) -> tuple[str, list[str]]:
    """Split `--name VALUE` or `--name=VALUE` off a list of arguments."""
    rest: list[str] = []
    value = default
    words = iter(arguments)
    for word in words:
        if word == name:
            value = next(words, default)
        elif word.startswith(f"{name}="):
            value = word.removeprefix(f"{name}=")
        else:
            rest.append(word)
    return value, rest


@nox.session
def train(session: nox.Session) -> None:
    """Train GPT-2 on Shakespeare: `nox -s train -- --device fake --model gpt2 --steps 20`."""
    install_wheels(session, "infinitrain-core[train]", "infinitrain-fake")
    model, rest = take_option(session.posargs, "--model", "gpt2-mini")
    out, rest = take_option(rest, "--out", str(ROOT / "runs" / "gpt2"))
    replace = [] if "--resume" in rest else ["--overwrite"]
    session.run("infinitrain", "train", model, "--out", out, *replace, *rest)


@nox.session
def wheelhouse(session: nox.Session) -> None:
    """Build every wheel into dist/wheelhouse."""
    build_wheels(session)


@nox.session
def lint(session: nox.Session) -> None:
    """Check Python by ruff and C, C++ by clang-format; `nox -s lint -- --fix` mends what can be mended."""
    session.install("--quiet", "ruff==0.17.6", "clang-format==23.1.5")
    fix = "--fix" in session.posargs
    session.run("ruff", "check", *(["--fix"] if fix else []), ".")
    session.run("ruff", "format", *([] if fix else ["--check"]), ".")
    native = [
        str(path.relative_to(ROOT))
        for top in ("capi", "docs", "packages")
        for path in sorted((ROOT / top).rglob("*"))
        if path.suffix in NATIVE_SUFFIXES and "build" not in path.parts
    ]
    session.run("clang-format", *(["-i"] if fix else ["--dry-run", "--Werror"]), *native)


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of every package by `mypy --strict`."""
    install_wheels(session, "infinitrain-core[train,testing]", "infinitrain-fake", "mypy==2.4.1")
    for top in PYTHON_SOURCES:
        session.run("mypy", "--strict", top)


@nox.session
@nox.parametrize("sanitizer", ["address", "undefined", "thread"])
def sanitize(session: nox.Session, sanitizer: str) -> None:
    """Build the native code with one of gcc's sanitizers and run the providers' own tests on it."""
    session.install("--quiet", "cmake>=3.26", "ninja")
    install_wheels(session, "infinitrain-core[testing]", "infinitrain-fake", "torch==2.13.0")
    session.run("python", "tools/sanitize.py", sanitizer, *session.posargs)


@nox.session(name="abi-freeze")
def abi_freeze(session: nox.Session) -> None:
    """Freeze the contract's next version, or `--check`; docs/abi-stability.md says when and how."""
    session.install("--quiet", "cffi>=2")
    session.run("python", "tools/abi_freeze.py", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure a training step and the cost of a small operation beside PyTorch and NumPy."""
    install_wheels(session, "infinitrain-core[train]", "infinitrain-fake", "torch==2.13.0")
    session.run("python", "benchmarks/dispatch.py")
    session.run("python", "benchmarks/train_step.py", *session.posargs)
