"""`infinitrain train`: the command line of the trainer."""

from __future__ import annotations

import sys
from typing import Any

import tyro
from rich.console import Console

from infinitrain.errors import InfinitrainError
from infinitrain.train.config import TrainConfig
from infinitrain.train.trainer import Trainer

__all__ = ["main"]

EXAMPLES = """

examples:
  infinitrain train gpt2-mini                           four layers, Shakespeare, a few minutes
  infinitrain train gpt2-mini --device fake:1 --steps 5 the same on another device
  infinitrain train gpt2 --batch-size 4 --seq-len 64    the published 124M size
  infinitrain train gpt2-mini --data notes.txt --out runs/notes
  infinitrain train gpt2-mini --out runs/notes --resume go on after an interruption
"""
#: Settings that suit a model where they differ from TrainConfig's.
DEFAULTS: dict[str, dict[str, Any]] = {
    "gpt2": {"batch_size": 4, "seq_len": 64, "lr": 6e-4, "min_lr": 6e-5},
    "gpt2-medium": {"batch_size": 2, "seq_len": 64, "lr": 3e-4, "min_lr": 3e-5},
    "gpt2-large": {"batch_size": 1, "seq_len": 64, "lr": 2.5e-4, "min_lr": 2.5e-5},
    "gpt2-xl": {"batch_size": 1, "seq_len": 64, "lr": 2e-4, "min_lr": 2e-5},
    "gpt2-tiny": {"seq_len": 32},
}


def parse(arguments: list[str]) -> TrainConfig:
    """Turn arguments into a configuration, with the defaults of the model that they name.

    Raises: SystemExit 2 for an argument that is unknown or malformed, 0 after --help; ConfigError for a value that
        does not fit.
    """
    model = next((word for word in arguments if not word.startswith("-")), "")
    given = {word.split("=")[0].removeprefix("--").replace("-", "_") for word in arguments if word.startswith("--")}
    defaults = {name: value for name, value in DEFAULTS.get(model, {}).items() if name not in given}
    extra = [word for name, value in defaults.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    description = (TrainConfig.__doc__ or "") + EXAMPLES
    return tyro.cli(
        TrainConfig,
        prog="infinitrain train",
        description=description,
        args=[*arguments, *extra],
    )


def main(arguments: list[str]) -> int:
    """Train as the arguments say; gives the exit code: 0 done, 2 wrong setting or failed, 130 after Ctrl-C."""
    console = Console(stderr=True, highlight=False)
    try:
        return Trainer(parse(arguments), console).run()
    except InfinitrainError as error:
        console.print(f"infinitrain train: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        console.print(
            f"infinitrain train: the system refused: {error.strerror}{where}. The last complete checkpoint is whole; "
            "make room or mend the cause, then go on with --resume",
            style="red",
            markup=False,
            soft_wrap=True,
        )
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
