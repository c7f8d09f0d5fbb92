"""Every environment variable that infinitrain reads, and the one module that reads them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "PREFIX",
    "VARIABLES",
    "cache_dir",
    "debug_async",
    "exit_timeout_ms",
    "provider_options",
    "provider_path",
    "set_variables",
    "validate",
]

PREFIX = "INFINITRAIN_"
#: Name and meaning; `INFINITRAIN_<PROVIDER>_<OPTION>` sets an option that the provider declares.
VARIABLES = {
    "INFINITRAIN_PROVIDER_PATH": "provider libraries, or folders of them, separated as PATH is",
    "INFINITRAIN_EXIT_TIMEOUT": "seconds that the end of the process waits for a device that is busy (default: 10)",
    "INFINITRAIN_DEBUG_ASYNC": "1: a failure that a device reports late names the line that launched the work",
    "INFINITRAIN_VALIDATE": "1: a layer before every provider checks that it and the core keep the contract, by rule",
    "INFINITRAIN_CACHE": "folder for prepared data (default: the user's cache folder)",
}


def set_variables() -> dict[str, str]:
    """Give all that is set under our prefix, known or not."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(PREFIX)}


def provider_path() -> list[Path]:
    """List the files and folders of INFINITRAIN_PROVIDER_PATH."""
    return [Path(part) for part in os.environ.get("INFINITRAIN_PROVIDER_PATH", "").split(os.pathsep) if part]


def cache_dir() -> Path:
    """Give the folder for prepared data; it need not exist."""
    explicit = os.environ.get("INFINITRAIN_CACHE")
    if explicit:
        return Path(explicit)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "infinitrain"


def provider_options(provider: str, rivals: Iterable[str] = ()) -> dict[str, str]:
    """Collect INFINITRAIN_<PROVIDER>_<OPTION> as option names in lower case.

    Args:
        provider: The provider's name.
        rivals: Providers whose longer names begin with this one's; variables of theirs are left out.
    """
    start = f"{PREFIX}{provider.upper()}_"
    others = tuple(f"{PREFIX}{rival.upper()}_" for rival in rivals)
    return {
        name.removeprefix(start).lower(): value
        for name, value in os.environ.items()
        if name.startswith(start) and name not in VARIABLES and not name.startswith(others)
    }


def debug_async() -> bool:
    """Whether every launch is to be remembered, so that a late failure can be traced to its line."""
    return os.environ.get("INFINITRAIN_DEBUG_ASYNC", "0") not in ("", "0")


def validate() -> bool:
    """Whether a checking layer is to stand between the core and every provider."""
    return os.environ.get("INFINITRAIN_VALIDATE", "0") not in ("", "0")


def exit_timeout_ms() -> int:
    """Give how long the end of the process waits for a device, in milliseconds.

    It is read when nobody can mend it any more, so what is not a number of seconds counts as the default.
    """
    try:
        seconds = float(os.environ.get("INFINITRAIN_EXIT_TIMEOUT", ""))
    except ValueError:
        return 10_000
    return int(seconds * 1000) if 0 <= seconds <= 1e6 else 10_000
