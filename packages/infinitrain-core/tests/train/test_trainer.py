"""The loop: its order, the loss of a step that is made of several batches, and what it refuses."""

from __future__ import annotations

import io
import json
import shlex

import numpy as np
import pytest
from infinitrain.data import Split
from infinitrain.errors import CheckpointError, TrainingDiverged
from infinitrain.train.command import parse
from infinitrain.train.queued import QueuedStep
from infinitrain.train.trainer import Trainer
from rich.console import Console


def trainer(config) -> Trainer:
    return Trainer(config, Console(file=io.StringIO()))


def losses(config) -> list[float]:
    lines = (config.run_folder / "log.jsonl").read_text().splitlines()
    return [json.loads(line)["loss"] for line in lines]


def watch(monkeypatch) -> list[str]:
    """Note when steps are queued and read."""
    order: list[str] = []
    queue, read = Trainer._queue, QueuedStep.read
    monkeypatch.setattr(Trainer, "_queue", lambda self, step: order.append(f"queue {step + 1}") or queue(self, step))
    monkeypatch.setattr(QueuedStep, "read", lambda self: order.append(f"read {self.step}") or read(self))
    return order


def test_a_busy_device_gets_the_next_step_before_the_last_one_is_read(small_run, monkeypatch, device):
    expected = small_run("plain", steps=5, eval_every=3, device=device)
    trainer(expected).run()
    monkeypatch.setattr(QueuedStep, "ready", lambda self: False)
    order = watch(monkeypatch)
    config = small_run("late", steps=5, eval_every=3, device=device)

    assert trainer(config).run() == 0
    # An evaluation or a checkpoint wants all numbers first.
    assert order == [
        *("queue 1", "queue 2", "read 1", "queue 3", "read 2", "read 3"),
        *("queue 4", "queue 5", "read 4", "read 5"),
    ]
    assert losses(config) == losses(expected)


def test_a_step_that_is_done_is_read_at_once(small_run, monkeypatch):
    monkeypatch.setattr(QueuedStep, "ready", lambda self: True)
    order = watch(monkeypatch)
    trainer(small_run(steps=2, eval_every=0)).run()

    assert order == ["queue 1", "read 1", "queue 2", "read 2"]


def test_replayed_steps_leave_the_log_of_eager_ones(small_run, device):
    settings = {"steps": 7, "eval_every": 4, "dropout": 0.1, "accumulate": 2, "device": device}
    eager, replayed = (small_run(name, eager=name == "eager", **settings) for name in ("eager", "replayed"))
    trainer(eager).run()
    run = trainer(replayed)
    run.run()

    assert run._step.replays == 4
    assert losses(replayed) == losses(eager)


def test_accumulated_batches_equal_one_large_batch(small_run, device):
    one = trainer(small_run("one", batch_size=6, device=device))
    three = trainer(small_run("three", batch_size=2, accumulate=3, device=device))
    whole = one.train_batches.at(0)
    three.train_batches.at = lambda index: Split(*(x[index * 2 : index * 2 + 2] for x in (whole.inputs, whole.targets)))
    (loss, norm), (summed_loss, summed_norm) = one._queue(0).read(), three._queue(0).read()

    assert summed_loss == pytest.approx(loss, rel=1e-6)
    assert summed_norm == pytest.approx(norm, rel=1e-5)
    for a, b in zip(one.model.parameters(), three.model.parameters(), strict=True):
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=0, atol=2e-4)
    one.folder.close()
    three.folder.close()


def test_bc026_every_step_takes_as_many_batches_by_a_global_counter(small_run, monkeypatch):
    """7 batches of text and 4 a step: nothing is left over at the end of the text, and the divisor stays 4."""
    run = trainer(small_run(accumulate=4))
    taken: list[int] = []
    at = run.train_batches.at
    monkeypatch.setattr(run.train_batches, "at", lambda index: taken.append(index) or at(index % 7))
    for step in range(3):
        for index in range(4 * step, 4 * step + 4):
            (run.model(*run._to_device(at(index % 7)))[1] * 0.25).backward()
        expected = run.model.wpe.weight.grad.numpy()
        run._queue(step).read()
        np.testing.assert_allclose(run.model.wpe.weight.grad.numpy(), expected, rtol=1e-5, atol=1e-8)
        run.optimizer.zero_grad()
    run.folder.close()

    assert taken == list(range(12))


def test_bc007_a_step_divides_by_all_its_targets(small_run):
    """Its batches have equally many targets, none of them ignored, so a mean of means is the mean."""
    run = trainer(small_run(accumulate=3))
    counts = {run.train_batches.at(index).targets.size for index in range(9)}
    lowest = min(run.train_batches.at(index).targets.min() for index in range(9))
    run.folder.close()

    assert counts == {16}
    assert lowest >= 0


def test_another_text_is_no_continuation(small_run, tmp_path):
    trainer(small_run()).run()
    text = tmp_path / "text.txt"
    text.write_text(text.read_text().replace("question", "answer"))

    with pytest.raises(CheckpointError, match="expected the text that the run began with"):
        trainer(small_run(resume=True)).run()


def test_other_settings_are_no_continuation(small_run):
    trainer(small_run()).run()

    with pytest.raises(CheckpointError, match=r"lr: saved 0.002, now 0.5"):
        trainer(small_run(resume=True, lr=0.5)).run()


def test_what_is_only_looked_at_may_change(small_run):
    trainer(small_run()).run()

    assert trainer(small_run(resume=True, prompt="To be", temperature=0.0, keep_checkpoints=1)).run() == 0
    assert (small_run().run_folder / "sample.txt").read_text().startswith("To be")


def test_a_validation_loss_that_is_no_number_is_named(small_run):
    run = trainer(small_run())
    run.model.wpe.weight.detach().fill_(float("nan"))

    with pytest.raises(TrainingDiverged, match=r"step 0: validation loss nan: expected finite numbers"):
        run.evaluate()
    run.folder.close()


def test_no_steps_give_an_evaluation_and_a_sample(small_run):
    config = small_run(steps=0)
    trainer(config).run()
    summary = json.loads((config.run_folder / "summary.json").read_text())

    assert summary["steps"] == 0
    assert summary["val_loss"] == pytest.approx(np.log(50257), rel=0.02)


def test_the_next_command_leads_to_the_same_text_and_folder(small_run):
    config = small_run("a run", model="gpt2")
    run = trainer(small_run("a run"))
    run.config = config
    following = run._what_next()
    run.folder.close()
    again = parse(shlex.split(following)[2:])

    assert (again.model, again.data, again.out, again.steps) == ("gpt2", config.data, config.out, 12)


def test_the_unigram_entropy_is_that_of_the_validation_text(small_run):
    run = trainer(small_run())
    counts = np.unique(np.asarray(run.corpus.validation), return_counts=True)[1]
    shares = counts / counts.sum()
    run.folder.close()

    assert run.corpus.unigram_entropy == pytest.approx(-(shares * np.log(shares)).sum())
