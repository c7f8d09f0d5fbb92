from __future__ import annotations

import errno

import pytest
from infinitrain.checkpoint import latest_checkpoint, list_checkpoints, prune
from infinitrain.checkpoint.directory import atomic_directory, find, name_of
from infinitrain.errors import CheckpointError, ConfigError


def save(root, step, content="whole"):
    with atomic_directory(root, name_of(step)) as aside:
        (aside / "trainer.json").write_text(content)


def names(root):
    return sorted(path.name for path in root.iterdir())


def test_latest_is_numeric(tmp_path):
    for step in (9, 10, 123456789, 200):
        save(tmp_path, step)

    assert [step for step, _ in list_checkpoints(tmp_path)] == [9, 10, 200, 123456789]
    assert latest_checkpoint(tmp_path) == tmp_path / "step_123456789"


def test_names_without_padding_count_too(tmp_path):
    for step in ("9", "10"):
        (tmp_path / f"step_{step}").mkdir()
        (tmp_path / f"step_{step}" / "trainer.json").write_text("")

    assert latest_checkpoint(tmp_path) == tmp_path / "step_10"


def test_incomplete_and_foreign_directories_do_not_count(tmp_path):
    save(tmp_path, 1)
    (tmp_path / "step_00000005").mkdir()
    (tmp_path / ".saving-step_00000007-1").mkdir()
    (tmp_path / ".saving-step_00000007-1" / "trainer.json").write_text("")
    (tmp_path / "step_x").mkdir()

    assert list_checkpoints(tmp_path) == [(1, tmp_path / "step_00000001")]


def test_find(tmp_path):
    save(tmp_path, 3)

    assert find(tmp_path) == find(tmp_path / "step_00000003") == tmp_path / "step_00000003"
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match=r"empty holds no complete checkpoint: expected a checkpoint"):
        find(tmp_path / "empty")
    with pytest.raises(CheckpointError, match="none is not there: expected a checkpoint"):
        find(tmp_path / "none")


def test_error_while_writing_leaves_nothing_behind(tmp_path):
    """A full disk: the old checkpoint stays, byte for byte."""
    save(tmp_path, 1, "old")

    def fail():
        with atomic_directory(tmp_path, name_of(1)) as aside:
            (aside / "trainer.json").write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        fail()
    assert names(tmp_path) == ["step_00000001"]
    assert (tmp_path / "step_00000001" / "trainer.json").read_text() == "old"


def test_saving_over_a_step_replaces_it(tmp_path):
    save(tmp_path, 1, "old")
    save(tmp_path, 1, "new")

    assert names(tmp_path) == ["step_00000001"]
    assert (tmp_path / "step_00000001" / "trainer.json").read_text() == "new"


def test_leftovers_of_a_killed_save_are_removed(tmp_path):
    for name in (".saving-step_00000002-99", ".removing-step_00000001"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_text("half")
    save(tmp_path, 2)

    assert names(tmp_path) == ["step_00000002"]


def test_kill_between_the_renames_leaves_the_old_one_usable(tmp_path):
    """The old checkpoint was moved aside, the new one not yet moved in."""
    save(tmp_path, 4, "old")
    (tmp_path / "step_00000004").rename(tmp_path / ".replaced-step_00000004")

    assert latest_checkpoint(tmp_path) == tmp_path / ".replaced-step_00000004"
    save(tmp_path, 4, "new")
    assert names(tmp_path) == ["step_00000004"]
    assert (latest_checkpoint(tmp_path) / "trainer.json").read_text() == "new"


def test_failure_between_the_renames_puts_the_old_one_back(tmp_path, monkeypatch):
    save(tmp_path, 4, "old")
    path_type = type(tmp_path)
    rename = path_type.rename

    def failing(self, target):
        if self.name.startswith(".saving"):
            raise OSError(errno.EIO, "broken disk")
        return rename(self, target)

    monkeypatch.setattr(path_type, "rename", failing)
    with pytest.raises(OSError, match="broken disk"):
        save(tmp_path, 4, "new")
    monkeypatch.undo()
    assert names(tmp_path) == ["step_00000004"]
    assert (tmp_path / "step_00000004" / "trainer.json").read_text() == "old"


def test_prune_keeps_the_newest_by_number(tmp_path):
    for step in (5, 9, 10, 100):
        save(tmp_path, step)
    removed = prune(tmp_path, 2)

    assert names(tmp_path) == ["step_00000010", "step_00000100"]
    assert [path.name for path in removed] == ["step_00000005", "step_00000009"]
    assert prune(tmp_path, 5) == []


def test_prune_never_removes_the_newest_or_the_protected(tmp_path):
    for step in (5, 9, 10):
        save(tmp_path, step)
    prune(tmp_path, 1, protect=tmp_path / "step_00000005")

    assert names(tmp_path) == ["step_00000005", "step_00000010"]
    with pytest.raises(ConfigError, match="checkpoints to keep: expected at least 1, found 0"):
        prune(tmp_path, 0)
