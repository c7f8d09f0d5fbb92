"""Products: matmul and the linear layer with its gradients."""

from __future__ import annotations

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import wide

__all__: list[str] = []


def _product(case: Case, a: Array, b: Array, *, accumulate: bool) -> list[Expected | None]:
    """Give a @ b on the old value or on 0, with the sum of the magnitudes."""
    value, magnitude = a @ b, np.abs(a) @ np.abs(b)
    if accumulate:
        old = wide(output(case))
        value, magnitude = value + old, magnitude + np.abs(old)
    return [Expected(value, magnitude)]


@reference("MatmulForward")
def matmul(case: Case) -> list[Expected | None]:
    """Y = a @ b."""
    return _product(case, wide(operand(case, 0)), wide(operand(case, 1)), accumulate=bool(case.attributes[0]))


@reference("LinearForward")
def linear(case: Case) -> list[Expected | None]:
    """Y = x @ weight^T + bias."""
    x, weight = wide(operand(case, 0)), wide(operand(case, 1))
    value, magnitude = x @ weight.T, np.abs(x) @ np.abs(weight).T
    if case.inputs[2] is not None:
        bias = wide(case.inputs[2])
        value, magnitude = value + bias, magnitude + np.abs(bias)
    return [Expected(value, magnitude)]


@reference("LinearBackwardInput")
def linear_backward_input(case: Case) -> list[Expected | None]:
    """Dx = grad @ weight."""
    return _product(case, wide(operand(case, 0)), wide(operand(case, 1)), accumulate=bool(case.attributes[0]))


@reference("LinearBackwardWeight")
def linear_backward_weight(case: Case) -> list[Expected | None]:
    """Dweight = grad^T @ x."""
    x, grad = wide(operand(case, 0)), wide(operand(case, 1))
    return _product(case, grad.T, x, accumulate=bool(case.attributes[0]))


@reference("LinearBackwardBias")
def linear_backward_bias(case: Case) -> list[Expected | None]:
    """Dbias = column sums of grad."""
    grad = wide(operand(case, 0))
    value, magnitude = grad.sum(axis=0), np.abs(grad).sum(axis=0)
    if case.attributes[0]:
        old = wide(output(case))
        value, magnitude = value + old, magnitude + np.abs(old)
    return [Expected(value, magnitude)]
