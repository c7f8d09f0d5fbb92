"""What a small operation costs beside NumPy and PyTorch, on one thread: `python benchmarks/dispatch.py`.

Operands are 8 x 8, so that nearly all of the time is the framework's own. The rows are measured in turn, round by
round; each figure is the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import infinitrain as it
import numpy as np
import torch

SIZE = (8, 8)
CHAIN = 10


def chain(x: Any, w: Any) -> Any:
    """Twenty operations, alternating matrix product and relu; works on either library's tensors."""
    for _ in range(CHAIN):
        x = (x @ w).relu()
    return x


def cases() -> dict[str, dict[str, Callable[[], object]]]:
    """Give row -> library -> what to time."""
    values = np.random.default_rng(0).random(SIZE, dtype=np.float32) / 8
    a, b = it.tensor(values), it.tensor(values)
    ga = it.tensor(values, requires_grad=True)
    ta, tb = torch.from_numpy(values), torch.from_numpy(values.copy())
    tga = torch.from_numpy(values.copy()).requires_grad_()

    def no_grad(module: object, work: Callable[[], object]) -> Callable[[], object]:
        def run() -> object:
            with module.no_grad():  # type: ignore[attr-defined]
                return work()

        return run

    return {
        "add": {"numpy": lambda: values + values, "torch": lambda: ta + tb, "infinitrain": lambda: a + b},
        "matmul": {"numpy": lambda: values @ values, "torch": lambda: ta @ tb, "infinitrain": lambda: a @ b},
        "relu": {
            "numpy": lambda: np.maximum(values, 0),
            "torch": lambda: ta.relu(),
            "infinitrain": lambda: a.relu(),
        },
        "add, recording": {"torch": lambda: tga + tb, "infinitrain": lambda: ga + b},
        "20 operations, forward": {
            "torch": no_grad(torch, lambda: chain(ta, tb)),
            "infinitrain": no_grad(it, lambda: chain(a, b)),
        },
        "20 operations, forward and backward": {
            "torch": lambda: chain(tga, tb).sum().backward(),
            "infinitrain": lambda: chain(ga, b).sum().backward(),
        },
    }


def measure(work: Callable[[], object], count: int) -> float:
    """Give the nanoseconds of processor time of one call: others on the machine take no part in it."""
    begin = time.process_time_ns()
    for _ in range(count):
        work()
    return (time.process_time_ns() - begin) / count


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="write every figure to this file too")
    options = parser.parse_args()
    torch.set_num_threads(1)
    it.configure("cpu", threads=1)
    rows = cases()
    taken: dict[str, dict[str, list[float]]] = {row: {name: [] for name in peers} for row, peers in rows.items()}
    for turn in range(options.rounds + 1):
        for row, peers in rows.items():
            count = 100 if "20" in row else 2000
            for name, work in peers.items():
                nanoseconds = measure(work, count)
                if turn:  # the first round warms up
                    taken[row][name].append(nanoseconds)
    print(f"{'ns a call, 8 x 8, one thread':38} {'numpy':>9} {'torch':>9} {'infinitrain':>12} {'ours / torch':>13}")
    for row, peers_taken in taken.items():
        median = {name: statistics.median(values) for name, values in peers_taken.items()}
        numpy_text = f"{median['numpy']:9.0f}" if "numpy" in median else f"{'-':>9}"
        ratio = median["infinitrain"] / median["torch"]
        print(f"{row:38} {numpy_text} {median['torch']:9.0f} {median['infinitrain']:12.0f} {ratio:13.2f}")
    if options.json:
        options.json.write_text(json.dumps(taken, indent=1))


if __name__ == "__main__":
    main()
