"""pytest plugin: the options of the conformance kit, isolation of a crashing provider, the report."""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["pytest_addoption", "pytest_configure"]

KIT = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the kit's options; without --provider none of them does anything."""
    group = parser.getgroup("infinitrain conformance")
    group.addoption(
        "--provider", metavar="PATH_OR_NAME", help="provider library to prove, or the name of an installed one"
    )
    group.addoption("--provider-device", type=int, default=0, metavar="N", help="device of the provider to test on (0)")
    group.addoption(
        "--provider-option", action="append", default=[], metavar="NAME=VALUE", help="option for the provider's init"
    )
    group.addoption("--tier", type=int, default=3, metavar="K", help="test kernels of tiers 0 to K only")
    group.addoption(
        "--exclude", metavar="FILE.toml", help="[[exclude]] tables with test, reason and until: tests to leave out"
    )
    group.addoption(
        "--isolate", action="store_true", help="run tests in a worker process: a crash or hang fails one test"
    )
    group.addoption(
        "--isolate-timeout", type=float, default=120.0, metavar="S", help="seconds that one isolated test may take"
    )
    group.addoption("--conformance-json", metavar="FILE", help="write the report as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Name the kit's marker."""
    config.addinivalue_line("markers", "kernel(tier, name, t, u): a test of a row of the kernel table for these dtypes")
