"""Gradient clipping, on the device: the host reads nothing unless it is asked to check for non-finite values."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from infinitrain.autograd import no_grad
from infinitrain.device import Device
from infinitrain.dispatch import launch
from infinitrain.dtype import float32, float64
from infinitrain.errors import ConfigError, InfinitrainError
from infinitrain.ops.create import full, zeros
from infinitrain.tensor import Tensor

__all__ = [
    "NonFiniteGradient",
    "clip_coefficient",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

#: Tensors, or (name, tensor) pairs as `named_parameters()` gives them.
Parameters = Tensor | Iterable[Tensor] | Iterable[tuple[str, Tensor]]


class NonFiniteGradient(InfinitrainError, RuntimeError):
    """A gradient holds an infinity or NaN, and the caller asked for this to be an error."""


class _Named(NamedTuple):
    name: str
    grad: Tensor


def _grads(parameters: Parameters) -> list[_Named]:
    """List the gradients that are there, each once, with a name for messages."""
    found: list[_Named] = []
    seen: set[int] = set()
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    for position, entry in enumerate(given):
        name, parameter = entry if isinstance(entry, tuple) else (f"number {position}", entry)
        if parameter.grad is not None and id(parameter) not in seen:
            seen.add(id(parameter))
            found.append(_Named(name, parameter.grad))  # itself: its descriptor is built already
    return found


def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Give the p-norm of all tensors together, as one 0-d tensor on the first one's device.

    As in torch these are the tensors measured: give gradients, not parameters. Low precision is summed in float32;
    the result is float64 if a tensor is, else float32. Nothing is read by the host where all are on one device and
    `error_if_nonfinite` is false. No tensor at all gives 0. `norm_type` may be any number: inf and -inf are the
    largest and smallest magnitude, 0 counts the elements that are not 0
    (torch counts the gradients that have one).

    Raises: NonFiniteGradient if asked to.
    """
    given = [tensors] if isinstance(tensors, Tensor) else tensors
    named = [_Named(f"number {position}", tensor) for position, tensor in enumerate(given)]
    with no_grad():
        norm = _total_norm(named, float(norm_type))
        if error_if_nonfinite:
            _require_finite("get_total_norm", norm, named)
        return norm


def _require_finite(what: str, norm: Tensor, grads: list[_Named]) -> None:
    """Read the norm and raise NonFiniteGradient unless it is finite."""
    if grads and not bool(norm.isfinite()):
        bad = [name for name, grad in grads if not bool(grad.isfinite().all())]
        where = f"parameters {', '.join(bad)}" if bad else "a sum too large for its dtype"
        raise NonFiniteGradient(
            f"{what}: expected a finite norm, found {norm.item()} from {where}. No gradient was changed."
        )


def _total_norm(grads: list[_Named], p: float) -> Tensor:
    if not grads:
        return zeros(())
    device = grads[0].grad.device
    wide = float64 if any(grad.dtype is float64 for _, grad in grads) else float32
    parts = _squares(grads) if p == 2.0 else [_power_sum(grad, p) for _, grad in grads if grad.numel()]
    total: Tensor | None = None
    for part in parts:
        part = part.to(device).to(wide)
        if total is None:
            total = part
        elif abs(p) == inf:
            total = total.maximum(part) if p > 0 else total.minimum(part)
        else:
            total = total + part
    if total is None:  # only empty gradients
        return zeros((), dtype=wide, device=device)
    if p == 2.0:
        return total.sqrt()
    return total if p == 0.0 or abs(p) == inf else total.pow(1.0 / p)


def _squares(grads: list[_Named]) -> list[Tensor]:
    """Sum squares by one kernel for each gradient, into one cell for each device and accumulation dtype."""
    sums: dict[tuple[Device, str], Tensor] = {}
    for _, grad in grads:
        wide = float64 if grad.dtype is float64 else float32
        key = (grad.device, wide.name)
        started = key in sums
        if not started:
            sums[key] = Tensor._empty((), wide, grad.device)
            if not grad.numel():
                sums[key].zero_()
        launch("SquaredNorm", (grad,), (sums[key],), accumulate=started)
    return list(sums.values())


def _power_sum(grad: Tensor, p: float) -> Tensor:
    """Give the part of the norm that one gradient adds: a sum of powers, a count, or an extreme magnitude."""
    size = (grad if grad.dtype is float64 else grad.to(float32)).abs()
    if abs(p) == inf:
        return size.amax() if p > 0 else size.amin()
    if p == 0.0:
        return (size != 0).to(size.dtype).sum()
    return size.sum() if p == 1.0 else size.pow(p).sum()


def clip_coefficient(parameters: Parameters, max_norm: float, norm_type: float = 2.0) -> tuple[Tensor, Tensor]:
    """Give the norm of all gradients and the factor that clips them, without reading either.

    The factor, a 0-d float32 tensor, is min(1, max_norm / (norm + 1e-6)). Give it to `Optimizer.step(grad_scale=...)`:
    the update reads each gradient once and writes it never.

    Returns: (norm, factor), both on the first gradient's device.
    Raises: ConfigError for a max_norm that is negative or NaN.
    """
    if not max_norm >= 0:
        raise ConfigError(f"gradient clipping: expected max_norm of at least 0, found {max_norm}")
    with no_grad():
        norm = _total_norm(_grads(parameters), float(norm_type))
        return norm, _factor(norm, max_norm)


def _factor(norm: Tensor, max_norm: float) -> Tensor:
    limit = full((), float(max_norm), dtype=norm.dtype, device=norm.device)
    return (limit / (norm + 1e-6)).clamp(max=1.0).to(float32)


def clip_grad_norm_(
    parameters: Parameters, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scale all gradients in place so that their norm together is at most `max_norm`; give the norm before.

    The host reads nothing where all gradients are on one device and `error_if_nonfinite` is false. A norm that is
    not finite then has torch's result: an infinite norm makes finite gradients 0 and infinite ones NaN, NaN makes all
    gradients NaN.

    Args:
        parameters: Tensors, or named parameters, whose names then stand in the error. None among the gradients and
            an empty sequence are fine (norm 0).
        max_norm: The largest norm left; 0 makes all gradients 0.
        norm_type: p, see `get_total_norm`.
        error_if_nonfinite: Read the norm, and raise before anything is changed if it is not finite.

    Raises: NonFiniteGradient naming the parameters; ConfigError for a negative max_norm.
    """
    if not max_norm >= 0:
        raise ConfigError(f"gradient clipping: expected max_norm of at least 0, found {max_norm}")
    with no_grad():
        grads = _grads(parameters)
        norm = _total_norm(grads, float(norm_type))
        if error_if_nonfinite:
            _require_finite("clip_grad_norm_", norm, grads)
        _scale(grads, _factor(norm, max_norm))
        return norm


def clip_grads_with_norm_(parameters: Parameters, max_norm: float, total_norm: Tensor) -> None:
    """Scale all gradients in place by min(1, max_norm / (total_norm + 1e-6)), with a norm that is known already.

    Args:
        parameters: As in `clip_grad_norm_`.
        max_norm: The largest norm left.
        total_norm: A 0-d tensor, as `get_total_norm` gives; it is not read by the host.

    Raises: ConfigError for a negative max_norm.
    """
    if not max_norm >= 0:
        raise ConfigError(f"gradient clipping: expected max_norm of at least 0, found {max_norm}")
    with no_grad():
        _scale(_grads(parameters), _factor(total_norm, max_norm))


def _scale(grads: list[_Named], factor: Tensor) -> None:
    """Multiply each gradient by a 0-d float32 factor; low precision rounds once."""
    factors: dict[tuple[Device, str], Tensor] = {}
    for _, grad in grads:
        wide = float64 if grad.dtype is float64 else float32
        key = (grad.device, wide.name)
        if key not in factors:
            factors[key] = factor.to(grad.device).to(wide)
        if grad.dtype is wide:
            grad.mul_(factors[key])
        else:
            grad.copy_(grad.to(wide) * factors[key])


def clip_grad_value_(parameters: Parameters, clip_value: float) -> None:
    """Limit each element of each gradient, in place, to [-clip_value, clip_value]; NaN stays.

    Raises: ConfigError for a negative value.
    """
    if not clip_value >= 0:
        raise ConfigError(f"clip_grad_value_: expected a value of at least 0, found {clip_value}")
    with no_grad():
        for _, grad in _grads(parameters):
            grad.clamp_(-clip_value, clip_value)
