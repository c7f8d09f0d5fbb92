"""The device `acme`: where its library lies."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["library_path"]


def library_path() -> str:
    """Give the path of the provider library, which nothing here opens."""
    return str(files(__name__) / "libitp_acme.so")
