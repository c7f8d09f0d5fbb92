"""Module: a part of a model that owns parameters, buffers and other modules.

Their values are plain instance attributes, found without a detour; the module keeps only the names, in the order in
which they were assigned. That order is the order of `parameters()`, of the state dict and of an optimizer's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from infinitrain import recording
from infinitrain.autograd import RemovableHandle, no_grad
from infinitrain.device import Device
from infinitrain.dtype import DType, parse
from infinitrain.errors import DTypeError
from infinitrain.nn import state
from infinitrain.nn.hooks import BackwardHook, ModuleHooks
from infinitrain.nn.parameter import Parameter, replace_memory
from infinitrain.tensor import Tensor

__all__ = ["Module"]

Names = dict[str, None]  # an ordered set


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(
        f"{type(self).__name__}: expected a method forward(self, ...), found none. Define what the module computes."
    )


class Module:
    """Subclass it, call `super().__init__()` first, assign parameters and modules, and define `forward`."""

    training: bool
    _parameters: Names
    _buffers: dict[str, bool]  # name: whether the state dict has it
    _modules: Names
    _hooks: ModuleHooks | None

    def __init__(self) -> None:
        put = object.__setattr__
        put(self, "training", True)
        put(self, "_parameters", {})
        put(self, "_buffers", {})
        put(self, "_modules", {})
        put(self, "_hooks", None)

    forward: Callable[..., Any] = _no_forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run forward between the module's hooks."""
        if recording.listener is not None:
            recording.listener.called(self)
        if self._hooks is None:
            return self.forward(*args, **kwargs)
        return self._hooks.call(self, args, kwargs)

    def _recorded_state(self) -> object:
        """Give what a recorded program takes as given: the mode, the hooks, and where the own tensors are."""
        own = [self.__dict__[name] for name in (*self._parameters, *self._buffers)]
        return self.training, self._hooks, [None if tensor is None else tensor.buffer for tensor in own]

    # ---- registration ----

    def __setattr__(self, name: str, value: Any) -> None:
        kinds = self.__dict__
        if isinstance(value, Parameter | Module):
            if "_modules" not in kinds:
                raise AttributeError(
                    f"{type(self).__name__}.{name}: expected super().__init__() to have run before a parameter or "
                    "module is assigned. Call it first."
                )
            self._enter("_parameters" if isinstance(value, Parameter) else "_modules", name)
        elif value is not None and "_parameters" in kinds:
            if name in self._parameters:
                raise TypeError(
                    f"{type(self).__name__}.{name}: expected a Parameter or None, found {type(value).__name__}"
                )
            if name in self._modules or (name in self._buffers and not isinstance(value, Tensor)):
                kind = "Module" if name in self._modules else "Tensor"
                raise TypeError(
                    f"{type(self).__name__}.{name}: expected a {kind} or None, found {type(value).__name__}"
                )
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        for names in (self._parameters, self._buffers, self._modules):
            names.pop(name, None)

    def _enter(self, kind: str, name: str) -> None:
        """Note a name under one kind and under no other."""
        for other in ("_parameters", "_buffers", "_modules"):
            if other != kind:
                self.__dict__[other].pop(name, None)
        self.__dict__[kind].setdefault(name, None)

    def _check_name(self, name: str) -> None:
        if not isinstance(name, str) or not name or "." in name:
            raise KeyError(f"{type(self).__name__}: expected a name that is not empty and has no dot, found {name!r}")
        registered = name in self._parameters or name in self._buffers or name in self._modules
        if not registered and hasattr(self, name):
            raise KeyError(f"{type(self).__name__}: attribute {name!r} exists already and is not of that kind")

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Add a parameter, or the name of one that is absent (None). Raises: KeyError for a name in use."""
        self._check_name(name)
        self._enter("_parameters", name)
        self.__dict__[name] = parameter

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that moves with the module and is not trained; `persistent` puts it into the state dict.

        Raises: KeyError for a name in use.
        """
        self._check_name(name)
        self._enter("_buffers", name)
        self._buffers[name] = persistent
        self.__dict__[name] = tensor

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child under a name that need not be an identifier. Raises: KeyError for a name in use."""
        self._check_name(name)
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__}.{name}: expected a Module or None, found {type(module).__name__}")
        self._enter("_modules", name)
        self.__dict__[name] = module

    # ---- walking, parents before children, in the order of registration ----

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Give the direct children, each once."""
        seen: set[int] = set()
        for name in self._modules:
            child = self.__dict__[name]
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Module]:
        """Give the direct children without their names."""
        for _, child in self.named_children():
            yield child

    def named_modules(self, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """Give this module and all below it with their dotted names; a shared module once, under its first name."""
        seen: set[int] = set()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if remove_duplicate:
                if id(module) in seen:
                    continue
                seen.add(id(module))
            yield path, module
            for name in reversed(module._modules):
                child = module.__dict__[name]
                if child is not None:
                    stack.append((f"{path}.{name}" if path else name, child))

    def modules(self) -> Iterator[Module]:
        """Give this module and all below it."""
        for _, module in self.named_modules():
            yield module

    def _named(self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix, remove_duplicate) if recurse else iter([(prefix, self)])
        for path, module in modules:
            for name in module.__dict__[kind]:
                value = module.__dict__[name]
                if value is None or (remove_duplicate and id(value) in seen):
                    continue
                seen.add(id(value))
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Give parameters with their dotted names; a shared one once, under its first name."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Give the parameters, shared ones once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Give buffers with their dotted names, those that are not persistent included."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Give the buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """Find a module by its dotted name; "" is this one. Raises: AttributeError if there is none."""
        found: Module = self
        for name in target.split(".") if target else []:
            child = found.__dict__.get(name) if name in found._modules else None
            if child is None:
                raise AttributeError(
                    f"{type(self).__name__}: expected a module named {target!r}, found none: "
                    f"{type(found).__name__} has no {name!r}"
                )
            found = child
        return found

    def get_parameter(self, target: str) -> Parameter:
        """Find a parameter by its dotted name. Raises: AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        found = owner.__dict__.get(name) if name in owner._parameters else None
        if found is None:
            raise AttributeError(f"{type(self).__name__}: expected a parameter named {target!r}, found none")
        parameter: Parameter = found
        return parameter

    # ---- state ----

    def state_dict(self, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """Give parameters and persistent buffers by name; tensors share the module's memory.

        A shared parameter stands under each of its names. With `keep_vars` the values are the parameters
        themselves, else detached aliases.
        """
        return {name: value if keep_vars else value.detach() for name, value in state.entries(self, prefix).items()}

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> state.IncompatibleKeys:
        """Copy values by name into parameters and persistent buffers; nothing is changed if anything does not fit.

        Values are converted to the dtype and device that the module has. Shared parameters stay shared.

        Args:
            state_dict: Tensors by name.
            strict: Whether names that are missing or not expected are an error.

        Returns: The missing and the unexpected names.
        Raises: CheckpointError that lists every name missing, not expected, of another shape (with both shapes),
            or shared here and given two different values.
        """
        return state.load(self, state_dict, strict)

    # ---- changing all at once ----

    def apply(self, function: Callable[[Module], Any]) -> Self:
        """Call `function` on every module below, children first, then on this one."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set training mode (dropout acts) for this module and all below."""
        for module in self.modules():
            object.__setattr__(module, "training", bool(mode))
        return self

    def eval(self) -> Self:
        """Set evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients are collected, for all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop all gradients, or fill them with zeros if `set_to_none` is false."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    def to(
        self, *targets: Device | str | DType, device: Device | str | None = None, dtype: DType | None = None
    ) -> Self:
        """Move parameters, their gradients and buffers to a device, and the floating-point ones to a dtype.

        Parameters stay the same objects: shared ones stay shared, optimizers keep holding them, `requires_grad` stays.

        Raises: DTypeError for a dtype that is not floating-point.
        """
        for target in targets:
            if isinstance(target, DType):
                dtype = target
            elif isinstance(target, str) and _is_dtype(target):
                dtype = parse(target)
            else:
                device = target
        if dtype is not None and not dtype.is_floating_point:
            raise DTypeError(f"{type(self).__name__}.to: expected a floating-point dtype, found {dtype.name}")
        place = None if device is None else Device(device)

        def convert(tensor: Tensor) -> Tensor:
            if place is not None and tensor.device != place:
                tensor = tensor.to(place)
            return tensor.to(dtype) if dtype is not None and tensor.dtype.is_floating_point else tensor

        self._convert(convert)
        return self

    def _convert(self, convert: Callable[[Tensor], Tensor]) -> None:
        with no_grad():
            for parameter in self.parameters():
                grad = parameter.grad
                parameter.grad = None
                replace_memory(parameter, convert(parameter.detach()))
                parameter.grad = None if grad is None else convert(grad)
            converted: dict[int, Tensor] = {}
            for module in self.modules():
                for name in module._buffers:
                    buffer = module.__dict__[name]
                    if buffer is not None:
                        if id(buffer) not in converted:
                            converted[id(buffer)] = convert(buffer)
                        module.__dict__[name] = converted[id(buffer)]

    # ---- hooks ----

    def _own_hooks(self) -> ModuleHooks:
        if self._hooks is None:
            object.__setattr__(self, "_hooks", ModuleHooks())
        hooks = self._hooks
        assert hooks is not None
        return hooks

    def register_forward_pre_hook(self, hook: Callable[[Any, tuple[Any, ...]], Any]) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns, unless None, takes the place of the arguments."""
        return RemovableHandle(self._own_hooks().forward_pre, hook)

    def register_forward_hook(self, hook: Callable[[Any, tuple[Any, ...], Any], Any]) -> RemovableHandle:
        """Call `hook(module, args, result)` after forward; what it returns, unless None, takes the result's place."""
        return RemovableHandle(self._own_hooks().forward, hook)

    def register_full_backward_hook(self, hook: BackwardHook) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are known.

        Both are tuples with an entry for each positional tensor argument and each output. What it returns, unless
        None, takes the place of `grad_input`. Where no input requires a gradient, the entries of `grad_input` are
        None and the hook runs when the gradients of the outputs are known.
        """
        return RemovableHandle(self._own_hooks().backward, hook)

    # ---- text ----

    def extra_repr(self) -> str:
        """Give the settings that `repr` shows in the parentheses."""
        return ""

    def __repr__(self) -> str:
        lines = [
            f"({name}): " + repr(self.__dict__[name]).replace("\n", "\n  ")
            for name in self._modules
            if self.__dict__[name] is not None
        ]
        extra = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({extra})"
        body = "\n  ".join([extra, *lines] if extra else lines)
        return f"{type(self).__name__}(\n  {body}\n)"


def clear_grad(parameter: Tensor, set_to_none: bool) -> None:
    """Drop a parameter's gradient, or fill it with zeros."""
    if set_to_none:
        parameter.grad = None
        return
    grad = parameter.grad
    if grad is not None:
        with no_grad():
            grad.detach_().zero_()


def _is_dtype(name: str) -> bool:
    try:
        parse(name)
    except DTypeError:
        return False
    return True
