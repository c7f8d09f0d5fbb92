"""Numbers that kernels read from the device: kept there, written again only when they change."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from infinitrain import recording
from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.tensor import Tensor

__all__ = ["Cells"]


class Cells:
    """0-d tensors by device and name.

    A cell is written by a launch in the device's current stream, so a launch that comes after sees the new value and
    one that came before has seen the old.
    """

    def __init__(self) -> None:
        self._cells: dict[tuple[Device, Hashable], tuple[float | int, Tensor]] = {}

    def get(self, device: Device, name: Hashable, read: Callable[[], float | int], dtype: DType) -> Tensor:
        """Give the cell `name` on a device, holding what `read` gives; a replayed program reads it again each time."""
        listener = recording.listener
        if listener is None:
            return self._written(device, name, read(), dtype)
        value = read()
        with recording.paused():
            cell = self._written(device, name, value, dtype)
        listener.cell((self, device, name), value, lambda: self._written(device, name, read(), dtype))
        return cell

    def _written(self, device: Device, name: Hashable, value: float | int, dtype: DType) -> Tensor:
        held = self._cells.get((device, name))
        if held is not None and held[0] == value:
            return held[1]
        cell = Tensor._empty((), dtype, device) if held is None else held[1]
        cell.fill_(value)
        self._cells[device, name] = (value, cell)
        return cell
