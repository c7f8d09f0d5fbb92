"""`infinitrain doctor [NAME]`: look at every provider, or at one, and say what is wrong and how it is mended."""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
from dataclasses import asdict, dataclass, field
from importlib import metadata

from infinitrain import config
from infinitrain._abi import names, registry
from infinitrain.cli.doctor.finding import Finding, mend, pip
from infinitrain.cli.doctor.probe import Outcome, is_path, probe
from infinitrain.cli.doctor.surroundings import elsewhere, variables
from infinitrain.errors import ProviderNotFound

__all__ = ["Diagnosis", "diagnose", "main"]

EPILOG = """\
exit code: 0 all is well, 1 something is wrong, 2 wrong usage

examples:
  infinitrain doctor                    every device that can be found
  infinitrain doctor acme               one, found or not
  infinitrain doctor ./libitp_acme.so   a library by its path
"""


@dataclass(slots=True)
class Diagnosis:
    """What was found out of one provider."""

    name: str
    findings: list[Finding] = field(default_factory=list)
    library: str = ""
    devices: list[str] = field(default_factory=list)
    kernels: int = 0
    notes: list[str] = field(default_factory=list)


def diagnose(target: str, timeout: float = 60.0) -> Diagnosis:
    """Look at one provider.

    Args:
        target: Its name, or its library's path.
        timeout: Seconds that it may take to start.
    """
    if target == names.ALIAS:
        try:
            target = registry.resolve_alias()
        except ProviderNotFound as reason:
            listed = "infinitrain doctor NAME   # `infinitrain providers` lists the names"
            return Diagnosis(target, [Finding("alias", str(reason), listed)])
    forked = [each for each in registry.loaded() if each.name == target and each.forked]
    if forked:
        return Diagnosis(target, [_forked(target)], forked[0].path)
    outcome = probe(target, timeout)
    found = [each for each in registry.candidates() if each.name == target]
    diagnosis = Diagnosis(target, [], outcome.path, outcome.devices, outcome.kernels, outcome.notes)
    if outcome.error == "DeviceNotFound":
        diagnosis.findings = _not_found(target, outcome)
    elif outcome.error:
        diagnosis.findings = [_finding(target, outcome, found)]
    return diagnosis


def _forked(name: str) -> Finding:
    return Finding(
        "forked",
        f"this process is a copy (fork) of one in which {name!r} was running already: a device cannot be used by both",
        "python: multiprocessing.set_start_method('spawn')   # or use the device in the child only",
    )


def _not_found(name: str, outcome: Outcome) -> list[Finding]:
    wrong = names.problem(name, names.OURS.get(name))
    if wrong is not None:
        return [Finding("wrong name", f"no device can have this {wrong}", "infinitrain providers   # lists the names")]
    others = elsewhere(name)
    if not others:
        package = names.OURS.get(name, f"infinitrain-{name.replace('_', '-')}")
        text = f"no package and no library offers {name!r} to this Python, {sys.executable}. {outcome.problem}"
        return [Finding("not installed", text, f"{pip('install', package)}   # or the package that its vendor names")]
    return [
        Finding(
            "another Python",
            f"package {package} is installed in {folder}, which this Python, {sys.executable}, does not look at",
            f"{pip('install', package)}   # or run the infinitrain command that belongs to that Python",
        )
        for package, folder in others
    ]


def _finding(target: str, outcome: Outcome, found: list[registry.Candidate]) -> Finding:
    if outcome.error == "OptionError":
        wrong = re.findall(rf"{config.PREFIX}\w+", outcome.problem)
        return Finding("wrong variable", outcome.problem, f"unset {' '.join(wrong)}")
    if outcome.error == "ProviderUnavailable":
        again = f"mend what the reason says, with the vendor's own tools; then: infinitrain doctor {target}"
        return Finding("unavailable", outcome.problem, again)
    kind = outcome.kind or outcome.error
    if kind in ("crashes", "hangs"):
        return Finding(kind, outcome.problem, f"infinitrain conformance {outcome.path or target}   # finds out where")
    if kind == "no device":
        return Finding(kind, outcome.problem, "look for the device with the vendor's own tools, outside of infinitrain")
    return Finding(kind, outcome.problem, mend(kind, target, outcome.path, found))


def _say(line: str) -> None:
    print(line)  # noqa: T201 - the command's answer


def _print_findings(findings: list[Finding]) -> None:
    for finding in findings:
        first, *rest = finding.problem.splitlines()
        _say(f"  wrong  {finding.kind}: {first}")
        for line in rest:
            _say(f"         {line}")
        _say(f"  mend   {finding.mend}")


def main(arguments: list[str]) -> int:
    """Look, print, and give 0 where all is well."""
    parser = argparse.ArgumentParser(
        prog="infinitrain doctor",
        description="Find out why a device does not show up or does not work, and say how to mend it. Each provider is "
        "tried in a process of its own: found, opened, started, and a tensor put on each of its devices.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a device's name, or the path of a library (all)")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds that one may take (60)")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    chosen = parser.parse_args(arguments)
    known = sorted({each.name for each in registry.candidates()} | {each.name for each in registry.loaded()})
    targets = [chosen.name] if chosen.name else known
    around = variables({*known, *(target for target in targets if not is_path(target))})
    diagnoses = [diagnose(target, chosen.timeout) for target in targets]
    count = len(around) + sum(len(each.findings) for each in diagnoses)
    if chosen.json:
        answer = {
            "infinitrain": metadata.version("infinitrain-core"),
            "python": sys.executable,
            "well": not count,
            "findings": [asdict(each) for each in around],
            "providers": [asdict(each) for each in diagnoses],
        }
        json.dump(answer, sys.stdout, indent=2)
        _say("")
        return 1 if count else 0
    _say(f"infinitrain {metadata.version('infinitrain-core')}, Python {platform.python_version()}, {sys.executable}")
    if around:
        _say("\nenvironment")
        _print_findings(around)
    for each in diagnoses:
        well = f": well, {len(each.devices)} device(s), {each.kernels} kernels" if not each.findings else ""
        _say(f"\n{each.name}{well}")
        if each.library:
            _say(f"  from   {each.library}")
        for note in each.notes:
            _say(f"  note   {note}")
        _print_findings(each.findings)
    _say(f"\n{count} thing(s) to mend." if count else "\nAll is well.")
    return 1 if count else 0
