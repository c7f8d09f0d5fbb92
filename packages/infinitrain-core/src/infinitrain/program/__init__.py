"""Programs: a function's work on a device, recorded once and replayed by one call into C."""

from infinitrain.program.compiled import Compiled, compile
from infinitrain.program.explain import Explanation, Step
from infinitrain.program.program import Program

__all__ = ["Compiled", "Explanation", "Program", "Step", "compile"]
