"""Build the wheel of every package into dist/wheelhouse, the contract first.

A provider and the core name `infinitrain-capi` as a build requirement, so its wheel has to be findable before
theirs are built: this is the one place that knows the order. A package whose files have not changed since its
wheel was made is left as it is. Used by `nox -s wheelhouse`, `nox -s train` and tox's `build` environment.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEELHOUSE = ROOT / "dist" / "wheelhouse"
CONTRACT = "capi"
#: In build order; every package but the first is built against the first.
PACKAGES = (CONTRACT, "packages/infinitrain-cpu", "packages/infinitrain-fake", "packages/infinitrain-core")
NOT_SOURCES = {"__pycache__", "build", "dist", "tests", "benchmarks", ".pytest_cache"}


def source_files(package: str) -> list[Path]:
    """List the files that a package's wheel is made from, in a fixed order."""
    top = ROOT / package
    return [
        path
        for path in sorted(top.rglob("*"))
        if path.is_file() and path.suffix != ".so" and not NOT_SOURCES & set(path.relative_to(top).parts)
    ]


def fingerprint(package: str) -> str:
    """Hash the sources of a package, those of the contract included, and the Python that builds it."""
    digest = hashlib.sha256(sys.version.encode())
    for top in dict.fromkeys((CONTRACT, package)):
        for path in source_files(top):
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def distribution(package: str) -> str:
    """Give the file-name form of a package's distribution name."""
    return "infinitrain_capi" if package == CONTRACT else Path(package).name.replace("-", "_")


def build(package: str, wheelhouse: Path) -> None:
    """Build one wheel unless the one in the wheelhouse was made from the same files."""
    name = distribution(package)
    stamp = wheelhouse / f".{name}.sha256"
    wheels = list(wheelhouse.glob(f"{name}-*.whl"))
    sources = fingerprint(package)
    if wheels and stamp.is_file() and stamp.read_text() == sources:
        print(f"{wheels[0].name}: up to date", flush=True)
        return
    for wheel in wheels:
        wheel.unlink()
    print(f"{name}: building ...", flush=True)
    begin = time.monotonic()
    links = f"{os.environ.get('PIP_FIND_LINKS', '')} {wheelhouse}".strip()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            wheelhouse,
            ROOT / package,
        ],
        check=True,
        env={**os.environ, "PIP_FIND_LINKS": links, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    (wheel,) = wheelhouse.glob(f"{name}-*.whl")
    stamp.write_text(sources)
    print(f"{wheel.name}: built in {time.monotonic() - begin:.0f} s", flush=True)


def main() -> int:
    """Build what is asked for, everything by default."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"some of: {', '.join(PACKAGES)}")
    parser.add_argument("--into", type=Path, default=WHEELHOUSE, help="folder for the wheels (%(default)s)")
    options = parser.parse_args()
    unknown = set(options.packages) - set(PACKAGES)
    if unknown:
        parser.error(f"unknown package {', '.join(sorted(unknown))}: expected some of {', '.join(PACKAGES)}")
    options.into.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        if not options.packages or package in options.packages:
            build(package, options.into.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
