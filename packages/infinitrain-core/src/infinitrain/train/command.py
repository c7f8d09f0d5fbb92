"""`infinitrain train`: the command line of the trainer."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import tyro
from rich.console import Console

from infinitrain.errors import InfinitrainError
from infinitrain.models import MODELS
from infinitrain.train.config import LearningOptions, ObservingOptions, RunOptions, StepOptions, TrainConfig, option
from infinitrain.train.trainer import Trainer

__all__ = ["main", "parse"]

DESCRIPTION = """Train a language model on text.

Without options it trains on the plays of Shakespeare, on the embedded cpu device, with settings that suit the model,
and leaves log, loss curve, sample and checkpoint in a folder. Losses are in nats a token. Ctrl-C finishes the step,
saves a checkpoint and ends; --resume goes on from there.

examples:
  infinitrain train gpt2-mini                             four layers, Shakespeare, a few minutes
  infinitrain train gpt2-mini --device fake:1 --steps 5   the same on another device
  infinitrain train gpt2 --batch-size 4 --seq-len 64      the published 124M size
  infinitrain train llama3-mini                           LLaMA 3 of 4 layers; mixtral-mini has 4 experts
  infinitrain train gpt2-mini --data notes.txt --out runs/notes
  infinitrain train gpt2-mini --data notes.txt --out runs/notes --resume   go on after an interruption
"""
MODEL_HELP = f"Which model: {', '.join(MODELS)}. gpt2 is the published one with 124 million parameters."
#: Settings that suit a model where they differ from TrainConfig's.
DEFAULTS: dict[str, dict[str, Any]] = {
    "gpt2": {"batch_size": 4, "seq_len": 64, "lr": 6e-4, "min_lr": 6e-5},
    "gpt2-medium": {"batch_size": 2, "seq_len": 64, "lr": 3e-4, "min_lr": 3e-5},
    "gpt2-large": {"batch_size": 1, "seq_len": 64, "lr": 2.5e-4, "min_lr": 2.5e-5},
    "gpt2-xl": {"batch_size": 1, "seq_len": 64, "lr": 2e-4, "min_lr": 2e-5},
    "gpt2-tiny": {"seq_len": 32},
    "llama3-8b": {"batch_size": 1, "seq_len": 64, "lr": 3e-4, "min_lr": 3e-5},
    "llama3.2-1b": {"batch_size": 1, "seq_len": 64, "lr": 3e-4, "min_lr": 3e-5},
    "llama3-tiny": {"seq_len": 32},
    "mixtral-8x7b": {"batch_size": 1, "seq_len": 64, "lr": 3e-4, "min_lr": 3e-5},
    "mixtral-tiny": {"seq_len": 32},
}
#: Options that stand alone; every other one is followed by its value.
SWITCHES = {"-h", "--help", *(option(each.name) for each in fields(TrainConfig) if each.type == "bool")}


@dataclass(frozen=True, kw_only=True)
class _Arguments:
    """The command line's view of TrainConfig: a model, and one titled panel for each group."""

    model: Annotated[str, tyro.conf.Positional, tyro.conf.arg(help=MODEL_HELP)]
    run: RunOptions = field(default_factory=RunOptions)
    step: StepOptions = field(default_factory=StepOptions)
    learning: LearningOptions = field(default_factory=LearningOptions)
    observing: ObservingOptions = field(default_factory=ObservingOptions)


def parse(arguments: list[str]) -> TrainConfig:
    """Turn arguments into a configuration, with the defaults of the model that they name.

    Raises: SystemExit 2 for an argument that is unknown or malformed, 0 after --help; ConfigError for a value that
        does not fit.
    """
    suited = DEFAULTS.get(_model_among(arguments) or "", {})

    def group(kind: type[Any]) -> Any:
        return kind(**{each.name: suited[each.name] for each in fields(kind) if each.name in suited})

    parsed = tyro.cli(
        _Arguments,
        prog="infinitrain train",
        description=DESCRIPTION,
        args=arguments,
        default=_Arguments(
            model=tyro.MISSING,
            run=group(RunOptions),
            step=group(StepOptions),
            learning=group(LearningOptions),
            observing=group(ObservingOptions),
        ),
        config=(
            tyro.conf.OmitArgPrefixes,
            tyro.conf.FlagCreatePairsOff,
            tyro.conf.PositionalMetavarFromFieldName,
            tyro.conf.DisallowNone,
        ),
    )
    groups = (parsed.run, parsed.step, parsed.learning, parsed.observing)
    settings = {each.name: getattr(group, each.name) for group in groups for each in fields(group)}
    return TrainConfig(model=parsed.model, **settings)


def _model_among(arguments: list[str]) -> str | None:
    """Find the model before the arguments are parsed, as their defaults depend on it."""
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            return word
        if "=" not in word and word.replace("_", "-") not in SWITCHES:
            next(words, None)
    return None


def main(arguments: list[str]) -> int:
    """Train as the arguments say; gives the exit code: 0 done, 2 wrong setting or failed, 130 after Ctrl-C."""
    console = Console(stderr=True, highlight=False)
    try:
        return Trainer(parse(arguments), console).run()
    except InfinitrainError as error:
        message = str(error)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        message = (
            f"the system refused: {error.strerror}{where}. The last complete checkpoint is whole; make room or mend "
            "the cause, then go on with --resume"
        )
    console.print(f"infinitrain train: {message}", style="red", markup=False, soft_wrap=True)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
