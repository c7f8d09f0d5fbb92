"""Token files: what is written is read, and what is damaged is refused with figures."""

from __future__ import annotations

import numpy as np
import pytest
from infinitrain.data import read_tokens, write_tokens
from infinitrain.data.tokenfile import HEADER_BYTES
from infinitrain.errors import DataError


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tokens.bin"
    write_tokens(path, [1, 2, 50256], 50257)
    return path


def test_ids_come_back_in_the_width_of_their_vocabulary(tmp_path):
    for vocab_size, width, magic in (
        (50257, 2, 20240520),
        (65536, 2, 20240520),
        (65537, 4, 20240801),
        (128256, 4, 20240801),
    ):
        path = tmp_path / f"{vocab_size}.bin"
        ids = [0, 7, vocab_size - 1]
        write_tokens(path, ids, vocab_size)

        assert read_tokens(path, vocab_size).tolist() == ids
        assert path.stat().st_size == HEADER_BYTES + 3 * width
        assert np.fromfile(path, "<i4", 3).tolist() == [magic, 1, 3]


def test_no_tokens_are_a_file_too(tmp_path):
    write_tokens(tmp_path / "empty.bin", [], 50257)

    assert read_tokens(tmp_path / "empty.bin", 50257).tolist() == []


@pytest.mark.parametrize("ids", [[-1], [50257]])
def test_the_writer_refuses_ids_outside_the_vocabulary(tmp_path, ids):
    with pytest.raises(DataError, match=r"expected ids in \[0, 50257\)"):
        write_tokens(tmp_path / "wrong.bin", ids, 50257)

    assert list(tmp_path.iterdir()) == []


def test_narrow_ids_are_refused_for_a_wide_vocabulary(file):
    with pytest.raises(DataError, match="has 16-bit ids: expected 32-bit ones for a vocabulary of 128256"):
        read_tokens(file, 128256)


def test_ids_are_checked_against_the_model(file):
    with pytest.raises(DataError, match=r"id 50256 is outside the model's vocabulary \[0, 50000\)"):
        read_tokens(file, 50000)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:100], "expected a header of 1024 bytes, found 100"),
        (lambda data: data[:-1], "is damaged"),
        (lambda data: data + b"\0\0", "is damaged"),
        (lambda data: b"\1\2\3\4" + data[4:], "is not a token file: expected magic 20240520 or 20240801"),
        (lambda data: data[:4] + b"\2\0\0\0" + data[8:], "and version 1"),
        (lambda data: data[:8] + b"\xff\xff\xff\x7f" + data[12:], "says 2147483647 ids"),
        (lambda data: b"", "found 0"),
    ],
)
def test_damage_is_named(file, change, words):
    file.write_bytes(change(file.read_bytes()))

    with pytest.raises(DataError, match=words):
        read_tokens(file, 50257)


def test_an_id_that_changed_is_noticed(file):
    data = bytearray(file.read_bytes())
    data[HEADER_BYTES] ^= 1
    file.write_bytes(data)

    with pytest.raises(DataError, match="expected ids with CRC-32 0x"):
        read_tokens(file, 50257)


def test_a_file_of_another_writer_has_no_checksum(file):
    data = file.read_bytes()
    file.write_bytes(data[:12] + bytes(HEADER_BYTES - 12) + data[HEADER_BYTES:])

    assert read_tokens(file, 50257).tolist() == [1, 2, 50256]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        read_tokens(tmp_path / "nothing.bin", 50257)
