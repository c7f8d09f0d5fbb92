"""Where the provider contract is: its header, the kernel table, the SDK and the CMake package."""

from __future__ import annotations

from pathlib import Path

__all__ = ["cdef_text", "header_path", "include_dir", "kernel_table_path", "sdk_dir"]
__version__ = "0.1.0"

_BEGIN = "/* [cdef-begin] */"
_END = "/* [cdef-end] */"


def _root() -> Path:
    """Find the data: inside the installed package, or in the tree that an editable install points to."""
    here = Path(__file__).resolve().parent
    installed = here / "data"
    return installed if installed.is_dir() else here.parents[1]


def include_dir() -> Path:
    """Give the folder to put on a C compiler's include path for `infinitrain/provider.h`."""
    return _root() / "include"


def sdk_dir() -> Path:
    """Give the folder to put on a C compiler's include path for the SDK helpers."""
    return _root() / "sdk"


def header_path() -> Path:
    """Give the path of the contract itself."""
    return include_dir() / "infinitrain" / "provider.h"


def kernel_table_path() -> Path:
    """Give the path of kernels.toml."""
    return _root() / "kernels.toml"


def cdef_text() -> str:
    """Cut the region between the header's markers: the text that cffi reads, unchanged."""
    text = header_path().read_text(encoding="ascii")
    begin, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    return text[begin:end]
