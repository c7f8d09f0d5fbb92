"""IDX files: arrays of numbers behind a short big-endian head, as MNIST's images and labels are published.

Source: Y. LeCun, C. Cortes and C. Burges, "The MNIST database of handwritten digits", section "File formats".
"""

from __future__ import annotations

import gzip
import zlib
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from infinitrain.errors import DataError

__all__ = ["read_idx"]

#: The third byte of a file names the type of its numbers, which are big-endian.
_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | Path) -> npt.NDArray[Any]:
    """Read an IDX file, compressed where its name ends in .gz, as an array in the machine's byte order.

    Raises: DataError for a file that is no IDX file, or shorter or longer than its head says; FileNotFoundError.
    """
    path = Path(path)
    raw = path.read_bytes()
    if path.suffix == ".gz":
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path}: expected a whole gzip file, found: {error}") from error
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in _TYPES:
        raise DataError(
            f"{path}: expected an IDX file (0, 0, a type, a rank), found it to begin with {raw[:4].hex(' ')}"
        )
    rank = raw[3]
    head = 4 + 4 * rank
    if len(raw) < head:
        raise DataError(f"{path}: expected {rank} sizes after the first 4 bytes, found {len(raw) - 4} bytes")
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", rank, 4))
    dtype = np.dtype(_TYPES[raw[2]])
    expected = head + prod(shape) * dtype.itemsize
    if len(raw) != expected:
        raise DataError(f"{path}: expected {expected} bytes for numbers of shape {shape}, found {len(raw)}")
    return np.frombuffer(raw, dtype, offset=head).reshape(shape).astype(dtype.newbyteorder("="))
