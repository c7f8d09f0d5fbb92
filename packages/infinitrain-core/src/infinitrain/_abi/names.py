"""Which names a provider may take."""

from __future__ import annotations

import re

__all__ = ["ALIAS", "EMBEDDED", "OURS", "PATTERN", "is_option", "is_valid"]

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


def is_option(name: str) -> bool:
    """Whether a name follows the contract's rule for names of options."""
    return _OPTION.fullmatch(name) is not None
