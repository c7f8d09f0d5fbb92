from __future__ import annotations

import json

import infinitrain as it
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from infinitrain.checkpoint.tensorfile import TensorFile, checksum, write
from infinitrain.dtype import ALL
from infinitrain.errors import CheckpointError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file


def crafted(path, header, data=b"", length=None):
    """Write a file with any header, JSON or bytes, and any stated length of it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def entry(shape, offsets, dtype="F32"):
    return {"w": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


def theirs_accepts(path):
    try:
        with safe_open(path, "np") as file:
            for name in file.keys():  # noqa: SIM118 - not a dictionary
                file.get_slice(name).get_shape()
    except (SafetensorError, OSError):
        return False
    return True


def ours_accepts(path):
    try:
        with TensorFile(path):
            return True
    except CheckpointError:
        return False


# ---- both ways between us and the reference library ----


def values_of(dtype):
    numbers = np.array([[0, 1, 2], [3, 100, 7]])
    return numbers.astype(dtype.numpy)


def test_what_we_write_the_reference_library_reads(tmp_path, device):
    path = tmp_path / "a.safetensors"
    tensors = {f"t.{dtype.name}": it.tensor(values_of(dtype), device=device) for dtype in ALL}
    tensors["scalar"] = it.tensor(2.5, device=device)
    tensors["empty"] = it.zeros(0, 3, device=device)
    tensors["turned"] = it.tensor(values_of(it.float32), device=device).T
    result = write(path, tensors, {"format": "pt"})

    assert result == checksum(path)
    assert result["bytes"] == path.stat().st_size
    with safe_open(path, "np") as file:
        assert file.metadata() == {"format": "pt"}
        assert set(file.keys()) == set(tensors)
        for name, tensor in tensors.items():
            found = file.get_tensor(name)
            expected = tensor.numpy()
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_we_read_what_the_reference_library_writes(tmp_path):
    path = tmp_path / "a.safetensors"
    arrays = {dtype.name: values_of(dtype) for dtype in ALL}
    save_file(arrays, path, {"made": "by numpy"})

    with TensorFile(path) as file:
        assert file.metadata == {"made": "by numpy"}
        assert set(file.entries) == set(arrays)
        for name, expected in arrays.items():
            found = file.read(name)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_bfloat16_bits_survive(tmp_path, device):
    path = tmp_path / "a.safetensors"
    bits = np.arange(0, 65536, 7, dtype=np.uint16)
    write(path, {"w": it.tensor(bits.view(ml_dtypes.bfloat16), device=device)}, {})

    with TensorFile(path) as file:
        np.testing.assert_array_equal(file.read("w").view(np.uint16), bits)
    np.testing.assert_array_equal(load_file(path)["w"].view(np.uint16), bits)


def test_an_empty_file_of_tensors(tmp_path):
    path = tmp_path / "a.safetensors"
    write(path, {}, {})

    assert load_file(path) == {}
    with TensorFile(path) as file:
        assert file.entries == {}


# ---- damage ----


@pytest.mark.parametrize("length", [2**63 - 1, 2**64 - 1, 100_000_001])
def test_huge_header_length(tmp_path, length):
    """BC-062: an error before anything is allocated."""
    path = crafted(tmp_path / "a", {}, length=length)

    with pytest.raises(CheckpointError, match=rf"a: header length: expected at most 100000000 bytes, found {length}"):
        TensorFile(path)


def test_header_longer_than_the_file(tmp_path):
    """BC-062: file size + 1."""
    path = crafted(tmp_path / "a", {}, length=3)

    with pytest.raises(CheckpointError, match="header length: expected at most 2, what the file has, found 3"):
        TensorFile(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found 0 bytes, too few for a header length"),
        (b"\0\0\0\0", "found 4 bytes, too few for a header length"),
        (bytes(8), "expected a header of JSON, found damage"),  # length 0
        ((1).to_bytes(8, "little") + b"{", "expected a header of JSON, found damage"),
        ((2).to_bytes(8, "little") + b"[]", "expected a header that is a JSON object"),
        ((4).to_bytes(8, "little") + b"\xff\xfe{}", "expected a header of JSON, found damage"),
        ((6).to_bytes(8, "little") + b'{"a":}', "expected a header of JSON, found damage"),
    ],
)
def test_damaged_header(tmp_path, content, message):
    """BC-062."""
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)

    with pytest.raises(CheckpointError, match=message) as caught:
        TensorFile(path)
    assert "bad.safetensors" in str(caught.value)
    assert not theirs_accepts(path)


def test_deeply_nested_header(tmp_path):
    path = crafted(tmp_path / "a", b"{" + b'"a":{' * 5000 + b"}" * 5001)

    with pytest.raises(CheckpointError, match="expected a header of JSON, found damage"):
        TensorFile(path)


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (entry([1000, 1000], [0, 4]), 4, "expected 4000000 bytes for F32 of shape .1000, 1000., found .* 4 bytes"),
        (entry([1], []), 4, r"expected data_offsets \[begin, end\], found \[\]"),
        (entry([1], [5]), 4, r"expected data_offsets \[begin, end\], found \[5\]"),
        (entry([1], [8, 4]), 8, "expected 4 bytes for F32 of shape .1., found .* -4 bytes"),
        (entry([4], [0, 16]), 8, "expected 16 bytes of data, found 8. Was the file cut short"),
        (entry([1], [0, 4]), 9, "expected 4 bytes of data, found 9. Was the file .* appended to"),
        (entry([1], [4, 8]), 8, "expected data_offsets to begin at 0, found 4"),
        (entry([2**62, 2**62], [0, 4]), 4, "bytes for F32 of shape"),
        (entry([-1], [0, 4]), 4, "expected a shape of sizes of at least 0"),
        (entry([1.0], [0, 4]), 4, "expected a shape of sizes"),
        (entry([True], [0, 4]), 4, "expected a shape of sizes"),
        (entry("4", [0, 4]), 4, "expected a shape of sizes"),
        (entry([1], [-4, 0]), 4, "expected data_offsets"),
        (entry([1], [0, 4], "F33"), 4, "expected a dtype among BOOL, .*, found 'F33'"),
        (entry([1], [0, 4], 7), 4, "expected a dtype among"),
        ({"w": {"dtype": "F32", "shape": [1]}}, 4, "expected dtype, shape and data_offsets"),
        ({"w": 3}, 4, "expected dtype, shape and data_offsets, found 3"),
    ],
)
def test_entries_that_contradict_the_file_name_the_tensor(tmp_path, header, data, message):
    """BC-063."""
    path = crafted(tmp_path / "a.safetensors", header, bytes(data))

    with pytest.raises(CheckpointError, match=message) as caught:
        TensorFile(path)
    assert "of data" in message or "tensor 'w'" in str(caught.value)
    assert "a.safetensors" in str(caught.value)
    assert not theirs_accepts(path)


def test_overlapping_tensors(tmp_path):
    both = {name: {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]} for name in ("a", "b")}

    with pytest.raises(CheckpointError, match="tensor 'b': expected data_offsets to begin at 4, found 0"):
        TensorFile(crafted(tmp_path / "a", both, bytes(4)))


def test_name_twice(tmp_path):
    text = b'{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'

    with pytest.raises(CheckpointError, match="a name stands twice"):
        TensorFile(crafted(tmp_path / "a", text))


def test_metadata_must_be_texts(tmp_path):
    with pytest.raises(CheckpointError, match="__metadata__: expected texts by name"):
        TensorFile(crafted(tmp_path / "a", {"__metadata__": {"a": 1}}))


def test_absent_file_and_absent_tensor(tmp_path):
    with pytest.raises(FileNotFoundError):
        TensorFile(tmp_path / "none")
    path = tmp_path / "a"
    write(path, {"w": it.ones(1)}, {})
    with TensorFile(path) as file, pytest.raises(CheckpointError, match="expected a tensor 'v', found none"):
        file.read("v")


def test_file_cut_after_it_was_opened(tmp_path):
    path = tmp_path / "a"
    write(path, {"w": it.ones(100000)}, {})
    with TensorFile(path) as file:
        with path.open("r+b") as other:
            other.truncate(20000)
        with pytest.raises(CheckpointError, match="tensor 'w': expected 400000 bytes, found the end of the file"):
            file.read("w")


def test_every_cut_of_a_file_is_refused(tmp_path):
    path = tmp_path / "a"
    write(path, {"w": it.ones(5), "v": it.ones(3, dtype=it.int64)}, {"k": "v"})
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert not ours_accepts(path), size


SIZES = st.one_of(st.integers(0, 6), st.sampled_from([-1, 2**31, 2**63, 2**64, 2**64 + 1]))


@settings(max_examples=300, deadline=None)
@given(
    entries=st.lists(
        st.tuples(st.sampled_from(["F32", "U8", "BF16", "I64", "BOOL"]), st.lists(SIZES, max_size=3), SIZES, SIZES),
        max_size=3,
    ),
    size=st.integers(0, 40),
    spaces=st.integers(0, 3),
)
def test_we_accept_what_the_reference_library_accepts(tmp_path_factory, entries, size, spaces):
    header = {
        f"t{i}": {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
        for i, (dtype, shape, begin, end) in enumerate(entries)
    }
    path = crafted(tmp_path_factory.mktemp("f") / "a", json.dumps(header).encode() + b" " * spaces, bytes(size))

    assert ours_accepts(path) == theirs_accepts(path)


@settings(max_examples=300, deadline=None)
@given(place=st.integers(0, 300), value=st.integers(0, 255))
def test_one_changed_header_byte_is_judged_as_by_the_reference_library(tmp_path_factory, place, value):
    path = tmp_path_factory.mktemp("f") / "a"
    write(path, {"w": it.ones(5), "v": it.ones(3, dtype=it.int64)}, {"k": "v"})
    whole = bytearray(path.read_bytes())
    end = 8 + int.from_bytes(whole[:8], "little")
    whole[place % end] = value
    path.write_bytes(whole)

    # We refuse what the reference may let pass: names that stand twice, dtypes that no tensor has.
    if ours_accepts(path):
        assert theirs_accepts(path)
