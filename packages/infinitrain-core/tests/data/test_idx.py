from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from infinitrain.data import read_idx
from infinitrain.errors import DataError

HEAD = bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 3, 4)
IMAGES = HEAD + bytes(range(24))


@pytest.mark.parametrize("packed", [False, True])
def test_images(tmp_path, packed):
    path = tmp_path / ("images.gz" if packed else "images")
    path.write_bytes(gzip.compress(IMAGES) if packed else IMAGES)
    found = read_idx(path)

    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, np.arange(24).reshape(2, 3, 4))


def test_wide_numbers_are_big_endian(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes([0, 0, 0x0D, 1]) + struct.pack(">I3f", 3, 1.5, -2.0, 0.25))

    assert read_idx(path).tolist() == [1.5, -2.0, 0.25]
    assert read_idx(path).dtype == np.dtype("=f4")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"expected an IDX file .* begin with $"),
        (b"\x89PNG", "found it to begin with 89 50 4e 47"),
        (bytes([0, 0, 7, 1]), "found it to begin with 00 00 07 01"),
        (HEAD[:10], "expected 3 sizes after the first 4 bytes, found 6 bytes"),
        (IMAGES[:-1], r"expected 40 bytes for numbers of shape \(2, 3, 4\), found 39"),
        (IMAGES + b"\0", "found 41"),
    ],
)
def test_garbled_files_are_refused(tmp_path, content, message):
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_idx(path)


def test_half_a_gzip_file_is_refused(tmp_path):
    path = tmp_path / "images.gz"
    path.write_bytes(gzip.compress(IMAGES)[:-9])
    with pytest.raises(DataError, match="expected a whole gzip file"):
        read_idx(path)
