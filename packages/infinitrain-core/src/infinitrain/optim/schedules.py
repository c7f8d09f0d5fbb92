"""Learning-rate schedules in closed form: the rate is a function of the base rate and the number of the step.

A schedule is made after its optimizer and sets the rates of step 0; `schedule.step()` after each `optimizer.step()`
sets those of the next. Nothing is accumulated, so a schedule resumed at step k gives the bits of one that ran there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import cos, pi
from typing import Any

from infinitrain.errors import CheckpointError, ConfigError
from infinitrain.optim.optimizer import Optimizer

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "SequentialLR",
    "StepLR",
]


class LRScheduler:
    """What all schedules share. A subclass says `rate(base, step)`.

    Args:
        optimizer: Whose groups' "lr" is set. The first schedule notes each group's rate as "initial_lr". A group that
            is added later joins the curve at its next step, with the rate that it brought as its base.
        last_epoch: -1 to start, or the step that was run last.

    Raises: ConfigError for settings out of range.
    """

    #: Settings that the state dict holds.
    saved: tuple[str, ...] = ()

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [float(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give the rate of step `step` for a group whose base rate is `base`."""
        raise NotImplementedError

    def step(self) -> None:
        """Go to the next step and set its rates."""
        self.last_epoch += 1
        self._set_rates()

    def get_last_lr(self) -> list[float]:
        """Give the rate of each group, as set last."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def _set_rates(self) -> None:
        for group in self.optimizer.param_groups[len(self.base_lrs) :]:
            group.setdefault("initial_lr", group["lr"])
            self.base_lrs.append(float(group["initial_lr"]))
        rates = [self.rate(base, self.last_epoch, index) for index, base in enumerate(self.base_lrs)]
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate

    def state_dict(self) -> dict[str, Any]:
        """Give what resuming needs, as numbers, strings and lists."""
        return {
            "kind": type(self).__name__,
            "last_epoch": self.last_epoch,
            "base_lrs": list(self.base_lrs),
            "settings": {name: getattr(self, name) for name in self.saved},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to the step that was saved, and set its rates.

        Settings and base rates are those saved: a resumed run goes on along the same curve.

        Raises: CheckpointError for the state of another kind of schedule or another number of groups.
        """
        self._check_state(state)
        self.last_epoch = int(state["last_epoch"])
        self.base_lrs = [float(base) for base in state["base_lrs"]]
        for name in self.saved:
            setattr(self, name, state["settings"][name])
        for group, base in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            group["initial_lr"] = base
        self._set_rates()

    def _check_state(self, state: Mapping[str, Any]) -> None:
        kind = type(self).__name__
        if state.get("kind") != kind:
            raise CheckpointError(f"schedule: expected the state of {kind}, found that of {state.get('kind')}")
        if len(state["base_lrs"]) != len(self.base_lrs):
            raise CheckpointError(
                f"{kind}: expected {len(self.base_lrs)} parameter groups, found {len(state['base_lrs'])}"
            )


class LambdaLR(LRScheduler):
    """base * f(t), with one function for all groups or a list with one for each. Functions are not saved."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self._function = lr_lambda if callable(lr_lambda) else None
        self.lambdas = [] if callable(lr_lambda) else list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give base * f(t)."""
        return base * (self._function or self.lambdas[group])(step)

    def _set_rates(self) -> None:
        count = len(self.optimizer.param_groups)
        if self._function is None and len(self.lambdas) != count:
            raise ConfigError(f"LambdaLR: expected {count} functions, one for each group, found {len(self.lambdas)}")
        super()._set_rates()


class ConstantLR(LRScheduler):
    """base * factor for the first `total_iters` steps, then base."""

    saved = ("factor", "total_iters")

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3.0, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.factor = in_unit("ConstantLR", "factor", factor)
        self.total_iters = at_least("ConstantLR", "total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give base * factor before total_iters, then base."""
        return base * self.factor if step < self.total_iters else base


class StepLR(LRScheduler):
    """base * gamma^(t // step_size)."""

    saved = ("gamma", "step_size")

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = at_least("StepLR", "step_size", step_size, 1)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give base * gamma^(t // step_size)."""
        return float(base * self.gamma ** (step // self.step_size))


class MultiStepLR(LRScheduler):
    """base * gamma^k, k the number of milestones that t has reached; one given twice counts twice."""

    saved = ("gamma", "milestones")

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give base * gamma^k."""
        return float(base * self.gamma ** bisect_right(self.milestones, step))


class ExponentialLR(LRScheduler):
    """base * gamma^t."""

    saved = ("gamma",)

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give base * gamma^t."""
        return float(base * self.gamma**step)


class LinearLR(LRScheduler):
    """base times a factor that goes from `start_factor` to `end_factor` over `total_iters` steps, then stays."""

    saved = ("end_factor", "start_factor", "total_iters")

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3.0,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor = in_unit("LinearLR", "start_factor", start_factor)
        self.end_factor = in_unit("LinearLR", "end_factor", end_factor)
        self.total_iters = at_least("LinearLR", "total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give base times the factor between the two ends."""
        if step >= self.total_iters:
            return base * self.end_factor
        return base * (self.start_factor + (self.end_factor - self.start_factor) * step / self.total_iters)


class CosineAnnealingLR(LRScheduler):
    """eta_min + (base - eta_min) (1 + cos(pi t / T_max)) / 2; beyond T_max it rises again, as in torch.

    Source: Loshchilov and Hutter 2017, arXiv:1608.03983.
    """

    saved = ("T_max", "eta_min")

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        self.T_max = at_least("CosineAnnealingLR", "T_max", T_max, 1)
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give the point of the cosine."""
        return self.eta_min + (base - self.eta_min) * (1.0 + cos(pi * step / self.T_max)) / 2.0


class _Composed(LRScheduler):
    """A schedule made of others of the same optimizer, whose own steps it takes over."""

    schedulers: list[LRScheduler]

    def _take(self, schedulers: Sequence[LRScheduler]) -> Optimizer:
        kind = type(self).__name__
        if not schedulers:
            raise ConfigError(f"{kind}: expected schedules, found none")
        optimizer = schedulers[0].optimizer
        if any(each.optimizer is not optimizer for each in schedulers):
            raise ConfigError(f"{kind}: expected schedules of one optimizer, found several optimizers")
        self.schedulers = list(schedulers)
        return optimizer

    def state_dict(self) -> dict[str, Any]:
        """Give what resuming needs, that of each part included."""
        return {**super().state_dict(), "schedulers": [each.state_dict() for each in self.schedulers]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to the step that was saved; see `LRScheduler.load_state_dict`."""
        self._check_state(state)
        if len(state["schedulers"]) != len(self.schedulers):
            raise CheckpointError(
                f"{type(self).__name__}: expected {len(self.schedulers)} parts, found {len(state['schedulers'])}"
            )
        for part, saved in zip(self.schedulers, state["schedulers"], strict=True):
            part._check_state(saved)
        for part, saved in zip(self.schedulers, state["schedulers"], strict=True):
            part.load_state_dict(saved)
        super().load_state_dict(state)


class SequentialLR(_Composed):
    """One schedule after another: each starts at its own step 0 when t reaches its milestone.

    Args:
        optimizer: That of all schedules.
        schedulers: In order.
        milestones: The steps at which the second and later ones begin, ascending: one fewer than schedules.
        last_epoch: -1 to start.
    """

    saved = ("milestones",)

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        if self._take(schedulers) is not optimizer:
            raise ConfigError("SequentialLR: expected schedules of its own optimizer, found another's")
        self.milestones = list(milestones)
        if len(self.milestones) != len(self.schedulers) - 1 or sorted(self.milestones) != self.milestones:
            raise ConfigError(
                f"SequentialLR: expected {len(self.schedulers) - 1} ascending milestones, found {self.milestones}"
            )
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give the rate of the schedule that step t belongs to."""
        part = bisect_right(self.milestones, step)
        start = self.milestones[part - 1] if part else 0
        return self.schedulers[part].rate(base, step - start, group)


class ChainedScheduler(_Composed):
    """Schedules applied at once: each takes the rate that the one before gives as its base.

    For schedules that multiply the base, in whatever order, this is the product of their factors, as in torch.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None, last_epoch: int = -1
    ) -> None:
        own = self._take(schedulers)
        if optimizer is not None and optimizer is not own:
            raise ConfigError("ChainedScheduler: expected schedules of its own optimizer, found another's")
        super().__init__(own, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Pass the base rate through all schedules."""
        for part in self.schedulers:
            base = part.rate(base, step, group)
        return base


def in_unit(kind: str, name: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise ConfigError(f"{kind}: expected {name} in [0, 1], found {value}")
    return value


def at_least(kind: str, name: str, value: int, low: int) -> int:
    if value < low:
        raise ConfigError(f"{kind}: expected {name} of at least {low}, found {value}")
    return value
