"""Providers and cores of different versions work with each other.

For each frozen version a small provider is built from its header and runs on today's core. Then, on a copy of the tree,
the contract gets a minor version more by the project's own tool: a slot, two tail fields, a status. The copy's core is
built, and both cores meet the providers of both versions; the fake, built with the longer structs, meets the old core.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import abi_freeze
import cffi
import infinitrain_capi
import pytest

ROOT = Path(__file__).parents[2]
TREE = abi_freeze.Tree(ROOT)
SMALL = Path(__file__).parent / "providers" / "small.c"

USE = """
import sys, infinitrain as it
it.load_provider(sys.argv[1])
name = sys.argv[2]
x = it.tensor([[1.0, 2.0], [3.0, 4.0]], device=name)
y = x + it.ones(2, 2, device=name)
z = y.t().contiguous() + y
it.synchronize(name)
assert y.tolist() == [[2.0, 3.0], [4.0, 5.0]], y.tolist()
assert z.tolist() == [[4.0, 7.0], [7.0, 10.0]], z.tolist()
from infinitrain._abi import registry
(provider,) = [p for p in registry.loaded() if p.name == name]
print(provider.abi_minor, it._native.lib.ITP_ABI_MINOR, provider.notes)
"""

ALLOCATE = """
try: it.empty(1 << 26, device=name)
except it.errors.InfinitrainError as e: print(type(e).__name__, e)
"""

TRIM = """
from infinitrain._native import ffi, lib
freed = ffi.new('uint64_t *')
status = lib.it_trim(provider.native, 0, freed)
print('trim', status, freed[0])
info = ffi.new('itp_device_info *')
lib.it_device_info(provider.native, 0, info)
print('numa', info.numa_node)
"""


def build_small(folder: Path, include: Path, kernels: Path) -> Path:
    """Build the small provider from one version's header and kernel schemas."""
    folder.mkdir(parents=True)
    rows = json.loads(kernels.read_text(encoding="utf-8"))
    lines = [f"#define SCHEMA_{name} {json.dumps(row['schema'])}" for name, row in rows.items()]
    (folder / "schemas.h").write_text("\n".join(lines) + "\n")
    library = folder / "libitp_small.so"
    flags = ["-std=c11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, f"-I{include}", f"-I{folder}", "-o", library, SMALL], check=True)
    return library


def run(code: str, *arguments: object, core: Path | None = None) -> str:
    """Run code in a fresh process, on the installed core or on that of a tree."""
    environment = {**os.environ, "INFINITRAIN_PROVIDER_PATH": ""}
    command = [sys.executable]
    if core is not None:
        # Without site: an editable install would put the tree's own packages before the copy's.
        command.append("-S")
        own = [core / "packages" / "infinitrain-core" / "src", core / "capi" / "src"]
        environment["PYTHONPATH"] = os.pathsep.join(map(str, [*own, *filter(None, sys.path)]))
    done = subprocess.run(
        [*command, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("version", TREE.versions())
def test_a_provider_of_each_frozen_version_runs_on_this_core(version, tmp_path):
    folder = TREE.frozen / f"v{version}"
    library = build_small(tmp_path / "small", folder, folder / "kernels.json")

    minor = version.split(".")[1]
    assert run(USE, library, "small").split(maxsplit=2) == [minor, TREE.version().split(".")[1], "[]\n"]


# ---- a minor version more, on a copy of the tree ----

SLOT = """
  /**
   * Give memory that nobody uses back to the system.
   *
   * @param device      [0, device_count).
   * @param[out] freed  Bytes.
   * @return OK, INVALID_ARGUMENT.
   * @threads Any thread.
   * @order   None.
   * @since   1.1, optional (default: UNIMPLEMENTED)
   */
  itp_status (*trim)(void *self, int32_t device, uint64_t *freed, itp_error *err);
} itp_runtime;"""
STUB = """STUB(trim, (void *self __attribute__((unused)), int32_t d __attribute__((unused)),
            uint64_t *n __attribute__((unused)), itp_error *err))
STUB(mem_info,"""
CALL = """
int32_t it_trim(it_provider *p, int32_t device, uint64_t *freed) {
  CALL(p, NULL, NULL, "trim", p->runtime.trim(p->self, device, freed, err));
}
"""
CORE = "packages/infinitrain-core"
EDITS = [
    ("capi/include/infinitrain/provider.h", "#define ITP_ABI_MINOR 0", "#define ITP_ABI_MINOR 1"),
    (
        "capi/include/infinitrain/provider.h",
        "#define ITP_E_OUT_OF_RANGE 13 ",
        "#define ITP_E_BUSY 14 /* others are using it */\n#define ITP_E_OUT_OF_RANGE 13 ",
    ),
    ("capi/include/infinitrain/provider.h", "\n} itp_runtime;", "\n" + SLOT),
    ("capi/include/infinitrain/provider.h", "\n} itp_device_info;", "\n  uint64_t numa_node;\n} itp_device_info;"),
    ("capi/include/infinitrain/provider.h", "\n} itp_launch;", "\n  uint64_t hint;\n} itp_launch;"),
    (f"{CORE}/csrc/tables.c", "STUB(mem_info,", STUB),
    (
        f"{CORE}/csrc/tables.c",
        "  if (p->runtime.mem_info",
        "  if (p->runtime.trim == NULL) p->runtime.trim = stub_trim;\n  if (p->runtime.mem_info",
    ),
    (f"{CORE}/csrc/launch.c", "  l.kernel = k->kernel;", "  l.kernel = k->kernel;\n  l.hint = 0;"),
    (f"{CORE}/csrc/shim.c", "/* ---- guard ", CALL + "\n/* ---- guard "),
    (f"{CORE}/csrc/shim.h", "/* ---- guard ", "int32_t it_trim(it_provider *p, int32_t device, uint64_t *freed);\n/* "),
    (f"{CORE}/src/infinitrain/_abi/status.py", '"INTERNAL", "OUT_OF_RANGE"', '"INTERNAL", "OUT_OF_RANGE", "BUSY"'),
]


@dataclass
class Versions:
    """The tree with one minor version more, and the small provider of each."""

    root: Path
    older: Path
    newer: Path


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("skew")
    root = folder / "tree"
    for part in ("capi", "docs/adr", "packages/infinitrain-core", "packages/infinitrain-fake"):
        ignored = shutil.ignore_patterns("build", "tests", "__pycache__", "*.so")
        shutil.copytree(ROOT / part, root / part, ignore=ignored)
    (root / "docs/adr/9001-final.md").write_text("# 9001. Final\n")
    (root / "docs/adr/9002-trim.md").write_text("# 9002. Trim\n")
    assert abi_freeze.main(["--root", str(root), "--final", "--adr", "docs/adr/9001-final.md"]) == 0
    for name, before, after in EDITS:
        path = root / name
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, (name, before)
        path.write_text(text.replace(before, after), encoding="utf-8")
    assert abi_freeze.main(["--root", str(root), "--adr", "docs/adr/9002-trim.md"]) == 0
    tree = abi_freeze.Tree(root)
    assert abi_freeze.check(tree) == []
    build_core(root)
    made = {
        version: build_small(
            folder / version, tree.frozen / f"v{version}", tree.frozen / f"v{version}" / "kernels.json"
        )
        for version in ("1.0", "1.1")
    }
    return Versions(root, made["1.0"], made["1.1"])


def build_core(root: Path) -> None:
    """Build the copy's extension module, next to the copy's Python files."""
    source = root / CORE / "csrc"
    own = os.pathsep.join([str(root / "capi" / "src"), str(Path(cffi.__file__).parents[1])])
    subprocess.run(
        [sys.executable, "-S", source / "build_native.py", root / "_native.c"],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([own, *filter(None, sys.path)])},
    )
    includes = [source, root / "capi" / "include", root / "capi" / "sdk", Path(sysconfig.get_paths()["include"])]
    flags = ["-O0", "-w", "-shared", "-fPIC", "-D_GNU_SOURCE", "-DPy_LIMITED_API=0x030B0000"]
    parts = [root / "_native.c", *sorted(source.glob("*.c"))]
    target = root / CORE / "src" / "infinitrain" / "_native.abi3.so"
    subprocess.run(["gcc", *flags, *[f"-I{path}" for path in includes], "-o", target, *parts, "-ldl"], check=True)


def test_both_providers_run_on_both_cores(versions):
    found = {
        (library.parent.name, core is not None): run(USE, library, "small", core=core).split()[:2]
        for library in (versions.older, versions.newer)
        for core in (None, versions.root)
    }

    assert found == {
        ("1.0", False): ["0", "0"],
        ("1.0", True): ["0", "1"],
        ("1.1", False): ["1", "0"],
        ("1.1", True): ["1", "1"],
    }


def test_the_new_slot_is_used_where_it_is_there_and_has_its_default_elsewhere(versions):
    newer = run(USE + TRIM, versions.newer, "small", core=versions.root)
    older = run(USE + TRIM, versions.older, "small", core=versions.root)

    assert "trim 0 4096" in newer
    assert "numa 77" in newer
    assert "trim 2 0" in older  # UNIMPLEMENTED
    assert "numa 0" in older


def test_a_new_status_has_its_name_on_the_new_core_and_is_an_error_on_the_old(versions):
    newer = run(USE + ALLOCATE, versions.newer, "small", core=versions.root)
    older = run(USE + ALLOCATE, versions.newer, "small")

    assert "DeviceError [alloc][BUSY] others are using the device" in newer
    assert "DeviceError [alloc][BUSY] others are using the device" in older


def test_a_whole_provider_with_longer_structs_runs_on_the_old_core(versions, tmp_path):
    library = tmp_path / "libitp_fake.so"
    sources = sorted((versions.root / "packages/infinitrain-fake/csrc").rglob("*.c"))
    sources += sorted((versions.root / "capi/sdk/reference").glob("*.c"))
    flags = ["-std=gnu11", "-O0", "-w", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-pthread"]
    includes = [versions.root / "capi" / name for name in ("include", "sdk", "sdk/reference")]
    for path in sources:
        if path.name == "provider.c":  # the installed fake has the name already
            path.write_text(re.sub(r'\.name = "fake"', '.name = "longer"', path.read_text()))
    command = ["gcc", *flags, *[f"-I{path}" for path in includes], "-o", library, *sources, "-lm"]
    subprocess.run(command, check=True)

    assert run(USE, library, "longer").split(maxsplit=2) == ["1", "0", "[]\n"]
    assert run(USE, library, "longer", core=versions.root).split(maxsplit=2) == ["1", "1", "[]\n"]


@pytest.mark.skipif(shutil.which("abidiff") is None, reason="abidiff is not installed")
def test_abidiff_finds_additions_only(versions, tmp_path):
    made = []
    for version, include in (("1.0", infinitrain_capi.include_dir()), ("1.1", versions.root / "capi" / "include")):
        folder = tmp_path / version
        folder.mkdir()
        library = folder / "libitp_small.so"
        shutil.copy(versions.older.parent / "schemas.h", folder)
        flags = ["-std=c11", "-g", "-O0", "-shared", "-fPIC", f"-I{include}", f"-I{folder}"]
        subprocess.run(["gcc", *flags, "-o", library, SMALL], check=True)
        made.append(library)
    done = subprocess.run(["abidiff", *made], capture_output=True, text=True, check=False)

    assert "itp_status (void*, typedef int32_t, uint64_t*, itp_error*)* trim" in done.stdout, done.stdout
    assert "deletion" not in done.stdout.replace("0 data member deletion", "")
