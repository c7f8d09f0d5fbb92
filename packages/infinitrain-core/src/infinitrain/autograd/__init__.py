"""Reverse-mode differentiation: what was recorded, run backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infinitrain.autograd import engine, hooks
from infinitrain.autograd.anomaly import detect_anomaly, set_detect_anomaly
from infinitrain.autograd.function import ACCUMULATED, Edge, Function, Node, Op, edges_of
from infinitrain.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from infinitrain.autograd.hooks import RemovableHandle, saved_tensors_hooks
from infinitrain.errors import AutogradError, ShapeError
from infinitrain.tensor import Tensor

__all__ = [
    "ACCUMULATED",
    "Function",
    "Node",
    "Op",
    "RemovableHandle",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "saved_tensors_hooks",
    "set_detect_anomaly",
    "set_grad_enabled",
]

Tensors = Tensor | Sequence[Tensor]
Grads = Tensor | Sequence[Tensor | None] | None


def _edge(tensor: Tensor, what: str) -> Edge:
    """Give where the gradient of `tensor` goes.

    Raises: AutogradError if it does not require a gradient.
    """
    edges = edges_of((tensor,))
    if not edges or edges[0] is None:
        raise AutogradError(
            f"{what}: expected a tensor that requires grad, found one that does not: "
            "no operation that led to it was recorded"
        )
    return edges[0]


def _start(outputs: Tensors, grads: Grads, what: str) -> tuple[list[Edge], list[Any]]:
    """Pair each output's edge with the gradient to start from: 1 for a single element."""
    tensors = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    given: list[Tensor | None]
    if grads is None:
        given = [None] * len(tensors)
    else:
        given = [grads] if isinstance(grads, Tensor) else list(grads)
    if len(given) != len(tensors):
        raise AutogradError(f"{what}: expected {len(tensors)} gradients, found {len(given)}")
    roots, start = [], []
    for tensor, gradient in zip(tensors, given, strict=True):
        roots.append(_edge(tensor, what))
        if gradient is None:
            if tensor.numel() != 1:
                raise AutogradError(
                    f"{what}: expected a gradient for an output of shape {tensor.shape}, found none; "
                    "only an output of one element has a default"
                )
            gradient = Tensor._empty(tensor.shape, tensor.dtype, tensor.device).fill_(1)
        elif gradient.shape != tensor.shape:
            raise ShapeError(f"{what}: expected a gradient of shape {tensor.shape}, found {gradient.shape}")
        start.append(gradient)
    return roots, start


def backward(
    tensors: Tensors, grad_tensors: Grads = None, retain_graph: bool | None = None, create_graph: bool = False
) -> None:
    """Add the gradients of `tensors` to the `.grad` of every leaf that they were made from.

    Args:
        tensors: Where to start.
        grad_tensors: The gradient of each; may be left out for tensors of one element.
        retain_graph: Keep what was saved, so that backward can run again. Default: `create_graph`.
        create_graph: Record backward itself, so that the gradients can be differentiated.

    Raises: AutogradError for tensors that do not require grad, for a second backward over a freed graph, and for
        saved tensors that were changed in place.
    """
    roots, start = _start(tensors, grad_tensors, "backward")
    keep = create_graph if retain_graph is None else retain_graph
    engine.run(roots, start, retain_graph=keep, create_graph=create_graph)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Grads = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Give the gradients of `outputs` with respect to `inputs`; no `.grad` is touched.

    Raises: AutogradError as `backward`; also for an input that the outputs do not depend on, unless
        `allow_unused`, which gives None for it.
    """
    roots, start = _start(outputs, grad_outputs, "grad")
    wanted = [_edge(x, "grad") for x in ([inputs] if isinstance(inputs, Tensor) else inputs)]
    keep = create_graph if retain_graph is None else retain_graph
    done = engine.run(roots, start, retain_graph=keep, create_graph=create_graph, targets=wanted)
    found = tuple([done.captured.get((id(target), index)) for target, index in wanted])
    if not allow_unused and None in [g if g is None else 0 for g in found]:
        position = next(i for i, g in enumerate(found) if g is None)
        raise AutogradError(
            f"grad: expected outputs that depend on every input, found that input {position} is not used. "
            "Pass allow_unused=True to get None for it."
        )
    return found


def _tensor_backward(
    self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False
) -> None:
    """Run `infinitrain.autograd.backward` from this tensor."""
    backward(self, gradient, retain_graph, create_graph)


Tensor.backward = _tensor_backward
Tensor.register_hook = hooks.register_hook  # type: ignore[assignment]
Tensor.register_post_accumulate_grad_hook = hooks.register_post_accumulate_grad_hook  # type: ignore[assignment]
Tensor.retain_grad = hooks.retain_grad  # type: ignore[assignment]
