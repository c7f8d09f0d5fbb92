"""Parts of the trainer on their own: configuration, records, curve, signals, required kernels."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal

import infinitrain.dispatch as dispatch
import pytest
from infinitrain.errors import ConfigError
from infinitrain.train.command import main, parse
from infinitrain.train.config import TrainConfig
from infinitrain.train.curve import draw, smooth
from infinitrain.train.interrupt import Interrupt
from infinitrain.train.progress import Display
from infinitrain.train.records import RunFolder, StepRecord, read_log
from infinitrain.train.requirements import DROPOUT_KERNELS, TRAINING_KERNELS
from rich.console import Console


def record(step: int, **changes: object) -> StepRecord:
    return StepRecord(
        step=step,
        **{"loss": 5.0, "lr": 0.1, "grad_norm": 1.0, "tokens_per_s": 9.0, "peak_memory_bytes": 2**20, **changes},
    )


def test_defaults_follow_the_model_and_the_user_wins():
    assert parse(["gpt2"]).batch_size == 4
    assert parse(["gpt2", "--batch-size", "2"]).batch_size == 2
    assert parse(["gpt2", "--batch-size=3"]).batch_size == 3
    assert parse(["--steps", "7", "gpt2-mini"]).steps == 7


def test_settings_that_change_numbers_are_fixed_for_a_continuation():
    fixed = parse(["gpt2-mini", "--device", "cpu", "--out", "x"]).fixed()

    assert {"lr", "seed", "steps", "batch_size", "beta2", "dropout"} <= set(fixed)
    assert not {"device", "out", "resume"} & set(fixed)
    json.dumps(fixed)


@pytest.mark.parametrize(
    "words",
    [
        ["--temperature", "inf"],
        ["--beta1", "1"],
        ["--dropout", "1"],
        ["--seed", "-1"],
        ["--clip", "-1"],
        ["--accumulate", "0"],
    ],
)
def test_values_out_of_range_name_the_option(words, capsys):
    name, value = words
    with pytest.raises(ConfigError, match=f"^{name}: expected .* found "):
        TrainConfig(model="gpt2-mini", **{name.removeprefix("--"): type(getattr(parse(["gpt2"]), name[2:]))(value)})
    with pytest.raises(SystemExit) as caught:
        main(["gpt2-mini", *words])

    assert caught.value.code == 2
    assert f"{name}: expected" in capsys.readouterr().err


def test_unknown_options_end_with_2():
    with pytest.raises(SystemExit) as caught:
        main(["gpt2-mini", "--stepz", "3"])

    assert caught.value.code == 2


def test_a_log_line_that_was_not_finished_is_left_out(tmp_path):
    folder = RunFolder(tmp_path / "run", resume=False, overwrite=False)
    for step in (1, 2, 3):
        folder.log(record(step, val_loss=4.0 if step == 2 else None))
    folder.close()
    with (tmp_path / "run" / "log.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')

    assert [each.step for each in read_log(tmp_path / "run")] == [1, 2, 3]
    assert [each.val_loss for each in read_log(tmp_path / "run")] == [None, 4.0, None]


def test_records_behind_a_checkpoint_are_dropped(tmp_path):
    folder = RunFolder(tmp_path, resume=False, overwrite=False)
    for step in range(1, 6):
        folder.log(record(step))
    folder.keep_log_until(3)
    folder.log(record(4, loss=1.0))
    folder.close()

    assert [(each.step, each.loss) for each in read_log(tmp_path)] == [(1, 5.0), (2, 5.0), (3, 5.0), (4, 1.0)]


def test_overwriting_removes_a_run_and_nothing_else(tmp_path):
    folder = RunFolder(tmp_path, resume=False, overwrite=False)
    folder.log(record(1))
    folder.close()
    (tmp_path / "checkpoint" / "step_1").mkdir(parents=True)
    (tmp_path / "checkpoint" / "step_1" / "model.safetensors").write_text("x")
    (tmp_path / "notes.txt").write_text("mine")
    RunFolder(tmp_path, resume=False, overwrite=True).close()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "notes.txt"]
    assert read_log(tmp_path) == []


def test_a_run_that_never_made_a_step_is_no_run(tmp_path):
    RunFolder(tmp_path, resume=False, overwrite=False).close()
    RunFolder(tmp_path, resume=False, overwrite=False).close()


@pytest.mark.parametrize("how", ["resume", "overwrite"])
def test_two_runs_do_not_share_a_folder(tmp_path, how):
    folder = RunFolder(tmp_path, resume=False, overwrite=False)
    folder.log(record(1))
    with pytest.raises(ConfigError, match="is in use"):
        RunFolder(tmp_path, **{"resume": False, "overwrite": False, how: True})
    folder.log(record(2))
    folder.close()

    assert [each.step for each in read_log(tmp_path)] == [1, 2]
    RunFolder(tmp_path, **{"resume": False, "overwrite": False, how: True}).close()


def test_a_folder_that_is_removed_meanwhile_is_noticed(tmp_path):
    folder = RunFolder(tmp_path / "run", resume=False, overwrite=False)
    folder.log(record(1))
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(ConfigError, match="was removed"):
        folder.log(record(2))
    folder.close()


def test_smoothing_starts_at_the_first_value_and_follows():
    assert smooth([4.0]) == [pytest.approx(4.0)]
    assert smooth([4.0] * 50)[-1] == pytest.approx(4.0)
    assert smooth([0.0] + [1.0] * 100)[-1] == pytest.approx(1.0, abs=1e-4)


def test_a_curve_of_one_step_and_of_many(tmp_path):
    for count in (1, 30):
        path = tmp_path / f"{count}.png"
        draw(path, [record(step, val_loss=5.0 if step % 10 == 0 else None) for step in range(1, count + 1)], 6.4, "x")

        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 10_000


def test_the_first_signal_is_remembered_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        assert interrupt.exit_code == 0
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.exit_code == 130
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)

    assert signal.getsignal(signal.SIGINT) is before


def test_a_terminal_gets_a_bar_and_a_file_gets_lines():
    shown = {}
    for terminal in (True, False):
        out = io.StringIO()
        with Display(10, Console(file=out, force_terminal=terminal, width=140)) as display:
            display.step(record(10), 0.5)
        shown[terminal] = out.getvalue()

    assert "10/10" in shown[True]
    assert "5.000" in shown[True]
    assert "step   10/10 | train loss 5.000000 | lr 1.00e-01 | norm 1.0000 | (500.00 ms | 9 tok/s" in shown[False]


def test_the_list_of_kernels_is_what_a_run_launches(device, tmp_path, monkeypatch):
    monkeypatch.setenv("INFINITRAIN_CACHE", str(tmp_path / "cache"))
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be, that is the question. " * 100)
    launched = set()
    submit = dispatch._submit

    def spy(kernel, where, *rest, **named):
        if str(where).startswith(device.partition(":")[0]):
            launched.add(kernel.row.name)
        return submit(kernel, where, *rest, **named)

    monkeypatch.setattr(dispatch, "_submit", spy)
    options = ["--steps=2", "--accumulate=2", "--dropout=0.1", "--batch-size=2", "--seq-len=8", "--sample-tokens=2"]
    assert main(["gpt2-tiny", "--device", device, "--data", str(text), "--out", str(tmp_path / "run"), *options]) == 0
    listed = {*TRAINING_KERNELS, *DROPOUT_KERNELS}

    assert listed - launched == set()
    assert launched - listed - {"UniformForward"} == set()  # the sample's draws are made on the host
