"""What the header says of its slots: which are required."""

from __future__ import annotations

import re
from functools import cache

from infinitrain_capi import cdef_text

__all__ = ["slots"]

_TABLE = re.compile(r"typedef struct (itp_\w+) \{(.*?)\n\} \1;|\nstruct (itp_kernel) \{(.*?)\n\};", re.DOTALL)
_SLOT = re.compile(r"/\*\*((?:(?!\*/).)*?)\*/\s*(?:itp_status|const void \*|void) ?\(\*(\w+)\)\(", re.DOTALL)


@cache
def slots() -> dict[str, dict[str, bool]]:
    """Give for each table its function slots, each with whether it is required."""
    found: dict[str, dict[str, bool]] = {}
    for match in _TABLE.finditer(cdef_text()):
        name, body = (match[1], match[2]) if match[1] else (match[3], match[4])
        found[name] = {slot: "1.0, required" in comment for comment, slot in _SLOT.findall(body)}
    return {name: table for name, table in found.items() if table}
