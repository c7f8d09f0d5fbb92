"""Providers to test, and the place of the tests' own helper."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cpu_driver import Cpu, CpuError


@pytest.fixture(scope="session")
def make_cpu() -> Iterator[Callable[..., Cpu]]:
    made: list[Cpu] = []

    def make(**options: object) -> Cpu:
        made.append(Cpu(**options))
        return made[-1]

    yield make
    for cpu in made:
        cpu.close()


@pytest.fixture(scope="session")
def cpu(make_cpu: Callable[..., Cpu]) -> Cpu:
    return make_cpu(threads=2)


def _offered(isa: str) -> bool:
    try:
        Cpu(threads=1, isa=isa).close()
    except CpuError:
        return False
    return True


@pytest.fixture(scope="session", params=["baseline", *filter(_offered, ("avx2", "avx512"))])
def each_isa(request: pytest.FixtureRequest, make_cpu: Callable[..., Cpu]) -> Cpu:
    """A provider for each instruction set that this processor has."""
    return make_cpu(threads=2, isa=request.param)
