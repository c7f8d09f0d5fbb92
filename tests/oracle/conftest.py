"""What the comparisons with PyTorch share."""

from __future__ import annotations

from importlib import metadata

import pytest


@pytest.fixture(params=["cpu", "fake:1"], scope="session")
def device(request):
    """Each device that a provider is installed for."""
    name = request.param.partition(":")[0]
    if name not in {point.name for point in metadata.entry_points(group="infinitrain.providers")}:
        pytest.skip(f"no provider {name!r} is installed")
    return request.param


@pytest.fixture(autouse=True, scope="session")
def _torch_is_reproducible():
    """One thread: sums in a fixed order, and no contest with our own pool for two cores."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
