"""Sizes, offsets, constants and the order of slots are those that were recorded, for cffi and for the compilers."""

from __future__ import annotations

import json
from pathlib import Path

import abi_freeze
import abi_layout
import infinitrain_capi
import pytest
from infinitrain._abi import loader
from toolchain import C_COMPILERS, CXX_COMPILERS

TREE = abi_freeze.Tree(Path(__file__).parents[2])
CURRENT = abi_layout.by_cffi(infinitrain_capi.header_path())
RECORDED = {
    version: json.loads((TREE.golden / f"v{version}.json").read_text(encoding="ascii")) for version in TREE.versions()
}


def test_layout_of_this_version_is_recorded():
    recorded = RECORDED[TREE.version()]

    assert recorded == CURRENT
    assert list(recorded["constants"]) == list(CURRENT["constants"])
    assert list(recorded["structs"]) == list(CURRENT["structs"])
    assert (TREE.golden / f"v{TREE.version()}.json").read_text(encoding="ascii") == abi_layout.text_of(CURRENT)


@pytest.mark.parametrize("compiler", C_COMPILERS + CXX_COMPILERS)
def test_compiler_and_cffi_agree(compiler, tmp_path):
    assert abi_layout.by_compiler(CURRENT, infinitrain_capi.header_path(), tmp_path, compiler) == CURRENT


@pytest.mark.parametrize("compiler", C_COMPILERS + CXX_COMPILERS)
@pytest.mark.parametrize("version", RECORDED)
def test_compiler_gives_each_frozen_header_its_layout(version, compiler, tmp_path):
    found = abi_layout.by_compiler(RECORDED[version], TREE.frozen_header(version), tmp_path, compiler)

    assert found == RECORDED[version]


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


def test_the_loader_asks_for_no_more_than_version_1_0_had():
    first = {name: struct["size"] for name, struct in RECORDED["1.0"]["structs"].items()}

    assert {name: first[name] for name in loader.FIRST_SIZES} == loader.FIRST_SIZES
    assert set(loader.TABLES.values()) < set(loader.FIRST_SIZES)


def test_what_was_frozen_is_as_it_was():
    assert abi_freeze.check(TREE) == []
