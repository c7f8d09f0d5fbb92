from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap

import infinitrain as it
import numpy as np
import pytest
from infinitrain.checkpoint import load_checkpoint, read_state, save_checkpoint
from infinitrain.errors import CheckpointError
from infinitrain.models import GPT2, GPT2Config
from infinitrain.nn import Linear, Sequential
from infinitrain.optim import SGD, AdamW, StepLR, WarmupCosineLR, clip_coefficient
from safetensors.numpy import load_file, save_file

CONFIG = GPT2Config(vocab_size=31, block_size=8, n_layer=2, n_head=2, n_embd=8, dropout=0.1)


class Run:
    """A small training run whose every source of change is in a checkpoint."""

    def __init__(self, device, kind=AdamW, config=CONFIG, **settings):
        self.device = device
        self.model = GPT2(config, device=device, generator=it.Generator(0))
        self.optimizer = kind(self.model.named_parameters(), lr=1e-2, **settings)
        self.schedule = WarmupCosineLR(self.optimizer, 3, 20, 1e-4)
        self.step = 0

    def train(self, steps):
        losses = []
        for _ in range(steps):
            tokens = np.random.default_rng(self.step).integers(0, 31, (2, 9))
            idx = it.tensor(tokens[:, :-1], device=self.device)
            targets = it.tensor(tokens[:, 1:], device=self.device)
            _, loss = self.model(idx, targets)
            loss.backward()
            _, factor = clip_coefficient(self.model.parameters(), 1.0)
            self.optimizer.step(grad_scale=factor)
            self.optimizer.zero_grad()
            self.schedule.step()
            self.step += 1
            losses.append(loss.item())
        return losses

    def save(self, root, **more):
        return save_checkpoint(
            root, model=self.model, optimizer=self.optimizer, schedule=self.schedule, step=self.step, **more
        )

    def load(self, path, **more):
        state = load_checkpoint(path, model=self.model, optimizer=self.optimizer, schedule=self.schedule, **more)
        self.step = state.step
        return state

    def values(self):
        return {name: p.detach().numpy().copy() for name, p in self.model.named_parameters()}


# ---- resuming ----


@pytest.mark.parametrize(
    ("kind", "settings"), [(AdamW, {}), (SGD, {}), (SGD, {"momentum": 0.9})], ids=["adamw", "sgd", "momentum"]
)
def test_resumed_run_is_bit_equal_to_the_unbroken_one(tmp_path, device, kind, settings):
    """B12, BC-094: losses, weights and rates, dropout's random numbers included."""
    it.manual_seed(1)
    unbroken = Run(device, kind, **settings)
    expected = unbroken.train(6)
    it.manual_seed(1)
    first = Run(device, kind, **settings)
    start = first.train(3)
    first.save(tmp_path)
    it.manual_seed(99)
    resumed = Run(device, kind, **settings)
    with it.no_grad():
        for parameter in resumed.model.parameters():
            parameter.fill_(0.5)
    resumed.load(tmp_path)

    assert start + resumed.train(3) == expected
    for name, value in unbroken.values().items():
        np.testing.assert_array_equal(resumed.values()[name], value, err_msg=name)
    assert resumed.schedule.get_last_lr() == unbroken.schedule.get_last_lr()


def test_loading_on_another_device(tmp_path):
    """BC-113: host random state restored, tensors where the new run's are."""
    pytest.importorskip("infinitrain_fake", reason="needs another device")
    it.manual_seed(1)
    first = Run("fake:1")
    first.train(2)
    first.save(tmp_path)
    rng = it.get_rng_state()
    expected = first.train(2)
    for device in ("cpu", "fake:0"):
        it.manual_seed(99)
        other = Run(device)
        other.load(tmp_path)
        assert it.get_rng_state() == rng
        assert {str(p.device) for p in other.model.parameters()} == {str(it.Device(device))}
        np.testing.assert_allclose(other.train(2), expected, rtol=1e-5)


def test_state_comes_back(tmp_path):
    run = Run("cpu")
    run.train(2)
    path = run.save(tmp_path, consumed_tokens=32, data={"epoch": 1, "position": 7}, extra=["x"])
    state = read_state(tmp_path)

    assert path == state.path == tmp_path / "step_00000002"
    assert (state.step, state.consumed_tokens) == (2, 32)
    assert state.config == CONFIG.as_dict()
    assert state.data == {"epoch": 1, "position": 7}
    assert state.extra == ["x"]
    assert state.raw["provider"]["device"] == "cpu:0"
    assert state.raw["provider"]["name"] == "cpu"
    assert set(state.raw["versions"]) == {"infinitrain", "numpy", "python"}
    assert GPT2Config(**state.config) == CONFIG


def test_files_are_what_the_reference_library_reads(tmp_path, device):
    run = Run(device)
    run.train(2)
    path = run.save(tmp_path)
    model = load_file(path / "model.safetensors")
    optimizer = load_file(path / "optimizer.safetensors")

    assert set(model) == set(run.values())
    for name, value in run.values().items():
        np.testing.assert_array_equal(model[name], value)
    moments = run.optimizer.state[run.model.wte.weight]
    np.testing.assert_array_equal(optimizer["wte.weight.exp_avg"], moments["exp_avg"].numpy())
    assert len(optimizer) == 2 * len(model)


def test_random_state_may_be_left_alone(tmp_path):
    run = Run("cpu")
    run.save(tmp_path)
    it.manual_seed(77)
    run.load(tmp_path, restore_rng=False)

    assert it.initial_seed() == 77


def test_order_of_parameters_does_not_matter(tmp_path, device):
    """B10."""
    run = Run(device)
    run.train(2)
    run.save(tmp_path)
    other = Run(device)
    other.optimizer = AdamW(reversed(list(other.model.parameters())))
    load_checkpoint(tmp_path, model=other.model, optimizer=other.optimizer)

    for mine, theirs in zip(run.model.parameters(), other.model.parameters(), strict=True):
        np.testing.assert_array_equal(
            other.optimizer.state[theirs]["exp_avg"].numpy(), run.optimizer.state[mine]["exp_avg"].numpy()
        )
        assert other.optimizer.state[theirs]["step"] == 2


def test_bfloat16_model(tmp_path, device):
    model = GPT2(CONFIG, device=device, dtype=it.bfloat16, generator=it.Generator(0))
    save_checkpoint(tmp_path, model=model, step=0)
    other = GPT2(CONFIG, device=device, dtype=it.bfloat16, generator=it.Generator(1))
    load_checkpoint(tmp_path, model=other)

    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(a.detach().numpy().view(np.uint16), b.detach().numpy().view(np.uint16))


def test_weights_alone_can_be_loaded_from_a_full_checkpoint(tmp_path):
    run = Run("cpu")
    run.train(1)
    run.save(tmp_path)
    model = GPT2(CONFIG, generator=it.Generator(9))
    load_checkpoint(tmp_path, model=model)

    np.testing.assert_array_equal(model.wte.weight.detach().numpy(), run.values()["wte.weight"])


# ---- tied weights (BC-112) ----


def test_tied_weight_is_stored_once_and_stays_tied(tmp_path):
    run = Run("cpu")
    path = run.save(tmp_path)
    other = Run("cpu")
    other.load(tmp_path)

    assert "lm_head.weight" not in load_file(path / "model.safetensors")
    assert other.model.lm_head.weight is other.model.wte.weight


def test_tied_file_fills_an_untied_model(tmp_path):
    run = Run("cpu")
    run.save(tmp_path)
    settings = CONFIG.as_dict()
    untied = GPT2(GPT2Config(**{**settings, "tie_weights": False}))
    load_checkpoint(tmp_path, model=untied, config=settings)

    for weight in (untied.lm_head.weight, untied.wte.weight):
        np.testing.assert_array_equal(weight.detach().numpy(), run.values()["wte.weight"])


def test_untied_file_with_two_values_is_refused_by_a_tied_model(tmp_path):
    settings = CONFIG.as_dict()
    untied = GPT2(GPT2Config(**{**settings, "tie_weights": False}))
    save_checkpoint(tmp_path, model=untied, step=0, config=settings)

    with pytest.raises(CheckpointError, match=r"lm_head\.weight and wte\.weight: expected one value, since the model"):
        load_checkpoint(tmp_path, model=GPT2(CONFIG))


# ---- what does not fit ----


def refused(run, path, message, **more):
    """The load fails with the message, and changes neither weights nor optimizer nor random state."""
    before, rng, rates = run.values(), it.get_rng_state(), run.schedule.state_dict()
    with pytest.raises(CheckpointError, match=message):
        run.load(path, **more)
    for name, value in run.values().items():
        np.testing.assert_array_equal(value, before[name])
    assert it.get_rng_state() == rng
    assert run.schedule.state_dict() == rates


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_layer", 1), ("n_head", 4), ("n_embd", 16), ("vocab_size", 33), ("block_size", 4), ("dropout", 0.0)],
)
def test_other_settings_name_the_field_and_both_values(tmp_path, name, value):
    """B12: mismatch of every field."""
    Run("cpu").save(tmp_path)
    other = Run("cpu", config=GPT2Config(**{**CONFIG.as_dict(), name: value}))

    refused(other, tmp_path, rf"{name}: saved {CONFIG.as_dict()[name]!r}, now {value!r}")


def test_settings_that_only_one_side_has(tmp_path):
    Run("cpu").save(tmp_path)

    refused(Run("cpu"), tmp_path, "rope: saved 'nothing', now 1", config={**CONFIG.as_dict(), "rope": 1})


def test_other_shapes_dtypes_and_names(tmp_path):
    save_checkpoint(tmp_path, model=Sequential(Linear(2, 3), Linear(3, 1)), step=0)
    for model, message in (
        (Sequential(Linear(2, 4), Linear(4, 1)), r"0\.weight: expected shape \(4, 2\), found \(3, 2\)"),
        (Sequential(Linear(2, 3), Linear(3, 1)).to(it.bfloat16), r"0\.weight: expected bfloat16, found float32"),
        (Sequential(Linear(2, 3), Linear(3, 1), Linear(1, 1)), r"missing tensors: 2\.weight, 2\.bias"),
        (Sequential(Linear(2, 3)), r"unexpected tensors: 1\.bias, 1\.weight"),
    ):
        with pytest.raises(CheckpointError, match=message):
            load_checkpoint(tmp_path, model=model)


def test_other_optimizer_or_none(tmp_path):
    Run("cpu").save(tmp_path)
    refused(Run("cpu", SGD), tmp_path, "optimizer: expected SGD, found AdamW")
    bare = tmp_path / "bare"
    save_checkpoint(bare, model=Run("cpu").model, step=0)
    refused(Run("cpu"), bare, "optimizer: expected AdamW, found none")


def test_other_schedule(tmp_path):
    Run("cpu").save(tmp_path)
    other = Run("cpu")
    other.schedule = StepLR(other.optimizer, 3)

    refused(other, tmp_path, "schedule: expected StepLR, found WarmupCosineLR")


def test_other_groups(tmp_path):
    Run("cpu").save(tmp_path)
    other = Run("cpu")
    first, *rest = other.model.parameters()
    other.optimizer = AdamW([{"params": [first]}, {"params": rest}])
    refused(other, tmp_path, r"optimizer: expected groups of \[1, 27\] parameters, found \[28\]")
    with pytest.raises(CheckpointError, match="expected the model together with its optimizer"):
        load_checkpoint(tmp_path, optimizer=other.optimizer)


def test_parameters_of_another_model(tmp_path):
    two = Sequential(Linear(1, 1), Linear(1, 1))
    save_checkpoint(tmp_path, model=two, optimizer=SGD([two[0].weight]), step=0)

    with pytest.raises(CheckpointError, match=r"optimizer: expected the parameters 1\.bias, found 0\.weight"):
        load_checkpoint(tmp_path, model=two, optimizer=SGD([two[1].bias]))


# ---- damage ----


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "trainer.json"])
def test_truncated_file_is_named(tmp_path, name):
    run = Run("cpu")
    run.train(1)
    path = run.save(tmp_path)
    whole = (path / name).read_bytes()
    for size in (0, 4, len(whole) // 2, len(whole) - 2):
        (path / name).write_bytes(whole[:size])
        refused(Run("cpu"), tmp_path, name.replace(".", r"\."))


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors"])
def test_one_flipped_bit_is_noticed(tmp_path, name):
    run = Run("cpu")
    run.train(1)
    path = run.save(tmp_path)
    content = bytearray((path / name).read_bytes())
    content[-5] ^= 1
    (path / name).write_bytes(content)

    refused(Run("cpu"), tmp_path, rf"{name}: expected .* as trainer\.json says, found .*: the file is damaged")


def test_missing_file_is_named(tmp_path):
    path = Run("cpu").save(tmp_path)
    (path / "model.safetensors").unlink()

    refused(Run("cpu"), tmp_path, r"model\.safetensors: expected a file, found none")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "expected format 'infinitrain-checkpoint', found 'other'"),
        ({"version": 2}, "expected version 1, found 2"),
        ({"step": "3"}, "step: expected a value of int, found '3'"),
        ({"config": None}, "config: expected a value of dict, found None"),
    ],
)
def test_trainer_state_of_another_form(tmp_path, change, message):
    path = Run("cpu").save(tmp_path) / "trainer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))

    with pytest.raises(CheckpointError, match=rf"trainer\.json: {message}"):
        read_state(tmp_path)


def test_trainer_state_that_is_no_json(tmp_path):
    path = Run("cpu").save(tmp_path) / "trainer.json"
    path.write_text("[1")
    with pytest.raises(CheckpointError, match=r"trainer\.json: expected JSON, found damage"):
        read_state(tmp_path)
    path.write_text("[]")
    with pytest.raises(CheckpointError, match="expected format 'infinitrain-checkpoint', found 'list'"):
        read_state(tmp_path)


def test_file_that_the_reference_library_wrote_is_judged_by_its_contents(tmp_path):
    model = Linear(2, 2)
    path = save_checkpoint(tmp_path, model=model, step=0) / "model.safetensors"
    save_file({"weight": np.ones((2, 2), "f4"), "bias": np.zeros(2, "f8")}, path)

    with pytest.raises(CheckpointError, match="the file is damaged"):
        load_checkpoint(tmp_path, model=model)


# ---- interruption ----


def test_full_disk_leaves_the_old_checkpoint_whole(tmp_path, monkeypatch):
    run = Run("cpu")
    run.save(tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "step_00000000").iterdir()}
    run.train(1)
    from infinitrain.checkpoint import tensorfile

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tensorfile.os, "fsync", full)
    for step in (0, 1):
        run.step = step
        with pytest.raises(OSError, match="No space left on device"):
            run.save(tmp_path)
    monkeypatch.undo()

    assert [path.name for path in tmp_path.iterdir()] == ["step_00000000"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "step_00000000").iterdir()} == before
    Run("cpu").load(tmp_path)


def test_file_size_limit_is_a_full_disk(tmp_path):
    """The real thing: the system refuses to write on."""
    code = """
        import resource, signal, sys
        from infinitrain.checkpoint import save_checkpoint
        from infinitrain.nn import Linear
        save_checkpoint(sys.argv[1], model=Linear(2, 2), step=1)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            save_checkpoint(sys.argv[1], model=Linear(500, 500), step=2)
        except OSError as error:
            print(error.errno)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert int(result.stdout) == errno.EFBIG
    assert [path.name for path in tmp_path.iterdir()] == ["step_00000001"]
    load_checkpoint(tmp_path, model=Linear(2, 2))


KILLED = """
    import os, signal, sys
    from infinitrain.checkpoint import save_checkpoint
    from infinitrain.nn import Linear, init

    def child(root, moment, step):
        model = Linear(3, 3)
        init.ones_(model.weight)
        save_checkpoint(root, model=model, step=1)
        init.zeros_(model.weight)
        left = [moment]
        def counted(function):
            def wrapper(*arguments, **keywords):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*arguments, **keywords)
            return wrapper
        for name in ("fsync", "rename", "mkdir", "unlink", "rmdir"):
            setattr(os, name, counted(getattr(os, name)))
        save_checkpoint(root, model=model, step=step)

    for moment in range(1, 40):
        root = f"{sys.argv[1]}/{moment}"
        process = os.fork()  # nothing was started in this process: every child starts its own device
        if process == 0:
            child(root, moment, int(sys.argv[2]))
            os._exit(0)
        _, status = os.waitpid(process, 0)
        print(moment, os.waitstatus_to_exitcode(status), flush=True)
        if status == 0:
            break
"""


@pytest.mark.parametrize("step", [1, 2], ids=["same-step", "next-step"])
def test_kill_at_any_moment_of_a_save(tmp_path, step):
    """BC-061: kill -9 during a save: the last complete checkpoint is used, and saving over the leftovers works."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(KILLED), str(tmp_path), str(step)],
        capture_output=True,
        text=True,
        check=True,
    )
    codes = {int(moment): int(code) for moment, code in map(str.split, result.stdout.splitlines())}

    assert len(codes) > 6  # each directory, file, sync, rename and removal is a moment
    assert list(codes.values()) == [-signal.SIGKILL] * (len(codes) - 1) + [0]
    for moment in codes:
        root = tmp_path / str(moment)
        model = Linear(3, 3)
        state = load_checkpoint(root, model=model)
        value = float(model.weight.detach().numpy()[0, 0])
        assert (state.step, value) in {(1, 1.0), (step, 0.0)}
        save_checkpoint(root, model=model, step=step)
        assert read_state(root).step == step
        assert sorted(path.name for path in root.iterdir()) == [f"step_{n:08d}" for n in sorted({1, step})]


def test_keep_leaves_the_newest(tmp_path):
    model = Linear(1, 1)
    for step in (8, 9, 10, 11):
        save_checkpoint(tmp_path, model=model, step=step, keep=2)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["step_00000010", "step_00000011"]
    save_checkpoint(tmp_path, model=model, step=3, keep=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step_00000003", "step_00000011"]
