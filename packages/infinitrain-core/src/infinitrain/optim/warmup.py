"""Rates that rise linearly and then fall in one of four styles: a closed form, a schedule, and a factory by name.

With w = warmup_steps, n = total_steps and s = max(w - 1, 0), the step of the peak; t counts from 0:

    t < s                      peak (t + 1) / w
    constant                   peak
    linear               t < n - 1  floor + (peak - floor) (n - 1 - t) / (n - 1 - s), then floor
    cosine               t < n - 1  floor + (peak - floor) (1 + cos(pi (t - s) / (n - 1 - s))) / 2, then floor
    inverse-square-root  max(floor, peak sqrt((s + 1) / (t + 1)))

So step 0 of a warm-up has peak / w, never 0; the peak is reached at step s whatever n is; linear and cosine are at the
floor in the last step, n - 1.

Sources: Vaswani et al. 2017, arXiv:1706.03762, section 5.3 (inverse square root); Loshchilov and Hutter 2017,
arXiv:1608.03983 (cosine).
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sqrt

from infinitrain.errors import ConfigError
from infinitrain.optim.optimizer import Optimizer
from infinitrain.optim.schedules import LRScheduler, at_least

__all__ = ["STYLES", "WarmupCosineLR", "WarmupLR", "create_scheduler", "warmup_cosine", "warmup_rate"]

#: What is left of peak - floor at a fraction of the way from the peak to the last step.
_FALL: dict[str, Callable[[float], float]] = {
    "linear": lambda part: 1.0 - part,
    "cosine": lambda part: (1.0 + cos(pi * part)) / 2.0,
}
STYLES = ("constant", "linear", "cosine", "inverse-square-root")


def warmup_rate(style: str, step: int, peak: float, warmup_steps: int, total_steps: int, floor: float = 0.0) -> float:
    """Give the learning rate of step `step`, counted from 0, by the formula at the top of this module.

    Raises: ConfigError for an unknown style, a negative warm-up or a total below 1.
    """
    if style not in STYLES:
        raise ConfigError(f"warmup_rate: expected a style of {', '.join(STYLES)}, found {style!r}")
    if warmup_steps < 0 or total_steps < 1:
        raise ConfigError(
            f"warmup_{style}: expected warmup_steps of at least 0 and total_steps of at least 1, found {warmup_steps} "
            f"and {total_steps}"
        )
    top = max(warmup_steps - 1, 0)
    if step < top:
        return peak * (step + 1) / warmup_steps
    if step == top or style == "constant":
        return peak
    if style == "inverse-square-root":
        return max(floor, peak * sqrt((top + 1) / (step + 1)))
    if step >= total_steps - 1:
        return floor
    return floor + (peak - floor) * _FALL[style]((step - top) / (total_steps - 1 - top))


def warmup_cosine(step: int, peak: float, warmup_steps: int, total_steps: int, floor: float = 0.0) -> float:
    """Give the rate of the cosine style, see `warmup_rate`."""
    return warmup_rate("cosine", step, peak, warmup_steps, total_steps, floor)


class WarmupLR(LRScheduler):
    """The curve of `warmup_rate` with each group's base rate as the peak."""

    saved = ("floor", "style", "total_steps", "warmup_steps")

    def __init__(
        self,
        optimizer: Optimizer,
        style: str,
        warmup_steps: int,
        total_steps: int,
        floor: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.style = style
        self.warmup_steps = at_least(type(self).__name__, "warmup_steps", warmup_steps, 0)
        self.total_steps = at_least(type(self).__name__, "total_steps", total_steps, 1)
        self.floor = floor
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, step: int, group: int = 0) -> float:
        """Give the point of the curve."""
        return warmup_rate(self.style, step, base, self.warmup_steps, self.total_steps, self.floor)


class WarmupCosineLR(WarmupLR):
    """The cosine style of `WarmupLR`."""

    def __init__(
        self, optimizer: Optimizer, warmup_steps: int, total_steps: int, floor: float = 0.0, last_epoch: int = -1
    ) -> None:
        super().__init__(optimizer, "cosine", warmup_steps, total_steps, floor, last_epoch)


def create_scheduler(
    style: str, optimizer: Optimizer, warmup_steps: int = 0, total_steps: int = 1, floor: float = 0.0
) -> WarmupLR | None:
    """Make a schedule by the name of its style, or none at all for "none": the rates then stay as they are.

    Args:
        style: none, constant, linear, cosine or inverse-square-root.
        optimizer: Whose rates are set.
        warmup_steps: Steps up to and with the peak.
        total_steps: Steps of the whole run; constant and inverse-square-root need none.
        floor: The lowest rate after the peak.

    Raises: ConfigError for another style or numbers out of range.
    """
    if style == "none":
        return None
    if style not in STYLES:
        raise ConfigError(f"create_scheduler: expected a style of none, {', '.join(STYLES)}, found {style!r}")
    return WarmupLR(optimizer, style, warmup_steps, total_steps, floor)
