"""kernels.toml follows its own grammar, and what is generated from it is up to date."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import infinitrain_capi
import pytest
from infinitrain_capi import generate, table
from toolchain import run_text

ROOT = Path(__file__).parents[2]
ROWS = list(table.load().values())
DOCUMENT = tomllib.loads(infinitrain_capi.kernel_table_path().read_text(encoding="utf-8"))
KEYS = {"name", "version", "tier", "family", "schema", "layout", "alias", "tolerance", "meaning"}
TIER_0 = ["Cast", "Fill", "Copy", "NoOpForward", "NoOpBackward"]


def test_tier_0_is_what_every_provider_has():
    assert [row.name for row in ROWS if row.tier == 0] == TIER_0


def test_names_are_unique():
    names = [row["name"] for row in DOCUMENT["kernel"]]

    assert len(set(names)) == len(names) == len(ROWS)


@pytest.mark.parametrize("row", DOCUMENT["kernel"], ids=lambda row: row["name"])
def test_row_has_the_keys_of_the_format(row):
    assert set(row) >= KEYS
    assert set(row) <= KEYS | {"T", "U", "rank"}
    assert row["version"] >= 1
    assert row["tier"] in (0, 1, 2, 3)
    assert row.get("rank", "same") == "same"
    assert row["meaning"].endswith(".")
    assert re.fullmatch(r"[A-Z][A-Za-z0-9]*", row["name"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_dtypes_are_given_for_what_the_schema_binds(row):
    types = {tensor.type for tensor in row.inputs + row.outputs}

    assert bool(row.dtypes) == ("T" in types)
    assert bool(row.other_dtypes) == ("U" in types)
    assert "A" not in types or "T" in types


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_schema_is_written_in_its_normal_form(row):
    """Schemas are compared byte for byte, so there is one way to write each."""

    def tensor(t):
        return f"{'inout ' if t.inout else ''}{t.type}{'?' if t.optional else ''} {t.name}"

    text = re.search(r"\((.*?)\) ->", row.schema)
    attributes = text[1].partition("*, ")[2] if text else ""
    inputs = ", ".join([tensor(t) for t in row.inputs] + ([f"*, {attributes}"] if attributes else []))

    assert row.schema == f"{row.name}({inputs}) -> ({', '.join(tensor(t) for t in row.outputs)})"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_aliasing_rows_have_an_operand_of_an_outputs_dtype(row):
    if row.alias:
        assert {t.type for t in row.inputs} & {t.type for t in row.outputs}
        assert not any(t.inout for t in row.outputs)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_tolerance_knows_every_float_dtype(row):
    for dtype in ("f64", "f32", "bf16", "f16"):
        rtol, atol = row.tolerance.of(dtype)

        assert 0 <= rtol < 0.05
        assert 0 <= atol < 0.05
    assert row.tolerance.of("i64") == (0.0, 0.0)
    assert row.tolerance.reason.endswith(".")


def test_bits_of_the_table_are_those_of_the_header():
    constants = dict(re.findall(r"#define ITP_DT_(\w+) (\d+)", infinitrain_capi.cdef_text()))

    assert {name.upper(): str(bit) for bit, name in enumerate(table.DTYPES)} == constants


@pytest.mark.parametrize("tier", [0, 1, 2, 3])
def test_lists_by_tier_are_those_of_the_table(tier, tmp_path):
    text = f"""
#include <stdio.h>
#include "infinitrain/kernels.h"
#define TIER {tier}
#define LINE(Name, version) puts(#Name " " #version);
int main(void) {{ ITP_KERNELS_UP_TO_TIER(TIER, LINE) return 0; }}
"""
    listed = run_text(text, tmp_path).splitlines()
    by_tier = sorted(ROWS, key=lambda row: row.tier)

    assert listed == [f"{row.name} {row.version}" for row in by_tier if row.tier <= tier]


def test_generated_files_are_up_to_date():
    document = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")

    assert generate.main(["--check"]) == 0
    assert (ROOT / "capi" / "sdk" / "infinitrain" / "kernels.h").read_text(encoding="ascii") == generate.render()
    assert generate.fill_document(document) == document


def test_generation_gives_the_same_text_twice():
    assert generate.render() == generate.render()
    assert generate.render().isascii()


def test_stale_file_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(generate, "render", lambda: "something else")

    assert generate.main(["--check"]) == 1
    assert "kernels.h is out of date: run python -m infinitrain_capi.generate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("lower(T x) -> (T y)", "expected NAME"),
        ("NoArrow(T x)", "expected NAME"),
        ("Bad(X x) -> (T y)", "'X x' is not a tensor"),
        ("Bad(T x,, T z) -> (T y)", "'' is not a tensor"),
        ("Bad(T x,) -> (T y)", "'' is not a tensor"),
        ("Bad(inout T x) -> (T y)", "'inout T x' is not a tensor"),
        ("Bad(T x, *, float p) -> (T y)", "'float p' is not an attribute"),
        ("Bad(T x *, f64 p) -> (T y)", "attributes follow"),
        ("Bad(T x, *) -> (T y)", "attributes follow"),
        ("Bad(T x, *, bool p=True) -> (T y)", "expected true or false"),
        ("Bad(T x, *, i64 p=1.5) -> (T y)", "1.5"),
        ("Bad(T x) -> (T x)", "every name once"),
        ("Bad(T x) -> ()", "expected an output"),
    ],
)
def test_bad_schema_is_refused(schema, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        table.parse_schema(schema)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('layout = "strided"', 'layout = "wild"', "kernel 'Cast': layout 'wild' is not one of strided"),
        ('T = "all"', 'T = "most"', "kernel 'Cast': group 'most' is not one of bool, floats"),
        ('T = "all"', 'T = ["f8"]', "kernel 'Cast': dtype 'f8' is not one of bool"),
        ('tolerance = "exact"', 'tolerance = "loose"', "kernel 'Cast': tolerance 'loose' is not one of exact"),
        ('name = "Cast"', 'name = "Cost"', "kernel 'Cost': its schema is of 'Cast'"),
    ],
)
def test_bad_row_is_refused_by_name(before, after, words, tmp_path):
    text = infinitrain_capi.kernel_table_path().read_text(encoding="utf-8")
    path = tmp_path / "kernels.toml"
    path.write_text(text.replace(before, after, 1), encoding="utf-8")

    with pytest.raises(ValueError, match=re.escape(words)):
        table.load(path)
