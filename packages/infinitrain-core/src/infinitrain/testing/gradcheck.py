"""Gradients checked against differences: the one helper that every operation's test uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infinitrain import dtype as dt
from infinitrain.autograd import grad
from infinitrain.errors import InfinitrainError
from infinitrain.ops.create import tensor
from infinitrain.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]


class GradcheckError(InfinitrainError, AssertionError):
    """A gradient differs from the differences of the function."""


def gradcheck(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    eps: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
    seed: int = 0,
) -> bool:
    """Compare the gradients of `function` with central differences, in float64.

    The outputs are weighted by fixed random numbers and added up; each element of each float64 input that requires
    grad is then moved by +-eps. A truncation error of about eps^2 and a rounding error of about 1e-16/eps remain:
    the defaults leave room for both.

    Args:
        function: Takes the inputs, gives a tensor or a tuple of tensors.
        inputs: What to call it with; float64 tensors that require grad are checked.
        eps: The step of the differences.
        rtol: Allowed difference relative to the numeric gradient.
        atol: Allowed difference.
        seed: Chooses the weights.

    Returns: True.
    Raises: GradcheckError naming the input, the element and both values; TypeError if nothing is to be checked.
    """
    checked = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad and x.dtype is dt.float64]
    if not checked:
        raise TypeError("gradcheck: expected a float64 input that requires grad, found none")
    rng = np.random.default_rng(seed)
    weights: list[Array] = []

    def outputs_of(args: Sequence[Any]) -> list[Tensor]:
        result = function(*args)
        found = result if isinstance(result, tuple | list) else [result]
        return [y for y in found if y.dtype.is_floating_point]

    outputs = outputs_of(inputs)
    weights = [rng.standard_normal(y.shape) for y in outputs]

    def weighted(args: Sequence[Any]) -> float:
        return float(
            sum(
                float((y.detach().to("cpu").numpy().astype(np.float64) * w).sum())
                for y, w in zip(outputs_of(args), weights, strict=True)
            )
        )

    starts = [tensor(w, dtype=y.dtype, device=y.device) for y, w in zip(outputs, weights, strict=True)]
    used = [(y, s) for y, s in zip(outputs, starts, strict=True) if y.requires_grad]
    gradients = grad([y for y, _ in used], [inputs[i] for i in checked], [s for _, s in used], allow_unused=True)
    for position, gradient in zip(checked, gradients, strict=True):
        x = inputs[position]
        analytic = np.zeros(x.shape) if gradient is None else gradient.to("cpu").numpy()
        _compare(position, analytic, _differences(weighted, inputs, position, eps), rtol, atol)
    return True


def _differences(weighted: Callable[[Sequence[Any]], float], inputs: Sequence[Any], position: int, eps: float) -> Array:
    """Move each element of one input up and down."""
    x = inputs[position]
    base = np.array(x.detach().to("cpu").numpy())
    result = np.zeros(base.shape)
    for place in np.ndindex(*base.shape):
        values = []
        for step in (eps, -eps):
            moved = base.copy()
            moved[place] += step
            changed = tensor(moved, dtype=dt.float64, device=x.device, requires_grad=True)
            values.append(weighted([*inputs[:position], changed, *inputs[position + 1 :]]))
        result[place] = (values[0] - values[1]) / (2 * eps)
    return result


def _compare(position: int, analytic: Array, numeric: Array, rtol: float, atol: float) -> None:
    """Raise GradcheckError at the worst element that is out of tolerance."""
    excess = np.abs(analytic - numeric) - (atol + rtol * np.abs(numeric))
    excess = np.where(np.isnan(excess), np.inf, excess)
    if excess.size and excess.max() > 0:
        place = np.unravel_index(int(np.argmax(excess)), excess.shape)
        raise GradcheckError(
            f"gradcheck: expected {float(numeric[place])!r} (by differences) for input {position} at "
            f"{tuple(int(i) for i in place)}, found {float(analytic[place])!r}"
        )
