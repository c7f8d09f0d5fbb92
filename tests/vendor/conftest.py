"""A vendor's desk, made once for all tests: docs/write-a-provider.md is carried out in an empty folder.

What is left behind is a fresh Python with the released wheels and the package of the vendor `maca`, with the kernels
of tiers 0 to 2. A second vendor, `acme`, writes C++ and ships a bare library.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from changes import record_copies, release
from document import Document, clean_environment, run

ROOT = Path(__file__).parents[2]
WHEELHOUSE = ROOT / "dist" / "wheelhouse"
OURS = ("infinitrain-capi", "infinitrain-core", "infinitrain-cpu")
#: Two voices with their own words, so that a model has something to learn in a few steps.
TEXT = "".join(
    f"KING: the crown is heavy and the night is long, act {n % 7}.\nFOOL: a fool may laugh where kings must weep.\n\n"
    for n in range(300)
)


@dataclass(frozen=True)
class Python:
    """A virtual environment, and commands in it that see nothing of the environment that runs the tests."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: object, cwd: Path | None = None, expect: int = 0, **variables: object) -> str:
        """Run a command of the environment; gives what it says, and fails where it exits otherwise than expected."""
        path = os.pathsep.join([str(self.folder / "bin"), self.environment["PATH"]])
        result = subprocess.run(
            [shutil.which(str(command[0]), path=path) or str(command[0]), *(str(word) for word in command[1:])],
            cwd=cwd or self.folder,
            env={**self.environment, "PATH": path, **{name: str(value) for name, value in variables.items()}},
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

    def files(self, *distributions: str) -> dict[str, str]:
        """Give the hash of every file of some distributions, by its path."""
        found: dict[str, str] = {}
        for distribution in metadata.distributions(path=[str(self.packages)]):
            if distribution.name not in distributions:
                continue
            for file in distribution.files or []:
                path = Path(str(distribution.locate_file(file)))
                if path.suffix != ".pyc":
                    found[os.path.normpath(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def listed(self, name: str, **variables: object) -> dict[str, object]:
        """Give what `infinitrain providers` says of a device."""
        providers = json.loads(self.run("infinitrain", "providers", "--json", **variables))["providers"]
        return next(each for each in providers if each["name"] == name)

    def train(self, device: str, out: Path, *, steps: int = 4, **variables: object) -> list[float]:
        """Train the smallest GPT-2 on a device; gives the losses."""
        text = out.with_name("text.txt")
        text.write_text(TEXT)
        self.run(
            *("infinitrain", "train", "gpt2-tiny", "--device", device, "--data", text, "--steps", steps, "--out", out),
            *("--batch-size", 4, "--seq-len", 16, "--sample-tokens", 4),
            **variables,
        )
        return [json.loads(line)["loss"] for line in (out / "log.jsonl").read_text().splitlines()]


@dataclass
class Desk:
    """What the page left behind."""

    folder: Path
    python: Python
    document: Document
    untouched: dict[str, object] = field(default_factory=dict)
    core_before: dict[str, str] = field(default_factory=dict)

    @property
    def package(self) -> Path:
        """The vendor's package."""
        return self.folder / "infinitrain-maca"


@pytest.fixture(scope="session")
def desk(tmp_path_factory):
    """Carry the page out, block by block."""
    if not list(WHEELHOUSE.glob("infinitrain_core-*.whl")):
        pytest.fail("there are no wheels: tox -e build, or python tools/wheelhouse.py")
    folder = tmp_path_factory.mktemp("desk")
    environment = clean_environment(WHEELHOUSE)
    environment["INFINITRAIN_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    desk = Desk(folder, Python(folder / "provider-env", environment), Document())

    def after(block: int) -> None:
        if block == 1:  # the core is installed, nothing of the vendor's is there
            desk.core_before = desk.python.files(*OURS)
        if block == 2:  # the package is installed as it was written
            desk.untouched = desk.python.listed("maca")

    text = (ROOT / "docs" / "write-a-provider.md").read_text()
    desk.document = run(text, folder, tmp_path_factory.mktemp("state"), environment, after)
    return desk


@pytest.fixture(scope="session")
def python(desk):
    """The Python of the page."""
    return desk.python


@pytest.fixture(scope="session")
def acme_folder(desk):
    """The sources of the vendor `acme`, written in C++."""
    desk.python.run("infinitrain", "new-provider", "acme", "--language", "c++", "--dir", desk.folder / "acme")
    return desk.folder / "acme"


@pytest.fixture(scope="session")
def acme_untouched(desk, acme_folder):
    """Its library as it was written, without a package: built by CMake alone."""
    return build(desk.python, acme_folder, desk.folder / "acme-tier-0" / "libitp_acme.so")


@pytest.fixture(scope="session")
def acme(desk, acme_folder, acme_untouched):
    """Its library with the kernels of tiers 0 to 2, which records its copies."""
    record_copies(acme_folder)
    return build(desk.python, acme_folder, desk.folder / "acme-tier-2" / "libitp_acme.so", "-DACME_STAND_IN_TIER=2")


@pytest.fixture(scope="session")
def maca_two(desk):
    """The next release of the package `maca`, which records its copies, installed over the first."""
    release(desk.package, "0.2.0")
    record_copies(desk.package)
    tier = "cmake.define.MACA_STAND_IN_TIER=2"
    desk.python.run(
        *(
            "pip",
            "wheel",
            "--no-deps",
            "--no-build-isolation",
            "--wheel-dir",
            desk.folder,
            ".",
            "--config-settings",
            tier,
        ),
        cwd=desk.package,
    )
    (wheel,) = desk.folder.glob("infinitrain_maca-0.2.0-*.whl")
    desk.python.run("pip", "install", "--upgrade", "--no-deps", "--no-index", wheel)


def build(python: Python, folder: Path, library: Path, *defines: str) -> Path:
    """Build a provider by plain CMake and take its library; a second time only what changed is compiled."""
    capi = python.run("python", "-c", "import infinitrain_capi.cmake as it; print(*it.__path__)").strip()
    python.run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={capi}", *defines)
    python.run("cmake", "--build", folder / "build")
    (built,) = (folder / "build").glob("*.so")
    library.parent.mkdir(exist_ok=True)
    shutil.copy(built, library)
    return library
