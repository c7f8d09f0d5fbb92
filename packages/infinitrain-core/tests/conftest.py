"""The devices that the core's tests run on."""

from __future__ import annotations

from importlib import metadata

import pytest

DEFAULT_DEVICES = ("cpu", "fake:1")


def installed_devices() -> list[str]:
    """List those of the default devices whose provider is installed."""
    names = {point.name for point in metadata.entry_points(group="infinitrain.providers")}
    return [device for device in DEFAULT_DEVICES if device.partition(":")[0] in names]


def pytest_addoption(parser):
    parser.addoption("--devices", default="", help="devices to test on, as cpu,fake:1 (default: the installed ones)")
    parser.addoption("--heavy", action="store_true", help="run tests that need many gigabytes or minutes")


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        given = metafunc.config.getoption("--devices")
        metafunc.parametrize("device", given.split(",") if given else installed_devices(), scope="session")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--heavy"):
        return
    for item in items:
        if item.get_closest_marker("heavy"):
            item.add_marker(pytest.mark.skip(reason="heavy: run with --heavy"))
