"""Models by name."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import ConfigError
from infinitrain.models.gpt2 import GPT2, GPT2Config
from infinitrain.random import Generator

__all__ = ["GPT2", "MODELS", "GPT2Config", "create", "model_config"]

#: Sizes by name: the published four, and small ones that a CPU trains in minutes and in seconds.
MODELS: dict[str, GPT2Config] = {
    "gpt2": GPT2Config(),
    "gpt2-medium": GPT2Config(n_layer=24, n_head=16, n_embd=1024),
    "gpt2-large": GPT2Config(n_layer=36, n_head=20, n_embd=1280),
    "gpt2-xl": GPT2Config(n_layer=48, n_head=25, n_embd=1600),
    "gpt2-mini": GPT2Config(block_size=256, n_layer=4, n_head=4, n_embd=128),
    "gpt2-tiny": GPT2Config(block_size=64, n_layer=2, n_head=2, n_embd=32),
}


def model_config(name: str, **changes: Any) -> GPT2Config:
    """Give the sizes of a named model, with changes.

    Raises: ConfigError for an unknown model (all names are listed) or an unknown setting.
    """
    if name not in MODELS:
        raise ConfigError(f"model {name!r} is unknown: expected one of {', '.join(MODELS)}")
    known = [field.name for field in fields(GPT2Config)]
    unknown = [change for change in changes if change not in known]
    if unknown:
        raise ConfigError(f"model {name!r}: expected settings among {', '.join(known)}, found {', '.join(unknown)}")
    return replace(MODELS[name], **changes)


def create(
    name: str,
    device: Device | str | None = None,
    dtype: DType | None = None,
    generator: Generator | None = None,
    **changes: Any,
) -> GPT2:
    """Make a named model with first values: `create("gpt2-mini", device="fake", dropout=0.1)`.

    Raises: ConfigError as `model_config`.
    """
    return GPT2(model_config(name, **changes), device, dtype, generator)
