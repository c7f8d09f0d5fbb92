"""The devices that models are compared on."""

from __future__ import annotations


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", ["cpu", "fake:1"])
