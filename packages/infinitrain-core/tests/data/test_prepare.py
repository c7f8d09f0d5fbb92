"""Token ids of a corpus, their cache, and what frequencies alone can reach."""

from __future__ import annotations

import logging
import math
import socket
import sys

import numpy as np
import pytest
import tiktoken
from infinitrain.data import prepare
from infinitrain.data.prepare import unigram_entropy


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("INFINITRAIN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_documents_end_with_the_end_of_text_token(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text("word " * 10)
    corpus = prepare(folder)
    tokens = np.concatenate([corpus.train, corpus.validation])

    assert (tokens == 50256).sum() == 3
    assert tokens[-1] == 50256
    assert len(corpus.validation) == int(len(tokens) * 0.1)


def test_the_cache_is_used_and_a_damaged_one_is_made_again(tmp_path, cache, caplog, monkeypatch):
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be " * 50)
    first = prepare(text)
    (file,) = (cache / "tokens").iterdir()
    calls = []
    encode = tiktoken.Encoding.encode_ordinary
    monkeypatch.setattr(tiktoken.Encoding, "encode_ordinary", lambda self, s: calls.append(s) or encode(self, s))
    again = prepare(text)
    assert calls == []
    np.testing.assert_array_equal(again.train, first.train)

    file.write_bytes(file.read_bytes()[:-3])
    with caplog.at_level(logging.WARNING):
        mended = prepare(text)

    assert len(calls) == 1
    assert "is made again" in caplog.text
    np.testing.assert_array_equal(mended.train, first.train)


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch, caplog):
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be " * 50)
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("INFINITRAIN_CACHE", str(blocked))

    with caplog.at_level(logging.WARNING):
        assert len(prepare(text).train) > 100
    assert "cannot be kept" in caplog.text


def test_a_cache_that_cannot_be_read_is_no_error(tmp_path, cache, monkeypatch):
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be " * 50)
    first = prepare(text)

    def refuse(path, vocab_size):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(sys.modules["infinitrain.data.prepare"], "read_tokens", refuse)
    np.testing.assert_array_equal(prepare(text).train, first.train)


def test_changed_text_gets_new_tokens(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("one two three " * 20)
    first = prepare(text).train.tolist()
    text.write_text("four five six " * 20)

    assert prepare(text).train.tolist() != first


def test_nothing_is_asked_of_the_network(monkeypatch):
    def refuse(*arguments, **named):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    corpus = prepare(None)

    assert len(corpus.train) > 1_300_000
    assert 6.2 < corpus.unigram_entropy < 6.3


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [([3, 3, 3], 0.0), ([0, 1], math.log(2)), ([0, 1, 2, 3] * 5, math.log(4)), ([0, 0, 0, 1], 0.5623351446188083)],
)
def test_unigram_entropy(tokens, expected):
    assert unigram_entropy(np.array(tokens)) == pytest.approx(expected)
