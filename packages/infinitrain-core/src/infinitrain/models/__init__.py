"""Models by name."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import ConfigError
from infinitrain.models.decoder import Decoder, DecoderConfig
from infinitrain.models.gpt2 import GPT2, GPT2Config
from infinitrain.models.language_model import LanguageModel
from infinitrain.nn.functional import RopeScaling
from infinitrain.random import Generator

__all__ = [
    "GPT2",
    "MODELS",
    "Decoder",
    "DecoderConfig",
    "GPT2Config",
    "LanguageModel",
    "create",
    "family_of",
    "model_config",
]

Config = GPT2Config | DecoderConfig

#: Sizes by name: the published ones, and small ones that a CPU trains in minutes and in seconds. The small ones of the
#: llama3 and mixtral families have GPT-2's vocabulary, whose tokenizer comes with the package.
MODELS: dict[str, Config] = {
    "gpt2": GPT2Config(),
    "gpt2-medium": GPT2Config(n_layer=24, n_head=16, n_embd=1024),
    "gpt2-large": GPT2Config(n_layer=36, n_head=20, n_embd=1280),
    "gpt2-xl": GPT2Config(n_layer=48, n_head=25, n_embd=1600),
    "gpt2-mini": GPT2Config(block_size=256, n_layer=4, n_head=4, n_embd=128),
    "gpt2-tiny": GPT2Config(block_size=64, n_layer=2, n_head=2, n_embd=32),
    "llama3-8b": DecoderConfig(),
    "llama3.2-1b": DecoderConfig(
        block_size=131072,
        n_layer=16,
        n_embd=2048,
        ffn_size=8192,
        rope_scaling=RopeScaling(factor=32.0),
        tie_weights=True,
    ),
    "llama3-mini": DecoderConfig(
        50257, 256, n_layer=4, n_head=4, n_kv_head=2, n_embd=128, ffn_size=384, tie_weights=True
    ),
    "llama3-tiny": DecoderConfig(50257, 64, n_layer=2, n_head=2, n_kv_head=1, n_embd=32, ffn_size=96, tie_weights=True),
    "mixtral-8x7b": DecoderConfig(32000, 32768, rope_theta=1e6, n_expert=8),
    "mixtral-mini": DecoderConfig(
        50257, 256, n_layer=4, n_head=4, n_kv_head=2, n_embd=128, ffn_size=192, tie_weights=True, n_expert=4
    ),
    "mixtral-tiny": DecoderConfig(
        50257, 64, n_layer=2, n_head=2, n_kv_head=1, n_embd=32, ffn_size=48, tie_weights=True, n_expert=4
    ),
}


def model_config(name: str, **changes: Any) -> Config:
    """Give the sizes of a named model, with changes.

    Raises: ConfigError for an unknown model (all names are listed) or an unknown setting.
    """
    if name not in MODELS:
        raise ConfigError(f"model {name!r} is unknown: expected one of {', '.join(MODELS)}")
    found = MODELS[name]
    known = [field.name for field in fields(found)]
    unknown = [change for change in changes if change not in known]
    if unknown:
        raise ConfigError(f"model {name!r}: expected settings among {', '.join(known)}, found {', '.join(unknown)}")
    return replace(found, **changes)


def family_of(name: str) -> str:
    """Give the family of a named model: gpt2, llama3 or mixtral.

    Raises: ConfigError for an unknown model.
    """
    config = model_config(name)
    if isinstance(config, GPT2Config):
        return "gpt2"
    return "mixtral" if config.n_expert else "llama3"


def create(
    name: str,
    device: Device | str | None = None,
    dtype: DType | None = None,
    generator: Generator | None = None,
    **changes: Any,
) -> LanguageModel:
    """Make a named model with first values: `create("gpt2-mini", device="fake", dropout=0.1)`.

    Raises: ConfigError as `model_config`.
    """
    config = model_config(name, **changes)
    if isinstance(config, GPT2Config):
        return GPT2(config, device, dtype, generator)
    return Decoder(config, device, dtype, generator)
