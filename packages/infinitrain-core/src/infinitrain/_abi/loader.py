"""Open a provider library and negotiate: everything that is checked before a library may serve.

The order is that of the contract: the file, the entry symbol, the query, the sizes, the tables and their slots, the
name, the kernels. What is wrong is collected, so that a vendor sees all of it at once.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from infinitrain_capi.table import DTYPES, KernelRow
from infinitrain_capi.table import load as load_table

from infinitrain import config
from infinitrain._abi import names
from infinitrain._abi.explain import blocked, explain
from infinitrain._abi.provider import Kernel, Option, Provider
from infinitrain._native import ffi, lib
from infinitrain.errors import AbiMismatch, ProviderLoadError

__all__ = ["open_provider"]

ENTRY = "infinitrain_provider_v{major}"
#: The bytes that version 1.0 gave what a provider shows: nothing of its major version is smaller, and a provider of
#: 1.0 stays right for every later core, whose own structs are longer.
FIRST_SIZES = {
    "itp_provider": 128,
    "itp_runtime": 64,
    "itp_guard": 128,
    "itp_kernels": 24,
    "itp_kernel": 72,
    "itp_ccl": 144,
    "itp_graphs": 40,
    "itp_option": 32,
}
TABLES = {
    "runtime": "itp_runtime",
    "guard": "itp_guard",
    "kernels": "itp_kernels",
    "ccl": "itp_ccl",
    "graphs": "itp_graphs",
}
REQUIRED_TABLES = ("runtime", "guard", "kernels")
#: No table of any minor version comes near this; a larger size is garbage.
MAX_STRUCT_SIZE = 1 << 16
MAX_KERNELS = 1 << 16


def open_provider(path: str | os.PathLike[str], distribution: str | None = None) -> Provider:
    """Load a library and check it against the contract.

    Args:
        path: The shared library's file.
        distribution: The installed distribution that brings it, None for a library given by path.

    Raises: ProviderLoadError with every problem found; AbiMismatch for another major version.
    """
    file = Path(path)
    entry = _resolve(file)
    raw = lib.it_library_query(entry, lib.ITP_ABI_MINOR)
    if raw == ffi.NULL:
        raise AbiMismatch(
            f"provider library {file}: its query declined this core, which speaks ABI {_version()}. "
            "Install a provider built for that version, or a newer infinitrain-core",
            str(file),
            kind="declined",
        )
    return _negotiate(raw, file, distribution)


def _version() -> str:
    return f"{lib.ITP_ABI_MAJOR}.{lib.ITP_ABI_MINOR}"


def _resolve(file: Path) -> Any:
    if not os.path.isfile(file):
        found = "a folder" if os.path.isdir(file) else "none"
        closed = blocked(file)
        if closed is not None:
            found = f"that user {os.geteuid()} may not enter {closed}"
        raise ProviderLoadError(
            f"provider library {file}: expected a file, found {found}. Check the path",
            str(file),
            kind="not allowed" if closed is not None else "missing file",
        )
    reason = ffi.new("char[4096]")
    library = lib.it_library_open(os.fsencode(file.resolve()), reason, 4096)
    if library == ffi.NULL:
        text = ffi.string(reason).decode(errors="replace")
        kind, meaning = explain(file, text)
        raise ProviderLoadError(
            f"provider library {file} cannot be loaded: {text}{f' ({meaning})' if meaning else ''}. "
            "`infinitrain doctor` says what to do, `infinitrain providers --explain` what else was found",
            str(file),
            kind=kind,
        )
    entry = lib.it_library_symbol(library, ENTRY.format(major=lib.ITP_ABI_MAJOR).encode())
    if entry != ffi.NULL:
        return entry
    for major in range(lib.ITP_ABI_MAJOR + 1, 10):
        if lib.it_library_symbol(library, ENTRY.format(major=major).encode()) != ffi.NULL:
            raise AbiMismatch(
                f"provider library {file}: found ABI {major}.x, this infinitrain-core speaks {_version()}. "
                "It needs a newer core: pip install --upgrade infinitrain-core",
                str(file),
                kind="newer contract",
            )
    raise ProviderLoadError(
        f"provider library {file} is not an infinitrain provider: expected the exported function "
        f"{ENTRY.format(major=lib.ITP_ABI_MAJOR)}, found none. Was it linked with the SDK's version script?",
        str(file),
        kind="not a provider",
    )


def _size_problem(what: str, pointer: Any, ctype: str) -> str | None:
    size = lib.it_struct_size(pointer)
    least = FIRST_SIZES[ctype]
    if size < least or size % 8 or size > MAX_STRUCT_SIZE:
        return f"{what}.struct_size is {size}: expected a multiple of 8, at least {least} (ABI {lib.ITP_ABI_MAJOR}.0)"
    return None


def _text(pointer: Any) -> str:
    return "" if pointer == ffi.NULL else ffi.string(pointer, 1024).decode("utf-8", errors="replace")


def _negotiate(raw: Any, file: Path, distribution: str | None) -> Provider:
    problems: list[str] = []
    native = ffi.new("it_provider *")
    problem = _size_problem("itp_provider", raw, "itp_provider")
    if problem is not None:
        _refuse(file, [problem])
    lib.it_copy_prefix(ffi.addressof(native, "info"), ffi.sizeof("itp_provider"), raw)
    info = native.info
    name = _text(info.name)
    wrong_name = names.problem(name, distribution)
    problems += [wrong_name] if wrong_name else []
    for table, ctype in TABLES.items():
        pointer = getattr(info, table)
        if pointer == ffi.NULL:
            if table in REQUIRED_TABLES:
                problems.append(f"table {table!r} is missing: it is required")
            continue
        problem = _size_problem(table, pointer, ctype)
        if problem is not None:
            problems.append(problem)
            continue
        lib.it_copy_prefix(ffi.addressof(native, table), ffi.sizeof(ctype), pointer)
    problems += [
        f"{field} is NULL: expected a text" for field in ("vendor", "version", "build_info") if not getattr(info, field)
    ]
    problems += _missing_slots(native)
    kernels, notes, kernel_problems = _kernels(native)
    problems += kernel_problems
    options, option_problems = _options(info)
    problems += option_problems
    if problems:
        _refuse(file, problems)
    native.validates = config.validate()
    lib.it_provider_complete(native)
    if native.validates:
        for kernel in kernels.values():
            kernel.record.kernel = lib.it_validate_kernel(kernel.record.kernel)
    return Provider(
        name=name,
        vendor=_text(info.vendor),
        version=_text(info.version),
        build_info=_text(info.build_info),
        path=str(file.resolve()),
        abi_minor=info.abi_minor,
        flags=info.flags,
        options=options,
        kernels=kernels,
        notes=notes,
        has_ccl=info.ccl != ffi.NULL,
        has_graphs=info.graphs != ffi.NULL,
        native=native,
    )


def _refuse(file: Path, problems: list[str]) -> None:
    listed = "".join(f"\n  - {problem}" for problem in problems)
    raise ProviderLoadError(
        f"provider library {file} does not fulfil the contract (ABI {_version()}):{listed}\n"
        "Mend the library, or ask its vendor for a build that passes `infinitrain conformance`",
        str(file),
        problems,
        kind="breaks the contract",
    )


def _missing_slots(native: Any) -> list[str]:
    problems = []
    index = 0
    while (slot := lib.it_missing_slot(native, index)) != ffi.NULL:
        index += 1
        text = _text(slot)
        table = text.partition(".")[0]
        absent_table = table in TABLES and getattr(native.info, table) == ffi.NULL
        if text and not absent_table:
            problems.append(f"slot {text} is NULL: it is required")
    return problems


def _kernels(native: Any) -> tuple[dict[str, Kernel], list[str], list[str]]:
    """Match a provider's kernels with the table: usable ones, notes on others, problems that refuse the library."""
    table = native.kernels
    rows = load_table()
    kernels: dict[str, Kernel] = {}
    notes: list[str] = []
    problems: list[str] = []
    count = table.count
    if table.struct_size and (count > MAX_KERNELS or (count and table.items == ffi.NULL)):
        return (
            {},
            [],
            [f"kernels.count is {count}, kernels.items {'NULL' if table.items == ffi.NULL else 'set'}"],
        )
    for index in range(count):
        pointer = table.items[index]
        if pointer == ffi.NULL:
            problems.append(f"kernels.items[{index}] is NULL")
            continue
        problem = _size_problem(f"kernels.items[{index}]", pointer, "itp_kernel")
        if problem is not None:
            problems.append(problem)
            continue
        name = _text(pointer.name)
        note = _kernel_note(name, pointer, rows)
        if name in kernels:
            problems.append(f"kernel {name!r} is listed twice")
        elif note is not None:
            notes.append(note)
        else:
            row = rows[name]
            mask = pointer.dtype_mask & _row_mask(row.dtypes)
            if mask != pointer.dtype_mask:
                more = ", ".join(_names_of(pointer.dtype_mask & ~mask))
                notes.append(f"kernel {name!r} is used only for what its row allows, not for: {more}")
            kernels[name] = Kernel(
                row=row,
                record=_record(native, row, pointer, mask),
                dtype_mask=mask,
                flags=pointer.flags,
                n_outputs=len(row.outputs),
                n_tensors=len(row.inputs) + len(row.outputs),
                n_attrs=len(row.attributes),
                all_required=not any(operand.optional for operand in (*row.inputs, *row.outputs)),
            )
    if table.struct_size:
        off = {note.split("'")[1]: note for note in notes if "'" in note}
        problems += [
            off.get(row.name) or f"kernel {row.name!r} is missing: every provider needs it (tier 0)"
            for row in rows.values()
            if row.tier == 0 and row.name not in kernels
        ]
    return kernels, notes, problems


def _row_mask(dtypes: tuple[str, ...]) -> int:
    return sum(1 << DTYPES.index(short) for short in dtypes)


def _names_of(mask: int) -> list[str]:
    known = [short for bit, short in enumerate(DTYPES) if mask >> bit & 1]
    return known + [f"bit {bit}" for bit in range(len(DTYPES), 64) if mask >> bit & 1]


def _record(native: Any, row: KernelRow, pointer: Any, mask: int) -> Any:
    """Put what the table says of a kernel's operands into the form that the C side checks launches by."""
    record = ffi.new("it_kernel *")
    record.provider = native
    record.kernel = pointer
    record.t_mask = mask
    record.u_mask = _row_mask(row.other_dtypes)
    record.n_inputs, record.n_outputs, record.n_attrs = len(row.inputs), len(row.outputs), len(row.attributes)
    symbols = {"T": lib.IT_RULE_T, "U": lib.IT_RULE_U, "A": lib.IT_RULE_A}
    for index, operand in enumerate((*row.inputs, *row.outputs)):
        rule = symbols[operand.type] if operand.type in symbols else DTYPES.index(operand.type)
        record.rules[index] = rule | (lib.IT_OPTIONAL if operand.optional else 0)
    if pointer.flags & lib.ITP_K_STRIDED:
        record.flags |= {"strided": lib.IT_LAYOUT_STRIDED, "matrix": lib.IT_LAYOUT_MATRIX}.get(row.layout, 0)
    if row.alias and pointer.flags & lib.ITP_K_MAY_ALIAS:
        record.flags |= lib.IT_MAY_ALIAS
    if row.same_rank:
        record.flags |= lib.IT_SAME_SHAPE
    return record


def _kernel_note(name: str, pointer: Any, rows: dict[str, KernelRow]) -> str | None:
    """Say why a kernel cannot be used, None when it can."""
    row = rows.get(name)
    if row is None:
        return f"kernel {name!r} is off: this core's kernel table has no such row"
    if pointer.launch == ffi.NULL:
        return f"kernel {name!r} is off: its launch function is NULL"
    schema = _text(pointer.schema)
    if pointer.op_version != row.version:
        return f"kernel {name!r} is off: found version {pointer.op_version}, this core knows {row.version}"
    if schema != row.schema:
        return f"kernel {name!r} is off: its schema is {schema!r}, the kernel table says {row.schema!r}"
    if row.dtypes and not pointer.dtype_mask & _row_mask(row.dtypes):
        return f"kernel {name!r} is off: its dtype_mask has none of {', '.join(row.dtypes)}"
    if name == "Copy" and not pointer.flags & lib.ITP_K_STRIDED:
        return "kernel 'Copy' is off: it lacks ITP_K_STRIDED, and views are made compact by it"
    return None


def _options(info: Any) -> tuple[dict[str, Option], list[str]]:
    options: dict[str, Option] = {}
    problems: list[str] = []
    if info.n_options and (info.options == ffi.NULL or info.n_options > MAX_KERNELS):
        return {}, [f"n_options is {info.n_options}, but options is {'NULL' if info.options == ffi.NULL else 'set'}"]
    for index in range(info.n_options):
        pointer = info.options[index]
        what = f"options[{index}]"
        if pointer == ffi.NULL:
            problems.append(f"{what} is NULL")
            continue
        problem = _size_problem(what, pointer, "itp_option")
        if problem is not None:
            problems.append(problem)
            continue
        name = _text(pointer.name)
        if not names.is_option(name):
            problems.append(f"{what}: name {name!r}: expected a lower-case letter, then a-z, 0-9 and _")
        elif name in options:
            problems.append(f"option {name!r} is listed twice")
        if pointer.default_text == ffi.NULL or pointer.help == ffi.NULL:
            problems.append(f"option {name!r}: expected a default and a help text, found NULL")
        options[name] = Option(name, _text(pointer.default_text), _text(pointer.help))
    return options, problems
