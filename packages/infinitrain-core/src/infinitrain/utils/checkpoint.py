"""Activation checkpointing: save nothing inside a function, and run it again when its backward comes.

Source: Chen et al. 2016, arXiv:1604.06174.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from infinitrain.autograd import enable_grad, is_grad_enabled, saved_tensors_hooks
from infinitrain.errors import AutogradError
from infinitrain.random import default_generator
from infinitrain.tensor import Tensor

__all__ = ["checkpoint"]


class _Run:
    """One call: how to do it again, and what it saved once it has been."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], draws: bool
    ) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.state = default_generator.get_state() if draws else None
        self.shapes: list[tuple[Any, ...]] = []
        self.again: list[Tensor] | None = None

    def save(self, tensor: Tensor) -> int:
        """Keep the place of a tensor among those that the call saves, instead of the tensor."""
        self.shapes.append((tensor.shape, tensor.dtype, tensor.device))
        return len(self.shapes) - 1

    def get(self, place: int) -> Tensor:
        """Give a saved tensor, from a second run of the function.

        Raises: AutogradError where that run does something else.
        """
        if self.again is None:
            self.again = self._repeat()
        return self.again[place]

    def _repeat(self) -> list[Tensor]:
        found: list[Tensor] = []

        def save(tensor: Tensor) -> Tensor:
            found.append(tensor.detach())
            return tensor

        after = default_generator.get_state()
        if self.state is not None:
            default_generator.set_state(self.state)
        try:
            with enable_grad(), saved_tensors_hooks(save, lambda tensor: tensor):
                self.function(*[_alone(each) for each in self.args], **{k: _alone(v) for k, v in self.kwargs.items()})
        finally:
            if self.state is not None:
                default_generator.set_state(after)
        shapes = [(tensor.shape, tensor.dtype, tensor.device) for tensor in found]
        if shapes != self.shapes:
            raise AutogradError(
                f"checkpoint: expected a function that does the same when it is run again, found {len(self.shapes)} "
                f"saved tensors at first and {len(shapes)} now, or others: it depends on something that has changed"
            )
        return found


def _alone(value: Any) -> Any:
    """Give an argument without the graph that it came from, which a second run must not reach."""
    if isinstance(value, Tensor) and value.requires_grad and not value.is_leaf:
        return value.detach().requires_grad_()
    return value


def checkpoint(function: Callable[..., Any], *args: Any, preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """Call a function so that backward computes it again instead of keeping what it would save.

    The activations of one checkpointed function are there at a time; the price is a second forward. The gradients are
    the same to the last bit: the second run draws the random numbers of the first, and random numbers go on afterwards
    as if there had been one run. Nests. Double backward through it is not recorded.

    Args:
        function: What to call; it does the same when called again with the same arguments.
        *args: Its arguments.
        preserve_rng_state: False where it draws no random numbers and the generator need not be looked at.
        **kwargs: Its arguments by name.

    Raises: AutogradError in backward where the second run saves other tensors than the first.
    """
    if not is_grad_enabled():
        return function(*args, **kwargs)
    run = _Run(function, args, kwargs, preserve_rng_state)
    with saved_tensors_hooks(run.save, run.get):
        return function(*args, **kwargs)
