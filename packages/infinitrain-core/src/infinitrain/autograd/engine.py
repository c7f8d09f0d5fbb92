"""The engine: runs recorded operations backwards, iteratively, latest first.

Dependencies are counted when backward starts, over the part of the graph that is reached: consumers that were
never used delay nothing. A gradient is written in place only where the engine holds the one reference to it
and to its memory, so that two leaves never share a gradient.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from sys import getrefcount
from typing import Any

from infinitrain import recording
from infinitrain.autograd.anomaly import refuse_nan
from infinitrain.autograd.function import ACCUMULATED, Edge, Node, freed_error
from infinitrain.autograd.grad_mode import state
from infinitrain.dispatch import launch
from infinitrain.errors import AutogradError, ShapeError
from infinitrain.tensor import Tensor

Target = Node | Tensor
Box = list[Any]


def _exclusive(box: Box, index: int) -> bool:
    """Tell whether `box` holds the only reference to a gradient and to its memory.

    Two references each: the holder's and the one on the interpreter's stack. A view of the gradient, a saved
    alias, or a user who kept it adds one.
    """
    return getrefcount(box[index]) == 2 and getrefcount(box[index].buffer) == 2


class Run:
    """One backward pass."""

    def __init__(self, retain_graph: bool, create_graph: bool, targets: Sequence[Edge] | None = None) -> None:
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        #: Nodes that must run when only the gradients of `targets` are wanted; None: all.
        self.needed: set[Target] | None = None
        self.targets = targets
        self.captured: dict[tuple[int, int], Tensor] = {}
        self.pending: dict[Target, Box] = {}
        self.left: dict[Target, int] = {}
        self.written: set[Tensor] = set()

    # ---- before ----

    def discover(self, roots: Iterable[Target]) -> None:
        """Count, for each node and leaf that is reached, the gradients that it will be sent."""
        consumers: dict[Target, list[Node]] = {}
        seen: set[Target] = set(roots)
        stack = [root for root in seen if isinstance(root, Node)]
        order: list[Node] = []
        left = self.left
        while stack:
            node = stack.pop()
            order.append(node)
            for edge in node._edges:
                if edge is not None:
                    target = edge[0]
                    left[target] = left.get(target, 0) + 1
                    if self.targets is not None:
                        consumers.setdefault(target, []).append(node)
                    if target not in seen:
                        seen.add(target)
                        if isinstance(target, Node):
                            stack.append(target)
        if self.targets is not None:
            self._restrict(consumers, order)

    def _restrict(self, consumers: dict[Target, list[Node]], order: list[Node]) -> None:
        """Keep what leads to a target, and count again without the rest."""
        needed: set[Target] = set()
        stack: list[Target] = [target for target, _ in self.targets or ()]
        while stack:
            for node in consumers.get(stack.pop(), ()):
                if node not in needed:
                    needed.add(node)
                    stack.append(node)
        self.needed = needed
        self.left = {}
        for node in order:
            if node in needed:
                for edge in node._edges:
                    if edge is not None:
                        self.left[edge[0]] = self.left.get(edge[0], 0) + 1

    def wants(self, edge: Edge) -> bool:
        """Tell whether a gradient sent along `edge` leads to a target."""
        return (
            self.needed is None
            or edge[0] in self.needed
            or any(edge[0] is target and edge[1] == index for target, index in self.targets or ())
        )

    # ---- during ----

    def send(self, target: Target, index: int, box: Box, position: int, sender: str) -> None:
        """Take the gradient out of `box[position]` and add it to what `target` has."""
        _check(target, index, box, position, sender)
        pending = self.pending.get(target)
        if pending is None:
            size = len(target._meta) if isinstance(target, Node) else 1
            pending = self.pending[target] = [None] * size
        if pending[index] is None:
            pending[index] = box[position]
        elif not self.create_graph and _exclusive(pending, index) and pending[index].is_contiguous():
            launch("AddForward", (pending[index], box[position]), (pending[index],))
        else:
            pending[index] = pending[index] + box[position]
        box[position] = None

    def accumulator(self, edge: Edge | None) -> Tensor | None:
        """Give the gradient that a backward may add into in place, or None (see `Node.accumulator`)."""
        if edge is None or self.create_graph or state.anomaly:
            return None  # in anomaly mode every gradient is looked at by itself
        target, index = edge
        pending = self.pending.get(target)
        if pending is not None and pending[index] is not None:
            if not (_exclusive(pending, index) and pending[index].is_contiguous()):
                return None
            found: Tensor = pending[index]
            return found
        if isinstance(target, Node) or self.targets is not None:
            return None
        if recording.listener is not None:
            recording.listener.gradient(target, read=True)
        grad = target._grad
        if grad is None or not grad.is_contiguous() or grad._requires_grad:
            return None
        if target._hooks is not None and target._hooks.on_gradient:
            return None  # the hooks are to see this pass's gradient alone
        self.written.add(target)
        grad._mark_written("backward")
        return grad

    def execute(self, roots: Sequence[Edge], grads: Box) -> None:
        """Send `grads` to the roots and run everything that becomes ready."""
        self.discover([target for target, _ in roots])
        heap: list[tuple[int, Node]] = []
        for position, (target, index) in enumerate(roots):
            self.send(target, index, grads, position, "backward")
        for target in dict.fromkeys([target for target, _ in roots]):
            if not self.left.get(target):
                self._ready(target, heap)
        while heap:
            node = heapq.heappop(heap)[1]
            outs = self._run_node(node)
            if self.needed is not None and node not in self.needed:
                continue  # a target: nothing behind it was counted
            for position, edge in enumerate(node._edges):
                if edge is None:
                    continue
                target, index = edge
                if position < len(outs):
                    value = outs[position]
                    if value is not None and value is not ACCUMULATED and self.wants(edge):
                        del value
                        self.send(target, index, outs, position, node.name)
                    else:
                        outs[position] = value = None
                self.left[target] -= 1
                if not self.left[target]:
                    self._ready(target, heap)

    def _ready(self, target: Target, heap: list[tuple[int, Node]]) -> None:
        """All gradients of `target` have arrived: queue a node, finish a leaf."""
        if isinstance(target, Node):
            heapq.heappush(heap, (-target._number, target))
        else:
            self._finish_leaf(target)

    def _run_node(self, node: Node) -> Box:
        """Run one backward; give what it returns as a list."""
        box = self.pending.pop(node, None)
        if box is None:
            return []  # no output of it got a gradient: nothing flows on
        if node._hooks is not None:
            for index, hooks in node._hooks.items():
                _call_hooks(list(hooks.values()), box, index)
        if self.targets is not None:
            for index, value in enumerate(box):
                if value is not None:
                    self.captured[id(node), index] = value
            if self.needed is not None and node not in self.needed:
                return []
        if node._freed:
            raise freed_error(node)
        if self.create_graph and not node.twice_differentiable:
            raise AutogradError(
                f"backward of {node.name} with create_graph=True: expected a backward made of recorded "
                "operations, found one that is not. Write it with other operations to differentiate twice."
            )
        if len(box) > 1 and node.materialize:
            _materialize(node, box)
        node._run = self
        try:
            returned = node.backward(node, *box)  # type: ignore[attr-defined]
        except Exception as error:
            if node._trace:
                error.add_note(f"in the backward of {node.name}, whose forward was called at\n{node._trace}")
            raise
        finally:
            node._run = None
        del box
        outs = list(returned) if isinstance(returned, tuple) else [returned]
        if len(outs) > len(node._edges):
            raise AutogradError(
                f"backward of {node.name}: expected {len(node._edges)} gradients, one for each argument of "
                f"forward, found {len(outs)}"
            )
        if state.anomaly and state.check_nan:
            refuse_nan(node, outs)
        if not self.retain_graph:
            node.free()
        return outs

    # ---- after ----

    def _finish_leaf(self, leaf: Tensor) -> None:
        """Add the complete gradient to `leaf.grad`, or keep it for `grad()`."""
        box = self.pending.pop(leaf, None)
        hooks = leaf._hooks
        if box is not None and box[0] is not None:
            if hooks is not None and hooks.on_gradient:
                _call_hooks(list(hooks.on_gradient.values()), box, 0)
            if self.targets is not None:
                self.captured[id(leaf), 0] = box[0]
                return
            self._accumulate(leaf, box)
        elif leaf not in self.written:
            return
        if hooks is not None:
            for hook in list(hooks.after_accumulate.values()):
                hook(leaf)

    def _accumulate(self, leaf: Tensor, box: Box) -> None:
        """Store the first gradient, taken over if nobody else has it; add later ones in place."""
        if recording.listener is not None:
            recording.listener.gradient(leaf, read=True)
        if leaf._grad is None:
            if self.create_graph or (_exclusive(box, 0) and box[0].is_contiguous()):
                leaf._grad = box[0]
            else:
                leaf._grad = box[0].clone()
        elif self.create_graph:
            leaf._grad = leaf._grad + box[0]
        else:
            total = leaf._grad
            if total.is_contiguous():
                launch("AccumulateGrad", (box[0], None), (total,))
            else:
                launch("AddForward", (total, box[0]), (total,))
            total._mark_written("backward")


def _call_hooks(hooks: list[Any], box: Box, index: int) -> None:
    """Let each hook see, and replace, the gradient in `box[index]`."""
    if box[index] is None:
        return
    for hook in hooks:
        replaced = hook(box[index])
        if replaced is not None:
            box[index] = replaced
        del replaced


def _materialize(node: Node, box: Box) -> None:
    """Put zeros where an output got no gradient."""
    for index, meta in enumerate(node._meta):
        if box[index] is None and meta is not None:
            box[index] = Tensor._empty(*meta).zero_()


def _check(target: Target, index: int, box: Box, position: int, sender: str) -> None:
    """Make the gradient fit its target: another shape is an error, another dtype or device is converted."""
    if isinstance(target, Node):
        meta = target._meta[index]
    else:
        meta = (target.shape, target.dtype, target.buffer.device)
    if meta is None:
        return
    if box[position].shape != meta[0]:
        raise ShapeError(f"backward of {sender}: expected a gradient of shape {meta[0]}, found {box[position].shape}")
    if box[position].dtype is not meta[1]:
        box[position] = box[position].to(meta[1])
    if box[position].buffer.device != meta[2]:
        raise AutogradError(
            f"backward of {sender}: expected a gradient on {meta[2]}, found one on {box[position].device}"
        )


def run(
    roots: Sequence[Edge], grads: Box, *, retain_graph: bool, create_graph: bool, targets: Sequence[Edge] | None = None
) -> Run:
    """Run backward from `roots`; `grads` is emptied. Recording inside is on only with `create_graph`."""
    this = Run(retain_graph, create_graph, targets)
    recording = state.enabled
    state.enabled = create_graph
    try:
        this.execute(roots, grads)
    finally:
        state.enabled = recording
    return this
