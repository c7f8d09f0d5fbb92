"""Several vendors in one process, and a bare library: each does its own work, and none knows of the others."""

from __future__ import annotations

import json

import pytest
from conftest import OURS

COPIES = """
import sys
import numpy as np
import infinitrain as it

order, library, log = sys.argv[1].split(","), sys.argv[2], sys.argv[3]
for name in order:  # loaded and started in this order
    if name == "acme":
        it.load_provider(library)
    assert it.device_count(name) == 1

values = np.arange(-12, 12).reshape(4, 6)
for dtype in (it.float32, it.bfloat16, it.int64, it.bool):
    for source in order:
        x = it.tensor(values, device=source).to(dtype)
        it.synchronize(source)
        for target in order:
            with open(log, "a") as file:
                file.write(f"{source} to {target}\\n")
            y = x.to(target)
            with open(log, "a") as file:
                file.write("done\\n")
            assert str(it.current_device()) == "cpu:0", it.current_device()
            assert (str(y.device), y.dtype, y.shape) == (f"{target}:0", dtype, (4, 6)), y
            expected = values.astype(bool) if dtype is it.bool else values
            np.testing.assert_array_equal(y.numpy().astype(values.dtype), expected.astype(values.dtype))
            z = x.t().to(target)
            np.testing.assert_array_equal(z.numpy().astype(values.dtype), expected.T.astype(values.dtype))
"""
MODELS = """
import json, sys
import numpy as np
import infinitrain as it
from infinitrain.models.gpt2 import GPT2, GPT2Config
from infinitrain.optim import AdamW

order, library = sys.argv[1].split(","), sys.argv[2]
it.load_provider(library)
config = GPT2Config(n_layer=2, n_head=2, n_embd=32, block_size=16, vocab_size=65)
it.manual_seed(1)
first = GPT2(config, device="cpu").state_dict()
models, optimizers, losses = {}, {}, {}
for name in order:
    models[name] = GPT2(config, device=name)
    models[name].load_state_dict(first)
    optimizers[name] = AdamW(models[name].parameters(), lr=1e-2)
    losses[name] = []
rng = np.random.default_rng(0)
tokens = rng.integers(0, 65, (4, 17))
for step in range(4):  # one step on each, in turn
    for name in order:
        x, y = (it.tensor(part, device=name) for part in (tokens[:, :-1], tokens[:, 1:]))
        _, loss = models[name](x, y)
        assert str(loss.device) == f"{name}:0"
        optimizers[name].zero_grad()
        loss.backward()
        optimizers[name].step()
        losses[name].append(loss.item())
        assert str(it.current_device()) == "cpu:0"
print(json.dumps(losses))
"""
ORDERS = ["maca,acme,cpu", "cpu,acme,maca"]


def legs(source: str, target: str) -> list[str]:
    """Give the copies that vendors make: each on the side of its own device."""
    if source == target:
        return []
    found = [f"{source} copies to -1 from 0"] if source != "cpu" else []
    return found + ([f"{target} copies to 0 from -1"] if target != "cpu" else [])


@pytest.mark.parametrize("order", ORDERS)
def test_copies_between_each_two_are_made_by_the_owner_of_each_side(python, maca_two, acme, tmp_path, order):
    log = tmp_path / "calls.txt"
    python.run("python", "-c", COPIES, order, acme, log, CALL_LOG=log)
    calls: dict[str, list[list[str]]] = {}
    current: list[str] | None = None
    for line in log.read_text().splitlines():
        if " to " in line and " copies " not in line:
            current = []
            calls.setdefault(line, []).append(current)
        elif line == "done":
            current = None
        elif current is not None:
            current.append(line)

    names = order.split(",")
    assert len(calls) == 9
    for source in names:
        for target in names:
            assert calls[f"{source} to {target}"] == [legs(source, target)] * 4  # dtypes


@pytest.mark.parametrize("order", ORDERS)
def test_a_model_on_each_in_interleaved_steps(python, maca_two, acme, order):
    losses = json.loads(python.run("python", "-W", "error", "-c", MODELS, order, acme).splitlines()[-1])

    assert len(losses["cpu"]) == 4
    assert losses["maca"] == pytest.approx(losses["acme"], rel=1e-5)  # the same kernels but for one, its own GELU
    assert losses["maca"] == pytest.approx(losses["cpu"], rel=1e-4)
    assert losses["cpu"][-1] < losses["cpu"][0]


def test_bare_library_trains_like_a_packaged_one(python, desk, maca_two, acme, tmp_path):
    packaged = python.train("maca", tmp_path / "packaged")
    bare = python.train("acme", tmp_path / "bare", INFINITRAIN_PROVIDER_PATH=acme)

    assert len(bare) == 4
    assert bare == pytest.approx(packaged, rel=1e-5)  # the same kernels but for one, its own GELU
    assert "infinitrain_acme" not in {path.name for path in python.packages.iterdir()}
    assert python.files(*OURS) == desk.core_before


def test_doctor_tells_two_of_one_name_apart(python, desk, maca_two):
    (plain,) = (desk.package / "build").glob("*/libitp_maca.so")
    said = python.run("infinitrain", "doctor", "maca", expect=1, INFINITRAIN_PROVIDER_PATH=plain)

    assert "offered twice" in said
    assert "unset INFINITRAIN_PROVIDER_PATH" in said
    python.run("infinitrain", "doctor", "maca")
