"""Build the providers under one of gcc's sanitizers and run their own tests on that build.

The library of the sanitizer has to be the first in the process, so the tests run under LD_PRELOAD; the tests find
the instrumented library by INFINITRAIN_TEST_LIBRARY_<NAME>, and everything else as always.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNTIMES = {"address": "libasan.so", "undefined": "libubsan.so", "thread": "libtsan.so"}
OPTIONS = {
    # Python itself keeps memory until exit; what counts here is bad accesses.
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:halt_on_error=1:handle_segv=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0:second_deadlock_stack=1",
}


def build(provider: str, sanitizer: str, folder: Path) -> Path:
    """Configure and build one provider with CMake, as its wheel does, plus the sanitizer's flags."""
    prefix = subprocess.run(
        [sys.executable, "-c", "import infinitrain_capi.cmake as m; print(list(m.__path__)[0])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    source = ROOT / "packages" / f"infinitrain-{provider}"
    flags = [
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DINFINITRAIN_SANITIZE={sanitizer}",
        f"-DPython_EXECUTABLE={sys.executable}",
        "-DSKBUILD_PROJECT_VERSION=0.1.0",
    ]
    subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", folder, *flags], check=True)
    subprocess.run(["cmake", "--build", folder], check=True)
    (library,) = folder.rglob(f"libitp_{provider}.so")
    return library


def runtime(sanitizer: str) -> str:
    """Ask the compiler where its sanitizer's library is."""
    found = subprocess.run(
        ["gcc", f"-print-file-name={RUNTIMES[sanitizer]}"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def main() -> int:
    """Build and test each provider; the first failure ends the run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sanitizer", choices=sorted(RUNTIMES))
    parser.add_argument("providers", nargs="*", default=["cpu", "fake"], help="cpu, fake (both)")
    options = parser.parse_args()
    for provider in options.providers:
        library = build(provider, options.sanitizer, ROOT / "build" / f"sanitize-{options.sanitizer}-{provider}")
        environment = {
            **os.environ,
            **OPTIONS,
            "LD_PRELOAD": runtime(options.sanitizer),
            f"INFINITRAIN_TEST_LIBRARY_{provider.upper()}": str(library),
        }
        tests = ROOT / "packages" / f"infinitrain-{provider}" / "tests"
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", tests], check=True, env=environment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
