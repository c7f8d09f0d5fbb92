"""Write the C source of `infinitrain._native`: cffi's wrapper over the contract's own text and the shim's."""

from __future__ import annotations

import sys
from pathlib import Path

from cffi import FFI
from infinitrain_capi import cdef_text

HERE = Path(__file__).parent
BEGIN, END = "/* [cdef-begin] */", "/* [cdef-end] */"


def main(output: str) -> None:
    """Emit the wrapper into a file."""
    shim = (HERE / "shim.h").read_text(encoding="ascii")
    ffi = FFI()
    ffi.cdef(cdef_text())
    ffi.cdef(shim[shim.index(BEGIN) + len(BEGIN) : shim.index(END)])
    ffi.set_source("infinitrain._native", '#include "shim.h"')
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(sys.argv[1])
