"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable

from infinitrain.dispatch import launch
from infinitrain.dtype import float32
from infinitrain.errors import ConfigError
from infinitrain.optim.adam import scaled
from infinitrain.optim.optimizer import Group, Optimizer, Parameters, State, check_range
from infinitrain.tensor import Tensor

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent, with momentum, dampening, Nesterov momentum and L2 weight decay as in torch.

    With g the gradient times `grad_scale`, plus wd p:

        buf = g at the first step, else mu buf + (1 - dampening) g
        p = p - lr (g + mu buf if nesterov else buf)

    Without momentum there is no state. Rates reach the device as float32, and only when they change.

    Source: Sutskever et al. 2013, in torch's form.
    Raises: ConfigError for settings out of range, or Nesterov without momentum or with dampening.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
            },
        )

    def _check_group(self, group: Group) -> None:
        for name in ("lr", "momentum", "weight_decay"):
            check_range("SGD", name, group[name], 0.0)
        if group["nesterov"] and (not group["momentum"] or group["dampening"]):
            raise ConfigError(
                "SGD: expected a momentum above 0 and dampening 0 with nesterov=True, found "
                f"momentum {group['momentum']} and dampening {group['dampening']}"
            )

    def _new_state(self, parameter: Tensor, group: Group) -> State:
        if not group["momentum"]:
            return {}
        return {"momentum_buffer": Tensor._empty(parameter.shape, parameter.dtype, parameter.device)}

    def _update(self, parameter: Tensor, grad: Tensor, group: Group, index: int, scale: Tensor | None) -> None:
        decay, momentum = group["weight_decay"], group["momentum"]
        device = parameter.device

        def rate(name: str, read: Callable[[], float]) -> Tensor:
            return self._cells.get(device, (name, index), read, float32)

        if decay or scale is not None:
            grad = scaled(grad, scale)
        if decay:
            launch("AccumulateGrad", (parameter, rate("decay", lambda: decay)), (grad,))
        if momentum:
            first = parameter not in self.state
            buffer = self._state_of(parameter, group)["momentum_buffer"]
            if first:
                buffer.copy_(grad)
            else:
                buffer.mul_(momentum)
                launch("AccumulateGrad", (grad, rate("gain", lambda: 1.0 - group["dampening"])), (buffer,))
            if group["nesterov"]:
                grad = scaled(grad, None)
                launch("AccumulateGrad", (buffer, rate("momentum", lambda: momentum)), (grad,))
            else:
                grad = buffer
        launch("AccumulateGrad", (grad, rate("-lr", lambda: -group["lr"])), (parameter,))
