"""Settings: what is refused, and what a continued run must share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from infinitrain.errors import ConfigError
from infinitrain.train.config import TrainConfig


def test_defaults_make_a_run():
    config = TrainConfig(model="gpt2-mini")

    assert config.run_folder == Path("runs/gpt2-mini")
    assert config.tokens_per_step == 8 * 128
    assert (config.beta1, config.beta2, config.weight_decay, config.clip) == (0.9, 0.95, 0.1, 1.0)


def test_settings_that_change_numbers_are_fixed_for_a_continuation():
    fixed = TrainConfig(model="gpt2-mini", device="cpu", out=Path("x")).fixed()

    assert {"model", "lr", "seed", "steps", "batch_size", "beta2", "dropout", "eval_batches"} <= set(fixed)
    assert not {"device", "out", "resume", "prompt", "top_k"} & set(fixed)
    assert json.loads(json.dumps(fixed)) == fixed


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("seq_len", 257, r"^--seq-len: expected at most 256, the positions that gpt2-mini has, found 257$"),
        ("seed", 2**63, r"^--seed: expected less than 2\*\*63"),
        ("lr", float("nan"), r"^--lr: expected 0 or more, found nan$"),
        ("clip", float("inf"), r"^--clip: expected a finite number, found inf$"),
        ("beta2", 1.0, r"^--beta2: expected a number in \[0, 1\), found 1.0$"),
        ("model", "gpt5", r"^model 'gpt5' is unknown: expected one of .*gpt2-mini"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(setting, value, words):
    with pytest.raises(ConfigError, match=words):
        TrainConfig(**{"model": "gpt2-mini", setting: value})


def test_a_run_is_either_continued_or_replaced():
    with pytest.raises(ConfigError, match="expected at most one of them, found both"):
        TrainConfig(model="gpt2-mini", resume=True, overwrite=True)
