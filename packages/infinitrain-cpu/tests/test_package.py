"""The library as a file: what it exports, what it needs, where it is found."""

from __future__ import annotations

import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import infinitrain_cpu
import pytest
from cpu_driver import ROWS, Cpu, ffi, library

elftools = pytest.importorskip("elftools.elf.elffile", reason="pyelftools reads the library's tables")


def test_the_entry_point_names_the_library() -> None:
    (entry,) = [e for e in entry_points(group="infinitrain.providers") if e.name == "cpu"]

    assert entry.value == "infinitrain_cpu:library_path"
    assert Path(infinitrain_cpu.library_path()).name == "libitp_cpu.so"
    assert Path(infinitrain_cpu.library_path()).is_file()


def test_one_symbol_is_exported() -> None:
    with open(infinitrain_cpu.library_path(), "rb") as file:
        symbols = elftools.ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        exported = [s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF" and s["st_info"]["bind"] != "STB_LOCAL"]

    assert exported == ["infinitrain_provider_v1"]


def test_only_the_system_is_needed_and_openblas_is_opened_in_init() -> None:
    with open(infinitrain_cpu.library_path(), "rb") as file:
        tags = list(elftools.ELFFile(file).get_section_by_name(".dynamic").iter_tags())
    needed = {t.needed.split(".so")[0] for t in tags if t.entry.d_tag == "DT_NEEDED"}
    run_path = next(t.runpath for t in tags if t.entry.d_tag == "DT_RUNPATH")

    assert needed <= {"libstdc++", "libm", "libc", "libgcc_s", "libpthread", "libdl", "ld-linux-x86-64"}
    assert run_path.split(":")[0] == "$ORIGIN/../scipy_openblas64/lib"


def test_no_undefined_symbol_is_ours_or_pythons() -> None:
    with open(infinitrain_cpu.library_path(), "rb") as file:
        symbols = elftools.ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        undefined = [s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF"]

    assert not [s for s in undefined if s.startswith(("Py", "_Py", "itp", "infinitrain"))]


def test_subnormal_numbers_stay(cpu: Cpu) -> None:
    """A library linked with fast mathematics would flush them to zero for the whole process."""
    assert float.fromhex("0x1p-1060") * 0.5 > 0


def test_the_query_is_pure_and_const() -> None:
    a, b = library.infinitrain_provider_v1(0), library.infinitrain_provider_v1(99)

    assert a == b
    assert ffi.string(a.name) == b"cpu"
    assert a.struct_size == ffi.sizeof("itp_provider")
    assert ffi.string(a.version).decode() == infinitrain_cpu.__version__


def test_every_row_of_the_table_is_there(cpu: Cpu) -> None:
    assert list(cpu.kernels) == list(ROWS)
    for name, row in ROWS.items():
        kernel = cpu.kernels[name]
        assert ffi.string(kernel.schema).decode() == row["schema"]
        assert kernel.op_version == row["version"]
        assert bool(kernel.flags & 0x4) == (row["layout"] != "contiguous")
        assert bool(kernel.flags & 0x8) == row["alias"]


def test_without_openblas_init_says_what_to_do(tmp_path: Path) -> None:
    """A copy whose library has another name than any on this machine."""
    data = Path(infinitrain_cpu.library_path()).read_bytes()
    copy = tmp_path / "libitp_cpu.so"
    copy.write_bytes(data.replace(b"libscipy_openblas64_.so", b"libscipy_openblas99_.so"))
    table = ffi.dlopen(str(copy)).infinitrain_provider_v1(0)
    message, error, slot = ffi.new("char[]", 512), ffi.new("itp_error *"), ffi.new("void **")
    error.message, error.message_capacity = message, 512
    config = ffi.new("itp_config *")
    config.struct_size = ffi.sizeof("itp_config")

    assert table.init(ffi.NULL, config, slot, error) == 5
    assert slot[0] == ffi.NULL
    text = ffi.string(message).decode()
    assert text.startswith("[init][UNAVAILABLE] OpenBLAS cannot be loaded: libscipy_openblas99_.so: ")
    assert text.endswith("Install scipy-openblas64")


def test_versions_agree() -> None:
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]

    assert project["version"] == infinitrain_cpu.__version__


def test_sources_keep_their_length() -> None:
    """400 lines a file, so that each can be read in one sitting."""
    csrc = Path(__file__).parents[1] / "csrc"
    long = [str(f) for f in csrc.rglob("*.*") if len(f.read_text().splitlines()) > 400]

    assert long == []
