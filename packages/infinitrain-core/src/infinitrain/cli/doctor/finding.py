"""One thing that is wrong, and how each kind of it is mended."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from infinitrain import config
from infinitrain._abi.explain import blocked
from infinitrain._abi.registry import Candidate

__all__ = ["Finding", "mend", "path_without", "pip"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    Attributes:
        kind: A few words that do not change.
        problem: What is wrong, for the user.
        mend: The command, or where there is none the deed, that mends it.
    """

    kind: str
    problem: str
    mend: str


def pip(*words: str) -> str:
    """Give the command that installs for this Python, whatever `pip` on the path belongs to."""
    return " ".join([sys.executable, "-m", "pip", *words])


def path_without(*files: Path) -> str:
    """Give the command that takes files off INFINITRAIN_PROVIDER_PATH."""
    left = [str(place) for place in config.provider_path() if place not in files]
    return f"export INFINITRAIN_PROVIDER_PATH={':'.join(left)}" if left else "unset INFINITRAIN_PROVIDER_PATH"


def mend(kind: str, name: str, file: str, found: list[Candidate]) -> str:
    """Say what mends a failure of a kind.

    Args:
        kind: As in ProviderLoadError.kind.
        name: The provider's name, or the library's path where it was named so.
        file: The library, "" where it is not known.
        found: The places that offer the name.
    """
    package = next((each.distribution for each in found if each.distribution), None)
    again = pip("install", "--force-reinstall", package) if package else "build it again, or give the path of another"
    renew = pip("install", "--upgrade", package) if package else f"build it again, then: infinitrain conformance {file}"
    here = (
        pip("install", "--force-reinstall", "--no-binary", package, package) if package else "build it on this machine"
    )
    if kind == "offered twice":
        return _choose(found)
    if kind == "not allowed":
        closed = blocked(Path(file))
        if closed is None:
            return f"mount the file system without noexec, or move the library: findmnt --target {file}"
        return f"chmod a+{'rx' if closed.is_dir() else 'r'} {closed}   # or as its owner"
    if kind == "missing dependency":
        return f"ldd {file} | grep 'not found'   # install what it names, or put its folder on LD_LIBRARY_PATH"
    if kind == "undefined symbol":
        return f"{renew}   # ldd -r {file} lists all of them"
    if kind == "wrong architecture":
        return f"{here}   # or take the build for this processor"
    return {
        "package broken": again,
        "missing file": again,
        "not a library": again,
        "truncated": again,
        "system too old": f"{here}   # or take a build for an older system",
        "newer contract": pip("install", "--upgrade", "infinitrain-core"),
        "declined": renew,
        "not a provider": renew,
        "breaks the contract": renew,
        "calls itself otherwise": renew,
    }.get(kind, f"infinitrain conformance {file or name}")


def _choose(found: list[Candidate]) -> str:
    """Say how one of several is kept: what the environment adds goes before what is installed."""
    by_path = [Path(each.where) for each in found if each.distribution is None]
    listed = [place for place in config.provider_path() if place in by_path or any(p.parent == place for p in by_path)]
    packages = sorted({each.distribution for each in found if each.distribution})
    if packages and by_path:
        return f"{path_without(*listed)}   # or keep that one: {pip('uninstall', *packages)}"
    if len(packages) > 1:
        return f"{pip('uninstall', packages[-1])}   # or: {' '.join(packages[:-1])}"
    return path_without(*listed[1:])
