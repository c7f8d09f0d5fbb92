"""Let the tests of this folder share toolchain.py, and use the tools that freeze the contract."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "tools")]
