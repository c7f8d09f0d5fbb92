"""Which names a provider may take."""

from __future__ import annotations

import re

__all__ = ["ALIAS", "EMBEDDED", "OURS", "PATTERN", "is_option", "is_valid", "problem"]

#: The device that comes with the core.
EMBEDDED = "cpu"
#: The one external provider, whatever its name.
ALIAS = "privateuse1"
#: Names that only the distribution beside them may provide.
OURS = {"cpu": "infinitrain-cpu", "cuda": "infinitrain-cuda"}
PATTERN = re.compile(r"[a-z][a-z0-9_]{0,31}")
_OPTION = re.compile(r"[a-z][a-z0-9_]*")


def is_valid(name: str) -> bool:
    """Whether a name follows the contract's rule for names."""
    return PATTERN.fullmatch(name) is not None


def problem(name: str, distribution: str | None = None) -> str | None:
    """Say why a provider of a distribution (None: of a path) may not have this name; None where it may."""
    if not is_valid(name):
        return f"name {name!r}: expected a lower-case letter, then at most 31 of a-z, 0-9 and _"
    if name == ALIAS:
        return f"name {name!r} is the alias of whatever external provider there is: choose another"
    owner = OURS.get(name)
    if owner is not None and distribution != owner:
        return f"name {name!r} is reserved for the package {owner}: choose another"
    return None


def is_option(name: str) -> bool:
    """Whether a name follows the contract's rule for names of options."""
    return _OPTION.fullmatch(name) is not None
