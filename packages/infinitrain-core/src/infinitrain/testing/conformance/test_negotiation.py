"""The provider's table as the query gives it: sizes, names, tables, options, exports."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from infinitrain._abi import names
from infinitrain.testing.conformance import probes
from infinitrain.testing.conformance.driver import GROUP, Library, Provider, ffi, text_of
from infinitrain.testing.conformance.elf import exported_symbols
from infinitrain.testing.conformance.fresh import in_fresh_process
from infinitrain.testing.conformance.header import slots

TABLES = {
    "runtime": "itp_runtime",
    "guard": "itp_guard",
    "kernels": "itp_kernels",
    "ccl": "itp_ccl",
    "graphs": "itp_graphs",
}


def tables(library: Library) -> dict[str, Any]:
    """Give the tables that are there."""
    found = {name: getattr(library.table, name) for name in TABLES}
    return {name: table for name, table in found.items() if table != ffi.NULL}


def test_neg_01_struct_sizes(library: Library) -> None:
    """struct_size of this and of every table, kernel and option is at least that of 1.0, and a multiple of 8."""
    structs = [("provider", "itp_provider", library.table)]
    structs += [(name, TABLES[name], table) for name, table in tables(library).items()]
    structs += [(name, "itp_kernel", kernel) for name, kernel in library.kernels.items()]
    structs += [(f"option {i}", "itp_option", library.table.options[i]) for i in range(library.table.n_options)]
    for what, ctype, pointer in structs:
        assert pointer.struct_size >= ffi.sizeof(ctype), f"{what}: struct_size {pointer.struct_size}"
        assert pointer.struct_size % 8 == 0, f"{what}: struct_size {pointer.struct_size}"


def comes_from(distribution: str, path: Path) -> bool:
    """Whether the library is the one that an installed distribution points at."""
    points = [each for each in metadata.entry_points(group=GROUP) if each.dist and each.dist.name == distribution]
    return any(Path(point.load()()).resolve() == path for point in points)


def test_neg_02_name(library: Library) -> None:
    """Name is [a-z][a-z0-9_]{0,31}, and no name that infinitrain keeps for itself; it is the device's."""
    assert names.is_valid(library.name), library.name
    assert library.name != names.ALIAS
    if library.name in names.OURS:
        owner = names.OURS[library.name]
        assert comes_from(owner, library.path), f"only {owner} may call itself {library.name!r}"


@pytest.mark.parametrize("field", ["vendor", "version", "build_info"])
def test_neg_03_texts(library: Library, field: str) -> None:
    """Vendor, version and build_info are NUL-terminated UTF-8, never NULL."""
    pointer = getattr(library.table, field)
    assert pointer != ffi.NULL
    assert isinstance(text_of(pointer), str)


def test_neg_04_required_slots(library: Library) -> None:
    """Runtime, guard and kernels are there, with all their required slots."""
    present = tables(library)
    missing = [name for name in ("runtime", "guard", "kernels") if name not in present]
    for name, table in {**present, "provider": library.table}.items():
        required = slots()[f"itp_{name}"]
        missing += [
            f"{name}.{slot}" for slot, needed in required.items() if needed and getattr(table, slot) == ffi.NULL
        ]
    for name, kernel in library.kernels.items():
        missing += [f"{name}.launch"] if kernel.launch == ffi.NULL else []
    assert missing == []


def test_neg_05_options(library: Library) -> None:
    """Options have distinct names of the form given, a default and a help text."""
    found = [library.table.options[i] for i in range(library.table.n_options)]
    given = [text_of(option.name) for option in found]
    assert len(set(given)) == len(given)
    for name, option in zip(given, found, strict=True):
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name
        assert option.kind in (1, 2, 3, 6), f"{name}: kind {option.kind}"
        assert option.default_text != ffi.NULL, name
        assert option.help != ffi.NULL, name
        assert "\n" not in text_of(option.help), name


def test_neg_06_reserved_fields(library: Library, provider: Provider) -> None:
    """Reserved fields are 0."""
    for name, table in tables(library).items():
        if name != "kernels":
            assert table.reserved0 == 0, name
    raw = ffi.new("itp_device_info *")
    raw.struct_size = ffi.sizeof("itp_device_info")
    for device in range(provider.device_count()):
        provider.runtime("device_info", device, raw)
        assert raw.reserved0 == 0


def test_neg_07_unknown_extension(provider: Provider) -> None:
    """The table, or NULL: always so for a name that it does not know."""
    if provider.table.get_extension == ffi.NULL:
        pytest.skip("get_extension is absent")
    assert provider.table.get_extension(provider.self, b"nobody.nothing", 1) == ffi.NULL
    assert provider.table.get_extension(provider.self, b"", 0) == ffi.NULL


def test_neg_08_one_exported_symbol(library: Library) -> None:
    """The query, infinitrain_provider_v1: the one symbol that the library exports."""
    assert exported_symbols(library.path) == ["infinitrain_provider_v1"]


def test_neg_09_query_is_pure(library: Library) -> None:
    """Pure: it starts no thread, opens no file, asks no driver; it works before fork, in the child."""
    seen = in_fresh_process(probes.query, str(library.path))
    assert seen["threads"][0] == seen["threads"][1], "the query started a thread"
    assert seen["files"][0] == seen["files"][1], "the query opened a file"
    assert seen["child"] == 0, f"the query in a forked child ended with {seen['child']}"


def test_neg_10_same_table_for_every_minor(library: Library) -> None:
    """It gives the same table at every call, and to every core whose minor is that of its header or later."""
    own = int(library.table.abi_minor)
    for minor in (own, own, own + 1, own + 9, 1000, 2**32 - 1):
        assert library.query(minor) == library.table, f"minor {minor}"
    for minor in range(own):
        assert library.query(minor) in (library.table, ffi.NULL), f"minor {minor}"
