"""docs/write-a-provider.md, carried out: what the user is told to see is what is there."""

from __future__ import annotations

import json
import math

import pytest
from conftest import OURS


def losses(folder):
    return [json.loads(line)["loss"] for line in (folder / "log.jsonl").read_text().splitlines()]


def test_the_core_is_well_before_there_is_a_vendor(desk):
    assert desk.document.said("-m venv").rstrip().endswith("All is well.")


def test_untouched_package_is_a_device_of_tier_0(desk):
    shown = desk.untouched

    assert "maca:0" in desk.document.said("new-provider maca")
    assert (shown["state"], shown["problem"], shown["notes"]) == ("ready", "", [])
    have, all_ = shown["kernels"]["0"]
    assert have == all_ > 0
    assert sum(have for have, _ in shown["kernels"].values()) == all_  # tier 0 and nothing else


def test_untouched_package_passes_tier_0_of_the_conformance_kit(desk):
    report = desk.document.said("conformance maca --tier 0")

    assert " passed" in report
    assert "failed" not in report.splitlines()[-1]


def test_the_model_trains_on_the_device_and_by_its_alias(desk):
    direct, alias = (desk.package / "runs" / name for name in ("gpt2-mini", "alias"))

    assert json.loads((direct / "summary.json").read_text())["device"] == "maca:0"
    assert json.loads((alias / "summary.json").read_text())["device"] == "maca:0"
    assert len(losses(direct)) == 3
    assert losses(direct) == losses(alias)
    assert all(map(math.isfinite, losses(direct)))
    assert losses(direct)[-1] < losses(direct)[0]


def test_ones_own_kernel_takes_the_place_of_the_portable_one(desk, python):
    report = json.loads((desk.package / "gelu.json").read_text())
    proven = {each["T"]: each["outcome"] for each in report["kernels"] if each["kernel"] == "GeluForward"}

    assert "failed" not in report["summary"]
    assert proven["f32"] == "passed"
    assert proven["f64"] == "skipped"  # the portable one offers it
    assert losses(desk.package / "runs" / "gelu") == pytest.approx(
        losses(desk.package / "runs" / "gpt2-mini"), rel=1e-5
    )


def test_bare_library_is_well(desk):
    assert desk.document.said("py3-none-*/libitp").rstrip().endswith("All is well.")


def test_the_wheel_is_one_for_every_python(desk):
    (wheel,) = (desk.package / "dist").glob("*.whl")

    assert wheel.name.startswith("infinitrain_maca-0.1.0-py3-none-linux_")


def test_files_of_the_core_are_byte_for_byte_what_they_were(desk, python):
    assert len(desk.core_before) > 100
    assert python.files(*OURS) == desk.core_before


def test_package_passes_its_own_tests(desk, python):
    assert "5 passed" in python.run("python", "-m", "pytest", "-q", cwd=desk.package)
