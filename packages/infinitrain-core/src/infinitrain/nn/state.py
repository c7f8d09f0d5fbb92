"""What a module's state dict holds, and how one is loaded: everything is checked before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infinitrain.autograd import no_grad
from infinitrain.errors import CheckpointError
from infinitrain.tensor import Tensor

if TYPE_CHECKING:
    from infinitrain.nn.module import Module

__all__ = ["IncompatibleKeys", "entries", "load", "ties"]


class IncompatibleKeys(NamedTuple):
    """The names that a state dict lacked, and those that the module does not have."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def entries(module: Module, prefix: str = "") -> dict[str, Tensor]:
    """Give parameters and persistent buffers under every one of their names, parents before children."""
    found: dict[str, Tensor] = {}
    if prefix and not prefix.endswith("."):
        prefix += "."
    for path, part in module.named_modules(remove_duplicate=False):
        stem = f"{prefix}{path}." if path else prefix
        values = part.__dict__
        persistent = [name for name, kept in part._buffers.items() if kept]
        for name in (*part._parameters, *persistent):
            if values[name] is not None:
                found[stem + name] = values[name]
    return found


def ties(module: Module) -> dict[str, str]:
    """Map each further name of a shared tensor to its first name."""
    first: dict[int, str] = {}
    shared: dict[str, str] = {}
    for name, value in entries(module).items():
        if id(value) in first:
            shared[name] = first[id(value)]
        else:
            first[id(value)] = name
    return shared


def load(module: Module, state_dict: Mapping[str, Tensor], strict: bool) -> IncompatibleKeys:
    """Copy values by name; see `Module.load_state_dict`."""
    own = entries(module)
    shared = ties(module)
    missing = [name for name in own if name not in state_dict]
    unexpected = [name for name in state_dict if name not in own]
    problems = []
    if strict:
        if missing:
            problems.append(f"missing keys: {', '.join(missing)}")
        if unexpected:
            problems.append(f"unexpected keys: {', '.join(unexpected)}")
    for name, target in own.items():
        value = state_dict.get(name)
        if value is None:
            continue
        if value.shape != target.shape:
            problems.append(f"{name}: expected shape {target.shape}, found {value.shape}")
        elif name in shared and shared[name] in state_dict and not _equal(value, state_dict[shared[name]]):
            problems.append(
                f"{name} and {shared[name]}: expected one value, since the model shares them, found two different ones"
            )
    if problems:
        raise CheckpointError(f"load_state_dict of {type(module).__name__}: " + "; ".join(problems))
    with no_grad():
        for name, target in own.items():
            if name in state_dict and not (name in shared and shared[name] in state_dict):
                target.copy_(state_dict[name])
    return IncompatibleKeys(missing, unexpected)


def _equal(a: Tensor, b: Tensor) -> bool:
    """Tell whether two tensors hold the same values; reads them unless they are the same memory."""
    if a is b or (a.buffer is b.buffer and a.offset == b.offset and a.strides == b.strides and a.shape == b.shape):
        return True
    return a.shape == b.shape and bool(np.array_equal(a.detach().numpy(), b.detach().numpy()))
