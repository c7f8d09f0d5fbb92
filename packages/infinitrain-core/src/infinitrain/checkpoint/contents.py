"""What one checkpoint holds, how it is written, and how a run takes it up again.

model.safetensors       parameters and buffers; a shared tensor once, its other names in the metadata
optimizer.safetensors   the optimizer's tensors, as PARAMETER.STATE
trainer.json            everything else, and size and CRC-32 of the two files
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import infinitrain
from infinitrain import random
from infinitrain.autograd import no_grad
from infinitrain.checkpoint.directory import STATE_FILE, atomic_directory, find, name_of, prune
from infinitrain.checkpoint.tensorfile import TensorFile, checksum, write
from infinitrain.copy import from_numpy
from infinitrain.errors import CheckpointError
from infinitrain.nn import Module
from infinitrain.nn.state import entries, ties
from infinitrain.optim import LRScheduler, Optimizer
from infinitrain.tensor import Tensor

__all__ = ["TrainerState", "load_checkpoint", "read_state", "save_checkpoint"]

MODEL_FILE = "model.safetensors"
OPTIMIZER_FILE = "optimizer.safetensors"
FORMAT = "infinitrain-checkpoint"
VERSION = 1


@dataclass(frozen=True, slots=True)
class TrainerState:
    """What a checkpoint says beside the tensors.

    Attributes:
        path: The checkpoint's directory.
        step: Optimizer steps done.
        consumed_tokens: Training tokens used up.
        config: The model's settings.
        data: The data position, as the trainer gave it.
        extra: What else the trainer gave.
        raw: All of trainer.json.
    """

    path: Path
    step: int
    consumed_tokens: int
    config: dict[str, Any]
    data: Any
    extra: Any
    raw: dict[str, Any] = field(repr=False)


# ---- saving ----


def save_checkpoint(
    root: Path | str,
    *,
    model: Module,
    step: int,
    optimizer: Optimizer | None = None,
    schedule: LRScheduler | None = None,
    consumed_tokens: int = 0,
    config: Mapping[str, Any] | None = None,
    data: Any = None,
    extra: Any = None,
    keep: int | None = None,
) -> Path:
    """Write the checkpoint `root/step_...`, whole or not at all, and give its path.

    Args:
        root: A directory of checkpoints; made if absent.
        model: Whose parameters and persistent buffers are saved.
        step: Optimizer steps done.
        optimizer: Saved with the names of the model's parameters.
        schedule: Its state dict is saved.
        consumed_tokens: Training tokens used up.
        config: The model's settings; those of `model.config.as_dict()` if None and the model has them.
        data: The data position, anything that JSON holds.
        extra: Anything else that JSON holds.
        keep: How many checkpoints to leave in `root`, the newest (and this one); None: all.

    Raises: OSError for a full or unwritable disk; older checkpoints are then as they were.
    """
    root = Path(root)
    if config is None and hasattr(model, "config"):
        config = model.config.as_dict()
    shared = ties(model)
    tensors = {name: value for name, value in entries(model).items() if name not in shared}
    saved_optimizer, optimizer_tensors = _optimizer_contents(model, optimizer)
    with no_grad(), atomic_directory(root, name_of(step)) as aside:
        files = {MODEL_FILE: write(aside / MODEL_FILE, tensors, {"format": "pt", **shared})}
        if optimizer is not None:
            files[OPTIMIZER_FILE] = write(aside / OPTIMIZER_FILE, optimizer_tensors, {"format": "pt"})
        state = {
            "format": FORMAT,
            "version": VERSION,
            "step": step,
            "consumed_tokens": consumed_tokens,
            "config": dict(config or {}),
            "optimizer": saved_optimizer,
            "schedule": None if schedule is None else schedule.state_dict(),
            "rng": random.get_rng_state(),
            "data": data,
            "extra": extra,
            "provider": _provider_of(model),
            "versions": {
                "infinitrain": infinitrain.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
            "files": files,
        }
        _write_json(aside / STATE_FILE, state)
    path = root / name_of(step)
    if keep is not None:
        prune(root, keep, protect=path)
    return path


def _write_json(path: Path, state: dict[str, Any]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(state, indent=1, allow_nan=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _provider_of(model: Module) -> dict[str, str]:
    parameter = next(model.parameters(), None)
    if parameter is None:
        return {}
    provider = parameter.device.provider
    return {"device": str(parameter.device), "name": provider.name, "version": provider.version}


def _parameter_names(model: Module, optimizer: Optimizer) -> list[list[str]]:
    """Name the parameters of each group as the model does; those of no model by number."""
    known = {id(parameter): name for name, parameter in model.named_parameters()}
    names: list[list[str]] = []
    number = 0
    for group in optimizer.param_groups:
        own = group.get("param_names") or [None] * len(group["params"])
        row = []
        for parameter, given in zip(group["params"], own, strict=True):
            row.append(known.get(id(parameter)) or given or f"parameter_{number}")
            number += 1
        names.append(row)
    return names


def _optimizer_contents(model: Module, optimizer: Optimizer | None) -> tuple[Any, dict[str, Tensor]]:
    """Split an optimizer's state into what JSON holds and tensors by name."""
    if optimizer is None:
        return None, {}
    names = _parameter_names(model, optimizer)
    flat = [name for row in names for name in row]
    state_dict = optimizer.state_dict()
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, dict[str, Any]] = {}
    for number, held in state_dict["state"].items():
        plain = numbers[flat[number]] = {}
        for key, value in held.items():
            if isinstance(value, Tensor):
                tensors[f"{flat[number]}.{key}"] = value
                plain[key] = None
            else:
                plain[key] = value
    groups = [
        {**{key: value for key, value in group.items() if key != "param_names"}, "params": row}
        for group, row in zip(state_dict["param_groups"], names, strict=True)
    ]
    return {"kind": type(optimizer).__name__, "param_groups": groups, "state": numbers}, tensors


# ---- loading ----


def read_state(path: Path | str) -> TrainerState:
    """Read trainer.json of a checkpoint, or of the latest one in a directory.

    Raises: CheckpointError naming the file and what is wrong with it.
    """
    directory = find(path)
    file = directory / STATE_FILE
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{file}: expected JSON, found damage: {error}") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        found = raw.get("format") if isinstance(raw, dict) else type(raw).__name__
        raise CheckpointError(f"{file}: expected format {FORMAT!r}, found {found!r}")
    if raw.get("version") != VERSION:
        raise CheckpointError(f"{file}: expected version {VERSION}, found {raw.get('version')!r}")
    kinds = {"step": int, "consumed_tokens": int, "config": dict, "rng": dict, "files": dict}
    for name, kind in kinds.items():
        if type(raw.get(name)) is not kind:
            raise CheckpointError(f"{file}: {name}: expected a value of {kind.__name__}, found {raw.get(name)!r:.80}")
    return TrainerState(
        directory, raw["step"], raw["consumed_tokens"], raw["config"], raw.get("data"), raw.get("extra"), raw
    )


def load_checkpoint(
    path: Path | str,
    *,
    model: Module | None = None,
    optimizer: Optimizer | None = None,
    schedule: LRScheduler | None = None,
    config: Mapping[str, Any] | None = None,
    restore_rng: bool = True,
) -> TrainerState:
    """Take up a checkpoint, on whatever devices the model's parameters are; everything is checked before a change.

    Args:
        path: A checkpoint, or a directory whose latest one is meant.
        model: Given its values; names, shapes and dtypes must be those saved.
        optimizer: Given its state; parameters are found by the model's names for them, in any order.
        schedule: Given its state.
        config: Settings that must equal those saved; those of `model.config.as_dict()` if None.
        restore_rng: Whether the default random generator goes on where it was.

    Raises: CheckpointError that names file, tensor or setting, and both values.
    """
    state = read_state(path)
    if config is None and model is not None and hasattr(model, "config"):
        config = model.config.as_dict()
    _check_config(state, config)
    with ExitStack() as stack:
        model_file = optimizer_file = None
        if model is not None:
            model_file = stack.enter_context(_open(state, MODEL_FILE))
            _check_model(model_file, model)
        if optimizer is not None:
            if model is None:
                raise CheckpointError("load_checkpoint: expected the model together with its optimizer, found none")
            _check_kind(state, "optimizer", type(optimizer).__name__)
            optimizer_file = stack.enter_context(_open(state, OPTIMIZER_FILE))
        if schedule is not None:
            _check_kind(state, "schedule", type(schedule).__name__)
        if optimizer is not None and model is not None and optimizer_file is not None:
            optimizer.load_state_dict(_optimizer_state(state, optimizer_file, model, optimizer))
        if schedule is not None:
            schedule.load_state_dict(state.raw["schedule"])
        if model is not None and model_file is not None:
            _fill_model(model_file, model)
    if restore_rng:
        random.set_rng_state(state.raw["rng"])
    return state


def _check_config(state: TrainerState, config: Mapping[str, Any] | None) -> None:
    if config is None:
        return
    saved = state.config
    absent = object()
    wrong = [
        f"{name}: saved {saved.get(name, 'nothing')!r}, now {config.get(name, 'nothing')!r}"
        for name in (*saved, *(name for name in config if name not in saved))
        if saved.get(name, absent) != config.get(name, absent)
    ]
    if wrong:
        raise CheckpointError(f"{state.path}: expected the settings that were saved, found others: {'; '.join(wrong)}")


def _check_kind(state: TrainerState, what: str, kind: str) -> None:
    saved = state.raw.get(what)
    if not isinstance(saved, dict) or saved.get("kind") != kind:
        found = saved.get("kind") if isinstance(saved, dict) else "none"
        raise CheckpointError(f"{state.path}: {what}: expected {kind}, found {found}")


def _open(state: TrainerState, name: str) -> TensorFile:
    """Open a tensor file after comparing all of it with what trainer.json says.

    The header's own mistakes come first: their messages say more than a checksum.
    """
    path = state.path / name
    if not path.is_file():
        raise CheckpointError(f"{path}: expected a file, found none")
    opened = TensorFile(path)
    expected = state.raw["files"].get(name)
    found = checksum(path)
    if expected != found:
        opened.__exit__()
        raise CheckpointError(f"{path}: expected {expected} as trainer.json says, found {found}: the file is damaged")
    return opened


def _check_model(file: TensorFile, model: Module) -> None:
    own = entries(model)
    shared = ties(model)
    problems = []
    missing = []
    for name, target in own.items():
        source = _source(file, name)
        entry = file.entries.get(source)
        if entry is None:
            missing.append(name)
        elif entry.shape != target.shape:
            problems.append(f"{name}: expected shape {target.shape}, found {entry.shape}")
        elif entry.dtype is not target.dtype:
            problems.append(f"{name}: expected {target.dtype.name}, found {entry.dtype.name}")
        elif name in shared and not _same_values(file, source, _source(file, shared[name])):
            problems.append(f"{name} and {shared[name]}: expected one value, since the model shares them, found two")
    if missing:
        problems.append(f"missing tensors: {', '.join(missing)}")
    unexpected = [name for name in (*file.entries, *_aliases(file)) if name not in own]
    if unexpected:
        problems.append(f"unexpected tensors: {', '.join(unexpected)}")
    if problems:
        raise CheckpointError(f"{file.path}: does not fit {type(model).__name__}: {'; '.join(problems)}")


def _same_values(file: TensorFile, a: str, b: str) -> bool:
    """Tell whether two tensors of a file that one tensor of the model is to take are equal."""
    return a == b or b not in file.entries or np.array_equal(file.read(a), file.read(b))


def _aliases(file: TensorFile) -> dict[str, str]:
    """Give the further names of shared tensors: metadata whose value names a tensor of the file."""
    return {name: first for name, first in file.metadata.items() if first in file.entries and name not in file.entries}


def _source(file: TensorFile, name: str) -> str:
    return name if name in file.entries else _aliases(file).get(name, name)


def _fill_model(file: TensorFile, model: Module) -> None:
    shared = ties(model)
    with no_grad():
        for name, target in entries(model).items():
            if name not in shared:
                target.copy_(_to_device(file, _source(file, name), target))


def _to_device(file: TensorFile, name: str, like: Tensor) -> Tensor:
    value: Tensor = from_numpy(file.read(name), like.device, None, Tensor)
    return value


class _Lazy(Mapping[str, Any]):
    """The saved state of one parameter; its tensors are read from the file when they are asked for."""

    def __init__(self, file: TensorFile, name: str, plain: dict[str, Any], parameter: Tensor) -> None:
        self._file = file
        self._name = name
        self._plain = plain
        self._parameter = parameter

    def __getitem__(self, key: str) -> Any:
        value = self._plain[key]
        return _to_device(self._file, f"{self._name}.{key}", self._parameter) if value is None else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)


def _optimizer_state(state: TrainerState, file: TensorFile, model: Module, optimizer: Optimizer) -> dict[str, Any]:
    """Give the saved state in the order that the optimizer has its parameters in."""
    saved = state.raw["optimizer"]
    names = _parameter_names(model, optimizer)
    sizes = [len(row) for row in names]
    if [len(group["params"]) for group in saved["param_groups"]] != sizes:
        found = [len(group["params"]) for group in saved["param_groups"]]
        raise CheckpointError(f"{state.path}: optimizer: expected groups of {sizes} parameters, found {found}")
    groups = []
    held: dict[int, Any] = {}
    number = 0
    for row, group, own in zip(names, saved["param_groups"], optimizer.param_groups, strict=True):
        lacking, surplus = sorted(set(row) - set(group["params"])), sorted(set(group["params"]) - set(row))
        if lacking or surplus:
            raise CheckpointError(
                f"{state.path}: optimizer: expected the parameters {', '.join(lacking)}, found {', '.join(surplus)}"
            )
        groups.append({**group, "params": list(range(number, number + len(row)))})
        for name, parameter in zip(row, own["params"], strict=True):
            if name in saved["state"]:
                held[number] = _Lazy(file, name, saved["state"][name], parameter)
            number += 1
    return {"param_groups": groups, "state": held}
