"""A vendor's desk: a fresh Python with the released wheels, and the packages that `new-provider` wrote there.

Everything is done once for all tests: the environment, the two vendors (`maca` in C, as a package; `acme` in C++, as
a bare library) and their builds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHEELHOUSE = ROOT / "dist" / "wheelhouse"


@dataclass(frozen=True)
class Python:
    """A virtual environment, and commands in it that see nothing of the environment that runs the tests."""

    folder: Path

    def run(self, *command: object, cwd: Path | None = None, expect: int = 0, **environment: object) -> str:
        """Run a command of the environment; gives what it says, and fails where it exits otherwise than expected."""
        ours = ("INFINITRAIN_", "PYTHON", "VIRTUAL_ENV", "TOX_", "COV_")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        clean["PATH"] = os.pathsep.join([str(self.folder / "bin"), "/usr/local/bin", "/usr/bin", "/bin"])
        clean["PIP_FIND_LINKS"] = f"{os.environ.get('PIP_FIND_LINKS', '')} {WHEELHOUSE}".strip()
        clean["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
        clean.update({name: str(value) for name, value in environment.items()})
        result = subprocess.run(
            [str(word) for word in command],
            cwd=cwd or self.folder,
            env=clean,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        said = result.stdout + result.stderr
        assert result.returncode == expect, f"{' '.join(map(str, command))} exits with {result.returncode}:\n{said}"
        return said

    @property
    def packages(self) -> Path:
        """The folder that packages are installed into."""
        (found,) = (self.folder / "lib").glob("python3*/site-packages")
        return found


@pytest.fixture(scope="session")
def python(tmp_path_factory):
    """A fresh environment with the core, as a user installs it."""
    if not list(WHEELHOUSE.glob("infinitrain_core-*.whl")):
        pytest.fail("there are no wheels: tox -e build, or python tools/wheelhouse.py")
    folder = tmp_path_factory.mktemp("python")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = Python(folder)
    python.run("pip", "install", "--quiet", "infinitrain-core[train,testing]")
    return python


@pytest.fixture(scope="session")
def desk(tmp_path_factory):
    """The folder in which the vendors work."""
    return tmp_path_factory.mktemp("desk")


@pytest.fixture(scope="session")
def maca(python, desk):
    """The package of the vendor `maca`, written in C, installed as it was written."""
    python.run("infinitrain", "new-provider", "maca", cwd=desk)
    python.run("pip", "install", "--quiet", ".", cwd=desk / "infinitrain-maca")
    return desk / "infinitrain-maca"


@pytest.fixture(scope="session")
def acme(python, desk):
    """The library of the vendor `acme`, written in C++, as it was written: built by CMake alone, without a package."""
    folder = desk / "acme"
    python.run("infinitrain", "new-provider", "acme", "--language", "c++", "--dir", folder, cwd=desk)
    python.run("pip", "install", "--quiet", "cmake", "ninja")
    return build(python, folder, desk / "libitp_acme.so")


def build(python, folder, library, *defines):
    """Build a provider by plain CMake and take its library; a second time only what changed is compiled."""
    capi = python.run("python", "-c", "import infinitrain_capi.cmake as it; print(*it.__path__)").strip()
    python.run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={capi}", *defines)
    python.run("cmake", "--build", folder / "build")
    (built,) = (folder / "build").glob("*.so")
    return shutil.copy(built, library)
