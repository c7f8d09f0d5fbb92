"""Fixtures: the provider, initialised."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

if "libtsan" in os.environ.get("LD_PRELOAD", ""):  # the oracles' pools are not instrumented and look like races
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).parent))  # the test modules share fake_driver

from fake_driver import Fake


@pytest.fixture
def make() -> Iterator[Callable[..., Fake]]:
    """Give a function that initialises the provider with options; all are shut down at the end."""
    made: list[Fake] = []

    def one(**options: object) -> Fake:
        made.append(Fake(**options))
        return made[-1]

    yield one
    for fake in made:
        fake.close()


@pytest.fixture
def fake(make: Callable[..., Fake]) -> Fake:
    """Give the provider with its defaults."""
    return make()


@pytest.fixture(scope="session")
def shared() -> Iterator[Fake]:
    """Give one instance for all tests of kernels."""
    instance = Fake()
    yield instance
    instance.close()
