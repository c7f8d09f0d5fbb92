"""The command line: defaults by model, groups, mistakes."""

from __future__ import annotations

import pytest
from infinitrain.errors import ConfigError
from infinitrain.train.command import main, parse


def test_defaults_follow_the_model_and_the_user_wins():
    assert parse(["gpt2"]).batch_size == 4
    assert parse(["gpt2", "--batch-size", "2"]).batch_size == 2
    assert parse(["gpt2", "--batch-size=3"]).batch_size == 3
    assert parse(["gpt2", "--batch_size", "5"]).batch_size == 5
    assert parse(["gpt2-tiny"]).seq_len == 32
    assert parse(["--steps", "7", "gpt2-mini"]).steps == 7


@pytest.mark.parametrize(
    "words",
    [
        ["--device", "cpu", "gpt2"],
        ["--device=cpu", "gpt2"],
        ["--overwrite", "gpt2"],
        ["--prompt", "gpt2-mini", "--resume", "gpt2"],
        ["--keep_checkpoints", "1", "gpt2", "--overwrite"],
    ],
)
def test_the_model_may_stand_anywhere(words):
    config = parse(words)

    assert (config.model, config.batch_size, config.lr) == ("gpt2", 4, 6e-4)


def test_help_shows_groups_units_and_the_defaults_of_the_model(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["gpt2", "--help"])
    shown = " ".join(capsys.readouterr().out.split())

    assert caught.value.code == 0
    for words in ("run options", "step options", "learning options", "observing options", "examples:", "nats a token"):
        assert words in shown
    assert "--batch-size INT Rows of a batch. (default: 4)" in shown


@pytest.mark.parametrize(
    "words",
    [
        ["--temperature", "inf"],
        ["--beta1", "1"],
        ["--dropout", "1"],
        ["--seed", "-1"],
        ["--clip", "-1"],
        ["--accumulate", "0"],
        ["--seq-len", "257"],
    ],
)
def test_a_value_out_of_range_is_one_line_that_names_the_option(words, capsys):
    with pytest.raises(ConfigError, match=f"^{words[0]}: expected .*, found {words[1]}"):
        parse(["gpt2-mini", *words])
    assert main(["gpt2-mini", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()

    assert line.startswith(f"infinitrain train: {words[0]}: expected ")


def test_brackets_in_a_message_are_no_markup(capsys):
    assert main(["gpt2-mini", "--data", "/nowhere/[bold]x.txt"]) == 2

    assert "/nowhere/[bold]x.txt does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "hint"), [(["--stepz", "3"], "--steps INT"), (["--steps", "three"], "three")])
def test_malformed_arguments_end_with_2(words, hint, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["gpt2-mini", *words])

    assert caught.value.code == 2
    assert hint in capsys.readouterr().err


def test_no_model_ends_with_2_and_lists_them(capsys):
    with pytest.raises(SystemExit) as caught:
        main([])

    assert caught.value.code == 2
    assert "gpt2-mini" in capsys.readouterr().err
