"""Freeze the contract, and say what has moved since.

`nox -s abi-freeze -- --check` tells whether the header and the kernel table are what was frozen. The other calls
write, and refuse what the rules of versions forbid:

    nox -s abi-freeze                                        a next minor: ITP_ABI_MINOR is one more than the last
    nox -s abi-freeze -- --candidate --adr docs/adr/N.md     a deliberate change while the version is a candidate
    nox -s abi-freeze -- --final --adr docs/adr/N.md         the candidate is the version from now on

A frozen set is capi/abi/frozen/vX.Y: the header, the kernel table's names, schemas and dtypes (kernels.json), and
how it came about (record.json); and the layout, capi/abi/golden/vX.Y.json. docs/abi-stability.md explains.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import abi_layout

ROOT = Path(__file__).resolve().parent.parent
ID = re.compile(r"\[(ITP-[A-Z]+-\d\d)\]")


class Tree:
    """The contract's files in one checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.header = root / "capi" / "include" / "infinitrain" / "provider.h"
        self.table = root / "capi" / "kernels.toml"
        self.frozen = root / "capi" / "abi" / "frozen"
        self.golden = root / "capi" / "abi" / "golden"

    def versions(self) -> list[str]:
        """List the frozen versions, oldest first."""
        found = [path.name.removeprefix("v") for path in self.frozen.glob("v*")]
        return sorted(found, key=numbers)

    def version(self) -> str:
        """Read the header's own version."""
        text = self.header.read_text(encoding="ascii")
        major, minor = (re.search(rf"#define ITP_ABI_{part} (\d+)", text) for part in ("MAJOR", "MINOR"))
        if major is None or minor is None:
            raise SystemExit(f"{self.header}: expected ITP_ABI_MAJOR and ITP_ABI_MINOR, found no such line")
        return f"{major[1]}.{minor[1]}"

    def frozen_header(self, version: str) -> Path:
        """Give the header of a frozen version."""
        return self.frozen / f"v{version}" / "infinitrain" / "provider.h"

    def read(self, version: str, name: str) -> Any:
        """Read one of a frozen set's JSON files."""
        return json.loads((self.frozen / f"v{version}" / name).read_text(encoding="utf-8"))

    def kernels(self) -> dict[str, dict[str, Any]]:
        """Give what a provider and the core have to agree about for each row of the kernel table."""
        sys.path.insert(0, str(self.root / "capi" / "src"))
        from infinitrain_capi.table import load

        rows = load(self.table).values()
        return {
            row.name: {"version": row.version, "tier": row.tier, "schema": row.schema, "dtypes": list(row.dtypes)}
            for row in rows
        }


def numbers(version: str) -> tuple[int, int]:
    """Split a version."""
    major, minor = version.split(".")
    return int(major), int(minor)


def digest(path: Path) -> str:
    """Name a header's text."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- what is wrong ----


def layout_problems(older: dict[str, Any], newer: dict[str, Any]) -> list[str]:
    """Say where a newer layout does more than append to an older one."""
    problems = []
    before, after = f"{older['version']}", f"{newer['version']}"
    for name, value in older["constants"].items():
        found = newer["constants"].get(name)
        if found != value and name != "ITP_ABI_MINOR":
            problems.append(f"{name} is {value} in {before} and {found} in {after}: a constant never changes")
    for name, struct in older["structs"].items():
        fields = newer["structs"].get(name, {"fields": []})["fields"]
        begin = fields[: len(struct["fields"])]
        for expected, found in zip(struct["fields"], [*begin, *[None] * len(struct["fields"])], strict=False):
            if expected != found:
                problems.append(
                    f"{name}: expected (name, offset, bytes) {expected} as in {before}, found {found} in {after}: "
                    "fields are only appended"
                )
                break
    return problems


def contract_problems(older: Path, newer: Path, before: str, after: str) -> list[str]:
    """Say where a newer header takes back a sentence or a slot's being optional."""
    lost = set(ID.findall(older.read_text())) - set(ID.findall(newer.read_text()))
    problems = [f"{name} stood in {before} and does not in {after}: a promise is never taken back" for name in lost]
    old_slots = abi_layout.slots(older)
    for slot, (since, required) in abi_layout.slots(newer).items():
        if slot in old_slots:
            if old_slots[slot] != (since, required):
                problems.append(f"{slot}: its @since line is another than in {before}: {since}, {required=}")
        elif since != after:
            problems.append(f"{slot} is new in {after}, and its comment says @since {since}")
        elif required:
            problems.append(f"{slot} is new in {after} and required: providers of {before} do not have it")
    return problems


def kernel_problems(frozen: dict[str, Any], current: dict[str, Any], version: str) -> list[str]:
    """Say which kernels a provider of a frozen version would lose on this kernel table."""
    problems = []
    for name, row in frozen.items():
        now = current.get(name)
        if now is None:
            problems.append(f"kernel {name} of {version} is not in the table: rows are never removed")
        elif now["version"] < row["version"]:
            problems.append(f"kernel {name}: version {now['version']} after {row['version']}: versions only grow")
        elif now["version"] == row["version"]:
            if now["schema"] != row["schema"]:
                problems.append(
                    f"kernel {name}: its schema is {now['schema']!r}, in {version} it was {row['schema']!r}: "
                    "another schema is another version"
                )
            gone = [dtype for dtype in row["dtypes"] if dtype not in now["dtypes"]]
            if gone:
                problems.append(f"kernel {name}: dtypes {', '.join(gone)} of {version} are not allowed any more")
    return problems


def set_problems(tree: Tree, version: str) -> list[str]:
    """Say what does not fit together within one frozen set."""
    header, record = tree.frozen_header(version), tree.read(version, "record.json")
    problems = []
    golden = json.loads((tree.golden / f"v{version}.json").read_text(encoding="ascii"))
    if abi_layout.by_cffi(header) != golden:
        problems.append(f"golden/v{version}.json is not the layout of the frozen header of {version}")
    steps = record["steps"]
    if steps[-1]["sha256"] != digest(header):
        problems.append(f"the frozen header of {version} is not the one that record.json names")
    reasons = [step["adr"] for step in steps]
    problems += [f"record of {version}: {adr} is not there" for adr in reasons if not (tree.root / adr).is_file()]
    problems += [f"record of {version}: {adr} stands for two steps" for adr in set(reasons) if reasons.count(adr) > 1]
    return problems


def appended_problems(tree: Tree) -> list[str]:
    """Hold each frozen version against the one before it."""
    problems = []
    for before, after in pairwise(tree.versions()):
        old, new = (json.loads((tree.golden / f"v{v}.json").read_text(encoding="ascii")) for v in (before, after))
        problems += layout_problems(old, new)
        problems += contract_problems(tree.frozen_header(before), tree.frozen_header(after), before, after)
        problems += kernel_problems(tree.read(before, "kernels.json"), tree.read(after, "kernels.json"), before)
    return problems


def check(tree: Tree) -> list[str]:
    """List everything that is not as it was frozen."""
    version, versions = tree.version(), tree.versions()
    problems = [problem for frozen in versions for problem in set_problems(tree, frozen)]
    problems += appended_problems(tree)
    if version not in versions:
        problems.append(f"version {version} is not frozen: nox -s abi-freeze")
        return problems
    if tree.header.read_bytes() != tree.frozen_header(version).read_bytes():
        way = (
            "a deliberate change is made by nox -s abi-freeze -- --candidate --adr docs/adr/N.md"
            if tree.read(version, "record.json")["state"] == "candidate"
            else f"{version} is final: append to it under the next ITP_ABI_MINOR, then nox -s abi-freeze"
        )
        problems.append(f"provider.h is not the one that was frozen as {version}: {way}")
    return problems + kernel_problems(tree.read(version, "kernels.json"), tree.kernels(), version)


# ---- writing ----


def write_json(path: Path, value: Any) -> None:
    """Write JSON, for people to read."""
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_set(tree: Tree, record: dict[str, Any]) -> None:
    """Write the header's frozen set and layout."""
    version = tree.version()
    header = tree.frozen_header(version)
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_bytes(tree.header.read_bytes())
    tree.golden.mkdir(parents=True, exist_ok=True)
    text = abi_layout.text_of(abi_layout.by_cffi(tree.header))
    (tree.golden / f"v{version}.json").write_text(text, encoding="ascii")
    write_json(header.parents[1] / "kernels.json", tree.kernels())
    write_json(header.parents[1] / "record.json", record)


def next_minor(tree: Tree, adr: str) -> None:
    """Freeze a new minor, which does nothing but append to the last one."""
    version, versions = tree.version(), tree.versions()
    if version in versions:
        raise SystemExit(f"{version} is frozen already: raise ITP_ABI_MINOR for the next, or see --candidate")
    if versions:
        last = versions[-1]
        major, minor = numbers(last)
        if numbers(version) != (major, minor + 1):
            raise SystemExit(f"the version after {last} is {major}.{minor + 1}, the header says {version}")
        if tree.read(last, "record.json")["state"] != "final":
            raise SystemExit(f"{last} is a candidate: make it final first, by --final --adr docs/adr/N.md")
        old = json.loads((tree.golden / f"v{last}.json").read_text(encoding="ascii"))
        refuse(
            layout_problems(old, abi_layout.by_cffi(tree.header))
            + contract_problems(tree.frozen_header(last), tree.header, last, version)
            + kernel_problems(tree.read(last, "kernels.json"), tree.kernels(), last)
        )
    step = {"sha256": digest(tree.header), "adr": reason(tree, adr)}
    write_set(tree, {"version": version, "state": "final", "steps": [step]})
    print(f"frozen: {version}")


def reason(tree: Tree, adr: str) -> str:
    """Give the decision record of this step: one that is there and stands for no other step."""
    if not re.fullmatch(r"docs/adr/\d{4}-[\w-]+\.md", adr) or not (tree.root / adr).is_file():
        raise SystemExit(f"--adr {adr or '(none)'}: expected the decision record of this change, docs/adr/NNNN-name.md")
    used = {step["adr"] for frozen in tree.versions() for step in tree.read(frozen, "record.json")["steps"]}
    if adr in used:
        raise SystemExit(f"--adr {adr} stands for an earlier step: a change has a record of its own")
    return adr


def candidate(tree: Tree, adr: str) -> None:
    """Record a deliberate change of a version that is still a candidate."""
    version, versions = tree.version(), tree.versions()
    if versions and version not in versions:
        raise SystemExit(f"{version} is not frozen: a new minor is frozen without --candidate")
    record: dict[str, Any] = {"version": version, "state": "candidate", "steps": []}
    if versions:
        record = tree.read(version, "record.json")
        if record["state"] != "candidate":
            raise SystemExit(f"{version} is final: append under the next ITP_ABI_MINOR")
        same = tree.header.read_bytes() == tree.frozen_header(version).read_bytes()
        if same and not kernel_problems(tree.read(version, "kernels.json"), tree.kernels(), version):
            raise SystemExit(f"provider.h and the kernels of {version} are as they were frozen: nothing to record")
        old = json.loads((tree.golden / f"v{version}.json").read_text(encoding="ascii"))
        for problem in layout_problems(old, abi_layout.by_cffi(tree.header)):
            print(f"breaks providers built so far: {problem}")
    record["steps"].append({"sha256": digest(tree.header), "adr": reason(tree, adr)})
    write_set(tree, record)
    print(f"frozen: candidate {len(record['steps'])} of {version}")


def final(tree: Tree, adr: str) -> None:
    """Declare the candidate to be the version."""
    refuse(check(tree))
    version = tree.version()
    record = tree.read(version, "record.json")
    if record["state"] == "final":
        raise SystemExit(f"{version} is final already")
    record["state"] = "final"
    record["steps"].append({"sha256": digest(tree.header), "adr": reason(tree, adr)})
    write_set(tree, record)
    print(f"final: {version}")


def refuse(problems: list[str]) -> None:
    """Stop where anything is wrong."""
    if problems:
        raise SystemExit("\n".join(["not frozen:", *[f"  {problem}" for problem in problems]]))


def main(arguments: list[str] | None = None) -> int:
    """Check or freeze."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    parser.add_argument("--adr", default="", help="the decision record that gives the reason")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="only say what is not as it was frozen")
    what.add_argument("--candidate", action="store_true", help="a deliberate change of a candidate")
    what.add_argument("--final", action="store_true", help="the candidate becomes the version")
    options = parser.parse_args(arguments)
    tree = Tree(options.root.resolve())
    if options.check:
        problems = check(tree)
        print("\n".join(problems) if problems else f"as frozen: {', '.join(tree.versions())}")
        return 1 if problems else 0
    write = candidate if options.candidate else final if options.final else next_minor
    write(tree, options.adr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
