"""Hooks of a module: called before and after forward, and when its gradients pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from infinitrain.autograd import Function, RemovableHandle
from infinitrain.errors import AutogradError
from infinitrain.tensor import Tensor

if TYPE_CHECKING:
    from infinitrain.nn.module import Module

#: One gradient for each tensor; None where there is none.
Grads = tuple[Tensor | None, ...]
BackwardHook = Callable[["Module", Grads, Grads], "Grads | Tensor | None"]


class ModuleHooks:
    """The hooks of one module, each kind called in the order in which it was added."""

    def __init__(self) -> None:
        self.forward_pre = RemovableHandle.Hooks()
        self.forward = RemovableHandle.Hooks()
        self.backward = RemovableHandle.Hooks()

    def call(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run `module.forward` between its hooks."""
        for hook in list(self.forward_pre.values()):
            replaced = hook(module, args)
            if replaced is not None:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
        crossing = _Crossing(module, list(self.backward.values())) if self.backward else None
        if crossing is not None:
            args = crossing.enter(args)
        result = module.forward(*args, **kwargs)
        for hook in list(self.forward.values()):
            replaced = hook(module, args, result)
            if replaced is not None:
                result = replaced
        return result if crossing is None else crossing.leave(result)


class _Crossing:
    """One call of a module that has backward hooks: sees the gradients of its outputs and of its inputs."""

    def __init__(self, module: Module, hooks: list[BackwardHook]) -> None:
        self.module = module
        self.hooks = hooks
        self.grad_output: Grads = ()
        self.inputs = 0
        self.through_inputs = False

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put the inputs behind a boundary that calls the hooks."""
        places = [place for place, arg in enumerate(args) if isinstance(arg, Tensor)]
        self.inputs = len(places)
        self.through_inputs = any(args[place].requires_grad for place in places)
        if not self.through_inputs:
            return args
        passed = _Boundary.apply(self._inputs_backward, *[args[place] for place in places])
        replaced = list(args)
        for place, tensor in zip(places, passed, strict=True):
            replaced[place] = tensor
        return tuple(replaced)

    def leave(self, result: Any) -> Any:
        """Put the outputs behind a boundary that notes their gradients."""
        outputs = result if isinstance(result, tuple) else (result,)
        places = [place for place, out in enumerate(outputs) if isinstance(out, Tensor)]
        if not any(outputs[place].requires_grad for place in places):
            return result
        passed = _Boundary.apply(self._outputs_backward, *[outputs[place] for place in places])
        replaced = list(outputs)
        for place, tensor in zip(places, passed, strict=True):
            replaced[place] = tensor
        return tuple(replaced) if isinstance(result, tuple) else replaced[0]

    def _outputs_backward(self, grads: Grads) -> Grads:
        self.grad_output = grads
        if not self.through_inputs:  # nothing beyond the module waits for a gradient: the hooks run here
            self._run((None,) * self.inputs)
        return grads

    def _inputs_backward(self, grads: Grads) -> Grads:
        result = self._run(grads)
        self.grad_output = ()
        return result

    def _run(self, grads: Grads) -> Grads:
        for hook in self.hooks:
            replaced = hook(self.module, grads, self.grad_output)
            if replaced is not None:
                given = replaced if isinstance(replaced, tuple) else (replaced,)
                if len(given) != len(grads):
                    raise AutogradError(
                        f"backward hook of {type(self.module).__name__}: expected {len(grads)} gradients of inputs, "
                        f"found {len(given)}"
                    )
                grads = given
        return grads


class _Boundary(Function):
    """Passes tensors on unchanged and lets `seen` look at, and replace, their gradients."""

    materialize = False
    seen: Callable[[Grads], Grads]

    @staticmethod
    def forward(ctx: _Boundary, seen: Callable[[Grads], Grads], *tensors: Tensor) -> tuple[Tensor, ...]:
        """Give aliases of the tensors."""
        ctx.seen = seen
        return tensors

    @staticmethod
    def backward(ctx: _Boundary, *grads: Tensor | None) -> tuple[Any, ...]:
        """Give the gradients as `seen` leaves them."""
        return (None, *ctx.seen(grads))
