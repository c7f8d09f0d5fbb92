"""A provider outside this tree is built by plain CMake, in both ways, and exports one symbol."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import infinitrain_capi
import pytest
from cffi import FFI
from elftools.elf.elffile import ELFFile
from infinitrain_capi import table

CAPI = Path(__file__).parents[2] / "capi"
CMAKE_FOLDER = Path(infinitrain_capi.__file__).parent / "cmake"
EMBED = 'add_subdirectory("${CAPI}" capi)'
PACKAGE = "find_package(InfinitrainCapi 0.1 CONFIG REQUIRED)"
PLAIN = "infinitrain_add_provider(mini SOURCES mini.c)"
WITH_KERNELS = """infinitrain_add_provider(mini SOURCES mini.c REFERENCE_KERNELS)
target_compile_definitions(itp_mini PRIVATE WITH_KERNELS)"""
PROVIDER = """
#include "infinitrain/export.h"
#ifdef WITH_KERNELS
#include "infinitrain/reference.h"
#endif
#include "infinitrain/sync.h"
int helper(void);
int helper(void) { return 7; }
static itp_status init(const itp_host *host, const itp_config *config, void **self, itp_error *err) {
  (void)host; (void)config; (void)err;
  *self = 0;
  return ITP_OK;
}
static const itp_guard guard = ITP_SYNC_GUARD;
ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t minor);
ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t minor) {
  static itp_kernels kernels = {sizeof(itp_kernels), 0, 0, itp_sync_submit};
  static itp_provider provider = {sizeof(itp_provider), ITP_ABI_MINOR, "mini", "v", "1", "b", 0, 0, 0, init,
                                  0, 0, &guard, 0, 0, 0, 0};
  (void)minor;
#ifdef WITH_KERNELS
  kernels.items = itp_reference_kernels(&kernels.count);
#endif
  provider.kernels = &kernels;
  return &provider;
}
"""


def cmake() -> str:
    program = shutil.which("cmake") or shutil.which("cmake", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("cmake is not installed here; tests/requirements.txt names it")
    return program


def build(folder: Path, how: str, *, source: str = PROVIDER, call: str = PLAIN, languages: str = "C") -> Path:
    """Configure and build a project of one provider; give its build folder."""
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.24)\nproject(outside LANGUAGES {languages})\n{how}\n{call}\n"
    )
    (folder / "mini.c").write_text(source)
    out = folder / "build"
    steps = [
        [cmake(), "-S", str(folder), "-B", str(out), f"-DCAPI={CAPI}", f"-DCMAKE_PREFIX_PATH={CMAKE_FOLDER}"],
        [cmake(), "--build", str(out), "--parallel", "2"],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
    return out


def exported(library: Path) -> list[str]:
    """List the defined dynamic symbols of a library."""
    with library.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        return [s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF" and s["st_info"]["bind"] != "STB_LOCAL"]


@pytest.fixture(
    scope="module", params=[(EMBED, PLAIN), (PACKAGE, WITH_KERNELS)], ids=["add_subdirectory", "find_package"]
)
def library(request, tmp_path_factory):
    how, call = request.param
    return build(tmp_path_factory.mktemp("outside"), how, call=call) / "libitp_mini.so"


def test_exactly_one_symbol_is_exported(library):
    assert exported(library) == ["infinitrain_provider_v1"]


def test_no_symbol_of_ours_is_left_open(library):
    with library.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        undefined = [s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF"]

    assert [name for name in undefined if name.startswith(("itp", "infinitrain", "Py"))] == []


def test_library_brings_its_table(library):
    ffi = FFI()
    ffi.cdef(infinitrain_capi.cdef_text() + "const itp_provider *infinitrain_provider_v1(uint32_t);")
    # Opened for ever, as the core does it.
    provider = ffi.dlopen(str(library), ffi.RTLD_NOW | ffi.RTLD_NODELETE).infinitrain_provider_v1(0)
    kernels = provider.kernels
    found = [kernels.items[i] for i in range(kernels.count)]

    assert provider.struct_size == ffi.sizeof("itp_provider")
    assert ffi.string(provider.name) == b"mini"
    if found:  # the build with REFERENCE_KERNELS has every row
        assert [ffi.string(kernel.name).decode() for kernel in found] == list(table.load())
        assert [ffi.string(kernel.schema).decode() for kernel in found] == [row.schema for row in table.load().values()]


def test_unresolved_function_is_an_error_of_the_link(tmp_path):
    source = PROVIDER.replace("int helper(void) { return 7; }", "").replace("*self = 0;", "*self = 0; helper();")

    with pytest.raises(RuntimeError, match="undefined reference to `helper'"):
        build(tmp_path, EMBED, source=source)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("infinitrain_add_provider(mini)", "expected sources"),
        ("infinitrain_add_provider(mini mini.c)", "found 'mini.c'"),
        ("infinitrain_add_provider(Mini SOURCES mini.c)", "provider name 'Mini'"),
        (f"infinitrain_add_provider({'x' * 33} SOURCES mini.c)", "at most 31 of a-z"),
    ],
)
def test_wrong_call_says_what_is_expected(call, words, tmp_path):
    with pytest.raises(RuntimeError) as failure:
        build(tmp_path, EMBED, call=call)

    assert words in " ".join(str(failure.value).split())


def test_reference_kernels_need_the_language_c(tmp_path):
    with pytest.raises(RuntimeError, match=r"Name\s+C among the languages"):
        build(tmp_path, PACKAGE, call=WITH_KERNELS, languages="CXX")


@pytest.mark.parametrize("version", ["0.2", "1.0"])
def test_newer_version_is_not_served(version, tmp_path):
    with pytest.raises(RuntimeError, match="InfinitrainCapi"):
        build(tmp_path, f"find_package(InfinitrainCapi {version} CONFIG REQUIRED)")


def test_version_is_one():
    text = (CMAKE_FOLDER / "InfinitrainCapiConfigVersion.cmake").read_text()

    assert f'set(PACKAGE_VERSION "{infinitrain_capi.__version__}")' in text
