"""Write the reference of the ABI, a page in Markdown, from the header's declarations and comments."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from infinitrain_capi import cdef_text

__all__ = ["render_reference"]

_BANNER = re.compile(r"/\* ==== (.+?) =+ \*/")
_DEFINE = re.compile(r"#define (\w+) (\S+)(?:\s+/\* (.*?) \*/)?$")
_ID = re.compile(r"\[(ITP-[A-Z]+-\d\d)\]")
_TAGS = ("@param", "@return", "@threads", "@order", "@since", "Like:", "SDK:")
_HEAD = """\
# The ABI

Every constant, struct and slot of [provider.h](../capi/include/infinitrain/provider.h), in its order. Written from that
file by `python -m infinitrain_capi.generate`; its introduction says what ownership, thread and slot words mean.
`ITP-...` names the sentence that the conformance kit proves.
"""


@dataclass
class _Struct:
    """A struct as it is read: fields as (declaration, meaning), slots as (name, declaration, comment)."""

    name: str
    comment: list[str]
    fields: list[tuple[str, str]] = field(default_factory=list)
    slots: list[tuple[str, str, list[str]]] = field(default_factory=list)


def _comment(text: str) -> list[str]:
    """Give the lines of a comment without its frame."""
    inner = re.sub(r"^\s*/\*\*?|\*/\s*$", "", text.strip())
    return [re.sub(r"^\s*\* ?", "", line).rstrip() for line in inner.strip("\n").splitlines()]


def _cell(text: str) -> str:
    return _ID.sub(r"`\1`", " ".join(text.split())).replace("|", "\\|")


def _prose(lines: list[str]) -> str:
    """Join lines to paragraphs and lists; ids become code. A line that is an id alone belongs to the line before."""
    parts: list[str] = []
    fresh = True
    for line in lines:
        text = line.strip()
        if not text:
            fresh = True
        elif text.startswith("- "):
            parts.append(("\n" if fresh and parts else "") + text)
            fresh = False
        elif fresh or not parts:
            parts.append(("\n" if parts else "") + text)
            fresh = False
        else:
            parts[-1] += " " + text
    return _ID.sub(r"`\1`", re.sub(r" {2,}", " ", "\n".join(parts)))


def _split(lines: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Separate a slot's description from its tagged lines."""
    description: list[str] = []
    tags: list[tuple[str, str]] = []
    for line in lines:
        text = line.strip()
        tag = next((tag for tag in _TAGS if text.startswith(tag)), None)
        if tag is not None:
            tags.append((tag.strip("@:"), text.removeprefix(tag).strip()))
        elif tags and text and line[0] in " [":
            tags[-1] = (tags[-1][0], f"{tags[-1][1]} {text}")
        else:
            description.append(line)
    return description, tags


def _parameter(text: str) -> tuple[str, str]:
    match = re.match(r"(?:\[([\w,]+)\]\s+)?(\w+)\s*(.*)", text)
    direction, name, meaning = match.groups() if match else ("", "", text)
    return f"`{name}`{f' ({direction})' if direction else ''}", _cell(meaning)


def _slot(owner: str, name: str, declaration: str, comment: list[str]) -> str:
    description, tags = _split(comment)
    parts = [f"#### `{owner}.{name}`\n", f"```c\n{declaration}\n```\n"]
    text = _prose(description)
    parts += [f"{text}\n"] if text else []
    rows = [_parameter(value) for tag, value in tags if tag == "param"]
    rows += [(f"*{tag}*", _cell(value)) for tag, value in tags if tag != "param"]
    parts.append("| | |\n|---|---|\n" + "".join(f"| {name} | {meaning} |\n" for name, meaning in rows))
    return "\n".join(parts)


def _struct(found: _Struct) -> str:
    parts = [f"### `{found.name}`\n"]
    text = _prose(found.comment)
    parts += [f"{text}\n"] if text else []
    if found.fields:
        rows = "".join(f"| `{declaration}` | {_cell(meaning)} |\n" for declaration, meaning in found.fields)
        parts.append(f"| field | |\n|---|---|\n{rows}")
    parts += [_slot(found.name.removeprefix("itp_"), *slot) for slot in found.slots]
    return "\n".join(parts)


def _body(lines: list[str], found: _Struct) -> int:
    """Read a struct's fields and slots; gives how many lines they take, the closing one included."""
    pending: list[str] = []
    index = 0
    while not lines[index].startswith("}"):
        text = lines[index].strip()
        end = index
        if text.startswith("/*"):
            while "*/" not in lines[end]:
                end += 1
            pending = _comment("\n".join(lines[index : end + 1]))
        elif text:
            while ";" not in lines[end].split("/*")[0]:
                end += 1
            declaration, _, trailing = "\n".join(lines[index : end + 1]).partition(";")
            slot = re.match(r"\s*[\w ]+\**\s*\(\*(\w+)\)\(", declaration)
            if slot is not None:
                found.slots.append((slot[1], _signature(declaration), pending))
            else:
                found.fields.append((" ".join(declaration.split()), " ".join(_comment(trailing)).strip()))
            pending = []
        index = end + 1
    return index + 1


def _signature(declaration: str) -> str:
    first, *rest = declaration.splitlines()
    return "\n".join([first.strip(), *(f"    {line.strip()}" for line in rest)]) + ";"


def render_reference() -> str:
    """Write the page."""
    lines = cdef_text().splitlines()
    parts, constants = [_HEAD], list[tuple[str, str, str]]()
    pending: list[str] = []

    def flush() -> None:
        if constants:
            rows = "".join(f"| `{name}` | {value} | {_cell(meaning)} |\n" for name, value, meaning in constants)
            parts.append(f"| constant | value | |\n|---|---|---|\n{rows}")
            constants.clear()

    index = 0
    while index < len(lines):
        line, end = lines[index], index
        banner, define = _BANNER.match(line), _DEFINE.match(line)
        struct = re.match(r"(?:typedef )?(?:struct|union) (\w+) \{", line)
        if banner is not None:
            flush()
            parts.append(f"## {banner[1]}\n")
            pending = []
        elif define is not None:
            if pending:
                flush()
                parts.append(f"{_prose(pending)}\n")
                pending = []
            constants.append((define[1], define[2], define[3] or ""))
        elif line.startswith("/*"):
            while "*/" not in lines[end]:
                end += 1
            flush()
            if pending:
                parts.append(f"{_prose(pending)}\n")
            pending = _comment("\n".join(lines[index : end + 1]))
        elif struct is not None:
            flush()
            found = _Struct(struct[1], pending)
            end = index + _body(lines[index + 1 :], found)
            parts.append(_struct(found))
            pending = []
        elif line.startswith("typedef "):
            while ";" not in lines[end]:
                end += 1
            flush()
            if pending:
                parts.append(f"{_prose(_split(pending)[0])}\n")
                pending = []
            parts.append("```c\n" + "\n".join(lines[index : end + 1]) + "\n```\n")
        index = end + 1
    flush()
    return "\n".join(parts).rstrip("\n") + "\n"
