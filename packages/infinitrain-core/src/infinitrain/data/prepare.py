"""From text to token ids, kept in the cache between runs."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from infinitrain.config import cache_dir
from infinitrain.data.corpus import read_corpus
from infinitrain.data.tokenfile import read_tokens, write_tokens
from infinitrain.data.tokenizer import GPT2Tokenizer, gpt2_tokenizer
from infinitrain.errors import DataError

__all__ = ["TokenizedCorpus", "prepare", "unigram_entropy"]

_log = logging.getLogger("infinitrain.data")
VALIDATION_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class TokenizedCorpus:
    """A corpus as token ids.

    Attributes:
        name: What it was read from.
        train, validation: Ids; the validation part is the last tenth of the corpus.
        unigram_entropy: Nats a token, of the validation part: the least loss there of a model that knows only how
            frequent each token is. A model below it has learned from context.
        tokenizer: Turns ids into text.
        digest: SHA-256 of text and tokenizer, in hexadecimal.
    """

    name: str
    train: npt.NDArray[Any]
    validation: npt.NDArray[Any]
    unigram_entropy: float
    tokenizer: GPT2Tokenizer
    digest: str


def prepare(data: str | Path | None, vocabulary: str | Path | None = None) -> TokenizedCorpus:
    """Read and tokenize a corpus, or take its ids from the cache.

    The cache file is called after the text's and the tokenizer's hash; a damaged one is made again.

    Raises: DataError for data or a vocabulary that is missing or damaged.
    """
    tokenizer = gpt2_tokenizer(vocabulary)
    documents = read_corpus(data)
    digest = hashlib.sha256(tokenizer.name.encode())
    for text in documents:
        digest.update(len(text).to_bytes(8, "little"))
        digest.update(text.encode())
    path = cache_dir() / "tokens" / f"{tokenizer.name}-{digest.hexdigest()[:24]}.bin"
    tokens = _cached(path, tokenizer.vocab_size)
    if tokens is None:
        tokens = np.asarray(tokenizer.encode_documents(documents), np.uint16)
        _keep(path, tokens, tokenizer.vocab_size)
    cut = len(tokens) - int(len(tokens) * VALIDATION_SHARE)
    name = "Shakespeare's plays" if data is None else str(data)
    train, validation = tokens[:cut], tokens[cut:]
    return TokenizedCorpus(name, train, validation, unigram_entropy(validation), tokenizer, digest.hexdigest())


def _cached(path: Path, vocab_size: int) -> npt.NDArray[Any] | None:
    try:
        return read_tokens(path, vocab_size) if path.exists() else None
    except (DataError, OSError) as damage:
        _log.warning("%s; it is made again", damage)
        return None


def _keep(path: Path, tokens: npt.NDArray[Any], vocab_size: int) -> None:
    try:
        write_tokens(path, tokens, vocab_size)
    except OSError as reason:
        _log.warning("tokens cannot be kept in %s: %s. The next run tokenizes again", path, reason)


def unigram_entropy(tokens: npt.NDArray[Any]) -> float:
    """Give the entropy, in nats, of the frequencies of token ids: -sum p ln p (Shannon 1948).

    The cross-entropy of a text under any one distribution of tokens is at least this, its own.
    """
    counts = np.bincount(tokens)
    shares = counts[counts > 0] / len(tokens)
    return float(-(shares * np.log(shares)).sum())
