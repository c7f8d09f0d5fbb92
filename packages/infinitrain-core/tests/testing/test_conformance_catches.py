"""The kit finds what is wrong with a provider, and nothing else: small providers, each with one planted lie."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import infinitrain.testing.conformance as kit
import jsonschema
import pytest
from infinitrain_capi import include_dir, sdk_dir
from infinitrain_capi.table import load

TABLE = load()
HERE = Path(__file__).parent
KIT = "infinitrain.testing.conformance"
KIT_FOLDER = Path(kit.__file__).parent
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to build providers with")

#: Tests that run one usual launch of every kernel and look at all memory.
BORROWED = ("14_launch_is_borrowed", "15_counts_and_kinds", "18_launch_of_a_later_core")
#: The calls that a late failure can be reported by.
WAITS = ("stream_sync", "stream_query", "event_sync", "event_query", "device_sync", "copy")
#: What the honest provider does not have: workspace, optional tensors, host-readable and pinned memory, a second
#: device, fill_bytes, extensions.
ABSENT = {f"ITP-{name}" for name in ("KN-10", "KN-19", "RT-07", "RT-19", "RT-20", "RT-24", "NEG-07")}
KERNELS = "kn_0 or kn_1 or allocates or err_01"
CONTRACT = "neg_ or rt_ or gd_ or err_ or kn_2"
#: Lies that do not hide each other, the tests that are run, and what has to fail: all of it, and nothing else.
GROUPS = {
    "values": (
        ("CAST_ROUNDING", "NOT_WRITTEN", "INPUT_MODIFIED", "ALLOCATES", "INDEX"),
        KERNELS,
        {
            "test_kn_05_values(Cast-f32-bf16)",  # cuts off instead of rounding
            *(f"test_kn_05_values(NoOpForward-{t})" for t in TABLE["NoOpForward"].dtypes),  # leaves the last element
            "test_kn_06_outputs_are_written_in_full(NoOpForward)",
            *(f"test_kn_{test}(NoOpForward)" for test in BORROWED),
            "test_kn_07_nothing_else_is_written(NoOpBackward)",  # writes into its operand
            *(f"test_kn_{test}(NoOpBackward)" for test in BORROWED),
            "test_no_kernel_allocates(Copy)",
            "test_kn_16_index_out_of_range(EmbeddingForward)",  # wraps the index
            *(f"test_err_01_late_failures({wait})" for wait in WAITS),
        },
    ),
    "layouts": (
        ("PAST_THE_END", "STRIDED"),
        "kn_05 or kn_06 or kn_07 or kn_08 or kn_11",
        {"test_kn_07_nothing_else_is_written(NoOpBackward)", "test_kn_11_strides(Cast)"},
    ),
    "contract": (
        (
            *("SUBMIT_DONE", "ALIGNMENT", "LEAK", "MISSING_STATUS", "STRUCT_SIZE", "COPY_ROUNDS_UP", "STREAM_FLAGS"),
            *("MESSAGE", "RECORD_ON_OK", "EXPORTS"),
        ),
        CONTRACT,
        {
            "test_kn_24_done",
            "test_rt_11_blocks(0)",
            "test_rt_14_memory_comes_back",
            "test_rt_01_device_out_of_range",
            "test_rt_02_info_within_struct_size(*)",
            "test_rt_17_exact_ranges(up)",
            "test_gd_05_unknown_stream_flag",
            "test_err_05_form_of_the_message",
            "test_err_03_left_alone_on_ok",
            "test_neg_08_one_exported_symbol",
        },
    ),
    "late": (("NATIVE_CODE",), "err_10", {"test_err_10_native_code_of_a_late_failure"}),
    "life": (
        ("IMPURE_QUERY", "OPTIONS", "DIRECTORY"),
        "neg_09 or life_03 or life_04 or life_05",
        {
            "test_neg_09_query_is_pure",
            "test_life_03_unknown_option",
            "test_life_04_failed_init_leaves_nothing",
            "test_life_05_process_stays_as_it_was",
        },
    ),
}


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The SDK's kernels that the provider takes, compiled once."""
    folder = tmp_path_factory.mktemp("objects")
    made = []
    for name in ("base", "block", "index"):
        target = folder / f"{name}.o"
        compile_c([sdk_dir() / "reference" / f"{name}.c"], target, ["-c", "-O1", "-ffp-contract=off"])
        made.append(target)
    return made


def compile_c(sources: list[Path], target: Path, flags: list[str]) -> None:
    includes = ["-I", str(include_dir()), "-I", str(sdk_dir()), "-I", str(sdk_dir() / "reference")]
    common = ["gcc", "-std=gnu11", "-fPIC", "-fvisibility=hidden", *flags, *includes, "-o", str(target)]
    done = subprocess.run([*common, *map(str, sources), "-lm", "-pthread"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def build(folder: Path, objects: list[Path], *defined: str) -> Path:
    target = folder / "libitp_liar.so"
    compile_c([HERE / "liar.c", *objects], target, ["-shared", "-O1", *(f"-D{name}" for name in defined)])
    return target


def run(library: Path, *arguments: str) -> tuple[int, dict]:
    """Run the kit in a process of its own; gives the exit code and the report."""
    report = library.with_name("report.json")
    command = [sys.executable, "-m", "pytest", "-p", f"{KIT}.plugin", "-p", "no:cacheprovider", "-q", "--tb=no"]
    command += ["-c", os.devnull, "--rootdir", str(library.parent), "--pyargs", KIT, "--provider", str(library)]
    command += ["--conformance-json", str(report), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=library.parent)
    assert report.exists(), done.stdout + done.stderr
    return done.returncode, json.loads(report.read_text())


def failures(report: dict) -> list[str]:
    """List the failed tests as name(parameters)."""
    names = (each["name"].partition("::")[2] for each in report["tests"] if each["outcome"] == "failed")
    return sorted(name.replace("[", "(").replace("]", ")") for name in names)


def test_honest_provider_passes(tmp_path, objects):
    code, report = run(build(tmp_path, objects, "WITH_TABLES"))

    jsonschema.validate(report, json.loads((KIT_FOLDER / "report.schema.json").read_text()))
    assert failures(report) == []
    assert code == 0
    assert report["performance"] is None
    assert "LinearForward" in report["models"]["gpt2"]
    assert "Copy" not in report["models"]["gpt2"]
    assert report["tiers"]["0"] == {"kernels": 5, "offered": 5, "right": 5, "missing": [], "wrong": []}
    assert {name for name, outcome in report["contract"].items() if outcome == "not run"} == set()
    assert {name for name, outcome in report["contract"].items() if outcome == "skipped"} == ABSENT


@pytest.mark.parametrize("group", GROUPS)
def test_lies_are_caught_and_nothing_else(tmp_path, objects, group):
    lies, words, expected = GROUPS[group]
    code, report = run(build(tmp_path, objects, *(f"LIE_{lie}" for lie in lies)), "-k", words)

    found = failures(report)
    assert code == 1
    assert [name for name in found if not any(fnmatchcase(name, pattern) for pattern in expected)] == []
    assert [pattern for pattern in expected if not any(fnmatchcase(name, pattern) for name in found)] == []


def test_crash_and_hang_fail_one_test_each(tmp_path, objects):
    library = build(tmp_path, objects, "LIE_CRASH", "LIE_HANG")
    code, report = run(library, "--isolate", "--isolate-timeout", "15", "-k", "kn_05 and NoOp", "--tier", "0")

    assert code == 1
    assert failures(report) == ["test_kn_05_values(NoOpForward-i16)", "test_kn_05_values(NoOpForward-u16)"]
    messages = {each["name"][-5:-1].strip("-"): each["message"] for each in report["tests"]}
    assert "SIGSEGV" in messages["u16"]
    assert "did not come back within 15 s" in messages["i16"]
    assert sum(each["outcome"] == "passed" for each in report["tests"]) == 24


def test_exclusions_have_reasons_and_are_listed(tmp_path, objects):
    library = build(tmp_path, objects, "LIE_CAST_ROUNDING")
    listing = tmp_path / "exclude.toml"
    listing.write_text('[[exclude]]\ntest = "test_kn_05_values[Cast-f32-*]"\nreason = "cuts"\nuntil = "driver 2"\n')
    code, report = run(library, "-k", "kn_05 and Cast", "--exclude", str(listing), "--tier", "0")

    assert code == 0
    left_out = [each for each in report["tests"] if each["message"] == "excluded until driver 2: cuts"]
    assert len(left_out) == 13


def test_exclusion_without_reason_is_refused(tmp_path, objects):
    listing = tmp_path / "exclude.toml"
    listing.write_text('[[exclude]]\ntest = "test_kn_05_values[Cast-f32-*]"\n')
    library = build(tmp_path, objects)
    command = [sys.executable, "-m", "pytest", "-p", f"{KIT}.plugin", "--pyargs", KIT, "--provider", str(library)]
    done = subprocess.run([*command, "--exclude", str(listing)], capture_output=True, text=True, check=False)

    assert done.returncode == 4
    assert "expected test, reason and until" in done.stdout + done.stderr
