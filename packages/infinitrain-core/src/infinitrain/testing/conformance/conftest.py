"""Fixtures of the kit: the library, the started provider, the bench on one device."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import Library, Provider, find_library


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


@pytest.fixture(scope="session")
def bench(provider: Provider, pytestconfig: pytest.Config) -> Iterator[Bench]:
    """The device to test on."""
    made = Bench(provider, pytestconfig.getoption("--provider-device"))
    yield made
    made.close()
