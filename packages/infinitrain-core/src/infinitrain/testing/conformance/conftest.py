"""Fixtures of the kit: the library, the started provider, the bench on one device."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import Library, Provider, find_library, text_of


@pytest.fixture(scope="session")
def library(pytestconfig: pytest.Config) -> Library:
    """The provider library, opened and queried."""
    spec = pytestconfig.getoption("--provider")
    if spec is None:
        pytest.skip("no provider given: pytest --pyargs infinitrain.testing.conformance --provider PATH_OR_NAME")
    return Library(find_library(spec))


@pytest.fixture(scope="session")
def options(pytestconfig: pytest.Config) -> dict[str, str]:
    """The options that the provider is started with."""
    return dict(text.split("=", 1) for text in pytestconfig.getoption("--provider-option"))


@pytest.fixture(scope="session")
def provider(library: Library, options: dict[str, str]) -> Iterator[Provider]:
    """The provider, started once for the whole run."""
    started = Provider(library, options)
    yield started
    started.shutdown()


def about(bench: Bench) -> dict[str, object]:
    """Describe provider and device: what the report begins with."""
    provider, info = bench.provider, bench.info
    said: dict[str, object] = {
        name: text_of(getattr(provider.table, name)) for name in ("name", "vendor", "version", "build_info")
    }
    said |= {"path": str(provider.library.path), "devices": provider.device_count(), "device": bench.device}
    said |= {"device_name": info.name, "total_memory": info.total_memory, "caps": info.caps}
    said["kernels"] = {
        name: {"dtype_mask": int(kernel.dtype_mask), "flags": int(kernel.flags)}
        for name, kernel in provider.library.kernels.items()
    }
    return said


_described: list[Bench] = []


@pytest.fixture(autouse=True)
def _describe(request: pytest.FixtureRequest) -> None:
    """Let the first test of the process tell the report what it is about."""
    if "bench" in request.fixturenames and not _described:
        _described.append(request.getfixturevalue("bench"))
        request.node.user_properties.append(("about", about(_described[0])))


@pytest.fixture(scope="session")
def bench(provider: Provider, pytestconfig: pytest.Config) -> Iterator[Bench]:
    """The device to test on."""
    made = Bench(provider, pytestconfig.getoption("--provider-device"))
    yield made
    made.close()
