"""Program: a recorded call with its memory planned, replayed by one call into C."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from infinitrain._abi.launches import note_replay, operands_text
from infinitrain._native import ffi, lib
from infinitrain.copy import write_numpy
from infinitrain.device import Device
from infinitrain.dtype import int64
from infinitrain.memory import Buffer, allocate, empty_cache, wrap_device
from infinitrain.program.plan import ALIGNMENT, Plan, make_plan
from infinitrain.program.tape import Launch, Tape, View
from infinitrain.random import state_words
from infinitrain.stream import current_stream
from infinitrain.strided import Strided, compact_strides
from infinitrain.tensor import Tensor

__all__ = ["Program"]

NULL = ffi.NULL


class Program:
    """What a call did to the device, ready to be done again.

    Args:
        tape: A finished recording.

    Raises: OutOfMemory if the arena does not fit.
    """

    def __init__(self, tape: Tape) -> None:
        assert tape.device is not None
        self.tape = tape
        self.plan: Plan = make_plan(tape)
        self.device: Device = tape.device
        self._lock = threading.Lock()
        self._kept: list[Any] = []
        self._results: dict[int, Buffer] = {}
        for held in tape.leaves.values():
            if not held.read:
                held.leaf._grad = None  # the call drops it unread: its memory may serve the arena
        empty_cache(self.device)  # what the recorded call took and gave back would lie beside the arena for good
        self.arena: Buffer = allocate(self.plan.arena, self.device)
        self._places = self._place_blocks()
        self._count = len(self.plan.launches)
        self._launches = ffi.new("itp_launch[]", max(self._count, 1))
        self._pointers = ffi.new("itp_launch *[]", [self._launches + index for index in range(self._count)])
        self._done = ffi.new("uint64_t *")
        for position, launch in enumerate(self.plan.launches):
            self._write(position, launch)
        self._written = self._written_outside()
        self._grads = [(held.leaf, self.outcome(held.after)) for held in tape.leaves.values()]

    # ---- making it ----

    def _place_blocks(self) -> dict[int, tuple[int, int]]:
        """Give (address, bytes) of every block."""
        places = {block: (self.arena.ptr + offset, 0) for block, offset in self.plan.offsets.items()}
        blocks = self.tape.blocks
        draws, constants = self.plan.draws, self.plan.constants
        self._states = Strided._empty((max(len(draws), 1), 2), int64, self.device)
        for index, draw in enumerate(draws):
            places[draw.view.block] = (self._states.buffer.ptr + 16 * index, 16)
        begins = np.cumsum([0, *(-(-len(each.data) // ALIGNMENT) * ALIGNMENT for each in constants)])
        self._constants = allocate(int(begins[-1]), self.device)
        for begin, constant in zip(begins[:-1].tolist(), constants, strict=True):
            view = constant.view
            if blocks[view.block].fixed is None:
                places[view.block] = (self._constants.ptr + begin, len(constant.data))
                target = Strided(self._constants, view.shape, (), begin // view.dtype.itemsize, view.dtype)
                write_numpy(target, np.frombuffer(constant.data, np.uint8))
        for index, block in enumerate(blocks):
            fixed = block.fixed
            if fixed is not None:
                places[index] = (fixed.ptr, fixed.nbytes)
        return {index: (address, blocks[index].nbytes) for index, (address, _) in places.items()}

    def _write(self, position: int, launch: Launch) -> None:
        """Write one launch with everything it points at, which stays as long as the program."""
        views = ffi.new("itp_tensor *[]", [self._describe(view) for view in launch.views])
        entry = self._launches[position]
        record = launch.kernel.record
        entry.struct_size = ffi.sizeof("itp_launch")
        entry.device = self.device.index
        entry.inputs = ffi.cast("const itp_tensor *const *", views)
        entry.outputs = views + record.n_inputs
        entry.attrs = NULL if launch.packed is None else launch.packed
        entry.n_inputs, entry.n_outputs, entry.n_attrs = record.n_inputs, record.n_outputs, record.n_attrs
        if launch.workspace:
            entry.workspace = ffi.cast("void *", self.arena.ptr + self.plan.workspace[position])
            entry.workspace_size = launch.workspace
        entry.kernel = record.kernel
        self._kept += [views, launch.packed]

    def _describe(self, view: View | None) -> Any:
        if view is None:
            return NULL
        address, nbytes = self._places[view.block]
        holder = ffi.new("it_descriptor *")
        lib.it_describe(
            holder,
            self.device.native,
            address,
            nbytes,
            view.dtype.packed,
            len(view.shape),
            view.shape,
            NULL if view.strides is None else view.strides,
            view.offset * view.dtype.itemsize,
            0,
        )
        self._kept.append(holder)
        return ffi.addressof(holder, "tensor")

    def outcome(self, result: Tensor | View | None) -> Tensor | None:
        """Give a tensor over what a replay leaves behind: its contents are those of the latest."""
        if not isinstance(result, View):
            return result
        address, nbytes = self._places[result.block]
        buffer = self._results.get(result.block)
        if buffer is None:
            owner = (self.arena, self._constants, self._states)
            buffer = self._results[result.block] = wrap_device(address, nbytes, self.device, owner)
        strides = compact_strides(result.shape) if result.strides is None else result.strides
        return Tensor(buffer, result.shape, strides, result.offset, result.dtype)

    def _written_outside(self) -> list[Buffer]:
        """List the memory of others that the program writes: tensors saved for a backward elsewhere have to notice."""
        found: dict[int, Buffer] = {}
        for launch in self.plan.launches:
            for view in launch.outputs:
                fixed = None if view is None else self.tape.blocks[view.block].fixed
                if fixed is not None:
                    found[id(fixed)] = fixed
        return list(found.values())

    # ---- running it ----

    def replay(self) -> None:
        """Do it again: what the host did first, then all launches by one call.

        Raises: what a launch ran into, with its kernel and the line that it was recorded from.
        """
        with self._lock:
            for action in self.tape.actions:
                action()
            self._draw()
            stream = current_stream(self.device)
            status = lib.it_replay(stream.native, self._launches, self._pointers, self._count, self._done)
            if self._count:
                note_replay(int(self._launches[0].tag), self._count, self._text)
            if status:
                self.device.provider.check(status, "submit", self._text(min(int(self._done[0]), self._count - 1)))
            for buffer in self._written:
                buffer.version += 1
            for leaf, grad in self._grads:
                leaf._grad = grad

    def _text(self, position: int) -> str:
        """Describe one launch, for an error."""
        launch = self.plan.launches[position]
        return f"{launch.kernel.row.name}: {operands_text(launch.inputs, launch.outputs)}, recorded at {launch.line}"

    def _draw(self) -> None:
        """Give every draw its place in its generator's stream, and advance the generators as the call did."""
        used = self.tape.generators
        if not used:
            return
        begins = {identity: each.generator.get_state() for identity, each in used.items()}
        words = []
        for upload in self.plan.draws:
            draw = upload.draw
            assert draw is not None
            begin = begins[id(draw.generator)]
            words.append(draw.words or (begin["seed"], begin["offset"] + draw.advanced))
        if words:
            write_numpy(self._states, np.stack([state_words(each) for each in words]))
        for identity, each in used.items():
            begin, before, after = begins[identity], each.before, each.after
            if after["seed"] != before["seed"]:
                each.generator.set_state(after)
            else:
                offset = begin["offset"] + after["offset"] - before["offset"]
                each.generator.set_state({"seed": begin["seed"], "offset": offset})
