"""The layout of a provider.h, seen by cffi and by a C compiler: sizes, offsets, constants and the order of slots."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from cffi import FFI

__all__ = ["by_cffi", "by_compiler", "region", "slots", "text_of"]

_BEGIN, _END = "/* [cdef-begin] */", "/* [cdef-end] */"
_TABLE = re.compile(r"typedef struct (itp_\w+) \{(.*?)\n\} \1;|\nstruct (itp_\w+) \{(.*?)\n\};", re.DOTALL)
_SLOT = re.compile(r"/\*\*((?:(?!\*/).)*?)\*/\s*(?:itp_status|const void \*|void) ?\(\*(\w+)\)\(", re.DOTALL)
_SINCE = re.compile(r"@since +(\d+\.\d+), (required|optional)")


def region(header: Path) -> str:
    """Cut the part of a header that cffi reads."""
    text = header.read_text(encoding="ascii")
    return text[text.index(_BEGIN) + len(_BEGIN) : text.index(_END)]


def slots(header: Path) -> dict[str, tuple[str, bool]]:
    """Give for each function slot, as `itp_runtime.alloc`, the version that brought it and whether it is required."""
    found = {}
    for match in _TABLE.finditer(region(header)):
        table, body = (match[1], match[2]) if match[1] else (match[3], match[4])
        for comment, slot in _SLOT.findall(body):
            since = _SINCE.search(comment)
            if since is None:
                raise ValueError(f"{table}.{slot}: expected '@since N.M, required' or 'optional', found neither")
            found[f"{table}.{slot}"] = (since[1], since[2] == "required")
    return found


def by_cffi(header: Path) -> dict[str, Any]:
    """Read the layout from cffi's own reading of the region."""
    text = region(header)
    ffi = FFI()
    ffi.cdef(text)
    library = ffi.dlopen(None)
    declared = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    structs = {}
    for pair in re.findall(r"^typedef (?:struct|union) (itp_\w+) \{|^struct (itp_\w+) \{", declared, re.MULTILINE):
        name = "".join(pair)
        ctype = ffi.typeof(name)
        structs[name] = {
            "size": ffi.sizeof(ctype),
            "fields": [[field, info.offset, ffi.sizeof(info.type)] for field, info in ctype.fields or []],
        }
    names = re.findall(r"^#define (ITP_\w+) (?:-?\d+|0x[0-9a-f]+)\b", text, re.MULTILINE)
    return {
        "version": f"{library.ITP_ABI_MAJOR}.{library.ITP_ABI_MINOR}",
        "constants": {name: int(getattr(library, name)) for name in names},
        "structs": structs,
    }


def by_compiler(layout: dict[str, Any], header: Path, folder: Path, compiler: str = "gcc") -> dict[str, Any]:
    """Ask a C or C++ compiler for everything that `layout` names, in the same shape."""
    lines = [f'  printf("c {name} %lld\\n", (long long){name});' for name in layout["constants"]]
    for name, struct in layout["structs"].items():
        lines.append(f'  printf("s {name} %zu\\n", sizeof({name}));')
        lines += [
            f'  printf("f {field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            for field, _, _ in struct["fields"]
        ]
    body = "\n".join(lines)
    text = f'#include <stdio.h>\n#include "{header}"\nint main(void) {{\n{body}\n  return 0;\n}}\n'
    language, standard = ("c++", "-std=c++17") if "++" in compiler else ("c", "-std=c11")
    program = folder / "layout"
    command = [compiler, "-x", language, standard, "-o", str(program), "-"]
    subprocess.run(command, input=text, text=True, check=True)
    printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = {"version": layout["version"], "constants": {}, "structs": {}}
    fields: list[list[Any]] = []
    for line in printed.splitlines():
        kind, name, *numbers = line.split()
        if kind == "c":
            found["constants"][name] = int(numbers[0])
        elif kind == "s":
            fields = []
            found["structs"][name] = {"size": int(numbers[0]), "fields": fields}
        else:
            fields.append([name, *map(int, numbers)])
    return found


def text_of(layout: dict[str, Any]) -> str:
    """Write a layout as JSON, one field a line."""
    parts = [f'{{\n  "version": "{layout["version"]}",\n  "constants": {{\n']
    parts.append(",\n".join(f'    "{name}": {value}' for name, value in layout["constants"].items()))
    parts.append('\n  },\n  "structs": {\n')
    structs = []
    for name, struct in layout["structs"].items():
        fields = ",\n".join(f"      {json.dumps(field)}" for field in struct["fields"])
        structs.append(f'    "{name}": {{"size": {struct["size"]}, "fields": [\n{fields}\n    ]}}')
    parts.append(",\n".join(structs))
    parts.append("\n  }\n}\n")
    return "".join(parts)
