"""pytest plugin: the options of the conformance kit, exclusions, isolation of a crashing provider, the report."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

__all__ = ["pytest_addoption", "pytest_configure"]

KIT = Path(__file__).parent
NAME = "infinitrain-conformance-run"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the kit's options; without --provider none of them does anything."""
    group = parser.getgroup("infinitrain conformance")
    add = group.addoption
    add("--provider", metavar="PATH_OR_NAME", help="provider library to prove, or the name of an installed one")
    add("--provider-device", type=int, default=0, metavar="N", help="device of the provider to test on (0)")
    add("--provider-option", action="append", default=[], metavar="NAME=VALUE", help="option for the provider's init")
    add("--tier", type=int, default=3, metavar="K", help="test kernels of tiers 0 to K only")
    add("--exclude", metavar="FILE.toml", help="[[exclude]] tables with test, reason and until: tests to leave out")
    add("--isolate", action="store_true", help="run tests in a worker process: a crash or hang fails one test")
    add(
        "--isolate-timeout", type=float, default=120.0, metavar="S", help="seconds that an isolated test may take (120)"
    )
    add("--measure", action="store_true", help="measure launches, copies and kernels at the end, for the report")
    add("--conformance-json", metavar="FILE", help="write the report as JSON")
    add("--conformance-html", metavar="FILE", help="write the report as one HTML page")


def pytest_configure(config: pytest.Config) -> None:
    """Name the kit's marker; where a provider is to be proved, take part in the run."""
    config.addinivalue_line("markers", "kernel(tier, name, t, u): a test of a row of the kernel table for these dtypes")
    if config.getoption("--provider") is not None:
        config.pluginmanager.register(Run(config), NAME)


@dataclass(slots=True)
class Exclusion:
    """A test that is left out: what it is called (`*` stands for anything), why, and until when."""

    test: str
    reason: str
    until: str
    used: bool = False

    def matches(self, key: str) -> bool:
        """Whether it means a test, by file::name[parameters] or by name alone."""
        return fnmatchcase(key.replace("[", "("), self.test.replace("[", "(")) or fnmatchcase(
            key.partition("::")[2].replace("[", "("), self.test.replace("[", "(")
        )


def read_exclusions(path: str) -> list[Exclusion]:
    """Read the list of tests that are left out.

    Raises: pytest.UsageError for an entry without reason or end.
    """
    with Path(path).open("rb") as file:
        entries = tomllib.load(file).get("exclude", [])
    for entry in entries:
        if set(entry) != {"test", "reason", "until"}:
            raise pytest.UsageError(
                f"{path}: expected test, reason and until in each [[exclude]], found {sorted(entry)}"
            )
    return [Exclusion(**entry) for entry in entries]


def is_ours(item: pytest.Item) -> bool:
    """Whether a test is one of the kit's."""
    return item.path.parent == KIT


class Run:
    """A run on one provider."""

    def __init__(self, config: pytest.Config) -> None:
        from infinitrain.testing.conformance.report import Report

        self.config = config
        self.report = Report()
        path = config.getoption("--exclude")
        self.exclusions = read_exclusions(path) if path else []
        self.isolation: Any = None
        if config.getoption("--isolate"):
            from infinitrain.testing.conformance.isolate import Isolation

            self.isolation = Isolation(self._worker_arguments(), config.getoption("--isolate-timeout"))

    def _worker_arguments(self) -> list[str]:
        """Give the arguments of a pytest that collects the same tests."""
        option = self.config.getoption
        arguments = ["-p", "infinitrain.testing.conformance.plugin", "-p", "no:cacheprovider", "-p", "no:xdist"]
        arguments += ["-c", str(self.config.inipath or os.devnull), "--rootdir", str(self.config.rootpath)]
        arguments += ["--pyargs", "infinitrain.testing.conformance", "-q", "--provider", option("--provider")]
        arguments += ["--provider-device", str(option("--provider-device")), "--tier", str(option("--tier"))]
        for each in option("--provider-option"):
            arguments += ["--provider-option", each]
        return arguments

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is excluded and what is above the tier; tell each test's kernel to the report."""
        from infinitrain.testing.conformance.isolate import key_of

        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            marker = item.get_closest_marker("kernel")
            if marker is not None:
                item.user_properties.append(("kernel", list(marker.args)))
            too_high = marker is not None and marker.args[0] > self.config.getoption("--tier")
            (left if too_high and is_ours(item) else kept).append(item)
            for exclusion in self.exclusions:
                if is_ours(item) and exclusion.matches(key_of(item)):
                    exclusion.used = True
                    reason = f"excluded until {exclusion.until}: {exclusion.reason}"
                    item.add_marker(pytest.mark.skip(reason=reason))
        if left:
            items[:] = kept
            self.config.hook.pytest_deselected(items=left)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test in the worker process, where that is wanted."""
        if self.isolation is None or not is_ours(item):
            return None
        skip = next((mark for mark in item.iter_markers("skip")), None)
        if skip is not None:
            return None  # an excluded test may be one that even a worker does not survive
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self.isolation.run(item, nextitem):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what became of a test."""
        if Path(report.nodeid.partition("::")[0]).name not in FILES:
            return
        if report.when == "call" or report.outcome != "passed":
            from infinitrain.testing.conformance.report import Result

            properties: dict[str, Any] = dict(report.user_properties)
            kernel = properties.pop("kernel", None)
            name = f"{Path(report.nodeid.partition('::')[0]).name}::{report.nodeid.partition('::')[2]}"
            self.report.add(Result(name, report.outcome, message_of(report), report.duration, kernel, properties))

    def _measure(self) -> None:
        """Measure what the device achieves, after the tests and in a process of its own."""
        from infinitrain.testing.conformance.driver import find_library
        from infinitrain.testing.conformance.measure import measure_apart

        option = self.config.getoption
        options = dict(text.split("=", 1) for text in option("--provider-option"))
        library, device = find_library(option("--provider")), option("--provider-device")
        try:
            self.report.performance = measure_apart(library, device, options, option("--tier"))
        except AssertionError as failed:
            self.report.performance = {"failed": str(failed)}

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table, and the exclusions."""
        if not self.report.results:
            return
        terminalreporter.section("infinitrain conformance")
        for line in self.report.lines():
            terminalreporter.write_line(line)
        for exclusion in self.exclusions:
            state = "" if exclusion.used else " (matches no test of this run: remove it)"
            terminalreporter.write_line(
                f"excluded until {exclusion.until}: {exclusion.test}: {exclusion.reason}{state}"
            )

    def pytest_sessionfinish(self) -> None:
        """End the worker, write the reports."""
        if self.isolation is not None:
            self.isolation.stop()
        if hasattr(self.config, "workerinput"):
            return  # one of several processes: the one that started them has all results
        if self.config.getoption("--measure") and self.report.results:
            self._measure()
        as_json, as_html = (self.config.getoption(name) for name in ("--conformance-json", "--conformance-html"))
        if as_json:
            Path(as_json).write_text(json.dumps(self.report.to_json(), indent=1) + "\n", encoding="utf-8")
        if as_html:
            from infinitrain.testing.conformance.page import render

            Path(as_html).write_text(render(self.report.to_json()), encoding="utf-8")


FILES = {path.name for path in KIT.glob("test_*.py")}


def message_of(report: pytest.TestReport) -> str:
    """Give the reason of a failure or a skip in words."""
    if report.outcome == "passed":
        return ""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return (str(crash.message) if crash is not None else str(report.longrepr)).removeprefix("Failed: ")
