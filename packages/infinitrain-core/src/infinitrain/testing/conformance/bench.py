"""Run cases on a device and look at everything that a launch may and may not touch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from infinitrain.dtype import from_numpy
from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.check import compare
from infinitrain.testing.conformance.driver import TABLE, DeviceInfo, Provider, SlotError, ffi
from infinitrain.testing.conformance.launch import HOST, DeviceArray, Request, download
from infinitrain.testing.conformance.layout import Array, Placement, place

__all__ = ["POISONS", "Bench", "Outcome", "Placed"]

#: What memory holds before a launch: not a number in every float type, then a number.
POISONS = (0xFF, 0x5A)


@dataclass(slots=True)
class Outcome:
    """What a launch left.

    Attributes:
        found: The outputs' elements; None where an output is absent.
        trespass: Which bytes were changed that no output owns, "" for none.
    """

    found: list[Array | None] = field(default_factory=list)
    trespass: str = ""


@dataclass(slots=True)
class Placed:
    """A case on the device.

    Attributes:
        request: Its launch.
        inputs: Operands; None where absent.
        outputs: Outputs; None where absent. One of the operands, where it is aliased.
        arena: The bytes that were uploaded for all of them together; None where each has its own block.
        address: Of the arena on the device.
    """

    request: Request
    inputs: list[DeviceArray | None]
    outputs: list[DeviceArray | None]
    arena: Array | None
    address: int


class Bench:
    """A started provider and one of its devices."""

    def __init__(self, provider: Provider, device: int) -> None:
        self.provider, self.device = provider, device
        self.arena = (0, 0)  # address and bytes of the block that small launches share

    @property
    def info(self) -> DeviceInfo:
        """What the device is like."""
        return self.provider.info(self.device)

    def flags(self, name: str) -> int:
        """Give the flags of a kernel."""
        return int(self.provider.library.kernels[name].flags)

    def put(self, array: Array, how: str = "compact", poison: int = 0xFF) -> DeviceArray:
        """Upload an array to a block of its own."""
        return DeviceArray.of(self.provider, self.device, array, how, poison)

    def close(self) -> None:
        """Give the arena back."""
        if self.arena[0]:
            self.provider.dealloc(*self.arena, self.device)
            self.arena = (0, 0)

    def _upload_together(self, placements: Sequence[Placement], poison: int) -> tuple[list[DeviceArray], Array, int]:
        """Upload all blocks by one copy, each aligned, with untouchable bytes between them."""
        alignment = self.info.alignment
        begins, end = [], alignment
        for placement in placements:
            begins.append(end)
            end = -(-(end + placement.block.nbytes) // alignment) * alignment + alignment
        if self.arena[1] < end:
            self.close()
            self.arena = (self.provider.alloc(2 * end, self.device), 2 * end)
        address = self.arena[0]
        memory = np.full(end, poison, np.uint8)
        for begin, placement in zip(begins, placements, strict=True):
            memory[begin : begin + placement.block.nbytes] = placement.block
        self.provider.copy(address, self.device, memory.ctypes.data, HOST, end)
        # An empty tensor has no memory: its address may be NULL.
        arrays = [
            DeviceArray(self.provider, self.device, placement, address + begin if placement.block.size else 0)
            for begin, placement in zip(begins, placements, strict=True)
        ]
        return arrays, memory, address

    @contextmanager
    def place(
        self,
        name: str,
        case: Case,
        how: str = "compact",
        *,
        poison: int = POISONS[0],
        alias: int | None = None,
        apart: bool = False,
        stream: Any = ffi.NULL,
        tag: int = 0,
    ) -> Iterator[Placed]:
        """Put a case on the device and build its launch; everything is given back at the end.

        Args:
            name: The kernel.
            case: The launch.
            how: The layout of operands and outputs.
            poison: What bytes hold that nothing has written.
            alias: An operand that the first output is the identical view of.
            apart: Give each tensor a block of its own, so that a device that guards its blocks can watch.
            stream: Where the launch runs.
            tag: Its tag.
        """
        plan = [None if operand is None else place(operand, how, poison) for operand in case.inputs]
        outputs_how = "shifted" if how.startswith("padded") else how  # the layout "matrix" is for operands only
        for i, output in enumerate(case.outputs):
            if output is None or (i == 0 and alias is not None):
                plan.append(None)
                continue
            placement = place(output.array, outputs_how, poison)
            if not output.read:
                placement.block[:] = poison
            plan.append(placement)
        present = [each for each in plan if each is not None]
        arena: Array | None = None
        address = 0
        if apart:
            made = [DeviceArray(self.provider, self.device, each) for each in present]
        else:
            made, arena, address = self._upload_together(present, poison)
        rest = iter(made)
        arrays = [None if each is None else next(rest) for each in plan]
        inputs, outputs = arrays[: len(case.inputs)], arrays[len(case.inputs) :]
        if alias is not None:
            outputs[0] = inputs[alias]
        request = Request(
            self.provider, TABLE[name], inputs, outputs, case.attributes, device=self.device, stream=stream, tag=tag
        )
        try:
            request.take_workspace()
            yield Placed(request, inputs, outputs, arena, address)
        finally:
            request.free()
            for array in made:
                array.free()

    def read(self, placed: Placed) -> Outcome:
        """Download the outputs' elements, and compare every other byte with what was uploaded."""
        outcome = Outcome()
        if placed.arena is None:
            for i, operand in enumerate(placed.inputs):
                if operand is not None and operand not in placed.outputs:
                    self._others(outcome, f"operand {i}", operand.block(), operand.placement.block)
            for i, output in enumerate(placed.outputs):
                if output is None:
                    outcome.found.append(None)
                    continue
                block = output.block()
                self._take(outcome, output, block)
                self._others(outcome, f"the block of output {i}", block, output.placement.block)
            return outcome
        memory = download(self.provider, self.device, placed.address, placed.arena.nbytes)
        for output in placed.outputs:
            if output is None:
                outcome.found.append(None)
                continue
            begin = output.address - placed.address if output.nbytes else 0
            self._take(outcome, output, memory[begin : begin + output.nbytes])
        self._others(outcome, "the memory", memory, placed.arena)
        changed = int(outcome.trespass.split()[1]) if outcome.trespass else -1
        for kind, arrays in (("operand", placed.inputs), ("the block of output", placed.outputs)):
            for i, array in enumerate(arrays):
                if array is not None and 0 <= placed.address + changed - array.address < array.nbytes:
                    offset = placed.address + changed - array.address
                    outcome.trespass = f"byte {offset} of {kind} {i} was changed: it is not an element of an output"
        return outcome

    @staticmethod
    def _take(outcome: Outcome, output: DeviceArray, block: Array) -> None:
        """Take the elements out of a block and put back what was there."""
        view = output.placement.view(block)
        outcome.found.append(view.copy())
        view[...] = output.placement.view()

    @staticmethod
    def _others(outcome: Outcome, what: str, found: Array, before: Array) -> None:
        if not np.array_equal(found, before):
            first = int(np.flatnonzero(found != before)[0])
            outcome.trespass = f"byte {first} of {what} was changed: it is not an element of an output"

    def run(
        self,
        name: str,
        case: Case,
        how: str = "compact",
        *,
        poison: int = POISONS[0],
        alias: int | None = None,
        apart: bool = False,
    ) -> Outcome:
        """Launch a case and download everything.

        Raises: SlotError where the launch or the synchronisation fails.
        """
        with self.place(name, case, how, poison=poison, alias=alias, apart=apart) as placed:
            placed.request.launch()
            self.provider.sync(self.device)
            return self.read(placed)

    def judge(self, name: str, case: Case, expected: list[Expected | None], outcome: Outcome) -> tuple[str, float]:
        """Compare an outcome with what it has to be: the first problem, and the worst share of the tolerance."""
        worst = 0.0
        row = TABLE[name]
        for i, (found, wanted) in enumerate(zip(outcome.found, expected, strict=True)):
            if found is None or wanted is None:
                continue
            verdict = compare(found, wanted, row.tolerance, case.inputs)
            if verdict.problem:
                dtype = from_numpy(found.dtype).short
                return f"{case.label}: output {row.outputs[i].name} ({dtype}): {verdict.problem}", verdict.worst
            worst = max(worst, verdict.worst)
        return "", worst

    def check(
        self, name: str, case: Case, expected: list[Expected | None], how: str = "compact", alias: int | None = None
    ) -> tuple[str, float]:
        """Run a case and judge it; a failing launch is a problem like a wrong value."""
        try:
            outcome = self.run(name, case, how, alias=alias)
        except SlotError as failure:
            return f"{how}: {case.label}: {failure}", float("inf")
        problem, worst = self.judge(name, case, expected, outcome)
        return problem and f"{how}: {problem}", worst
