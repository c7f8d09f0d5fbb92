"""Optimizer: parameter groups, the state of each parameter, and how both are saved and loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from infinitrain import recording
from infinitrain.autograd import enable_grad, no_grad
from infinitrain.device import Device
from infinitrain.errors import CheckpointError, ConfigError, InfinitrainError, ShapeError, UndefinedState
from infinitrain.nn.module import clear_grad
from infinitrain.optim.cells import Cells
from infinitrain.tensor import Tensor

__all__ = ["Optimizer"]

#: Tensors, (name, tensor) pairs, or dictionaries with "params" and settings of their own.
Parameters = Iterable[Any]
Group = dict[str, Any]
State = dict[str, Any]
_LISTS = ("params", "param_names")


class Optimizer:
    """What all optimizers share. A subclass gives its default settings and updates one parameter at a time.

    Args:
        params: Tensors; or pairs as `named_parameters()` gives them, which keep their names; or one dictionary for
            each group, with "params" and any setting that differs.
        defaults: The settings of groups that do not say otherwise.

    Raises: ConfigError for no parameters at all, a parameter twice, a tensor that is not a leaf, or settings out of
        range.
    """

    param_groups: list[Group]
    #: Of each parameter that was updated, in no order.
    state: dict[Tensor, State]

    def __init__(self, params: Parameters, defaults: Mapping[str, Any]) -> None:
        self.defaults = dict(defaults)
        self.param_groups = []
        self.state = {}
        self._cells = Cells()
        self._torn = ""  # what is wrong after a step that failed half-way
        self._loads = 0  # a recorded step holds the state from before a load
        given: list[Any] = [params] if isinstance(params, Tensor | Mapping) else list(params)
        if not given:
            raise ConfigError(f"{type(self).__name__}: expected parameters, found none")
        groups: list[Any] = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)

    # ---- what a subclass writes ----

    def _check_group(self, group: Group) -> None:
        """Raise ConfigError for settings out of range."""
        raise NotImplementedError

    #: Whether a parameter changes by one launch, whole or not at all.
    _one_launch = False

    def _update(self, parameter: Tensor, grad: Tensor, group: Group, index: int, scale: Tensor | None) -> None:
        """Change one parameter; `scale` (0-d, on its device) multiplies the gradient."""
        raise NotImplementedError

    def _new_state(self, parameter: Tensor, group: Group) -> State:
        """Give the state of a parameter before its first update, all tensors in the dtypes they keep."""
        raise NotImplementedError

    # ---- groups ----

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Add parameters with settings of their own.

        Raises: ConfigError as the constructor.
        """
        given = group["params"]
        entries = [given] if isinstance(given, Tensor) else list(given)
        names = [entry[0] for entry in entries if isinstance(entry, tuple)]
        parameters = [entry[1] if isinstance(entry, tuple) else entry for entry in entries]
        if names and len(names) != len(entries):
            raise ConfigError(f"{type(self).__name__}: expected all parameters named or none, found both")
        new: Group = {**self.defaults, **group, "params": parameters}
        if names:
            new["param_names"] = names
        unknown = sorted(set(new) - {*self.defaults, *_LISTS, "initial_lr"})
        if unknown:
            raise ConfigError(
                f"{type(self).__name__}: expected settings {', '.join(self.defaults)}, found {', '.join(unknown)}"
            )
        known = {id(parameter) for _, _, parameter in self._walk()}
        for position, parameter in enumerate(parameters):
            what = names[position] if names else f"parameter {position}"
            if not isinstance(parameter, Tensor):
                raise ConfigError(f"{type(self).__name__}: expected tensors, found {type(parameter).__name__}")
            if not parameter.is_leaf:
                raise ConfigError(f"{type(self).__name__}: expected leaves, found {what}, the result of an operation")
            if id(parameter) in known:
                raise ConfigError(f"{type(self).__name__}: expected each parameter once, found {what} twice")
            known.add(id(parameter))
        self._check_group(new)
        self.param_groups.append(new)

    def _walk(self) -> Iterator[tuple[int, Group, Tensor]]:
        """Give (group number, group, parameter) in order."""
        for index, group in enumerate(self.param_groups):
            for parameter in group["params"]:
                yield index, group, parameter

    # ---- stepping ----

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop all gradients, or fill them with zeros if `set_to_none` is false."""
        for _, _, parameter in self._walk():
            clear_grad(parameter, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None, *, grad_scale: Tensor | None = None) -> Any:
        """Update every parameter that has a gradient.

        Args:
            closure: Computes the loss and its gradients first; what it gives is returned.
            grad_scale: A 0-d float32 tensor that multiplies every gradient, as `clip_coefficient` gives. It is not
                read by the host.

        Raises: UndefinedState after a step that changed some parameters and failed at another, until a state is
            loaded. After one that failed before it changed anything, the step may be repeated.
        """
        if self._torn:
            raise UndefinedState(f"{type(self).__name__}: {self._torn}: expected a checkpoint to be loaded first")
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if grad_scale is not None and grad_scale.numel() != 1:
            raise ShapeError(f"step: expected a grad_scale of one element, found shape {grad_scale.shape}")
        scales: dict[Device, Tensor | None] = {}
        if recording.listener is not None:
            recording.listener.guard(self._fixed_settings)
        updated = 0
        try:
            with no_grad():
                for index, group, parameter in self._walk():
                    grad = parameter.grad
                    if grad is None:
                        continue
                    device = parameter.device
                    if device not in scales:
                        scales[device] = None if grad_scale is None else grad_scale.detach().reshape(()).to(device)
                    self._update(parameter, grad, group, index, scales[device])
                    updated += 1
                    parameter._mark_written(type(self).__name__)
        except InfinitrainError as error:
            if updated or not self._one_launch:
                self._torn = f"a step failed after {updated} of its parameters were updated"
                text = f"{error}. {type(self).__name__}: {self._torn}: load a checkpoint before the next"
                error.args = (text, *error.args[1:])
            raise
        return loss

    def _fixed_settings(self) -> object:
        """Give what a recorded step has taken from the groups for good: all but the learning rate, which it reads."""
        fixed = {"lr", "initial_lr", *_LISTS}
        settings = [{name: value for name, value in group.items() if name not in fixed} for group in self.param_groups]
        return self._loads, [len(group["params"]) for group in self.param_groups], settings

    def _state_of(self, parameter: Tensor, group: Group) -> State:
        state = self.state.get(parameter)
        if state is None:
            state = self.state[parameter] = self._new_state(parameter, group)
        return state

    # ---- saving and loading ----

    def state_dict(self) -> dict[str, Any]:
        """Give settings and state; parameters are numbered in order through all groups.

        Returns: {"state": {number: {name: tensor or number}}, "param_groups": [{..., "params": [numbers]}]}. Tensors
            share the optimizer's memory.
        """
        numbers: dict[Tensor, int] = {}
        for number, (_, _, parameter) in enumerate(self._walk()):
            numbers[parameter] = number
        groups = []
        for group in self.param_groups:
            saved = {name: value for name, value in group.items() if name not in _LISTS}
            if "param_names" in group:
                saved["param_names"] = list(group["param_names"])
            groups.append({**saved, "params": [numbers[parameter] for parameter in group["params"]]})
        state = {numbers[parameter]: dict(held) for parameter, held in self.state.items()}
        return {"state": dict(sorted(state.items())), "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take settings and state; nothing is changed if anything does not fit.

        State is copied, and converted to the device of each parameter.

        Raises: CheckpointError for another number of groups or parameters, other names where both have names, other
            settings than this optimizer has, or state whose names or shapes do not fit the parameters.
        """
        groups, states = state_dict["param_groups"], state_dict["state"]
        self._check_groups(groups)
        flat = [(group, parameter) for _, group, parameter in self._walk()]
        numbers = [number for group in groups for number in group["params"]]
        loaded: dict[Tensor, State] = {}
        for number, (group, parameter) in zip(numbers, flat, strict=True):
            if number in states:
                loaded[parameter] = self._fit_state(states[number], parameter, group, number)
        unknown = sorted(set(states) - set(numbers))
        if unknown:
            raise CheckpointError(f"{type(self).__name__}: state for parameters {unknown}, which no group lists")
        settings = [{name: value for name, value in saved.items() if name not in _LISTS} for saved in groups]
        for setting in settings:
            self._check_group(setting)
        for group, setting in zip(self.param_groups, settings, strict=True):
            group.update(setting)
        self.state = loaded
        self._torn = ""
        self._loads += 1

    def _check_groups(self, groups: list[Group]) -> None:
        kind = type(self).__name__
        sizes = [len(group["params"]) for group in self.param_groups]
        found = [len(group["params"]) for group in groups]
        if sizes != found:
            raise CheckpointError(f"{kind}: expected groups of {sizes} parameters, found {found}")
        for index, (group, saved) in enumerate(zip(self.param_groups, groups, strict=True)):
            expected = set(self.defaults)
            settings = set(saved) - {*_LISTS, "initial_lr"}
            if settings != expected:
                raise CheckpointError(
                    f"{kind}: expected the settings {sorted(expected)} in group {index}, found {sorted(settings)}. "
                    "Was it saved by another optimizer?"
                )
            pairs = zip(group.get("param_names", ()), saved.get("param_names", ()), strict=False)
            for mine, theirs in pairs:
                if mine != theirs:
                    raise CheckpointError(f"{kind}: expected parameter {mine!r} in group {index}, found {theirs!r}")

    def _fit_state(self, saved: State, parameter: Tensor, group: Group, number: int) -> State:
        """Copy the saved state of one parameter into a new one, name by name."""
        with no_grad():
            fresh = self._new_state(parameter, group)
            if set(saved) != set(fresh):
                raise CheckpointError(
                    f"{type(self).__name__}: expected state {sorted(fresh)} for parameter {number}, "
                    f"found {sorted(saved)}"
                )
            for name, value in saved.items():
                target = fresh[name]
                if not isinstance(target, Tensor):
                    fresh[name] = type(target)(value)
                elif not isinstance(value, Tensor) or value.shape != target.shape:
                    found = value.shape if isinstance(value, Tensor) else type(value).__name__
                    raise CheckpointError(
                        f"{type(self).__name__}: expected {name} of shape {target.shape} for parameter {number}, "
                        f"found {found}"
                    )
                else:
                    target.copy_(value)
        return fresh

    def __repr__(self) -> str:
        lines = [
            f"group {index}: " + ", ".join(f"{name}={value}" for name, value in group.items() if name not in _LISTS)
            for index, group in enumerate(self.param_groups)
        ]
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


def check_range(kind: str, name: str, value: float, low: float, high: float | None = None) -> None:
    """Raise ConfigError unless low <= value (< high, if given); NaN is never in range."""
    if not value >= low or (high is not None and not value < high):
        bound = f"at least {low}" if high is None else f"in [{low}, {high})"
        raise ConfigError(f"{kind}: expected {name} {bound}, found {value}")
