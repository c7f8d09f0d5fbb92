"""Tape: what one call of a function did to a device, as a list that can be compared, planned and replayed."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from infinitrain._abi.attributes import pack
from infinitrain._abi.launches import user_line
from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import CaptureError
from infinitrain.stream import Stream, current_stream

if TYPE_CHECKING:
    from infinitrain._abi.provider import Kernel
    from infinitrain.memory import Buffer
    from infinitrain.strided import Strided
    from infinitrain.tensor import Tensor

__all__ = ["Block", "Draw", "Launch", "Tape", "Upload", "Used", "View"]


@dataclass(slots=True)
class Block:
    """Memory that the recorded call used.

    Attributes:
        nbytes: Its size.
        buffer: Memory from before the call, which every repetition uses at its place; None for memory that the call
            took itself.
        alive: What the call took and somebody unknown still held when it was over.
        result: What the call took for a result or a gradient: each repetition may put it elsewhere.
    """

    nbytes: int
    buffer: Buffer | None = None
    alive: Buffer | None = None
    result: bool = False

    @property
    def fixed(self) -> Buffer | None:
        """The memory, where it has to stay in its place."""
        return self.buffer if self.buffer is not None else self.alive

    @property
    def outlives(self) -> bool:
        """Whether somebody looks at it when the call is over."""
        return self.result or self.fixed is not None


@dataclass(slots=True, frozen=True)
class View:
    """An operand: which block, and what of it."""

    block: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    offset: int
    dtype: DType


@dataclass(slots=True)
class Launch:
    """One kernel; `views` are inputs first, None where an operand is absent."""

    kernel: Kernel
    attributes: dict[str, Any]
    packed: Any
    views: tuple[View | None, ...]
    workspace: int
    line: str

    @property
    def inputs(self) -> tuple[View | None, ...]:
        """What is read."""
        return self.views[: self.kernel.record.n_inputs]

    @property
    def outputs(self) -> tuple[View | None, ...]:
        """What is written."""
        return self.views[self.kernel.record.n_inputs :]

    def key(self) -> tuple[Any, ...]:
        """Give what has to be the same in another recording of the same function."""
        attributes = sorted((name, type(value), repr(value)) for name, value in self.attributes.items())
        return self.kernel.row.name, self.views, self.workspace, tuple(attributes)


@dataclass(slots=True)
class Draw:
    """Random numbers: by how much the generator had advanced since the call began, or a seed set within the call."""

    generator: Any
    advanced: int
    words: tuple[int, int] | None


@dataclass(slots=True)
class Upload:
    """Host memory that was copied into a block: a constant, or the state of a generator."""

    view: View
    data: bytes
    line: str
    draw: Draw | None = None

    def key(self) -> tuple[Any, ...]:
        """Give what has to be the same in another recording of the same function."""
        if self.draw is None:
            return self.view, self.data
        return self.view, id(self.draw.generator), self.draw.advanced if self.draw.words is None else self.draw.words


@dataclass(slots=True)
class Used:
    """A generator that the call may draw from, with its state before and after."""

    generator: Any
    before: dict[str, int]
    after: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Leaf:
    """A leaf whose gradient the call touched: what it was before, if that was read, and what it was left with."""

    leaf: Tensor
    read: bool
    before: Tensor | None
    after: Tensor | View | None = None


@dataclass
class Tape:
    """A recorder (`infinitrain.recording.Listener`) and what it has heard.

    It holds no memory that the call took while the call runs: what is freed is used again, as without a recorder, and
    the engine still sees who holds a gradient alone.
    """

    entries: list[Launch | Upload] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    actions: list[Callable[[], object]] = field(default_factory=list)
    guards: list[tuple[Callable[[], object], object]] = field(default_factory=list)
    leaves: dict[int, _Leaf] = field(default_factory=dict)
    generators: dict[int, Used] = field(default_factory=dict)
    device: Device | None = None
    stream: Stream | None = None

    def __post_init__(self) -> None:
        """Listen to the calling thread."""
        self._thread = threading.get_ident()
        self._fresh: dict[int, weakref.ref[Buffer]] = {}
        self._known: dict[int, int] = {}
        self._cells: dict[Any, float | int] = {}
        self._modules: dict[int, Any] = {}

    def _elsewhere(self) -> bool:
        return threading.get_ident() != self._thread

    # ---- what is heard ----

    def allocated(self, buffer: Buffer) -> None:
        """Remember memory that the call takes."""
        if not self._elsewhere():
            self._fresh[id(buffer)] = weakref.ref(buffer)

    def freed(self, buffer: Buffer) -> None:
        """Forget memory that is given back: its place may be taken by another buffer."""
        self._fresh.pop(id(buffer), None)
        self._known.pop(id(buffer), None)

    def launched(
        self,
        kernel: Kernel,
        inputs: Sequence[Strided | None],
        outputs: Sequence[Strided | None],
        attributes: dict[str, Any],
        workspace: int,
    ) -> None:
        """Write down a launch."""
        if self._elsewhere():
            return
        first = next(output for output in outputs if output is not None)
        self._on(first.device)
        views = tuple([None if tensor is None else self._view(tensor) for tensor in (*inputs, *outputs)])
        packed = pack(kernel.row, attributes)
        self.entries.append(Launch(kernel, attributes, packed, views, workspace, user_line()))

    def uploaded(self, target: Strided, data: bytes) -> None:
        """Write down a constant."""
        if not self._elsewhere():
            self._on(target.device)
            self.entries.append(Upload(self._view(target), data, user_line()))

    def drawn(self, state: Strided, generator: Any, words: tuple[int, int]) -> None:
        """Say that what was uploaded last is the state of a generator."""
        if self._elsewhere():
            return
        upload = self.entries[-1]
        assert isinstance(upload, Upload)
        seed, offset = words
        # A generator that was not known before the call began has not been used by it yet.
        used = self.generators.setdefault(id(generator), Used(generator, {"seed": seed, "offset": offset}))
        same = seed == used.before["seed"]
        upload.draw = Draw(generator, offset - used.before["offset"], None if same else words)

    def host_read(self, what: str) -> None:
        """Refuse: nobody would look when the program is replayed.

        Raises: CaptureError with the line.
        """
        if not self._elsewhere():
            raise CaptureError(
                f"{user_line()}: {what} inside a compiled function: expected only work for the device, as Python does "
                "not run when the program is replayed. Return the tensor and look at it outside, or do not compile"
            )

    def gradient(self, leaf: Tensor, *, read: bool) -> None:
        """Remember a leaf, and the gradient that it had before the call."""
        if not self._elsewhere() and id(leaf) not in self.leaves and not self._is_fresh(leaf):
            self.leaves[id(leaf)] = _Leaf(leaf, read, leaf._grad if read else None)

    def _is_fresh(self, tensor: Tensor) -> bool:
        return id(tensor.buffer) in self._fresh

    def called(self, module: Any) -> None:
        """Take a module's mode and tensors as given."""
        if not self._elsewhere() and id(module) not in self._modules:
            self._modules[id(module)] = module
            self.guard(module._recorded_state)

    def cell(self, key: Any, value: float | int, refresh: Callable[[], object]) -> None:
        """Have a number on the device written again before each repetition.

        Raises: CaptureError where it takes two values in one call.
        """
        if self._elsewhere():
            return
        held = self._cells.get(key)
        if held is None:
            self._cells[key] = value
            self.actions.append(refresh)
        elif held != value:
            raise CaptureError(
                f"{user_line()}: {key[-1]!r} is {held} and then {value} within one call: expected one value. Do "
                "parameters of one optimizer differ in how often they were updated? Then do not compile the step"
            )

    def before_replay(self, action: Callable[[], object]) -> None:
        """Have something done by the host before each repetition."""
        if not self._elsewhere():
            self.actions.append(action)

    def guard(self, state: Callable[[], object]) -> None:
        """Take what `state` gives now as given."""
        if not self._elsewhere():
            self.guards.append((state, state()))

    # ---- when the call is over ----

    def finish(self, results: Sequence[Tensor]) -> list[Tensor | View]:
        """Find out what outlives the call.

        Returns: The results: views of the tape's blocks, or tensors that were there before the call.
        """
        gc.collect()
        for used in self.generators.values():
            used.after = used.generator.get_state()
        for held in self.leaves.values():
            grad = held.leaf._grad
            held.after = None if grad is None else self._outcome(grad)
            self.guards.append((_LeafState(held), _LeafState(held)(before=True)))
        outcomes = [self._outcome(result) for result in results]
        for identity, index in self._known.items():
            reference = self._fresh.get(identity)
            if reference is not None and not self.blocks[index].result:
                self.blocks[index].alive = reference()
        self._fresh.clear()
        self._known.clear()
        return outcomes

    def _outcome(self, tensor: Tensor) -> Tensor | View:
        if id(tensor.buffer) not in self._fresh:
            return tensor
        view = self._view(tensor)
        self.blocks[view.block].result = True
        return view

    def difference(self, other: Tape) -> str:
        """Say where another recording of the same function is not the same, or nothing."""
        for mine, theirs in zip(self.entries, other.entries, strict=False):
            if mine.key() != theirs.key():
                return f"{theirs.line}: {_describe(mine)}, and then {_describe(theirs)}"
        if len(self.entries) != len(other.entries):
            return f"{len(self.entries)} launches, and then {len(other.entries)}"
        for index, (block, another) in enumerate(zip(self.blocks, other.blocks, strict=False)):
            if block.buffer is not another.buffer:
                return f"memory {index} of {another.nbytes} bytes comes from elsewhere in each call"
        return ""

    def fits(self) -> bool:
        """Whether all that was taken as given is still so."""
        return all(state() == before for state, before in self.guards)

    # ---- pieces ----

    def _on(self, device: Device) -> None:
        stream = current_stream(device)
        if self.device is None:
            self.device, self.stream = device, stream
        elif self.device is not device:
            raise CaptureError(
                f"{user_line()}: work on {device} and on {self.device}: expected one device in a compiled function"
            )
        elif self.stream is not stream:
            raise CaptureError(f"{user_line()}: work on two streams: expected one in a compiled function")

    def _view(self, tensor: Strided) -> View:
        strides = None if tensor.is_contiguous() else tensor.strides
        return View(self._block(tensor.buffer), tensor.shape, strides, tensor.offset, tensor.dtype)

    def _block(self, buffer: Buffer) -> int:
        known = self._known.get(id(buffer))
        if known is None:
            known = self._known[id(buffer)] = len(self.blocks)
            self.blocks.append(Block(buffer.nbytes, None if id(buffer) in self._fresh else buffer))
        return known


class _LeafState:
    """What a recording takes as given of a leaf: its memory, and the gradient that it read."""

    def __init__(self, held: _Leaf) -> None:
        self.held = held

    def __call__(self, *, before: bool = False) -> tuple[object, ...]:
        held = self.held
        grad = held.before if before else held.leaf._grad
        read = (None if grad is None else grad.buffer) if held.read else None
        return held.leaf.buffer, held.leaf._requires_grad, read


def _describe(entry: Launch | Upload) -> str:
    if isinstance(entry, Upload):
        return f"{len(entry.data)} bytes from the host"
    shapes = ", ".join("none" if view is None else f"{view.dtype.name}{list(view.shape)}" for view in entry.views)
    attributes = ", ".join(f"{name}={value}" for name, value in entry.attributes.items())
    return f"{entry.kernel.row.name}({shapes}{'; ' if attributes else ''}{attributes})"
