"""Try one provider in a process of its own, which it may crash or hang: `python -m infinitrain.cli.doctor.probe`.

The process writes a line of JSON before each stage and one with what it found: when it ends early, the last line says
in which stage.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["STAGES", "Outcome", "is_path", "probe"]

STAGES = {
    "open": "its library is opened",
    "start": "it is started (init)",
    "describe": "its devices are described",
    "compute": "a tensor is put on its device and read back",
}


@dataclass(slots=True)
class Outcome:
    """What came of it: an error (class, kind, text, library), or the devices."""

    stage: str = "open"
    error: str = ""
    kind: str = ""
    problem: str = ""
    path: str = ""
    devices: list[str] = field(default_factory=list)
    kernels: int = 0
    notes: list[str] = field(default_factory=list)


def is_path(target: str) -> bool:
    """Whether a word names a library by its path, not a provider."""
    return os.sep in target or target.endswith(".so")


def probe(target: str, timeout: float) -> Outcome:
    """Open, start, describe and use a provider in another process.

    Args:
        target: A provider's name, or a library's path.
        timeout: Seconds that it may take.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        command = [sys.executable, "-m", "infinitrain.cli.doctor.probe", target, str(report)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
        except subprocess.TimeoutExpired:
            done = None
        lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    outcome = Outcome()
    for line in lines:
        for name, value in line.items():
            setattr(outcome, name, value)
    if done is None:
        outcome.error, outcome.kind = "Hang", "hangs"
        outcome.problem = f"it hangs while {STAGES[outcome.stage]}: no end after {timeout:g} seconds"
    elif done.returncode:
        name = signal.Signals(-done.returncode).name if done.returncode < 0 else f"exit code {done.returncode}"
        last = (done.stderr.strip().splitlines() or [""])[-1]
        outcome.error, outcome.kind = "Crash", "crashes"
        outcome.problem = f"it ends the process while {STAGES[outcome.stage]}: {name}. {last}".rstrip(". ")
    return outcome


def _try(target: str, say: Any) -> None:
    import numpy as np

    import infinitrain as it
    from infinitrain._abi import registry

    say(stage="open")
    provider = it.load_provider(target) if is_path(target) else registry.find(target)
    say(path=provider.path, notes=provider.notes, kernels=len(provider.kernels))
    say(stage="start")
    provider.start()
    say(stage="describe")
    count = provider.device_count()
    say(devices=[f"{provider.name}:{index}, {provider.device_info(index).name}" for index in range(count)])
    if not count:
        say(error="NoDevice", kind="no device", problem="it runs, and finds no device")
        return
    say(stage="compute")
    values = np.arange(100, dtype=np.float32)
    for index in range(count):
        back = it.tensor(values, device=f"{provider.name}:{index}").numpy()
        if not np.array_equal(back, values):
            wrong = int(np.flatnonzero(back != values)[0])
            text = f"a tensor comes back from {provider.name}:{index} changed: element {wrong} is {back[wrong]}"
            say(error="WrongValues", kind="wrong values", problem=f"{text}, expected {values[wrong]}")
            return


def _main(target: str, report: str) -> None:
    with open(report, "w", encoding="utf-8", buffering=1) as file:

        def say(**fields: object) -> None:
            file.write(json.dumps(fields) + "\n")

        try:
            _try(target, say)
        except Exception as failure:  # whatever it is, it is the answer
            say(
                error=type(failure).__name__,
                kind=getattr(failure, "kind", ""),
                problem=str(failure),
                path=getattr(failure, "path", "") or "",
            )


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2])
