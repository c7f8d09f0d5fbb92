"""`compile`: a function whose work on the device is recorded once and then replayed without Python."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeGuard

from infinitrain import recording
from infinitrain.autograd import no_grad
from infinitrain.autograd.grad_mode import state as grad_mode
from infinitrain.errors import CaptureError
from infinitrain.program.explain import Explanation, explain
from infinitrain.program.program import Program
from infinitrain.program.tape import Tape, Used, View
from infinitrain.random import default_generator
from infinitrain.tensor import Tensor

__all__ = ["Compiled", "compile"]

#: Programs of one function that are kept: each has memory of its own.
MOST_PROGRAMS = 16
#: Calls that are recorded before a function counts as one that never does the same twice.
MOST_RECORDINGS = 6

_CONSTANTS = (type(None), bool, int, float, str)
#: One function at a time is recorded: there is one place to listen at.
_recording = threading.RLock()


class Compiled:
    """What `compile` gives: call it as the function. See `compile`.

    Attributes:
        programs: What has been recorded so far, the one used last at the end.
        recordings: How many calls ran in Python, as recordings.
        replays: How many calls were replayed.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.recordings = 0
        self.replays = 0
        self._variants: OrderedDict[Any, _Variant] = OrderedDict()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Replay the program for these arguments, or run the function and record it."""
        if recording.listener is not None:
            return self.function(*args, **kwargs)  # part of what is being recorded
        leaves: list[Any] = []
        shape = _flatten((args, kwargs), leaves)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        key = (shape, tuple([_key(leaf) for leaf in leaves]), _ambient())
        variant = self._variant(key)
        replayed = variant.replay(tensors)
        if replayed is not None:
            self.replays += 1
            return replayed[0]
        self.recordings += 1
        return variant.record(self.function, shape, leaves, tensors)

    def _variant(self, key: Any) -> _Variant:
        try:
            found = self._variants.get(key)
        except TypeError as error:
            raise CaptureError(
                f"{self.__name__}: expected arguments that are tensors or can be hashed, found one that is not: {error}"
            ) from error
        if found is None:
            found = self._variants[key] = _Variant(self.__name__)
            if len(self._variants) > MOST_PROGRAMS:
                self._variants.popitem(last=False)
        else:
            self._variants.move_to_end(key)
        return found

    __name__: str

    @property
    def programs(self) -> list[Program]:
        """Every program that is kept; a function has one when it has been replayed."""
        return [program for variant in self._variants.values() for program, _ in variant.ready]

    def explain(self) -> Explanation:
        """Say what the program that was used last launches and how its memory lies; `print` shows it as a table.

        Raises: CaptureError while there is none yet.
        """
        programs = self.programs
        if not programs:
            raise CaptureError(
                f"{self.__name__}: expected a program, found none: {self.recordings} calls so far, and two that do the "
                "same are needed. Call it again"
            )
        return explain(programs[-1])

    def __repr__(self) -> str:
        return f"compile({self.__name__}, {len(self.programs)} programs, {self.replays} replays)"


def compile(function: Callable[..., Any]) -> Compiled:
    """Record what a function does on a device, and replay it without running Python.

    The first calls run as always and are recorded, until two in a row have done the same (three calls for a training
    step: the first also makes the optimizer's state). Then the memory of everything that does not outlive a call is
    planned into one arena, launches that nobody needs are dropped, and every further call is one call into C. The
    results are the same to the last bit.

    What changes from call to call: the tensors among the arguments, which are copied into the program's own; the
    learning rate and step count of `infinitrain.optim`; random numbers, which go on as if Python had run; `.grad` of
    parameters. All else that Python decides is as it was when recorded. Other shapes, other values of arguments that
    are not tensors, another mode (`train`, `eval`, `no_grad`), or parameters in other memory make a recording of their
    own.

    Results: tensors come back as copies without a graph, so call `backward` inside; None, numbers and strings as they
    were recorded.

    Raises: CaptureError at the line where the function looks at a device's values, uses a second device or stream,
        gives back what cannot be repeated, or does something else in each call.

    Example:
        >>> @infinitrain.compile
        ... def step(inputs, targets):
        ...     optimizer.zero_grad()
        ...     loss = model(inputs, targets)[1]
        ...     loss.backward()
        ...     optimizer.step()
        ...     return loss
    """
    return Compiled(function)


class _Variant:
    """The programs of one kind of call: more than one only where what they take as given differs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Tensor] | None = None
        self.ready: list[tuple[Program, _Results]] = []
        #: What two calls in a row have done, until the next call makes a program of it.
        self.agreed: tuple[Tape, _Results] | None = None
        self.last: Tape | None = None
        self.unlike = 0

    def replay(self, tensors: list[Tensor]) -> tuple[Any] | None:
        """Run a program that fits, if there is one; gives its results in a tuple."""
        if self.agreed is not None and self.agreed[0].fits():
            tape, results = self.agreed
            self.agreed = None
            self.ready = [pair for pair in self.ready if pair[0].tape.fits()]
            self.ready.append((Program(tape), results))
        for program, results in self.ready:
            if program.tape.fits():
                self._fill_inputs(tensors)
                program.replay()
                return (results.give(program),)
        return None

    def _fill_inputs(self, tensors: list[Tensor]) -> None:
        assert self.inputs is not None
        with no_grad():
            for mine, given in zip(self.inputs, tensors, strict=True):
                mine.copy_(given)

    def record(self, function: Callable[..., Any], shape: Any, leaves: list[Any], tensors: list[Tensor]) -> Any:
        """Run the function as always while writing down what it does."""
        if self.inputs is None:
            self.inputs = [_input(self.name, position, tensor) for position, tensor in enumerate(tensors)]
        else:
            self._fill_inputs(tensors)
        mine = iter(self.inputs)
        args, kwargs = _unflatten(shape, iter([next(mine) if isinstance(leaf, Tensor) else leaf for leaf in leaves]))
        tape = Tape()
        tape.generators[id(default_generator)] = Used(default_generator, default_generator.get_state())
        with _recording:
            recording.listener = tape
            try:
                given = function(*args, **kwargs)
                recording.listener = None
                results = _Results(self.name, given)
                del given
                returned = results.give()
                results.settle(tape)
            finally:
                recording.listener = None
        self._check_inputs(tape)
        self._compare(tape, results)
        return returned

    def _check_inputs(self, tape: Tape) -> None:
        assert self.inputs is not None
        own = {id(tensor.buffer): position for position, tensor in enumerate(self.inputs)}
        for entry in tape.entries:
            for view in getattr(entry, "outputs", ()):
                buffer = None if view is None else tape.blocks[view.block].buffer
                if buffer is not None and id(buffer) in own:
                    raise CaptureError(
                        f"{entry.line}: {self.name} writes in place to its argument {own[id(buffer)]}: expected "
                        "tensors given as arguments to be read only. Keep it outside the function, or work on a clone"
                    )

    def _compare(self, tape: Tape, results: _Results) -> None:
        """Agree on a program when this call did what the one before it did."""
        difference = "" if self.last is None else self.last.difference(tape)
        if self.last is None or difference:
            self.unlike += 1
            self.last = tape
            if self.unlike > MOST_RECORDINGS:
                raise CaptureError(
                    f"{self.name}: expected calls that do the same, found another in each of {self.unlike}: "
                    f"{difference}. Give what changes as a tensor argument"
                )
            return
        self.last, self.unlike = None, 0
        if tape.device is not None:
            self.agreed = (tape, results)


class _Results:
    """What the function gave: tensors in the program's memory, of which the caller gets copies."""

    def __init__(self, name: str, given: Any) -> None:
        self.leaves: list[Any] = []
        self.shape = _flatten(given, self.leaves)
        # Without the graph: what only the backward needed is not kept.
        self.leaves = [leaf.detach() if isinstance(leaf, Tensor) and not leaf.is_leaf else leaf for leaf in self.leaves]
        for leaf in self.leaves:
            if not isinstance(leaf, (Tensor, *_CONSTANTS)):
                raise CaptureError(
                    f"{name} gave back a {type(leaf).__name__}: expected tensors, numbers, strings, None, and tuples, "
                    "lists and dictionaries of them"
                )

    def settle(self, tape: Tape) -> None:
        """Finish the tape, and hold no memory any more that the call took."""
        tensors = [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]
        outcomes = iter(tape.finish(tensors))
        self.leaves = [next(outcomes) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves]

    def give(self, program: Program | None = None) -> Any:
        """Copy the tensors; parameters and other tensors that were there before are given as they are."""
        with no_grad():
            fresh = []
            for leaf in self.leaves:
                given = program.outcome(leaf) if isinstance(leaf, View) and program is not None else leaf
                fresh.append(given.detach().clone() if _is_result(given) else given)
        return _unflatten(self.shape, iter(fresh))


def _is_result(leaf: Any) -> TypeGuard[Tensor]:
    return isinstance(leaf, Tensor) and not (leaf.requires_grad and leaf.is_leaf)


def _input(name: str, position: int, tensor: Tensor) -> Tensor:
    """Give the program's own memory for an argument."""
    if tensor.requires_grad:
        raise CaptureError(
            f"{name}: argument {position} requires grad: expected parameters to be used from outside the function, and "
            "arguments to be data. Use detach()"
        )
    return tensor.detach().clone()


def _key(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return Tensor, leaf.shape, leaf.dtype, leaf.device
    return type(leaf), leaf


def _ambient() -> tuple[object, ...]:
    return (grad_mode.enabled, *[state() for state in recording.ambient])


def _flatten(given: Any, leaves: list[Any]) -> Any:
    """Take tuples, lists and dictionaries apart; gives how to put them together."""
    if isinstance(given, dict):
        return dict, tuple(given), tuple([_flatten(each, leaves) for each in given.values()])
    if isinstance(given, (tuple, list)):
        make = type(given)
        return make, None, tuple([_flatten(each, leaves) for each in given])
    leaves.append(given)
    return None


def _unflatten(shape: Any, leaves: Any) -> Any:
    if shape is None:
        return next(leaves)
    make, names, parts = shape
    values = [_unflatten(part, leaves) for part in parts]
    if make is dict:
        return dict(zip(names, values, strict=True))
    return make(*values) if hasattr(make, "_fields") else make(values)
