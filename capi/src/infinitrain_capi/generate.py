"""Write what is made from the contract: `python -m infinitrain_capi.generate`.

From kernels.toml the SDK's kernels.h and the tables of docs/kernels.md, from the header docs/abi-reference.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable

from infinitrain_capi import sdk_dir
from infinitrain_capi.reference import render_reference
from infinitrain_capi.table import DTYPES, Attribute, KernelRow, load

_HEAD = """\
/* Generated from kernels.toml by `python -m infinitrain_capi.generate`; do not edit.
 *
 * For every kernel: the dtypes that T may take (a mask), the flags that the row allows (a provider sets
 * those that it honours), its schema as the table has it, its arguments by name, and a function that fills
 * them from a launch after checking counts and kinds. An optional operand that is absent is NULL.
 */
#ifndef INFINITRAIN_KERNELS_H_
#define INFINITRAIN_KERNELS_H_

#include "infinitrain/error.h"
#include "infinitrain/provider.h"

/* clang-format off */
"""
_TAIL = "/* clang-format on */\n#endif\n"
_TABLE_BEGIN, _TABLE_END = "<!-- [kernels-begin] -->", "<!-- [kernels-end] -->"
_TABLE_HEAD = "| schema | dtypes | layout | alias | tolerance | meaning |\n|---|---|---|---|---|---|\n"
#: Every list by tier is there, an empty one too.
_TIERS = (0, 1, 2, 3)
_C_TYPES = {"i64": "int64_t", "f64": "double", "bool": "int", "dtype": "int64_t"}
_FIELDS = {"i64": "u.i", "f64": "u.d", "bool": "u.i != 0", "dtype": "u.i"}
_KINDS = {"i64": "I64", "f64": "F64", "bool": "BOOL", "dtype": "DTYPE"}


def _attribute_member(attribute: Attribute) -> str:
    if attribute.kind in _C_TYPES:
        return f"  {_C_TYPES[attribute.kind]} {attribute.name};\n"
    return f"  const itp_value *{attribute.name};\n"


def _attribute_check(index: int, attribute: Attribute) -> str:
    value = f"l->attrs[{index}].kind"
    if attribute.kind == "scalar":
        allowed = " || ".join(f"{value} == ITP_V_{kind}" for kind in ("I64", "F64", "BOOL"))
        return f"({allowed})"
    kind = {"i64s": "I64S", "str": "STR"}.get(attribute.kind) or _KINDS[attribute.kind]
    return f"{value} == ITP_V_{kind}"


def _attribute_fill(index: int, attribute: Attribute) -> str:
    if attribute.kind == "bool":
        return f"  a->{attribute.name} = l->attrs[{index}].u.i != 0;\n"
    if attribute.kind in _FIELDS:
        return f"  a->{attribute.name} = l->attrs[{index}].{_FIELDS[attribute.kind]};\n"
    return f"  a->{attribute.name} = &l->attrs[{index}];\n"


def render_row(row: KernelRow) -> str:
    """Write the schema, the argument struct and the unpacker of one kernel."""
    name = row.name
    mask = sum(1 << DTYPES.index(dtype) for dtype in row.dtypes)
    flags = "ITP_K_STRIDED" if row.layout != "contiguous" else "0"
    parts = [f"#define ITP_DTYPES_{name} 0x{mask:x}\n"]
    parts.append(f"#define ITP_ALLOWS_{name} ({flags}{' | ITP_K_MAY_ALIAS' if row.alias else ''})\n")
    parts += [f'static const char itp_schema_{name}[] =\n    "{row.schema}";\n', f"typedef struct itp_args_{name} {{\n"]
    parts += [f"  const itp_tensor *{operand.name};\n" for operand in row.inputs]
    parts += [f"  itp_tensor *{output.name};\n" for output in row.outputs]
    parts += [_attribute_member(attribute) for attribute in row.attributes]
    parts.append(f"}} itp_args_{name};\n")
    parts.append(
        f"static inline itp_status itp_unpack_{name}(const itp_launch *l, itp_args_{name} *a, itp_error *err) {{\n"
    )
    counts = f"{len(row.inputs)}, {len(row.outputs)}, {len(row.attributes)}"
    parts.append(f'  if (!itp_counts_are(l, {counts})) return itp_bad_counts(l, "{name}", {counts}, err);\n')
    present = [f"l->inputs[{i}] != NULL" for i, operand in enumerate(row.inputs) if not operand.optional]
    present += [f"l->outputs[{i}] != NULL" for i, output in enumerate(row.outputs) if not output.optional]
    kinds = [_attribute_check(i, attribute) for i, attribute in enumerate(row.attributes)]
    for conditions, what in ((present, "a required tensor is missing"), (kinds, "an attribute is of another kind")):
        if conditions:
            joined = " &&\n        ".join(conditions)
            parts.append(
                f"  if (!({joined}))\n"
                f'    return ITP_FAIL(err, INVALID_ARGUMENT, "{name}", "%s: %s", "{what}", itp_schema_{name});\n'
            )
    parts += [f"  a->{operand.name} = l->inputs[{i}];\n" for i, operand in enumerate(row.inputs)]
    parts += [f"  a->{output.name} = l->outputs[{i}];\n" for i, output in enumerate(row.outputs)]
    parts += [_attribute_fill(i, attribute) for i, attribute in enumerate(row.attributes)]
    parts.append("  return ITP_OK;\n}\n\n")
    return "".join(parts)


def _listing(rows: Iterable[KernelRow]) -> str:
    return "".join(f"  X({row.name}, {row.version}) \\\n" for row in rows)


def _tiers(rows: Collection[KernelRow]) -> str:
    """Write the lists by tier: those of one, and those up to one."""
    parts = [
        "/* The same for the tiers 0 to `tier`, a number or a macro that is one: 0 live, 1 MLP, 2 GPT-2, 3 fused. */\n"
    ]
    parts.append("#define ITP_KERNELS_UP_TO_TIER(tier, X) ITP_KERNELS_UP_TO_TIER_I(tier, X)\n")
    parts.append("#define ITP_KERNELS_UP_TO_TIER_I(tier, X) ITP_KERNELS_UP_TO_TIER_##tier(X)\n")
    lower = ""
    for tier in _TIERS:
        parts.append(f"#define ITP_KERNELS_OF_TIER_{tier}(X) \\\n{_listing(r for r in rows if r.tier == tier)}\n")
        parts.append(f"#define ITP_KERNELS_UP_TO_TIER_{tier}(X) {lower}ITP_KERNELS_OF_TIER_{tier}(X)\n")
        lower = f"ITP_KERNELS_UP_TO_TIER_{tier}(X) "
    return "".join(parts) + "\n"


def render() -> str:
    """Write the whole header."""
    rows = load()
    listing = (
        "/* X(name, version) for every kernel of the table, in its order. */\n"
        f"#define ITP_KERNELS(X) \\\n{_listing(rows.values())}\n{_tiers(rows.values())}"
    )
    count = f"#define ITP_KERNEL_COUNT {len(rows)}\n\n"
    return _HEAD + count + listing + "".join(render_row(row) for row in rows.values()) + _TAIL


def render_tables() -> str:
    """Write the document's tables: tolerances, then every kernel, tier by tier."""
    rows = list(load().values())
    tolerances = {row.tolerance.name: row.tolerance for row in rows}
    shown = ("f64", "f32", "bf16", "f16")
    parts = ["| tolerance | " + " | ".join(shown) + " | reason |\n|" + "---|" * (len(shown) + 2) + "\n"]
    for tolerance in tolerances.values():
        bounds = (f"{tolerance.of(dtype)[0]:g} / {tolerance.of(dtype)[1]:g}" for dtype in shown)
        parts.append(f"| {tolerance.name} | {' | '.join(bounds)} | {tolerance.reason} |\n")
    for tier in sorted({row.tier for row in rows}):
        parts.append(f"\n### Tier {tier}\n\n{_TABLE_HEAD}")
        parts += [_table_line(row) for row in rows if row.tier == tier]
    return "".join(parts)


def _table_line(row: KernelRow) -> str:
    dtypes = " ".join(row.dtypes) or "fixed"
    dtypes = {" ".join(DTYPES): "all", " ".join(DTYPES[1:]): "numeric"}.get(dtypes, dtypes)
    layout = f"{row.layout}, same rank" if row.same_rank else row.layout
    meaning = row.meaning.replace("|", "\\|")
    alias = "yes" if row.alias else "no"
    return f"| `{row.schema}` | {dtypes} | {layout} | {alias} | {row.tolerance.name} | {meaning} |\n"


def fill_document(text: str) -> str:
    """Put the tables of today between the document's markers."""
    begin, end = text.index(_TABLE_BEGIN) + len(_TABLE_BEGIN), text.index(_TABLE_END)
    return f"{text[:begin]}\n\n{render_tables()}\n{text[end:]}"


def main(arguments: list[str] | None = None) -> int:
    """Write the header and, in the source tree, the documents; with --check only say whether they are up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    options = parser.parse_args(arguments)
    header = sdk_dir() / "infinitrain" / "kernels.h"
    wanted = {header: render()}
    document = sdk_dir().parents[1] / "docs" / "kernels.md"
    if document.is_file():
        wanted[document] = fill_document(document.read_text(encoding="utf-8"))
        wanted[document.with_name("abi-reference.md")] = render_reference()
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if options.check:
        sys.stderr.writelines(f"{path} is out of date: run python -m infinitrain_capi.generate\n" for path in stale)
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
