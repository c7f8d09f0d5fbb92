"""What a user has after `pip install infinitrain-core infinitrain-fake`: the wheels alone, on this Python."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest

TEXT = "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer. " * 200


def infinitrain(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a fresh process."""
    return subprocess.run(
        [sys.executable, "-m", "infinitrain.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_entry_points_are_there():
    providers = {point.name for point in metadata.entry_points(group="infinitrain.providers")}

    assert {"cpu", "fake"} <= providers


def test_command_lists_both_providers():
    result = infinitrain("providers", "--json")

    assert result.returncode == 0, result.stderr
    listing = json.loads(result.stdout)
    assert {"cpu", "fake"} <= {row["name"] for row in listing["providers"]}


@pytest.mark.parametrize("device", ["cpu", "fake:1"])
def test_values_on_each_device(device):
    import infinitrain as it

    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = it.tensor(a, device=device)

    np.testing.assert_allclose((x @ x.T).numpy(), a @ a.T)
    assert str(x.device) == ("cpu:0" if device == "cpu" else device)


@pytest.mark.parametrize("device", ["cpu", "fake:1"])
def test_training_writes_a_run(device, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    out = tmp_path / "run"

    result = infinitrain(
        *("train", "gpt2-mini", "--device", device, "--data", str(text), "--steps", "3"),
        *("--batch-size", "2", "--seq-len", "16", "--out", str(out)),
    )

    assert result.returncode == 0, result.stderr
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in log] == [1, 2, 3]
    assert all(np.isfinite(row["loss"]) for row in log)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["device"] == ("cpu:0" if device == "cpu" else device)
    assert {path.name for path in out.iterdir()} >= {"loss.png", "sample.txt", "checkpoint"}
