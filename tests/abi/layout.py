"""The layout of the contract, seen by cffi and by the C compiler, and the command that records it.

`python tests/abi/layout.py` writes capi/abi/golden/vMAJOR.MINOR.json. A recorded version is never written again with
other numbers: a later minor only appends.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import infinitrain_capi
from cffi import FFI
from toolchain import run_text

GOLDEN = Path(__file__).parents[2] / "capi" / "abi" / "golden"


def constants() -> list[str]:
    """List the names of the contract's integer constants in the order of the header."""
    return re.findall(r"^#define (ITP_\w+) (?:-?\d+|0x[0-9a-f]+)\b", infinitrain_capi.cdef_text(), re.MULTILINE)


def by_cffi() -> dict[str, Any]:
    """Read the layout from cffi's own reading of the region."""
    ffi = FFI()
    ffi.cdef(infinitrain_capi.cdef_text())
    library = ffi.dlopen(None)
    structs = {}
    for name in re.findall(r"^typedef (?:struct|union) (itp_\w+) \{|^struct (itp_\w+) \{", ffi_text(), re.MULTILINE):
        ctype = ffi.typeof("".join(name))
        structs["".join(name)] = {
            "size": ffi.sizeof(ctype),
            "fields": [[field, info.offset, ffi.sizeof(info.type)] for field, info in ctype.fields or []],
        }
    return {
        "version": f"{library.ITP_ABI_MAJOR}.{library.ITP_ABI_MINOR}",
        "constants": {name: int(getattr(library, name)) for name in constants()},
        "structs": structs,
    }


def ffi_text() -> str:
    """Give the region without comments, in the order of the header."""
    return re.sub(r"/\*.*?\*/", "", infinitrain_capi.cdef_text(), flags=re.DOTALL)


def by_compiler(layout: dict[str, Any], folder: Path, compiler: str = "gcc") -> dict[str, Any]:
    """Ask the C compiler for everything that `layout` names, in the same shape."""
    lines = [f'  printf("c {name} %lld\\n", (long long){name});' for name in layout["constants"]]
    for name, struct in layout["structs"].items():
        lines.append(f'  printf("s {name} %zu\\n", sizeof({name}));')
        lines += [
            f'  printf("f {field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            for field, _, _ in struct["fields"]
        ]
    body = "\n".join(lines)
    program = f'#include <stdio.h>\n#include "infinitrain/provider.h"\nint main(void) {{\n{body}\n  return 0;\n}}\n'
    standard = "-std=c++17" if "++" in compiler else "-std=c11"
    found: dict[str, Any] = {"version": layout["version"], "constants": {}, "structs": {}}
    fields: list[list[Any]] = []
    for line in run_text(program, folder, standard, compiler=compiler).splitlines():
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


def main() -> int:
    """Record the layout of the header as it is."""
    layout = by_cffi()
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / f"v{layout['version']}.json").write_text(text_of(layout), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
