"""Text to batches: corpus, tokenizer, token files, sampling."""

from infinitrain.data.batches import Batches, Split
from infinitrain.data.corpus import read_corpus
from infinitrain.data.idx import read_idx
from infinitrain.data.prepare import TokenizedCorpus, prepare
from infinitrain.data.tokenfile import read_tokens, write_tokens
from infinitrain.data.tokenizer import GPT2Tokenizer, gpt2_tokenizer

__all__ = [
    "Batches",
    "GPT2Tokenizer",
    "Split",
    "TokenizedCorpus",
    "gpt2_tokenizer",
    "prepare",
    "read_corpus",
    "read_idx",
    "read_tokens",
    "write_tokens",
]
