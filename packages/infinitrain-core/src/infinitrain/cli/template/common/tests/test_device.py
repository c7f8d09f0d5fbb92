"""What a user does first with the device. That the library keeps the contract is the conformance kit's to prove."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import infinitrain as it
import numpy as np

VALUES = np.arange(24, dtype=np.float32).reshape(4, 6)


def test_the_package_says_where_the_library_is() -> None:
    (point,) = metadata.entry_points(group="infinitrain.providers", name="acme")

    assert Path(point.load()()).is_file()


def test_there_is_a_device_and_it_has_a_name() -> None:
    assert it.device_count("acme") > 0
    assert str(it.Device("acme")) == "acme:0"


def test_a_tensor_goes_there_and_comes_back() -> None:
    x = it.tensor(VALUES, device="acme")

    assert str(x.device) == "acme:0"
    np.testing.assert_array_equal(x.numpy(), VALUES)


def test_a_view_is_copied_in_its_own_order() -> None:
    x = it.tensor(VALUES, device="acme")

    np.testing.assert_array_equal(x.t().contiguous().numpy(), VALUES.T)


def test_values_are_filled_and_converted() -> None:
    x = it.full((3, 5), 2.5, device="acme")

    np.testing.assert_array_equal(x.numpy(), np.full((3, 5), 2.5, np.float32))
    np.testing.assert_array_equal(x.to(it.int64).numpy(), np.full((3, 5), 2, np.int64))
