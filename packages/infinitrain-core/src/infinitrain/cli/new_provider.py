"""`infinitrain new-provider NAME`: write a complete package outside this one that makes a device of that name.

The template is itself a package, of a vendor called Acme: what is written is that package under another name.
"""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from infinitrain._abi import names, registry
from infinitrain.errors import ConfigError

__all__ = ["LANGUAGES", "main", "render", "write"]

LANGUAGES = ("c", "c++")
#: The template's name in its spellings, the longest first; `names.problem` says what may stand for it.
_ACME = "acme"
#: What a wheel would not carry, or a tool would take for its own, has no dot in the template.
_DOT = "dot-"
EPILOG = """\
examples:
  infinitrain new-provider acme                        ./infinitrain-acme, in C
  infinitrain new-provider acme --language c++ --dir ~/work/acme-provider
"""


def distribution(name: str) -> str:
    """Give the name of the package that brings a provider."""
    return f"infinitrain-{name.replace('_', '-')}"


def _renamed(text: str, name: str) -> str:
    for old, new in (
        (f"infinitrain-{_ACME}", distribution(name)),
        (_ACME.upper(), name.upper()),
        (_ACME.capitalize(), name.replace("_", " ").capitalize()),
        (_ACME, name),
    ):
        text = text.replace(old, new)
    return text


def _walk(top: Traversable, path: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in sorted(top.iterdir(), key=lambda each: each.name):
        if entry.name == "__pycache__":
            continue
        inner = f"{path}{entry.name}"
        found |= _walk(entry, f"{inner}/") if entry.is_dir() else {inner: entry.read_text(encoding="utf-8")}
    return found


def render(name: str, language: str = "c") -> dict[str, str]:
    """Give the files of a provider package as {path below the package: text}.

    Raises: ConfigError for a name that the loader would refuse, or another language.
    """
    problem = names.problem(name)
    if problem is not None:
        raise ConfigError(f"provider {problem}")
    if language not in LANGUAGES:
        raise ConfigError(f"language {language!r}: expected one of {', '.join(LANGUAGES)}")
    template = files("infinitrain.cli") / "template"
    texts = _walk(template / "common") | _walk(template / language)
    return {
        "/".join(
            part.replace(_DOT, ".", 1) if part.startswith(_DOT) else part for part in _renamed(path, name).split("/")
        ): _renamed(text, name)
        for path, text in sorted(texts.items())
    }


def write(name: str, folder: Path, language: str = "c") -> list[Path]:
    """Write the package into a folder that is not there yet, or empty; gives the files.

    Raises: ConfigError for a wrong name or language, and where the folder has something in it: nothing is replaced.
    """
    texts = render(name, language)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is not empty: expected a new folder. Choose another by --dir, or remove it")
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return [folder / path for path in texts]


def main(arguments: list[str]) -> int:
    """Write the package and say what comes next."""
    parser = argparse.ArgumentParser(
        prog="infinitrain new-provider",
        description="Write a complete package that makes a device of your own: it builds as it is, passes tier 0 of "
        "`infinitrain conformance`, and shows in `infinitrain providers`. Its README says what comes next.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="the device's name: a lower-case letter, then a-z, 0-9 and _")
    parser.add_argument("--dir", type=Path, metavar="D", help="folder of the package (./infinitrain-NAME)")
    parser.add_argument("--language", choices=LANGUAGES, default="c", help="of the library (c)")
    chosen = parser.parse_args(arguments)
    folder: Path = chosen.dir or Path(distribution(chosen.name))
    written = write(chosen.name, folder, chosen.language)
    lines = [
        f"{folder}: {len(written)} files. Next:",
        "",
        f"  cd {folder}",
        "  pip install .",
        "  infinitrain providers",
    ]
    lines += [f"  infinitrain conformance {chosen.name} --tier 0", "", "README.md goes on from there."]
    taken = [each for each in registry.candidates() if each.name == chosen.name]
    if taken:
        lines += ["", f"A provider {chosen.name!r} is installed already ({taken[0].where}): uninstall it before."]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
