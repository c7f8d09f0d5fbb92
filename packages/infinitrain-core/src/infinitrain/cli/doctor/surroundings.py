"""What is wrong around the providers: environment variables, and packages that another Python has."""

from __future__ import annotations

import difflib
import os
import re
import site
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from infinitrain import config
from infinitrain._abi.explain import blocked
from infinitrain._abi.registry import GROUP
from infinitrain.cli.doctor.finding import Finding, path_without

__all__ = ["elsewhere", "variables"]


def variables(known: Iterable[str]) -> list[Finding]:
    """Look at everything that is set under our prefix; `known` are the names of providers."""
    owners = tuple(f"{config.PREFIX}{name.upper()}_" for name in known)
    found = [finding for place in config.provider_path() if (finding := _place(place)) is not None]
    for name, value in config.set_variables().items():
        if name == "INFINITRAIN_EXIT_TIMEOUT" and not re.fullmatch(r"\d+(\.\d*)?", value):
            text = f"{name}={value!r}: expected a number of seconds"
            found.append(Finding("wrong variable", text, f"export {name}=10"))
        if name not in config.VARIABLES and not name.startswith(owners):
            close = difflib.get_close_matches(name, [*config.VARIABLES], n=1, cutoff=0.8)
            guess = f"export {close[0]}={value}; unset {name}" if close else f"unset {name}"
            text = f"{name} is neither a variable of infinitrain nor of a provider that is found: it has no effect"
            found.append(Finding("unknown variable", text, guess))
    return found


def _place(place: Path) -> Finding | None:
    """Look at one part of INFINITRAIN_PROVIDER_PATH."""
    what = f"INFINITRAIN_PROVIDER_PATH names {place}"
    closed = blocked(place)
    if closed is not None:
        mode = "rx" if os.path.isdir(closed) else "r"
        return Finding("not allowed", f"{what}: user {os.geteuid()} may not enter {closed}", f"chmod a+{mode} {closed}")
    if not os.path.exists(place):
        relative = "" if place.is_absolute() else f" below {Path.cwd()}; a path that begins with / works everywhere"
        return Finding("missing file", f"{what}, which does not exist{relative}", path_without(place))
    if os.path.isdir(place) and not any(place.glob("*.so*")):
        return Finding("missing file", f"{what}, a folder without a library (*.so)", path_without(place))
    return None


def elsewhere(name: str) -> list[tuple[str, Path]]:
    """Look for a provider's package in the other Pythons of this machine, without running any of them.

    Returns: (distribution, folder that it is installed in), for those of which this Python sees nothing.
    """
    own = {os.path.realpath(folder) for folder in sys.path}
    found = []
    for folder in _other_folders():
        if os.path.realpath(folder) in own:
            continue
        for distribution in metadata.distributions(path=[str(folder)]):
            points = distribution.entry_points.select(group=GROUP)
            if any(point.name == name for point in points):
                found.append((str(distribution.name), folder))
    return found


def _other_folders() -> list[Path]:
    """List the folders of packages of every Python on the path, and the user's own."""
    prefixes: dict[Path, None] = {}
    for folder in os.get_exec_path():
        for program in (Path(folder) / "python3", Path(folder) / "python"):
            if os.path.exists(program):
                prefixes[Path(folder).parent] = None
                prefixes[Path(os.path.realpath(program)).parent.parent] = None
    prefixes[Path(sys.base_prefix)] = None
    patterns = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages")
    folders = [folder for prefix in prefixes for pattern in patterns for folder in prefix.glob(pattern)]
    return list(dict.fromkeys([*folders, Path(site.getusersitepackages())]))
