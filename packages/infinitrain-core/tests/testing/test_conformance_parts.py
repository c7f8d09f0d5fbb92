"""The kit's own arithmetic and parts, against oracles that it does not share."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import infinitrain.testing.conformance as kit
import jsonschema
import ml_dtypes
import numpy as np
import pytest
from infinitrain.dtype import parse
from infinitrain.testing.conformance.case import Expected
from infinitrain.testing.conformance.check import compare
from infinitrain.testing.conformance.driver import TABLE, find_library
from infinitrain.testing.conformance.elf import exported_symbols
from infinitrain.testing.conformance.header import slots
from infinitrain.testing.conformance.layout import COMPACT, MATRIX, STRIDED, place
from infinitrain.testing.conformance.measure import measure_apart
from infinitrain.testing.conformance.page import render
from infinitrain.testing.conformance.plugin import Exclusion
from infinitrain.testing.conformance.reference.number import convert, scalar
from infinitrain.testing.conformance.reference.random import normal, philox, uniform
from infinitrain.testing.conformance.report import Report, Result, ids_of, performance_lines
from infinitrain.testing.conformance.workloads import MANY, dtypes_of, workload

KIT_FOLDER = Path(kit.__file__).parent
BF16 = np.dtype(ml_dtypes.bfloat16)
EXACT, REDUCTION = TABLE["AddForward"].tolerance, TABLE["SumForward"].tolerance


@cache
def values_of(dtype: np.dtype) -> np.ndarray:
    """List the values of a 16-bit type that are not negative, in the order of their patterns."""
    infinity = int(np.array(np.inf, dtype).view(np.uint16))
    return np.arange(infinity, dtype=np.uint16).view(dtype).astype(np.float64)


def nearest(value: Fraction, dtype: np.dtype) -> float:
    """Round a number to the nearest value of a 16-bit type, ties to even, by looking at its neighbours."""
    finite = values_of(dtype)
    at = int(np.searchsorted(finite, float(abs(value))))
    near = range(max(at - 2, 0), min(at + 3, len(finite)))
    best = min(near, key=lambda i: (abs(Fraction(finite[i]) - abs(value)), i % 2))
    step = Fraction(finite[-1]) - Fraction(finite[-2])
    size = np.inf if abs(value) >= Fraction(finite[-1]) + step / 2 else finite[best]
    return float(-size if value < 0 else size)


@pytest.mark.parametrize("short", ["bf16", "f16"])
@pytest.mark.parametrize("source", ["f64", "f32", "i64", "u64"])
def test_conversions_to_half_types_round_once(short, source):
    target, rng = parse(short).numpy, np.random.default_rng(7)
    if source[0] == "f":
        ties = (rng.integers(128, 256, 300) + 0.5) * 2.0 ** rng.integers(-20, 8, 300)
        values = np.concatenate(
            [ties, ties * (1 + 2.0**-40), ties * (1 - 2.0**-40), rng.standard_normal(300), [6e4, 7e4]]
        )
    else:
        high = np.uint64(1) << rng.integers(8, 63, 600).astype(np.uint64)
        values = high + (high >> np.uint64(9)) + rng.integers(0, 3, 600).astype(np.uint64)
    values = values.astype(parse(source).numpy)

    found = convert(values, target).astype(np.float64)

    expected = [nearest(Fraction(value.item()), target) for value in values]
    np.testing.assert_array_equal(found, expected)


def test_conversions_to_integers_saturate_and_cut():
    values = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 127.9, -128.9, 255.9, -0.9, 2.0**63, -(2.0**63)])

    assert convert(values, np.dtype(np.int8)).tolist() == [0, 127, -128, 127, -128, 127, -128, 127, 0, 127, -128]
    assert convert(values, np.dtype(np.uint8)).tolist() == [0, 255, 0, 255, 0, 127, 0, 255, 0, 255, 0]
    assert convert(values, np.dtype(np.int64)).tolist()[9:] == [2**63 - 1, -(2**63)]
    assert convert(values, np.dtype(np.uint64)).tolist()[1:4] == [2**64 - 1, 0, 2**64 - 1]
    assert convert(values, np.dtype(bool)).tolist() == [True] * 11


def test_integers_wrap_and_an_i64_is_the_bit_pattern_of_a_u64():
    assert convert(np.array([300, -1, -129]), np.dtype(np.int8)).tolist() == [44, -1, 127]
    assert int(scalar(-1, np.dtype(np.uint64))) == 2**64 - 1
    assert scalar(True, BF16) == 1


def test_philox_gives_the_published_vector():
    """Random123's kat_vectors: philox4x32-10, counter and key 0."""
    words = philox(0, np.array([0], np.uint64))

    assert [f"{word:08x}" for word in words[0]] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]


def test_normal_is_the_inverse_of_the_normal_distribution():
    words = np.concatenate([np.arange(0, 2**32, 2**22 + 12345, dtype=np.uint64), [0, 1, 2**32 - 1]]).astype(np.uint64)
    law = statistics.NormalDist()

    expected = [law.inv_cdf((int(word) + 0.5) / 2**32) for word in words]

    np.testing.assert_allclose(normal(words), expected, rtol=1e-14, atol=1e-15)
    assert uniform(np.array([0, 2**32 - 1], np.uint64)).tolist() == [0.0, 1 - 2.0**-24]


@pytest.mark.parametrize("how", [*COMPACT, *STRIDED, *MATRIX])
def test_layouts_hold_the_array_and_nothing_else(how):
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    placed = place(array, how, 0xEE)

    np.testing.assert_array_equal(placed.view(), array)
    outside = placed.block.copy()
    placed.view(outside)[...] = np.array([0xEEEEEEEE], np.uint32).view(np.float32)
    assert (outside == 0xEE).all()


def test_broadcast_dimensions_keep_stride_0():
    array = np.broadcast_to(np.arange(3, dtype=np.int8)[:, None], (3, 4))

    assert place(array, "gaps", 0).strides[1] == 0
    np.testing.assert_array_equal(place(array, "turned", 0).view(), array)


def test_exact_comparison_sees_the_sign_of_zero_but_not_the_bits_of_nan():
    zero, minus = np.array([0.0], np.float32), np.array([-0.0], np.float32)
    nan, other = np.array([0x7FC00000], np.uint32).view(np.float32), np.array([0x7FC00001], np.uint32).view(np.float32)

    assert "expected 0.0 (0x00000000), found -0.0 (0x80000000)" in compare(minus, Expected(zero), EXACT, ()).problem
    assert compare(minus, Expected(zero, any_zero=True), EXACT, ()).problem == ""
    assert compare(other, Expected(nan), EXACT, ()).problem == ""
    assert compare(other, Expected(nan, raw=True), EXACT, ()).problem != ""


def test_tolerance_scales_by_the_magnitude():
    found = np.array([1.0 + 1e-3], np.float32)

    assert compare(found, Expected(np.array([1.0]), np.array([1.0])), REDUCTION, ()).problem != ""
    verdict = compare(found, Expected(np.array([1.0]), np.array([1e4])), REDUCTION, ())
    assert verdict.problem == ""
    assert verdict.worst == pytest.approx(1e-3 / (2e-6 * 1e4 + 1e-5), rel=1e-3)


@pytest.mark.parametrize(("expected", "found", "right"), [
    (65519.0, 65504.0, True), (65519.0, np.inf, True), (70000.0, np.inf, True), (70000.0, -np.inf, False),
    (60000.0, np.inf, False), (np.nan, np.nan, True), (1.0, np.nan, False), (np.inf, 65504.0, False),
])  # fmt: skip
def test_overflow_is_an_infinity_where_the_tolerance_reaches_it(expected, found, right):
    verdict = compare(np.array([found], np.float16), Expected(np.array([expected])), REDUCTION, ())

    assert (verdict.problem == "") == right


def test_ids_and_outcomes_of_the_report():
    report = Report()
    report.add(Result("test_x.py::test_rt_04_a", "passed"))
    report.add(Result("test_x.py::test_rt_04_b", "failed", "no"))
    report.add(Result("test_x.py::test_rt_05_a", "skipped", "why"))

    assert ids_of("test_rt_04_alignment[3]") == "ITP-RT-04"
    assert ids_of("test_no_kernel_allocates") == ""
    outcomes = report.contract()
    assert (outcomes["ITP-RT-04"], outcomes["ITP-RT-05"], outcomes["ITP-RT-06"]) == ("failed", "skipped", "not run")


def test_required_slots_come_from_the_header():
    assert slots()["itp_runtime"] == {
        "device_count": True, "device_info": True, "alloc": True, "dealloc": True, "mem_info": False, "copy": True,
        "fill_bytes": False,
    }  # fmt: skip
    assert slots()["itp_kernel"] == {"launch": True, "workspace": False, "supports": False}


def test_exclusions_match_by_name_or_file():
    assert Exclusion("test_kn_05_values[Cast-*]", "", "").matches("test_kernels.py::test_kn_05_values[Cast-f32-bf16]")
    assert Exclusion("test_life.py::*", "", "").matches("test_life.py::test_life_01_fork")
    assert not Exclusion("test_kn_05_values[Cast-*]", "", "").matches("test_kernels.py::test_kn_05_values[Copy-f32]")


def test_exports_are_read_without_tools():
    assert exported_symbols(find_library("cpu")) == ["infinitrain_provider_v1"]
    with pytest.raises(ValueError, match="64-bit ELF"):
        exported_symbols(Path(__file__))


def test_unknown_provider_is_named_with_what_is_installed():
    command = [sys.executable, "-m", "infinitrain.cli.main", "conformance", "nobody"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "provider 'nobody': expected a library's path or an installed provider (" in done.stderr
    assert "cpu" in done.stderr


def test_measuring_gives_what_the_schema_says_and_a_share_of_the_roofline():
    report = Report()
    report.performance = measure_apart(find_library("fake"), 1, {}, 0)

    found = json.loads(json.dumps(report.to_json()))
    jsonschema.validate(found, json.loads((KIT_FOLDER / "report.schema.json").read_text()))
    speed = found["performance"]
    assert {each["kernel"] for each in speed["kernels"]} == {name for name, row in TABLE.items() if row.tier == 0}
    assert {"host_to_device", "device_to_host", "device_to_device"} <= set(speed["copy_bytes_per_s"])
    copy = next(each for each in speed["kernels"] if each["kernel"] == "Copy")
    assert copy["bytes_per_s"] * copy["seconds"] == pytest.approx(2 * 4 * MANY)
    assert copy["roofline_share"] == pytest.approx(copy["bytes_per_s"] / speed["roofline"]["bytes_per_s"])
    page = render(found)
    assert "launch, one and wait" in page
    assert "roofline, memory" in page


def test_measurement_that_ends_early_is_told(tmp_path):
    with pytest.raises(AssertionError, match="the process ended with exit code 1"):
        measure_apart(tmp_path / "none.so", 0, {}, 0)
    report = Report()
    report.performance = {"failed": "signal SIGSEGV"}

    assert "signal SIGSEGV" in render(report.to_json())
    assert performance_lines(report.performance)[-1] == "not measured: signal SIGSEGV"


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_row_has_a_workload(name):
    row = TABLE[name]
    for dtype in dtypes_of(row):
        load = workload(row, dtype)
        assert load is not None
        assert len(load.case.inputs) == len(row.inputs)
        assert load.nbytes > 0


def test_page_shows_tiers_kernels_contract_and_failures():
    report = Report()
    report.about = {"name": "acme", "version": "1", "caps": 0x3, "device_name": "<Acme>"}
    report.add(
        Result("test_k.py::test_kn_05_values[Cast-f32-bf16]", "failed", "a < b", 0.1, [0, "Cast", "f32", "bf16"])
    )
    report.add(
        Result("test_k.py::test_kn_05_values[Fill-f32]", "passed", "", 0.1, [0, "Fill", "f32", ""], {"worst": 0.25})
    )

    page = render(report.to_json())

    for text in (
        "acme 1: conformance",
        "&lt;Acme&gt;",
        "host-readable, stream-ordered alloc",
        "1 of 2",
        "a &lt; b",
        "0.25",
    ):
        assert text in page
    assert '<code class="failed">05</code>' in page
    assert "http" not in page
