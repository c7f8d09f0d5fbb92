"""The folder of a run: its log, who may write into it, what is replaced."""

from __future__ import annotations

import json
import shutil

import pytest
from infinitrain.errors import ConfigError
from infinitrain.train.records import RunFolder, read_log


def test_a_log_line_that_was_not_finished_is_left_out(tmp_path, record):
    folder = RunFolder(tmp_path / "run", resume=False, overwrite=False)
    for step in (1, 2, 3):
        folder.log(record(step, val_loss=4.0 if step == 2 else None))
    folder.close()
    with (tmp_path / "run" / "log.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')

    assert [each.step for each in read_log(tmp_path / "run")] == [1, 2, 3]
    assert [each.val_loss for each in read_log(tmp_path / "run")] == [None, 4.0, None]


def test_records_behind_a_checkpoint_are_dropped(tmp_path, record):
    folder = RunFolder(tmp_path, resume=False, overwrite=False)
    for step in range(1, 6):
        folder.log(record(step))
    folder.keep_log_until(3)
    folder.log(record(4, loss=1.0))
    folder.close()

    assert [(each.step, each.loss) for each in read_log(tmp_path)] == [(1, 5.0), (2, 5.0), (3, 5.0), (4, 1.0)]


def test_overwriting_removes_a_run_and_nothing_else(tmp_path, record):
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
def test_two_runs_do_not_share_a_folder(tmp_path, how, record):
    folder = RunFolder(tmp_path, resume=False, overwrite=False)
    folder.log(record(1))
    with pytest.raises(ConfigError, match="is in use"):
        RunFolder(tmp_path, **{"resume": False, "overwrite": False, how: True})
    folder.log(record(2))
    folder.close()

    assert [each.step for each in read_log(tmp_path)] == [1, 2]
    RunFolder(tmp_path, **{"resume": False, "overwrite": False, how: True}).close()


def test_a_folder_that_is_removed_meanwhile_is_noticed(tmp_path, record):
    folder = RunFolder(tmp_path / "run", resume=False, overwrite=False)
    folder.log(record(1))
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(ConfigError, match="was removed"):
        folder.log(record(2))
    folder.close()


def test_a_summary_appears_whole(tmp_path):
    folder = RunFolder(tmp_path, resume=False, overwrite=False)
    folder.write_summary({"val_loss": 1.5})
    folder.close()

    assert json.loads((tmp_path / "summary.json").read_text()) == {"val_loss": 1.5}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "summary.json"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot be written"):
        RunFolder(tmp_path / "file" / "run", resume=False, overwrite=False)
