"""The MNIST example as a user runs it: one command, any device, from IDX files or the digits of scikit-learn."""

from __future__ import annotations

import gzip
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

EXAMPLE = Path(__file__).parents[2] / "examples" / "mnist.py"


def run(*words: object, expect: int = 0) -> str:
    command = [sys.executable, str(EXAMPLE), *(str(word) for word in words)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == expect, result.stderr
    return result.stdout if expect == 0 else result.stderr


def accuracy(output: str) -> float:
    found = re.search(r": accuracy ([\d.]+)\s*$", output)
    assert found, output
    return float(found.group(1))


@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_digits_are_learned(model, device):
    output = run("--model", model, "--device", device)
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", output)]

    assert accuracy(output) >= 0.95
    assert len(losses) == 10
    assert losses[-1] < losses[0] / 5


def write_idx(path: Path, array: np.ndarray) -> None:
    content = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def test_idx_files_are_read(tmp_path):
    """The same digits, made 28 x 28 as MNIST's are, through files of two of the usual names."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = np.kron(bunch.images, np.ones((3, 3))).astype(np.uint8) * 15
    images = np.pad(images, [(0, 0), (2, 2), (2, 2)])
    labels = bunch.target.astype(np.uint8)
    for part, rows in (("train", slice(0, 600)), ("t10k", slice(600, 800))):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte.gz", images[rows])
        write_idx(tmp_path / f"{part}-labels.idx1-ubyte", labels[rows])

    assert accuracy(run("--data", tmp_path, "--epochs", 2, "--model", "cnn")) >= 0.7
    (tmp_path / "t10k-labels.idx1-ubyte").unlink()
    assert "expected one of t10k-labels-idx1-ubyte" in run("--data", tmp_path, expect=1)
