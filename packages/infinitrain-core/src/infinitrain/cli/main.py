"""Entry point of the `infinitrain` command: finds the sub-command and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module, metadata

from infinitrain.errors import InfinitrainError

__all__ = ["main"]

#: Sub-command: module with `main(arguments) -> exit code`, the extra that it needs, one line for the overview.
COMMANDS = {
    "train": ("infinitrain.train.command", "train", "train a language model on text, on any device"),
    "providers": ("infinitrain.cli.providers", "", "list the devices of this machine and where they come from"),
    "conformance": (
        "infinitrain.testing.conformance.command",
        "testing",
        "prove a provider library against the contract",
    ),
    "doctor": ("infinitrain.cli.doctor.command", "", "find out why a device does not show up, and how to mend it"),
    "new-provider": ("infinitrain.cli.new_provider", "", "write a package that makes a device of your own"),
}
EXAMPLES = """\
examples:
  infinitrain train gpt2-mini                       a small GPT-2 on Shakespeare, a few minutes on a laptop
  infinitrain train gpt2 --device fake:1 --steps 5  the 124M model, a few steps on another device
  infinitrain doctor NAME                           why a device does not show up, and what to do
  infinitrain COMMAND --help                        everything that a command takes
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="infinitrain",
        description="Train language models on any accelerator whose vendor ships one shared library.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"infinitrain {metadata.version('infinitrain-core')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (_, _, text) in COMMANDS.items():
        # The sub-command parses its own arguments, so that its parser is only imported when it is used.
        commands.add_parser(name, help=text, add_help=False)
    return parser


def _load(name: str) -> Callable[[list[str]], int]:
    module, extra, _ = COMMANDS[name]
    try:
        command: Callable[[list[str]], int] = import_module(module).main
    except ModuleNotFoundError as missing:
        if not extra or (missing.name or "").split(".")[0] == "infinitrain":
            raise
        raise SystemExit(
            f"infinitrain {name}: the package {missing.name!r} is not installed. "
            f"Install what this command needs: pip install 'infinitrain-core[{extra}]'"
        ) from None
    return command


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; gives the exit code: 0 done, 1 failed, 2 wrong usage or setting, 130 interrupted."""
    words = sys.argv[1:] if arguments is None else arguments
    chosen = _parser().parse_args(words[:1])
    try:
        return _load(chosen.command)(words[1:])
    except InfinitrainError as error:
        print(f"infinitrain {chosen.command}: {error}", file=sys.stderr)  # noqa: T201 - the command's answer
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
