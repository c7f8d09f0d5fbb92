"""`infinitrain conformance PATH_OR_NAME`: prove a provider library, print the table, write the report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from infinitrain.testing.conformance import plugin
from infinitrain.testing.conformance.driver import find_library

__all__ = ["main"]

DESCRIPTION = """\
Prove a provider library against the contract: every numbered sentence of the header, and every row of the
kernel table by every dtype that the provider declares. Nothing is built, and the library may crash: that is
reported for the test that it crashed in, and the run goes on.
"""
EPILOG = """\
exit code: 0 everything that was run holds, 1 something does not, 2 wrong usage

examples:
  infinitrain conformance fake
  infinitrain conformance ./libitp_acme.so --tier 0
  infinitrain conformance acme --only "kn_05 and Cast" --json report.json
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="infinitrain conformance",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "provider", metavar="PATH_OR_NAME", help="provider library, or the name of an installed provider"
    )
    parser.add_argument("--device", type=int, default=0, metavar="N", help="device to test on (0)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="option for the provider")
    parser.add_argument("--tier", type=int, default=3, metavar="K", help="kernels of tiers 0 to K only")
    parser.add_argument("--only", metavar="WORDS", help="tests whose names have these words, as pytest's -k takes them")
    parser.add_argument("--exclude", metavar="FILE.toml", help="tests to leave out, with reasons")
    parser.add_argument(
        "--measure",
        action=argparse.BooleanOptionalAction,
        help="measure launches, copies and kernels beside the roofline (default: where a report is written)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON")
    parser.add_argument("--html", metavar="FILE", help="write the report as one HTML page")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds that a test may take (120)")
    parser.add_argument("--no-isolation", action="store_true", help="run in this process: faster, and ends in a crash")
    parser.add_argument("--verbose", action="store_true", help="print each test")
    return parser


def main(arguments: list[str]) -> int:
    """Run the kit; gives the exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        library = find_library(chosen.provider)
    except FileNotFoundError as missing:
        sys.stderr.write(f"infinitrain conformance: {missing}\n")
        return 2
    settings = Path(plugin.__file__).with_name("pytest.ini")
    words = ["-p", "no:cacheprovider", "-c", str(settings), "--pyargs", plugin.__package__ or ""]
    words += ["--provider", str(library), "--provider-device", str(chosen.device), "--tier", str(chosen.tier)]
    words += ["--isolate-timeout", str(chosen.timeout), "--tb=short", "-v" if chosen.verbose else "-q"]
    words += [] if chosen.no_isolation else ["--isolate"]
    writes = bool(chosen.json or chosen.html) and not chosen.only
    words += ["--measure"] if (writes if chosen.measure is None else chosen.measure) else []
    for option in chosen.option:
        words += ["--provider-option", option]
    files = (("--exclude", chosen.exclude), ("--conformance-json", chosen.json), ("--conformance-html", chosen.html))
    for flag, value in (("-k", chosen.only), *files):
        words += [flag, value] if value else []
    code = int(pytest.main(words, plugins=[plugin]))
    return code if code in (0, 1) else 2
