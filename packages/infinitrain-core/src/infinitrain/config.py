"""Every environment variable that infinitrain reads, and the one module that reads them."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["PREFIX", "VARIABLES", "cache_dir", "provider_options", "provider_path"]

PREFIX = "INFINITRAIN_"
#: Name and meaning; `INFINITRAIN_<PROVIDER>_<OPTION>` sets an option that the provider declares.
VARIABLES = {
    "INFINITRAIN_PROVIDER_PATH": "provider libraries, or folders of them, separated as PATH is",
    "INFINITRAIN_CACHE": "folder for prepared data (default: the user's cache folder)",
}


def provider_path() -> list[Path]:
    """List the files and folders of INFINITRAIN_PROVIDER_PATH."""
    return [Path(part) for part in os.environ.get("INFINITRAIN_PROVIDER_PATH", "").split(os.pathsep) if part]


def cache_dir() -> Path:
    """Give the folder for prepared data; it need not exist."""
    explicit = os.environ.get("INFINITRAIN_CACHE")
    if explicit:
        return Path(explicit)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "infinitrain"


def provider_options(provider: str) -> dict[str, str]:
    """Collect INFINITRAIN_<PROVIDER>_<OPTION> as option names in lower case."""
    start = f"{PREFIX}{provider.upper()}_"
    reserved = set(VARIABLES)
    return {
        name.removeprefix(start).lower(): value
        for name, value in os.environ.items()
        if name.startswith(start) and name not in reserved
    }
