"""Function: an operation with a forward and a backward; each recorded call of it is a node of the graph.

A node points at the nodes that made its inputs (`_edges`), never at its outputs; an output points at its node.
A saved output is therefore kept as an alias without a node. The graph then has no reference cycles, and goes
away with its last output.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from infinitrain.autograd.anomaly import callers
from infinitrain.autograd.grad_mode import state
from infinitrain.autograd.hooks import RemovableHandle, saved_stack
from infinitrain.autograd.views import refresh
from infinitrain.errors import AutogradError
from infinitrain.tensor import Tensor

if TYPE_CHECKING:
    from infinitrain.autograd.engine import Run

#: Where a gradient goes: to an output of a node, or to a leaf (index 0).
Edge = tuple["Node | Tensor", int]
#: Shape, dtype and device of an output, as its gradient must have them.
Meta = tuple[tuple[int, ...], Any, Any]

_next_number = itertools.count().__next__
_NOTHING_NEEDED: Final = (False,) * 64


class Accumulated:
    """The type of `ACCUMULATED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ACCUMULATED"


#: What a backward returns for an input whose gradient it added into `ctx.accumulator(i)`.
ACCUMULATED: Final = Accumulated()


class Node:
    """One recorded operation; its `forward` and `backward` know it as `ctx`."""

    #: Whether outputs without a gradient come as zeros (else as None). Only for several outputs.
    materialize = True
    #: False where backward is not itself made of recorded operations.
    twice_differentiable = True

    _edges: tuple[Edge | None, ...] = ()
    _meta: tuple[Meta | None, ...] = ()
    _number: int = -1
    _freed: bool = False
    _run: Run | None = None
    _saved: list[Any] | None = None
    _versions: list[int] = []  # noqa: RUF012 - read only; replaced, never changed
    _own_outputs: dict[int, int] = {}  # noqa: RUF012 - the same
    _unpack: Any = None
    #: Where forward was called, in anomaly mode.
    _trace: str = ""
    _hooks: dict[int, RemovableHandle.Hooks] | None = None
    _dirty: tuple[Tensor, ...] = ()
    _constants: tuple[Tensor, ...] = ()
    _target: Tensor | None = None
    _target_version: int = -1

    @property
    def name(self) -> str:
        """The operation's name, for messages."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name}Backward>"

    # ---- what forward calls ----

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors until backward has run; nothing is kept when nothing is recorded."""
        if self._edges:
            if self._target is not None:
                tensors = tuple([self._before_write(t) for t in tensors])
            self._saved = list(tensors)
            self._versions = [-1 if t is None else t.buffer.version for t in tensors]

    def mark_non_differentiable(self, *outputs: Tensor) -> None:
        """Say that these outputs get no gradient."""
        self._constants = outputs

    def mark_dirty(self, *inputs: Tensor) -> None:
        """Say that forward wrote into these inputs and returns them."""
        self._dirty = inputs

    # ---- what backward reads ----

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of forward, whether its gradient is wanted."""
        edges = self._edges
        if not edges:
            return _NOTHING_NEEDED
        if self._run is not None and self._run.needed is not None:
            wanted = self._run.wants
            return tuple([edge is not None and wanted(edge) for edge in edges])
        return tuple([edge is not None for edge in edges])

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`.

        Raises: AutogradError if they were freed by an earlier backward, or changed in place since.
        """
        saved = self._saved
        if saved is None:
            if self._freed:
                raise freed_error(self)
            return ()
        if self._unpack is not None:
            return tuple([None if t is None else self._unpack(t) for t in saved])
        for tensor, version in zip(saved, self._versions, strict=True):
            if tensor is not None and tensor.buffer.version != version:
                raise AutogradError(
                    f"backward of {self.name}: expected the {tensor.dtype.name} tensor of shape {tensor.shape} "
                    f"that it saved, found it changed in place by {tensor.buffer.writer or 'a write'} "
                    f"(version {version} when saved, {tensor.buffer.version} now). "
                    "Clone the tensor before the change."
                )
        if state.enabled and self._own_outputs:
            return tuple([self._attached(i, t) for i, t in enumerate(saved)])
        return tuple(saved)

    def accumulator(self, index: int) -> Tensor | None:
        """Give the gradient so far of argument `index` if backward may add into it in place.

        Backward then returns `ACCUMULATED` for that argument. None: return a gradient as usual.
        """
        return None if self._run is None else self._run.accumulator(self._edges[index])

    # ---- what the engine and the hooks call ----

    def hooks_of_output(self, index: int) -> RemovableHandle.Hooks:
        """Give the hooks on the gradient of an output."""
        if self._hooks is None:
            self._hooks = {}
        return self._hooks.setdefault(index, RemovableHandle.Hooks())

    def free(self) -> None:
        """Let go of what was saved; a second backward then raises."""
        self._saved = None
        self._freed = True

    def _before_write(self, tensor: Tensor | None) -> Tensor | None:
        """Copy the target of an operation in place if it is saved before it is written."""
        target = self._target
        if tensor is not target or tensor is None or tensor.buffer.version != self._target_version:
            return tensor
        copy = tensor.clone()  # under no_grad, as every forward
        copy._node, copy._requires_grad = tensor._node, tensor._requires_grad
        copy._out_index = tensor._out_index if tensor._node is not None else 0
        return copy

    def _attached(self, position: int, tensor: Tensor | None) -> Tensor | None:
        """Give a saved output as part of the graph again, for a backward that is recorded itself."""
        index = self._own_outputs.get(position)
        if tensor is None or index is None:
            return tensor
        alias = tensor._alias()
        alias._node, alias._out_index, alias._requires_grad = self, index, True
        return alias

    def _seal(self, outputs: tuple[Any, ...]) -> None:
        """Replace saved outputs by aliases without a node, and pack what was saved."""
        saved = self._saved
        if saved is None:
            return
        for position, tensor in enumerate(saved):
            for index, output in enumerate(outputs):
                if tensor is output and tensor is not None:
                    saved[position] = tensor._alias()
                    if not self._own_outputs:
                        self._own_outputs = {}
                    self._own_outputs[position] = index
        if saved_stack.pairs is not None:
            pack, self._unpack = saved_stack.pairs[-1]
            self._saved = [None if t is None else pack(t) for t in saved]


def freed_error(node: Node) -> AutogradError:
    """Say that a graph was used up by an earlier backward."""
    return AutogradError(
        f"backward of {node.name}: expected a graph that was not used, found one whose saved tensors an earlier "
        "backward has freed. Pass retain_graph=True to the earlier backward."
    )


def edges_of(args: tuple[Any, ...]) -> tuple[Edge | None, ...]:
    """Give the edge of each argument; () when no argument needs a gradient."""
    edges: list[Edge | None] = []
    needed = False
    for arg in args:
        if isinstance(arg, Tensor):
            if arg._base is not None and arg._base_version != arg.buffer.version:
                refresh(arg)
            if arg._requires_grad:
                node = arg._node
                edges.append((arg, 0) if node is None else (node, arg._out_index))
                needed = True
                continue
        edges.append(None)
    return tuple(edges) if needed else ()


class Op(Node):
    """An operation of this package: forward returns new tensors (or views), never one of its arguments.

    Its backward may return fewer values than forward has arguments; the rest get no gradient.
    """

    forward: Any
    backward: Any

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward, and record it if an argument needs a gradient."""
        ctx = cls()
        if not state.enabled:
            return cls.forward(ctx, *args)
        ctx._edges = edges_of(args)
        if not ctx._edges:
            return cls.forward(ctx, *args)
        if state.anomaly:
            ctx._trace = callers()
        state.enabled = False
        try:
            out = cls.forward(ctx, *args)
        finally:
            state.enabled = True
        ctx._number = _next_number()
        if isinstance(out, Tensor):
            if ctx._saved is not None:
                ctx._seal((out,))
            ctx._meta = ((out.shape, out.dtype, out.buffer.device),)
            out._node = ctx
            out._out_index = 0
            out._requires_grad = True
        else:
            ctx._wire(out)
        return out

    def _wire(self, outputs: tuple[Tensor, ...]) -> None:
        """Make each floating-point output point at this node."""
        self._seal(outputs)
        metas: list[Meta | None] = []
        for index, out in enumerate(outputs):
            if not out.dtype.is_floating_point or any(out is constant for constant in self._constants):
                metas.append(None)
                continue
            metas.append((out.shape, out.dtype, out.buffer.device))
            out._node, out._out_index, out._requires_grad = self, index, True
        self._meta = tuple(metas)
        self._constants = ()


class Function(Op):
    """An operation written by a user: subclass it and give static `forward(ctx, ...)` and `backward(ctx, *grads)`.

    `backward` returns one gradient (or None) for each argument of `forward`. What it does is recorded under
    `create_graph=True`, so that it can be differentiated again.
    """

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward, and record it if an argument needs a gradient."""
        ctx = cls()
        recording = state.enabled
        ctx._edges = edges_of(args) if recording else ()
        if ctx._edges and state.anomaly:
            ctx._trace = callers()
        state.enabled = False
        try:
            result = cls.forward(ctx, *args)
        finally:
            state.enabled = recording
        single = not isinstance(result, tuple)
        given: tuple[Any, ...] = (result,) if single else result
        outputs = tuple([ctx._as_output(out, args) for out in given])
        for dirty in ctx._dirty:
            dirty._mark_written(ctx.name)
        if ctx._edges:
            for dirty in ctx._dirty:
                if dirty._base is not None or (dirty._node is None and dirty._requires_grad):
                    raise AutogradError(
                        f"{ctx.name}: expected to write in place into a result, "
                        "found a view or a leaf that requires grad"
                    )
            ctx._number = _next_number()
            ctx._wire(tuple([out for out in outputs if isinstance(out, Tensor)]))
        ctx._dirty = ()
        return outputs[0] if single else outputs

    def _as_output(self, out: Any, args: tuple[Any, ...]) -> Any:
        """Give an alias where forward returned an argument that it did not write into."""
        if isinstance(out, Tensor):
            returned = any(out is arg for arg in args)
            if returned and not any(out is dirty for dirty in self._dirty):
                return out._alias()
        return out
