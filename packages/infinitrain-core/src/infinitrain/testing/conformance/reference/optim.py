"""Gradient accumulation and AdamW."""

from __future__ import annotations

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import wide

__all__: list[str] = []


@reference("AccumulateGrad")
def accumulate(case: Case) -> list[Expected | None]:
    """Y = y + rate * grad."""
    rate = 1.0 if case.inputs[1] is None else wide(case.inputs[1])
    return [Expected(wide(output(case)) + rate * wide(operand(case, 0)))]


@reference("AdamAccumulateGrad")
def adamw(case: Case) -> list[Expected | None]:
    """AdamW, Loshchilov and Hutter, algorithm 2."""
    beta1, beta2, eps, decay = (float(value) for value in case.attributes)
    lr, step = float(wide(operand(case, 1))), int(operand(case, 2))
    scale = 1.0 if case.inputs[3] is None else float(wide(case.inputs[3]))
    grad = wide(operand(case, 0)) * scale
    param, m, v = (wide(output(case, i)) for i in range(3))
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    mean, variance = m / (1 - beta1**step), v / (1 - beta2**step)
    param = param * (1 - lr * decay) - lr * mean / (np.sqrt(variance) + eps)
    return [Expected(param), Expected(m), Expected(v)]
