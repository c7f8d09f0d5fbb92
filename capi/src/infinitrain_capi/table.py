"""Read kernels.toml: the one parser of its rows and of the schema grammar."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from infinitrain_capi import kernel_table_path

#: Short dtype names at their bit position in every dtype mask (ITP_DT_*).
DTYPES = ("bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "bf16", "f16", "f32", "f64")
#: Attribute kinds, as the C value that carries them.
ATTRIBUTE_KINDS = ("i64", "f64", "bool", "i64s", "str", "dtype", "scalar")
LAYOUTS = ("strided", "matrix", "contiguous")

_SCHEMA = re.compile(r"(?P<name>[A-Z]\w*)\((?P<inputs>[^)]*)\) -> \((?P<outputs>[^)]*)\)")
_OPERAND = re.compile(r"(?P<inout>inout )?(?P<type>\w+)(?P<optional>\?)? (?P<name>\w+)")
_ATTRIBUTE = re.compile(r"(?P<kind>\w+) (?P<name>\w+)(?:=(?P<default>\S+))?")


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor of a kernel: its name, its type (T, U, A or a dtype), and whether it may be absent or is read first."""

    name: str
    type: str
    optional: bool = False
    inout: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """A value fixed for a call site; `default` is None where the caller has to give it."""

    name: str
    kind: str
    default: int | float | bool | str | None = None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a result may be off: |found - expected| <= atol + rtol * |expected|, by dtype, with the reason."""

    name: str
    reason: str
    bounds: dict[str, tuple[float, float]]

    def of(self, dtype: str) -> tuple[float, float]:
        """Give (rtol, atol) of a dtype; integers and bool are exact."""
        return self.bounds.get(dtype, (0.0, 0.0))


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One kernel of the table."""

    name: str
    version: int
    tier: int
    family: str
    schema: str
    inputs: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    outputs: tuple[Operand, ...]
    dtypes: tuple[str, ...]
    other_dtypes: tuple[str, ...]
    layout: str
    alias: bool
    same_rank: bool
    tolerance: Tolerance
    meaning: str


def _default(kind: str, text: str | None) -> int | float | bool | str | None:
    if text is None:
        return None
    if kind == "bool":
        if text not in ("true", "false"):
            raise ValueError(f"default {text!r} of a bool: expected true or false")
        return text == "true"
    if kind == "f64":
        return float(text)
    return int(text) if kind in ("i64", "dtype") else text


def _pieces(text: str) -> list[str]:
    """Split a list at its commas; an empty list has no piece."""
    return [piece.strip() for piece in text.split(",")] if text.strip() else []


def _operands(schema: str, text: str, inout_allowed: bool) -> tuple[Operand, ...]:
    found = []
    for part in _pieces(text):
        match = _OPERAND.fullmatch(part)
        if match is None or match["type"] not in ("T", "U", "A", *DTYPES) or (match["inout"] and not inout_allowed):
            raise ValueError(f"schema {schema!r}: {part!r} is not a tensor ([inout ]TYPE[?] name)")
        found.append(Operand(match["name"], match["type"], bool(match["optional"]), bool(match["inout"])))
    return tuple(found)


def parse_schema(schema: str) -> tuple[str, tuple[Operand, ...], tuple[Attribute, ...], tuple[Operand, ...]]:
    """Split a schema into name, operands, attributes and outputs.

    Raises: ValueError naming the part that does not follow the grammar at the head of kernels.toml.
    """
    whole = _SCHEMA.fullmatch(schema)
    if whole is None:
        raise ValueError(f"schema {schema!r}: expected NAME(operands, *, attributes) -> (outputs)")
    before, star, after = whole["inputs"].partition("*")
    if star and (not after.startswith(", ") or (before and not before.endswith(", "))):
        raise ValueError(f"schema {schema!r}: attributes follow '*, '")
    inputs = _operands(schema, before.removesuffix(", "), inout_allowed=False)
    outputs = _operands(schema, whole["outputs"], inout_allowed=True)
    attributes = []
    for part in _pieces(after.removeprefix(", ")):
        match = _ATTRIBUTE.fullmatch(part)
        if match is None or match["kind"] not in ATTRIBUTE_KINDS:
            raise ValueError(f"schema {schema!r}: {part!r} is not an attribute (KIND name[=default])")
        attributes.append(Attribute(match["name"], match["kind"], _default(match["kind"], match["default"])))
    names = [tensor.name for tensor in inputs + outputs] + [attribute.name for attribute in attributes]
    if not outputs or len(set(names)) != len(names):
        raise ValueError(f"schema {schema!r}: expected an output, and every name once")
    return whole["name"], inputs, tuple(attributes), outputs


def _known(row: str, what: str, value: str, known: Iterable[str]) -> str:
    """Give the value back if the table has it."""
    if value not in known:
        raise ValueError(f"kernel {row!r}: {what} {value!r} is not one of {', '.join(known)}")
    return value


@cache
def load(path: Path | None = None) -> dict[str, KernelRow]:
    """Read the table, by default the installed one, as rows by kernel name in the table's order.

    Raises: ValueError naming the row and what is wrong with it.
    """
    with (path or kernel_table_path()).open("rb") as file:
        document = tomllib.load(file)
    groups: dict[str, tuple[str, ...]] = {name: tuple(members) for name, members in document["groups"].items()}
    tolerances = {
        name: Tolerance(name, row["reason"], {key: (pair[0], pair[1]) for key, pair in row.items() if key != "reason"})
        for name, row in document["tolerances"].items()
    }

    def dtypes(name: str, value: str | list[str] | None) -> tuple[str, ...]:
        if isinstance(value, str):
            return groups[_known(name, "group", value, groups)]
        return tuple(_known(name, "dtype", dtype, DTYPES) for dtype in value or ())

    rows: dict[str, KernelRow] = {}
    for row in document["kernel"]:
        name, inputs, attributes, outputs = parse_schema(row["schema"])
        if name != row["name"] or name in rows:
            raise ValueError(f"kernel {row['name']!r}: its schema is of {name!r}, or the name is there twice")
        rows[name] = KernelRow(
            name=name,
            version=row["version"],
            tier=row["tier"],
            family=row["family"],
            schema=row["schema"],
            inputs=inputs,
            attributes=attributes,
            outputs=outputs,
            dtypes=dtypes(name, row.get("T")),
            other_dtypes=dtypes(name, row.get("U")),
            layout=_known(name, "layout", row["layout"], LAYOUTS),
            alias=row["alias"],
            same_rank=row.get("rank") == "same",
            tolerance=tolerances[_known(name, "tolerance", row["tolerance"], tolerances)],
            meaning=row["meaning"],
        )
    return rows
