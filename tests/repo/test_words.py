"""No vendor's name stands in the core or in the header, no machine's path in any tracked file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
VENDORS = re.compile(r"(?i)\b(cuda|nvidia|maca|metax|rocm|hip|ascend|musa|nccl|cublas\w*|mps)\b")
#: The one module that knows which names a foreign provider may not take.
RESERVED_NAMES = "packages/infinitrain-core/src/infinitrain/_abi/names.py"


def tracked(*patterns: str) -> list[Path]:
    """List tracked files (all files where there is no git) below the given paths."""
    result = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in result.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_core_and_header_name_no_vendor():
    found = []
    for path in tracked("packages/infinitrain-core/src", "packages/infinitrain-core/csrc", "capi/include", "capi/sdk"):
        name = str(path.relative_to(ROOT))
        if name == RESERVED_NAMES:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            # The header's `Like:` lines say which well-known call a slot resembles.
            if VENDORS.search(line) and "Like:" not in line:
                found.append(f"{name}:{number}: {line.strip()}")

    assert found == []


def test_no_path_of_a_machine_is_tracked():
    here = re.compile(r"(/home/\w+|/Users/\w+|/root)/")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        if path.suffix not in {".png", ".lock"} and path != Path(__file__)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if here.search(line)
    ]

    assert found == []


def test_no_tracked_file_is_large():
    large = [
        f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes" for path in tracked() if path.stat().st_size > 200_000
    ]

    assert large == []
