"""Run a function in a new interpreter: for what needs a process of its own, and for what may end it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["in_fresh_process"]

_MARK = "conformance-result: "


def in_fresh_process(function: Callable[..., Any], *arguments: object, timeout_s: float = 60.0) -> Any:
    """Call a module's function in a new interpreter; arguments and result travel as JSON.

    Raises: AssertionError saying how the process ended, where it did not give a result in time.
    """
    command = [sys.executable, "-m", __name__, f"{function.__module__}:{function.__name__}", json.dumps(arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"{function.__name__}: no result after {timeout_s:g} s") from late
    lines = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if done.returncode == 0 and lines:
        return json.loads(lines[-1].removeprefix(_MARK))
    how = f"exit code {done.returncode}"
    if done.returncode < 0:
        how = f"signal {signal.Signals(-done.returncode).name}"
    raise AssertionError(f"{function.__name__}: the process ended with {how}\n{done.stdout}{done.stderr[-4000:]}")


def main() -> None:
    """Call `module:function` with JSON arguments and print the result."""
    module, _, name = sys.argv[1].partition(":")
    result = getattr(import_module(module), name)(*json.loads(sys.argv[2]))
    sys.stdout.write(f"{_MARK}{json.dumps(result)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
