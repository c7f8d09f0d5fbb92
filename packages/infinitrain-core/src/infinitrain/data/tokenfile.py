"""Token files in llm.c's layout: a header of 256 int32, then the ids as uint16 or uint32, little endian.

Header words: magic (20240520 for uint16, 20240801 for uint32), version 1, count of tokens (low 32 bits), the count's
high 32 bits, vocabulary size, CRC-32 of the ids (the last two are 0 where a writer did not say).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from infinitrain.errors import DataError

__all__ = ["read_tokens", "write_tokens"]

HEADER_BYTES = 1024
VERSION = 1
WIDTHS: dict[int, np.dtype[Any]] = {20240520: np.dtype("<u2"), 20240801: np.dtype("<u4")}


def write_tokens(path: Path, tokens: Sequence[int] | npt.NDArray[Any], vocab_size: int) -> None:
    """Write token ids, as uint16 where the vocabulary fits into it; the file appears whole or not at all.

    Raises: DataError for an id outside the vocabulary.
    """
    ids = np.asarray(tokens, dtype=np.int64)
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < vocab_size:
        raise DataError(f"token file {path}: expected ids in [0, {vocab_size}), found {ids.min()} to {ids.max()}")
    magic = 20240520 if vocab_size <= 1 << 16 else 20240801
    content = ids.astype(WIDTHS[magic])
    header = np.zeros(HEADER_BYTES // 4, np.uint32)
    header[:6] = magic, VERSION, ids.size & 0xFFFFFFFF, ids.size >> 32, vocab_size, zlib.crc32(content.data)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with aside.open("wb") as file:
            file.write(header.astype("<u4").tobytes())
            file.write(content.tobytes())
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def read_tokens(path: Path, vocab_size: int) -> npt.NDArray[Any]:
    """Map a token file: its ids are checked once, and stay on the disk until they are used.

    Args:
        path: The file.
        vocab_size: That of the model; ids are checked against it.

    Raises: DataError for another format, another width, a length or checksum that differs from the header's, or an id
        outside the vocabulary.
    """
    if not path.is_file():
        raise DataError(f"token file {path} does not exist")
    length = path.stat().st_size
    if length < HEADER_BYTES:
        raise DataError(f"token file {path} is truncated: expected a header of {HEADER_BYTES} bytes, found {length}")
    header = np.fromfile(path, "<u4", HEADER_BYTES // 4)
    magic, version = int(header[0]), int(header[1])
    if magic not in WIDTHS or version != VERSION:
        known = " or ".join(map(str, WIDTHS))
        raise DataError(
            f"{path} is not a token file: expected magic {known} and version {VERSION}, found {magic} and {version}"
        )
    width = WIDTHS[magic]
    if vocab_size > 1 << 16 and width.itemsize == 2:
        raise DataError(f"token file {path} has 16-bit ids: expected 32-bit ones for a vocabulary of {vocab_size}")
    count = int(header[2]) | int(header[3]) << 32
    if length != HEADER_BYTES + count * width.itemsize:
        raise DataError(
            f"token file {path} is damaged: its header says {count} ids of {width.itemsize} bytes, the file has "
            f"{length - HEADER_BYTES} bytes of ids. Delete it and prepare the data again"
        )
    tokens: npt.NDArray[Any] = np.memmap(path, width, "r", HEADER_BYTES, (count,)) if count else np.empty(0, width)
    checksum = int(header[5])
    if checksum and zlib.crc32(tokens.data) != checksum:
        raise DataError(
            f"token file {path} is damaged: expected ids with CRC-32 {checksum:#010x}, found "
            f"{zlib.crc32(tokens.data):#010x}. Delete it and prepare the data again"
        )
    if count and int(tokens.max()) >= vocab_size:
        raise DataError(
            f"token file {path}: id {int(tokens.max())} is outside the model's vocabulary [0, {vocab_size})"
        )
    return tokens
