"""The device `cpu` of infinitrain. This package says where its library is, and nothing else."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["library_path"]
__version__ = "0.1.0"


def library_path() -> str:
    """Give the path of the provider's library."""
    return str(files(__name__).joinpath("libitp_cpu.so"))
