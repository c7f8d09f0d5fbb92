"""safetensors files, written and read one tensor at a time.

The format: 8 bytes of header length (little endian), a JSON header that gives each tensor's dtype, shape and place,
then the tensors without gaps. A header is believed only where it agrees with itself and with the file's size, so
nothing is allocated or read on the word of a damaged one.

Source: the safetensors format specification. What is accepted here is what the reference reader accepts, for the
dtypes that tensors have, but for names that stand twice, which the specification forbids.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from infinitrain.dtype import ALL, DType
from infinitrain.errors import CheckpointError
from infinitrain.tensor import Tensor

__all__ = ["Entry", "TensorFile", "checksum", "write"]

#: The format's own limit on the header.
MAX_HEADER_BYTES = 100_000_000
_CHUNK = 1 << 22
_NAMES = {dtype: "BOOL" if dtype.is_bool else dtype.short.upper() for dtype in ALL}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor of a file: what it is and which bytes of the data it takes."""

    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


def write(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> dict[str, int]:
    """Write a file and see it onto the disk; one tensor at a time is copied to the host.

    Returns: Its size in bytes and the CRC-32 of its contents, for `checksum`.
    Raises: OSError, as for a full disk.
    """
    # Wide types first, so that every tensor lies at a multiple of its item size.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    place = 0
    for name, tensor in ordered:
        end = place + tensor.nbytes
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [place, end],
        }
        place = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    crc = 0
    size = 0
    with path.open("wb") as file:
        for block in (len(text).to_bytes(8, "little"), text):
            crc, size = zlib.crc32(block, crc), size + file.write(block)
        for _, tensor in ordered:
            array = np.ascontiguousarray(tensor.detach().numpy()).reshape(-1).view(np.uint8)
            crc, size = zlib.crc32(array.data, crc), size + file.write(array.data)
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": size, "crc32": crc}


def checksum(path: Path) -> dict[str, int]:
    """Read a whole file and give its size and CRC-32, as `write` does."""
    crc = 0
    size = 0
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            crc, size = zlib.crc32(block, crc), size + len(block)
    return {"bytes": size, "crc32": crc}


class TensorFile:
    """An open file: `entries` and `metadata` by name, and `read` for the values.

    Raises: CheckpointError naming the file, and the tensor where one is at fault; FileNotFoundError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BufferedReader = path.open("rb")
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            self._start, header = self._read_header()
            self.metadata = self._check_metadata(header.pop("__metadata__", None))
            self.entries = {name: self._entry(name, value) for name, value in header.items()}
            self._check_places()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, name: str) -> npt.NDArray[Any]:
        """Give the values of one tensor in new host memory.

        Raises: CheckpointError for a name that is not there, or a file that was cut meanwhile.
        """
        entry = self.entries.get(name)
        if entry is None:
            self._fail(f"expected a tensor {name!r}, found none")
        raw = np.empty(entry.end - entry.begin, np.uint8)
        self._file.seek(self._start + entry.begin)
        if self._file.readinto(raw.data) != len(raw):
            self._fail(f"tensor {name!r}: expected {len(raw)} bytes, found the end of the file")
        return raw.view(entry.dtype.numpy).reshape(entry.shape)

    # ---- checks, from the outside in ----

    def _fail(self, problem: str) -> NoReturn:
        raise CheckpointError(f"{self.path}: {problem}")

    def _read_header(self) -> tuple[int, dict[str, Any]]:
        lead = self._file.read(8)
        if len(lead) < 8:
            self._fail(f"expected a safetensors file, found {len(lead)} bytes, too few for a header length")
        length = int.from_bytes(lead, "little")
        if length > MAX_HEADER_BYTES:
            self._fail(f"header length: expected at most {MAX_HEADER_BYTES} bytes, found {length}")
        if 8 + length > self._size:
            self._fail(f"header length: expected at most {self._size - 8}, what the file has, found {length}")
        text = self._file.read(length)
        try:
            header = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise CheckpointError(f"{self.path}: expected a header of JSON, found damage: {error}") from error
        if not isinstance(header, dict):
            self._fail(f"expected a header that is a JSON object, found {header!r:.80}")
        return 8 + length, header

    def _check_metadata(self, value: Any) -> dict[str, str]:
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            self._fail(f"__metadata__: expected texts by name, found {value!r:.80}")
        return value

    def _entry(self, name: str, value: Any) -> Entry:
        if not isinstance(value, dict) or not {"dtype", "shape", "data_offsets"} <= set(value):
            self._fail(f"tensor {name!r}: expected dtype, shape and data_offsets, found {value!r:.80}")
        dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
        if dtype not in _DTYPES:
            self._fail(f"tensor {name!r}: expected a dtype among {', '.join(_DTYPES)}, found {dtype!r:.40}")
        if not isinstance(shape, list) or not all(_is_size(size) for size in shape):
            self._fail(f"tensor {name!r}: expected a shape of sizes of at least 0, found {shape!r:.80}")
        if not isinstance(offsets, list) or len(offsets) != 2 or not all(_is_size(each) for each in offsets):
            self._fail(f"tensor {name!r}: expected data_offsets [begin, end], found {offsets!r:.80}")
        begin, end = offsets
        needed = prod(shape) * _DTYPES[dtype].itemsize
        if end - begin != needed:
            self._fail(
                f"tensor {name!r}: expected {needed} bytes for {dtype} of shape {shape}, found data_offsets "
                f"[{begin}, {end}], {end - begin} bytes"
            )
        return Entry(_DTYPES[dtype], tuple(shape), begin, end)

    def _check_places(self) -> None:
        """Tensors cover the data from its first byte to its last, without gap or overlap."""
        place = 0
        for name, entry in sorted(self.entries.items(), key=lambda item: (item[1].begin, item[1].end)):
            if entry.begin != place:
                self._fail(f"tensor {name!r}: expected data_offsets to begin at {place}, found {entry.begin}")
            place = entry.end
        found = self._size - self._start
        if place != found:
            self._fail(f"expected {place} bytes of data, found {found}. Was the file cut short, or appended to?")


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands twice")
    return result


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
