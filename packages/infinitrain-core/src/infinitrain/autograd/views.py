"""Views and in-place writes: a view learns from its base's version that its history is out of date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infinitrain.autograd.grad_mode import state

if TYPE_CHECKING:
    from infinitrain.tensor import Tensor


def mark_view(view: Tensor, source: Tensor) -> Tensor:
    """Record that `view` shows the memory of `source`, so that writes through either are seen by both."""
    if state.enabled:
        view._base = source if source._base is None else source._base
        view._base_version = view.buffer.version
    return view


def refresh(view: Tensor) -> None:
    """Give a view the history that its base has now, after a write into their memory."""
    from infinitrain.autograd.inplace import AsStrided

    base = view._base
    if base is None:
        return
    view._base_version = view.buffer.version
    if base._requires_grad:
        AsStrided.attach(view, base)
