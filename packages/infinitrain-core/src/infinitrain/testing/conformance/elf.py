"""The names that a shared library defines for others: its dynamic symbol table, read without any tool.

Source: System V Application Binary Interface, chapters 4 and 5.
"""

from __future__ import annotations

import struct
from pathlib import Path

__all__ = ["exported_symbols"]

_SHT_DYNSYM = 11
_LOCAL = 0


def exported_symbols(path: Path) -> list[str]:
    """List the defined global and weak symbols of a 64-bit ELF file.

    Raises: ValueError for any other file.
    """
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        raise ValueError(f"{path}: expected a 64-bit ELF file, found one that begins with {data[:5]!r}")
    order = "<" if data[5] == 1 else ">"
    (begin,) = struct.unpack_from(order + "Q", data, 40)
    size, count = struct.unpack_from(order + "HH", data, 58)
    sections = [struct.unpack_from(order + "IIQQQQIIQQ", data, begin + i * size) for i in range(count)]
    names: list[str] = []
    for section in sections:
        if section[1] != _SHT_DYNSYM:
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], section[9]):
            name, info, _, index = struct.unpack_from(order + "IBBH", data, at)
            if info >> 4 != _LOCAL and index != 0:
                end = data.index(b"\0", strings + name)
                names.append(data[strings + name : end].decode())
    return sorted(names)
