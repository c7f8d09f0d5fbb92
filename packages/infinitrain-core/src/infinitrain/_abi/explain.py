"""What the dynamic loader's words about a library mean, in plain ones."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["MACHINES", "blocked", "explain"]

#: ELF's numbers of processors, as `os.uname().machine` calls them.
MACHINES = {3: "i686", 8: "mips", 20: "ppc", 21: "ppc64le", 22: "s390x", 40: "armv7l", 62: "x86_64", 183: "aarch64"}
MACHINES |= {243: "riscv64", 258: "loongarch64"}


def blocked(file: Path) -> Path | None:
    """Give the outermost of a file and its folders that this user may not enter or read, None where all are open."""
    place = Path(os.path.abspath(file))
    for folder in reversed(place.parents):
        if os.path.isdir(folder) and not os.access(folder, os.X_OK):
            return folder
    return place if os.path.isfile(place) and not os.access(place, os.R_OK) else None


def explain(file: Path, reason: str) -> tuple[str, str]:
    """Give the kind of a failure, a few words that do not change, and a sentence for the user.

    Args:
        file: The library that could not be loaded.
        reason: What the dynamic loader said.
    """
    closed = blocked(file)
    if closed is not None:
        return "not allowed", f"user {os.geteuid()} may not {'enter' if closed.is_dir() else 'read'} {closed}"
    with file.open("rb") as handle:
        head = handle.read(20)
    if head[:4] != b"\x7fELF"[: len(head)]:
        return "not a library", f"expected a shared library for this system, found a file that begins with {head[:4]!r}"
    if len(head) < 20 or "too short" in reason or "invalid ELF header" in reason:
        return "truncated", "the file is truncated: install it again"
    machine = MACHINES.get(int.from_bytes(head[18:20], "little"), f"number {int.from_bytes(head[18:20], 'little')}")
    here = os.uname().machine
    if "ELF class" in reason or machine != here:
        bits = {1: 32, 2: 64}.get(head[4], 0)
        return "wrong architecture", f"built for another processor: {machine}, {bits} bits; this is {here}"
    missing = re.search(r"version [`'\"]((GLIBC|GLIBCXX|CXXABI|GCC)_[\w.]+)'? not found", reason)
    if missing is not None:
        return "system too old", f"built on a newer system: it needs {missing[1]}, here is {_system(missing[2])}"
    if "undefined symbol" in reason:
        return "undefined symbol", "a function that it needs is in no library that it names"
    if "cannot open shared object" in reason:
        return "missing dependency", "a library that it needs is not installed or not on the loader's path"
    if "failed to map segment" in reason or "Permission denied" in reason or "Operation not permitted" in reason:
        return "not allowed", "the system does not let it be executed: its folder is mounted noexec, or not readable"
    return "cannot be loaded", ""


def _system(what: str) -> str:
    if what == "GLIBC":
        return os.confstr("CS_GNU_LIBC_VERSION") or "another C library"
    return "an older C++ runtime"
