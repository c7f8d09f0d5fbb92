"""What the trainer's tests share: a small text, a configuration of a run on it, records."""

from __future__ import annotations

import pytest
from infinitrain.train.config import TrainConfig
from infinitrain.train.records import StepRecord


@pytest.fixture
def record():
    def make(step: int, **changes: object) -> StepRecord:
        return StepRecord(
            step=step,
            **{"loss": 5.0, "lr": 0.1, "grad_norm": 1.0, "tokens_per_s": 9.0, "peak_memory_bytes": 2**20, **changes},
        )

    return make


@pytest.fixture
def small_run(tmp_path, monkeypatch):
    """Make the configuration of a run that takes a second."""
    monkeypatch.setenv("INFINITRAIN_CACHE", str(tmp_path / "cache"))
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be, that is the question. " * 100)

    def make(name: str = "run", **changes: object) -> TrainConfig:
        small = {"model": "gpt2-tiny", "data": text, "out": tmp_path / name, "batch_size": 2, "seq_len": 8}
        return TrainConfig(**{**small, "steps": 3, "sample_tokens": 2, "warmup_steps": 1, **changes})

    return make
