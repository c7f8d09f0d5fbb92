"""The outcome of a run: what is known of each test, as a table on the terminal and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from infinitrain_capi import cdef_text, header_path
from infinitrain_capi.table import DTYPES

__all__ = ["Report", "Result", "ids_of"]

AREAS = {
    "NEG": "negotiation",
    "LIFE": "life cycle",
    "ERR": "errors",
    "KN": "kernels",
    "RT": "runtime",
    "GD": "guard",
    "CCL": "collectives",
    "GR": "graphs",
}


def ids_of(name: str) -> str:
    """Give the id in a test's name as the header writes it: test_rt_04_alignment gives ITP-RT-04; "" for none."""
    match = re.match(r"test_([a-z]+)_(\d\d)_", name)
    return f"ITP-{match[1].upper()}-{match[2]}" if match else ""


def header_ids() -> list[str]:
    """List the ids of the header."""
    return sorted(set(re.findall(r"\[(ITP-[A-Z]+-\d\d)\]", header_path().read_text(encoding="ascii"))))


@dataclass(slots=True)
class Result:
    """What became of one test.

    Attributes:
        name: As test_file.py::test_name[parameters].
        outcome: "passed", "failed" or "skipped".
        message: Why it failed or was skipped.
        seconds: How long it took.
        kernel: [tier, kernel, T, U] where it is about a kernel.
        properties: What the test recorded: the worst share of the tolerance, the number of launches.
    """

    name: str
    outcome: str
    message: str = ""
    seconds: float = 0.0
    kernel: list[Any] | None = None
    properties: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the sentence that it proves, "" for none."""
        return ids_of(self.name.partition("::")[2])

    @property
    def is_values(self) -> bool:
        """Whether it compares the values of a kernel for a dtype."""
        return self.id == "ITP-KN-05" and self.kernel is not None


class Report:
    """All results of a run."""

    def __init__(self) -> None:
        self.results: list[Result] = []
        self.about: dict[str, Any] = {}
        #: What `measure` found, or {"failed": why} where the measurement ended early; None: not measured.
        self.performance: dict[str, Any] | None = None

    def add(self, result: Result) -> None:
        """Take a result in."""
        about = result.properties.pop("about", None)
        if about is not None:
            self.about = about
        self.results.append(result)

    def contract(self) -> dict[str, str]:
        """Give the outcome of each id: failed if a test of it failed, passed if one passed, else skipped."""
        outcomes: dict[str, set[str]] = {name: set() for name in header_ids()}
        for result in self.results:
            if result.id:
                outcomes.setdefault(result.id, set()).add(result.outcome)
        order = ("failed", "passed", "skipped")
        return {name: next((each for each in order if each in found), "not run") for name, found in outcomes.items()}

    def tiers(self) -> dict[int, dict[str, Any]]:
        """Give for each tier how many kernels there are, how many are offered and how many are right."""
        found: dict[int, dict[str, set[str]]] = {}
        for result in self.results:
            if result.kernel is None:
                continue
            tier, name = int(result.kernel[0]), str(result.kernel[1])
            sets = found.setdefault(tier, {"all": set(), "offered": set(), "wrong": set()})
            sets["all"].add(name)
            if result.is_values and result.outcome != "skipped":
                sets["offered"].add(name)
            if result.outcome == "failed":
                sets["wrong"].add(name)
        return {
            tier: {
                "kernels": len(sets["all"]),
                "offered": len(sets["offered"]),
                "right": len(sets["offered"] - sets["wrong"]),
                "missing": sorted(sets["all"] - sets["offered"]),
                "wrong": sorted(sets["wrong"]),
            }
            for tier, sets in sorted(found.items())
        }

    def models(self) -> dict[str, list[str]]:
        """Give, for each family of models, the kernels that training it needs and that are not offered or not right.

        Empty where the run looked at no kernel.
        """
        from infinitrain.models.requirements import families

        tiers = self.tiers()
        if not tiers:
            return {}
        right = self._right()
        return {family: [name for name in needed if name not in right] for family, needed in families().items()}

    def _right(self) -> set[str]:
        """Name the kernels that are offered in float32, or have no T, and of which no test failed."""
        offered = {
            str(each.kernel[1])
            for each in self.results
            if each.is_values and each.kernel is not None and each.outcome == "passed" and each.kernel[2] in ("f32", "")
        }
        return offered - {str(each.kernel[1]) for each in self.results if each.kernel and each.outcome == "failed"}

    def to_json(self) -> dict[str, Any]:
        """Give the report as JSON; its form is that of docs/conformance.md."""
        return {
            "format": 1,
            "abi": _abi(),
            "provider": self.about,
            "summary": dict(Counter(result.outcome for result in self.results)),
            "contract": self.contract(),
            "tiers": self.tiers(),
            "models": self.models(),
            "kernels": [
                {
                    "kernel": result.kernel[1],
                    "tier": result.kernel[0],
                    "T": result.kernel[2],
                    "U": result.kernel[3],
                    "outcome": result.outcome,
                    "message": result.message,
                    "worst": _finite(result.properties.get("worst")),
                    "launches": result.properties.get("launches", 0),
                }
                for result in self.results
                if result.is_values and result.kernel is not None
            ],
            "performance": self.performance,
            "tests": [
                {
                    "name": result.name,
                    "id": result.id,
                    "outcome": result.outcome,
                    "message": result.message,
                    "seconds": round(result.seconds, 4),
                }
                for result in sorted(self.results, key=lambda each: each.name)
            ],
        }

    def lines(self) -> list[str]:
        """Write the table for the terminal."""
        about = self.about
        title = f"{about.get('name', '?')} {about.get('version', '?')} by {about.get('vendor', '?')}"
        lines = [f"provider {title}, device {about.get('device', '?')}: {about.get('device_name', '?')}", ""]
        lines += self._contract_lines()
        if any(each.is_values for each in self.results):
            lines += [
                "",
                "kernels by tier and dtype: the worst error as a share of the tolerance; 0: all bits right",
            ]
            lines += self._kernel_lines()
            lines += [
                f"  {family:<7} {'can be trained' if not lacks else 'cannot be trained, lacks ' + ', '.join(lacks)}"
                for family, lacks in self.models().items()
            ]
        lines += performance_lines(self.performance)
        reasons = Counter(each.message for each in self.results if each.outcome == "skipped")
        told = {reason: count for reason, count in reasons.most_common() if not reason.startswith("not offered")}
        lines += ["", "skipped", *(f"  {count:>4}  {reason}" for reason, count in told.items())] if told else []
        return lines

    def _contract_lines(self) -> list[str]:
        contract = self.contract()
        widths = {"passed": 6, "failed": 6, "skipped": 7, "not run": 7}
        lines = [f"{'contract':<22}" + "  ".join(f"{key:>{width}}" for key, width in widths.items())]
        for area, title in AREAS.items():
            outcomes = Counter(outcome for name, outcome in contract.items() if name.split("-")[1] == area)
            counts = "  ".join(f"{outcomes[key]:>{width}}" for key, width in widths.items())
            lines.append(f"  ITP-{area:<5}{title:<11}{counts}")
        return lines

    def _kernel_lines(self) -> list[str]:
        columns = [dtype for dtype in DTYPES if any(self._cell(tier, dtype) != "-" for tier in self.tiers())]
        lines = [f"  {'tier':<6}{'kernels':<12}" + "".join(f"{dtype:>8}" for dtype in columns)]
        for tier, counts in self.tiers().items():
            cells = "".join(f"{self._cell(tier, dtype):>8}" for dtype in columns)
            lines.append(f"  {tier:<6}{counts['right']:>3} of {counts['kernels']:<5}{cells}")
        for tier, counts in self.tiers().items():
            for what in ("missing", "wrong"):
                if counts[what]:
                    lines.append(f"  tier {tier}, {what}: {', '.join(counts[what])}")
        return lines

    def _cell(self, tier: int, dtype: str) -> str:
        chosen = [each for each in self._values(tier) if each.kernel is not None and each.kernel[2] == dtype]
        ran = [each for each in chosen if each.outcome != "skipped"]
        wrong = sum(each.outcome == "failed" for each in ran)
        if wrong:
            return f"{wrong} fail"
        if not ran:
            return "-"
        worst = max(float(each.properties.get("worst", 0.0)) for each in ran)
        return f"{worst:.2g}"

    def _values(self, tier: int) -> Iterable[Result]:
        return (each for each in self.results if each.is_values and each.kernel is not None and each.kernel[0] == tier)


def performance_lines(performance: dict[str, Any] | None) -> list[str]:
    """Write what was measured for the terminal: launches, copies, the roofline, and the kernels farthest below it."""
    if performance is None:
        return []
    if "failed" in performance:
        return ["", f"not measured: {performance['failed']}"]
    launch = ", ".join(
        f"{name.replace('_', ' ')} {value * 1e6:.2f} us" for name, value in performance["launch_s"].items()
    )
    copies = ", ".join(
        f"{name.replace('_', ' ')} {value / 1e9:.1f}" for name, value in performance["copy_bytes_per_s"].items()
    )
    roofline = performance["roofline"]
    flops = ", ".join(f"{dtype} {value / 1e9:,.0f} GFLOP/s" for dtype, value in roofline["flops_per_s"].items())
    slowest = sorted(performance["kernels"], key=lambda each: float(each["roofline_share"]))[:5]
    named = ", ".join(f"{each['kernel']} {each['roofline_share']:.0%}" for each in slowest)
    return [
        "",
        "measured on this machine, now",
        f"  launch    {launch}",
        f"  copies    {copies} GB/s",
        f"  roofline  memory {roofline['bytes_per_s'] / 1e9:.1f} GB/s, {flops}",
        f"  kernels   {len(performance['kernels'])}; farthest below the roofline: {named}",
    ]


def _finite(value: Any) -> float | None:
    """Give a number that JSON has; None where the error has no bound, or nothing was measured."""
    return None if value is None or value == float("inf") else float(value)


def _abi() -> str:
    numbers = dict(re.findall(r"#define ITP_ABI_(MAJOR|MINOR) (\d+)", cdef_text()))
    return f"{numbers['MAJOR']}.{numbers['MINOR']}"
