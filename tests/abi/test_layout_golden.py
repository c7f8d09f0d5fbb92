"""Sizes, offsets, constants and the order of slots are those that were recorded, for cffi and for the compilers."""

from __future__ import annotations

import json
from itertools import pairwise

import layout
import pytest
from toolchain import C_COMPILERS, CXX_COMPILERS

FILES = sorted(layout.GOLDEN.glob("v*.json"), key=lambda path: [int(n) for n in path.stem[1:].split(".")])
CURRENT = layout.by_cffi()
RECORDED = [json.loads(path.read_text(encoding="ascii")) for path in FILES]


def test_layout_of_this_version_is_recorded():
    assert RECORDED[-1] == CURRENT
    assert list(RECORDED[-1]["constants"]) == list(CURRENT["constants"])
    assert list(RECORDED[-1]["structs"]) == list(CURRENT["structs"])
    assert FILES[-1].read_text(encoding="ascii") == layout.text_of(CURRENT)


@pytest.mark.parametrize("compiler", C_COMPILERS + CXX_COMPILERS)
def test_compiler_and_cffi_agree(compiler, tmp_path):
    assert layout.by_compiler(CURRENT, tmp_path, compiler) == CURRENT


def test_no_struct_has_padding():
    for name, struct in CURRENT["structs"].items():
        if name == "itp_value_u":  # a union: every member begins at 0
            assert {offset for _, offset, _ in struct["fields"]} == {0}
            continue
        end = 0
        for field, offset, size in struct["fields"]:
            assert offset == end, f"{name}.{field}"
            end += size
        assert end == struct["size"], name


def test_structs_that_cross_begin_with_their_size():
    without = {"itp_dtype", "itp_tensor", "itp_value", "itp_value_u"}  # their layout is DLPack's, or fixed for ever
    for name, struct in CURRENT["structs"].items():
        if name not in without:
            assert struct["fields"][0] == ["struct_size", 0, 4], name
            assert struct["size"] % 8 == 0, name


def test_a_later_minor_only_appends():
    for older, newer in pairwise(RECORDED):
        minor = {("ITP_ABI_MINOR", older["constants"]["ITP_ABI_MINOR"])}
        assert older["constants"].items() - minor <= newer["constants"].items()
        for name, struct in older["structs"].items():
            assert newer["structs"][name]["fields"][: len(struct["fields"])] == struct["fields"], name
