"""The header and the SDK's headers compile alone, twice, and between others, in every language that they promise."""

from __future__ import annotations

import re
from collections import Counter

import infinitrain_capi
import pytest
from toolchain import C_COMPILERS, CXX_COMPILERS, STRICT, accepted, compile_text

#: C23 and C++23 under whichever name the compiler has for them.
C_STANDARDS = (("c99",), ("c11",), ("c17",), ("c23", "c2x"))
CXX_STANDARDS = (("c++98",), ("c++11",), ("c++14",), ("c++17",), ("c++20",), ("c++23", "c++2b"))
CONTRACT = accepted(C_COMPILERS, C_STANDARDS) + accepted(CXX_COMPILERS, CXX_STANDARDS)
SDK = accepted(C_COMPILERS, C_STANDARDS) + accepted(CXX_COMPILERS, CXX_STANDARDS[3:])
SDK_HEADERS = sorted(path.name for path in (infinitrain_capi.sdk_dir() / "infinitrain").glob("*.h"))
HEADER = infinitrain_capi.header_path().read_text(encoding="ascii")
ID = re.compile(r"\[ITP-([A-Z]+)-(\d+)\]")
AREAS = {"NEG", "LIFE", "ERR", "KN", "RT", "GD", "CCL", "GR"}


def test_every_standard_is_tried():
    assert len(CONTRACT) == len(C_COMPILERS) * len(C_STANDARDS) + len(CXX_COMPILERS) * len(CXX_STANDARDS)


def include(*names: str) -> str:
    return "".join(f'#include "infinitrain/{name}"\n' for name in names) + "int used;\n"


@pytest.mark.parametrize(("compiler", "standard"), CONTRACT)
def test_contract_compiles_alone_and_twice_without_padding(compiler, standard):
    flags = [f"-std={standard}", "-Wpadded", *STRICT]

    compile_text(compiler, include("provider.h"), *flags)
    compile_text(compiler, include("provider.h", "provider.h"), *flags)


@pytest.mark.parametrize(("compiler", "standard"), SDK)
@pytest.mark.parametrize("name", SDK_HEADERS)
def test_sdk_header_compiles_alone_twice_and_beside_the_contract(name, compiler, standard):
    flags = [f"-std={standard}", *STRICT]

    compile_text(compiler, include(name), *flags)
    compile_text(compiler, include(name, "provider.h", name), *flags)
    compile_text(compiler, "#include <stdio.h>\n" + include("provider.h", name), *flags)


@pytest.mark.parametrize(("compiler", "standard"), SDK)
def test_all_sdk_headers_live_together(compiler, standard):
    names = [name for name in SDK_HEADERS if name != "sync.h"] + ["sync.h"]

    compile_text(compiler, include(*names), f"-std={standard}", *STRICT)
    compile_text(compiler, include(*reversed(names)), f"-std={standard}", *STRICT)


def test_contract_needs_no_header_but_the_compilers_own():
    assert re.findall(r"#include\s+(\S+)", HEADER) == ["<stddef.h>", "<stdint.h>"]


def test_rule_ids_are_unique_and_well_formed():
    ids = ID.findall(HEADER)

    assert [item for item, count in Counter(ids).items() if count > 1] == []
    assert {area for area, _ in ids} == AREAS
    assert len(ids) == len(re.findall(r"\[ITP-[A-Z]+-\d\d\]", HEADER))
    assert len(ids) == len(re.findall(r"ITP-[A-Z]+-\d", HEADER))


@pytest.mark.parametrize("area", sorted(AREAS))
def test_rule_ids_of_an_area_have_no_gap(area):
    """A number that is not there any more was given up: it would have to be listed here."""
    numbers = sorted(int(number) for name, number in ID.findall(HEADER) if name == area)

    assert numbers == list(range(1, len(numbers) + 1))


def slots() -> list[tuple[str, str]]:
    """List every function pointer of the structs with the comment before it."""
    pattern = re.compile(r"/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s+(?:[\w* ]+)\(\*(?P<name>\w+)\)\(", re.DOTALL)
    return [(match["name"], match["comment"]) for match in pattern.finditer(HEADER)]


def test_every_slot_has_a_contract_comment():
    declared = re.findall(r"^ {2}[\w* ]+\(\*(\w+)\)\(", HEADER, re.MULTILINE)

    assert [name for name, _ in slots()][:-1] == declared
    assert len(declared) == 51


@pytest.mark.parametrize(("name", "comment"), slots(), ids=[name for name, _ in slots()])
def test_contract_comment_is_whole(name, comment):
    assert "@threads" in comment
    assert re.search(r"@since +1\.0, (required|optional \(default: [^)]+\))", comment), comment
    if name not in ("log", "profile"):  # these two return nothing
        assert "@return" in comment
    order = [comment.find(word) for word in ("@param", "@return", "@threads", "@order", "@since", "SDK:", "Like:")]
    found = [place for place in order if place >= 0]

    assert found == sorted(found)


@pytest.mark.parametrize(("name", "comment"), slots(), ids=[name for name, _ in slots()])
def test_contract_comment_names_the_parameters(name, comment):
    declaration = re.search(rf"\(\*{name}\)\(([^)]*)\)", HEADER[HEADER.index(comment) :])
    assert declaration is not None
    parameters = [piece.split()[-1].lstrip("*") for piece in declaration[1].split(",")]
    expected = [p for p in parameters if p not in ("err", "ctx") and (p != "self" or name == "init")]
    described = re.findall(r"@param(?:\[\S+\])?\s+(\w+)", comment)

    if name not in ("log", "get_extension"):  # their line number, name and version need no words
        assert described == expected
