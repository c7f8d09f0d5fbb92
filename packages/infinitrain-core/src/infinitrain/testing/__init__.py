"""Tools for tests: numeric gradient checks, and the conformance kit for providers."""

from __future__ import annotations

from infinitrain.testing.gradcheck import GradcheckError, gradcheck

__all__ = ["GradcheckError", "gradcheck"]
