"""The tool that freezes the contract refuses what the rules of versions forbid, on a copy of the tree."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import abi_freeze
import pytest

ROOT = Path(__file__).parents[2]


class Copy:
    """A copy of what the tool looks at, and the tool on it."""

    def __init__(self, root: Path) -> None:
        self.tree = abi_freeze.Tree(root)
        shutil.copytree(ROOT / "capi", root / "capi", ignore=shutil.ignore_patterns("sdk", "build"))
        shutil.copytree(ROOT / "docs" / "adr", root / "docs" / "adr")
        (root / "docs" / "adr" / "9001-why.md").write_text("# 9001. Why")
        (root / "docs" / "adr" / "9002-why.md").write_text("# 9002. Why")

    def __call__(self, *arguments: str) -> int:
        return abi_freeze.main(["--root", str(self.tree.root), *arguments])

    def edit(self, before: str, after: str, file: Path | None = None) -> None:
        path = file or self.tree.header
        text = path.read_text(encoding="utf-8")
        assert text.count(before) >= 1, before
        path.write_text(text.replace(before, after, 1), encoding="utf-8")

    def problems(self) -> str:
        return "\n".join(abi_freeze.check(self.tree))

    def record(self) -> dict:
        return self.tree.read("1.0", "record.json")

    def make_final(self) -> None:
        self("--final", "--adr", "docs/adr/9001-why.md")

    def next_minor(self) -> None:
        self.make_final()
        self.edit("#define ITP_ABI_MINOR 0", "#define ITP_ABI_MINOR 1")


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


WORDING = ("/* the caller's mistake; nothing was done */", "/* the caller's mistake */")
TAIL = ("  uint64_t max_collective_bytes;", "  uint64_t numa_node; /* 0: unknown */\n  uint64_t max_collective_bytes;")


def test_a_copy_is_as_frozen(copy, capsys):
    assert copy("--check") == 0
    assert "as frozen: 1.0" in capsys.readouterr().out


@pytest.mark.parametrize("change", [WORDING, TAIL, ("#define ITP_E_ABORTED 9", "#define ITP_E_ABORTED 19")])
def test_any_change_of_the_header_is_noticed(copy, change):
    copy.edit(*change)

    assert copy("--check") == 1
    assert "provider.h is not the one that was frozen as 1.0: a deliberate change is made by" in copy.problems()


def test_a_change_of_header_and_frozen_copy_is_noticed(copy):
    for path in (copy.tree.header, copy.tree.frozen_header("1.0")):
        copy.edit(*WORDING, file=path)

    assert "the frozen header of 1.0 is not the one that record.json names" in copy.problems()


def test_a_candidate_changes_with_a_reason_of_its_own(copy, capsys):
    copy.edit(*TAIL)
    steps = len(copy.record()["steps"])
    used = copy.record()["steps"][0]["adr"]
    for adr, words in (("", "expected the decision record"), ("docs/adr/0.md", "expected"), (used, "an earlier step")):
        with pytest.raises(SystemExit, match=words):
            copy("--candidate", "--adr", adr)

    assert copy("--candidate", "--adr", "docs/adr/9001-why.md") == 0
    assert "breaks providers built so far: itp_device_info: expected (name, offset, bytes)" in capsys.readouterr().out
    assert copy.problems() == ""
    assert len(copy.record()["steps"]) == steps + 1
    with pytest.raises(SystemExit, match="nothing to record"):
        copy("--candidate", "--adr", "docs/adr/9002-why.md")


def test_a_final_version_does_not_change(copy):
    copy.make_final()
    copy.edit(*WORDING)

    with pytest.raises(SystemExit, match=r"1\.0 is final"):
        copy("--candidate", "--adr", "docs/adr/9002-why.md")
    assert "1.0 is final: append to it under the next ITP_ABI_MINOR" in copy.problems()


def test_a_candidate_that_differs_is_not_made_final(copy):
    copy.edit(*WORDING)

    with pytest.raises(SystemExit, match="not frozen:"):
        copy.make_final()


def test_a_next_minor_needs_a_final_one_before_it_and_the_next_number(copy):
    copy.edit("#define ITP_ABI_MINOR 0", "#define ITP_ABI_MINOR 1")
    with pytest.raises(SystemExit, match=r"1\.0 is a candidate"):
        copy("--adr", "docs/adr/9001-why.md")
    copy.edit("#define ITP_ABI_MINOR 1", "#define ITP_ABI_MINOR 2")
    with pytest.raises(SystemExit, match=r"the version after 1\.0 is 1\.1, the header says 1\.2"):
        copy("--adr", "docs/adr/9001-why.md")


FORBIDDEN = {
    "a field in the middle": (TAIL, "itp_device_info: expected (name, offset, bytes) ['max_collective_bytes', 160"),
    "a status moved": (
        ("#define ITP_E_ABORTED 9", "#define ITP_E_ABORTED 19"),
        "ITP_E_ABORTED is 9 in 1.0 and 19 in 1.1: a constant never changes",
    ),
    "a type changed": (("  uint64_t total_memory; ", "  uint32_t total_memory; "), "itp_device_info: expected"),
    "a promise taken back": (("[ITP-RT-13]", "           "), "ITP-RT-13 stood in 1.0 and does not in 1.1"),
    "an optional slot required": (
        ("1.0, optional (default: nothing is logged)", "1.0, required"),
        "itp_host.log: its @since line is another than in 1.0",
    ),
    "a new slot required": (
        (
            "                           itp_stream stream, itp_error *err);\n} itp_runtime;",
            "                           itp_stream stream, itp_error *err);\n  /**\n   * Trim.\n"
            "   * @since   1.1, required\n   */\n  itp_status (*trim)(void *self, itp_error *err);\n} itp_runtime;",
        ),
        "itp_runtime.trim is new in 1.1 and required: providers of 1.0 do not have it",
    ),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_a_minor_may_not_do(copy, name):
    change, words = FORBIDDEN[name]
    copy.next_minor()
    copy.edit(*change)

    with pytest.raises(SystemExit, match=re.escape(words)):
        copy("--adr", "docs/adr/9002-why.md")
    assert copy.tree.versions() == ["1.0"]


def test_a_frozen_kernel_keeps_its_schema_its_dtypes_and_its_row(copy):
    name, row = next(iter(copy.tree.read("1.0", "kernels.json").items()))
    current = copy.tree.kernels()

    def words(**changes: object) -> str:
        return "\n".join(abi_freeze.kernel_problems({name: row}, {name: {**row, **changes}}, "1.0"))

    assert abi_freeze.kernel_problems(copy.tree.read("1.0", "kernels.json"), current, "1.0") == []
    assert words() == words(version=2, schema="another") == words(dtypes=[*row["dtypes"], "f8"]) == ""
    assert "another schema is another version" in words(schema=row["schema"] + " ")
    assert f"dtypes {row['dtypes'][0]} of 1.0 are not allowed any more" in words(dtypes=row["dtypes"][1:])
    assert "versions only grow" in words(version=0)
    assert "is not in the table" in "\n".join(abi_freeze.kernel_problems({name: row}, {}, "1.0"))


def test_the_next_minor_is_frozen_beside_the_first(copy):
    copy.next_minor()

    assert copy("--adr", "docs/adr/9002-why.md") == 0
    assert copy.tree.versions() == ["1.0", "1.1"]
    assert copy.problems() == ""
    golden = json.loads((copy.tree.golden / "v1.1.json").read_text())
    assert golden["constants"]["ITP_ABI_MINOR"] == 1
    with pytest.raises(SystemExit, match="frozen already"):
        copy("--adr", "docs/adr/9002-why.md")
