"""Adam and AdamW: one kernel launch for each parameter does moments, correction, decay and update."""

from __future__ import annotations

from infinitrain.dispatch import launch
from infinitrain.dtype import float32, int64
from infinitrain.errors import InfinitrainError
from infinitrain.optim.optimizer import Group, Optimizer, Parameters, State, check_range
from infinitrain.recording import before_replay
from infinitrain.tensor import Tensor

__all__ = ["Adam", "AdamW"]


class AdamW(Optimizer):
    """Adam with decoupled weight decay.

    With g the gradient times `grad_scale`, t counted from 1 for each parameter:

        m = b1 m + (1 - b1) g             v = b2 v + (1 - b2) g^2
        p = p (1 - lr wd) - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)

    The decay multiplies the old weight; eps is added after the correction. Moments are float32 (float64 for float64
    parameters) whatever the parameter's dtype. The learning rate reaches the device as float32, and only when it
    changes.

    Source: Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2; Kingma and Ba 2015, arXiv:1412.6980.
    Raises: ConfigError for settings out of range.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay})

    def _check_group(self, group: Group) -> None:
        kind = type(self).__name__
        group["betas"] = tuple(group["betas"])
        check_range(kind, "lr", group["lr"], 0.0)
        check_range(kind, "eps", group["eps"], 0.0)
        check_range(kind, "weight_decay", group["weight_decay"], 0.0)
        for index, beta in enumerate(group["betas"], 1):
            check_range(kind, f"beta{index}", beta, 0.0, 1.0)

    def _new_state(self, parameter: Tensor, group: Group) -> State:
        shape, dtype, device = parameter.shape, parameter.dtype.accumulator, parameter.device
        return {
            "step": 0,
            "exp_avg": Tensor._empty(shape, dtype, device).zero_(),
            "exp_avg_sq": Tensor._empty(shape, dtype, device).zero_(),
        }

    _one_launch = True

    def _update(self, parameter: Tensor, grad: Tensor, group: Group, index: int, scale: Tensor | None) -> None:
        self._launch(parameter, grad, group, index, scale, group["weight_decay"])

    def _launch(
        self, parameter: Tensor, grad: Tensor, group: Group, index: int, scale: Tensor | None, decay: float
    ) -> None:
        state = self._state_of(parameter, group)
        before_replay(lambda: _count(state))
        device = parameter.device
        lr = self._cells.get(device, ("lr", index), lambda: group["lr"], float32)
        step = self._cells.get(device, "step", lambda: state["step"], int64)
        beta1, beta2 = group["betas"]
        try:
            launch(
                "AdamAccumulateGrad",
                (grad, lr, step, scale),
                (parameter, state["exp_avg"], state["exp_avg_sq"]),
                beta1=beta1,
                beta2=beta2,
                eps=group["eps"],
                weight_decay=decay,
            )
        except InfinitrainError:
            state["step"] -= 1  # it did not take place
            raise


class Adam(AdamW):
    """Adam. Weight decay, 0 by default, is L2 regularisation: it is added to the gradient, as in torch.

    For decay of the weights themselves use AdamW.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)

    def _update(self, parameter: Tensor, grad: Tensor, group: Group, index: int, scale: Tensor | None) -> None:
        decay = group["weight_decay"]
        if decay:
            grad = scaled(grad, scale)
            scale = None
            rate = self._cells.get(parameter.device, ("decay", index), lambda: decay, float32)
            launch("AccumulateGrad", (parameter, rate), (grad,))
        self._launch(parameter, grad, group, index, scale, 0.0)


def _count(state: State) -> None:
    state["step"] += 1


def scaled(grad: Tensor, scale: Tensor | None) -> Tensor:
    """Give a new tensor that is the gradient times a 0-d float32 `scale` (1 if None); low precision rounds once."""
    if scale is None:
        return grad.clone()
    fresh = Tensor._empty(grad.shape, grad.dtype, grad.device).zero_()
    launch("AccumulateGrad", (grad, scale), (fresh,))
    return fresh
