"""`infinitrain new-provider`: what it writes, and what it refuses."""

from __future__ import annotations

import tomllib

import pytest
from infinitrain.cli.main import main
from infinitrain.cli.new_provider import LANGUAGES, render
from infinitrain.errors import ConfigError


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_name_stands_everywhere_and_the_templates_nowhere(language):
    texts = render("my_chip", language)
    project = tomllib.loads(texts["pyproject.toml"])

    assert project["project"]["name"] == "infinitrain-my-chip"
    assert project["project"]["entry-points"]["infinitrain.providers"] == {
        "my_chip": "infinitrain_my_chip:library_path"
    }
    assert "libitp_my_chip.so" in texts["src/infinitrain_my_chip/__init__.py"]
    assert "MY_CHIP_STAND_IN_TIER" in texts["CMakeLists.txt"]
    assert ".github/workflows/test.yml" in texts
    assert [path for path, text in texts.items() if "acme" in (path + text).lower()] == []


def test_languages_differ_in_the_library_only():
    c, cxx = render("acme", "c"), render("acme", "c++")

    assert {path for path in c if c[path] != cxx.get(path)} == {
        "CMakeLists.txt",
        "csrc/internal.h",
        *(path for path in c if path.endswith(".c")),
    }
    assert {path.removesuffix("c") for path in cxx if path.endswith(".cc")} == {p for p in c if p.endswith(".c")}


@pytest.mark.parametrize("name", ["Acme", "9acme", "", "a-b", "x" * 33, "cpu", "cuda", "privateuse1", "acmé", "a\n"])
def test_the_loaders_rule_for_names(name, tmp_path, capsys):
    assert main(["new-provider", "--dir", str(tmp_path / "new"), "--", name]) == 2
    assert "provider name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError):
        render(name)


def test_nothing_is_overwritten(tmp_path, capsys):
    mine = tmp_path / "notes.txt"
    mine.write_text("mine")

    assert main(["new-provider", "acme", "--dir", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert mine.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [mine]
    assert main(["new-provider", "acme", "--dir", str(mine)]) == 2


def test_an_empty_folder_and_a_new_one_are_taken(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new-provider", "acme", "--dir", str(tmp_path / "deep" / "folder")]) == 0
    assert main(["new-provider", "acme"]) == 0

    assert (tmp_path / "deep" / "folder" / "csrc" / "kernels" / "table.c").is_file()
    assert (tmp_path / "infinitrain-acme" / "pyproject.toml").is_file()
    assert "pip install ." in capsys.readouterr().out


def test_another_language_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["new-provider", "acme", "--language", "rust"])

    assert caught.value.code == 2
    with pytest.raises(ConfigError, match=r"expected one of c, c\+\+"):
        render("acme", "rust")


def test_a_name_that_is_installed_already_is_said(tmp_path, capsys):
    assert main(["new-provider", "fake", "--dir", str(tmp_path / "new")]) == 0
    assert "'fake' is installed already (infinitrain_fake)" in capsys.readouterr().out
