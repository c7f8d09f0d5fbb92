"""Hooks: functions called on gradients, and on tensors that are saved for backward."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from infinitrain.errors import AutogradError

if TYPE_CHECKING:
    from infinitrain.tensor import Tensor

_ids = itertools.count()


class RemovableHandle:
    """Takes one hook out again; harmless when its owner is gone or the hook was removed already."""

    __slots__ = ("_id", "_owner")

    class Hooks(dict[int, Callable[..., Any]]):
        """Hooks by the number of their handle, called in the order in which they were added."""

        __slots__ = ("__weakref__",)

    def __init__(self, hooks: Hooks, hook: Callable[..., Any]) -> None:
        self._id = next(_ids)
        self._owner = weakref.ref(hooks)
        hooks[self._id] = hook

    def remove(self) -> None:
        """Take the hook out."""
        hooks = self._owner()
        if hooks is not None:
            hooks.pop(self._id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


class TensorHooks:
    """What a tensor carries beyond its gradient; made when first needed."""

    __slots__ = ("after_accumulate", "on_gradient", "retains_grad")

    def __init__(self) -> None:
        self.on_gradient = RemovableHandle.Hooks()
        self.after_accumulate = RemovableHandle.Hooks()
        self.retains_grad = False


def hooks_of(tensor: Tensor) -> TensorHooks:
    """Give the tensor's hooks, made at the first call."""
    if tensor._hooks is None:
        tensor._hooks = TensorHooks()
    return tensor._hooks


def register_hook(tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call `hook(gradient)` when the gradient of `tensor` is complete; a tensor it returns takes its place.

    Raises: AutogradError if the tensor does not require a gradient.
    """
    if not tensor._requires_grad:
        raise AutogradError("register_hook: expected a tensor that requires grad, found one that does not")
    if tensor._node is None:
        return RemovableHandle(hooks_of(tensor).on_gradient, hook)
    return RemovableHandle(tensor._node.hooks_of_output(tensor._out_index), hook)


def register_post_accumulate_grad_hook(tensor: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook(tensor)` after each backward in which `tensor.grad` was written.

    Raises: AutogradError if the tensor is not a leaf that requires a gradient.
    """
    if tensor._node is not None or not tensor._requires_grad:
        raise AutogradError(
            "register_post_accumulate_grad_hook: expected a leaf tensor that requires grad, "
            "found another. Register it on the parameter itself."
        )
    return RemovableHandle(hooks_of(tensor).after_accumulate, hook)


def retain_grad(tensor: Tensor) -> None:
    """Keep the gradient of an intermediate result in its `.grad`; nothing to do for a leaf.

    Raises: AutogradError if the tensor does not require a gradient.
    """
    if not tensor._requires_grad:
        raise AutogradError("retain_grad: expected a tensor that requires grad, found one that does not")
    if tensor._node is None or hooks_of(tensor).retains_grad:
        return
    hooks_of(tensor).retains_grad = True
    owner = weakref.ref(tensor)  # the node outlives the tensor and must not keep it alive

    def keep(gradient: Tensor) -> None:
        kept = owner()
        if kept is not None:
            kept._grad = gradient if kept._grad is None else kept._grad + gradient

    RemovableHandle(tensor._node.hooks_of_output(tensor._out_index), keep)


class _Stack(threading.local):
    """The saved-tensor hooks of this thread, innermost last; None where there are none (the usual case)."""

    pairs: list[tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]] | None = None


saved_stack = _Stack()


class saved_tensors_hooks:  # noqa: N801 - torch's name
    """Inside, each tensor saved for backward goes through `pack` once, and through `unpack` when read.

    The innermost pair is used. Saved inputs are packed as they are, saved outputs as detached tensors that
    share their memory.
    """

    def __init__(self, pack: Callable[[Tensor], Any], unpack: Callable[[Any], Tensor]) -> None:
        self._pair = (pack, unpack)

    def __enter__(self) -> None:
        if saved_stack.pairs is None:
            saved_stack.pairs = []
        saved_stack.pairs.append(self._pair)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pairs = saved_stack.pairs
        if pairs is not None:
            pairs.pop()
            if not pairs:
                saved_stack.pairs = None
