from __future__ import annotations

import infinitrain as it
from infinitrain.optim import cells
from infinitrain.optim.cells import Cells


def test_cell_is_written_only_when_its_value_changes(device):
    place = it.Device(device)
    held = Cells()
    first = held.get(place, "lr", lambda: 0.5, it.float32)
    version = first.buffer.version
    again = held.get(place, "lr", lambda: 0.5, it.float32)

    assert again is first
    assert first.buffer.version == version
    changed = held.get(place, "lr", lambda: 0.25, it.float32)
    assert changed is first
    assert changed.item() == 0.25
    assert changed.shape == ()


def test_cells_of_other_names_are_apart(device):
    place = it.Device(device)
    held = Cells()

    assert held.get(place, "step", lambda: 3, it.int64).item() == 3
    assert held.get(place, ("lr", 1), lambda: 0.5, it.float32).item() == 0.5
    assert held.get(place, "step", lambda: 3, it.int64).dtype is it.int64
    assert cells.__all__ == ["Cells"]
