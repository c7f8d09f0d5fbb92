"""Losses as modules."""

from __future__ import annotations

from infinitrain.errors import ConfigError
from infinitrain.nn import functional as F
from infinitrain.nn.module import Module
from infinitrain.tensor import Tensor

__all__ = ["CrossEntropyLoss", "MSELoss"]


def _reduction(name: str, value: str) -> str:
    if value not in ("mean", "sum", "none"):
        raise ConfigError(f"{name}: expected reduction 'mean', 'sum' or 'none', found {value!r}")
    return value


class CrossEntropyLoss(Module):
    """Negative log-probability of the target class.

    Shapes: logits (N, V), target (N) int64 -> () or, with reduction none, (N).
    The mean is over targets other than `ignore_index`; 0 where there is none.
    """

    def __init__(self, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__()
        if not 0.0 <= label_smoothing <= 1.0:
            raise ConfigError(f"CrossEntropyLoss: expected label_smoothing in [0, 1], found {label_smoothing}")
        self.ignore_index = ignore_index
        self.reduction = _reduction("CrossEntropyLoss", reduction)
        self.label_smoothing = label_smoothing

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """(N, V) and (N) -> the loss."""
        return F.cross_entropy(
            logits,
            target,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class MSELoss(Module):
    """Mean (or sum) of squared differences.

    Shapes: both any equal shape -> () or, with reduction none, that shape.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = _reduction("MSELoss", reduction)

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape -> the loss."""
        return F.mse_loss(x, target, reduction=self.reduction)
