"""Losses as modules: settings here, values in `infinitrain.nn.functional`."""

from __future__ import annotations

from infinitrain.errors import ConfigError
from infinitrain.nn import functional as F
from infinitrain.nn.module import Module
from infinitrain.tensor import Tensor

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
]


class _Loss(Module):
    """What losses share: the reduction, checked when the module is made."""

    known: tuple[str, ...] = ("mean", "sum", "none")

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in self.known:
            listed = ", ".join(repr(each) for each in self.known[:-1])
            raise ConfigError(
                f"{type(self).__name__}: expected reduction {listed} or {self.known[-1]!r}, found {reduction!r}"
            )
        self.reduction = reduction

    def extra_repr(self) -> str:
        """Give the reduction."""
        return f"reduction={self.reduction!r}"


class _WeightedLoss(_Loss):
    """A loss with weights, which are a buffer: they move and are saved with the module."""

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)


class CrossEntropyLoss(_WeightedLoss):
    """Negative log-probability of the target class under softmax; see `functional.cross_entropy`.

    Shapes: logits (N, V), (V,) or (N, V, ...), target (N), () or (N, ...) of integers, or probabilities of the
    logits' shape -> () or, with reduction none, (N), () or (N, ...).
    The mean is over targets other than `ignore_index`, weighted by `weight` (V,); 0 where there is none.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, reduction)
        if not 0.0 <= label_smoothing <= 1.0:
            raise ConfigError(f"CrossEntropyLoss: expected label_smoothing in [0, 1], found {label_smoothing}")
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """(N, V) and (N) -> the loss."""
        return F.cross_entropy(logits, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(_WeightedLoss):
    """Negative of the target class's log-probability; shapes and mean as `CrossEntropyLoss`."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index

    def forward(self, log_probabilities: Tensor, target: Tensor) -> Tensor:
        """(N, V) and (N) -> the loss."""
        return F.nll_loss(log_probabilities, target, self.weight, self.ignore_index, self.reduction)


class MSELoss(_Loss):
    """Mean (or sum) of squared differences.

    Shapes: both any equal shape -> () or, with reduction none, that shape.
    """

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape -> the loss."""
        return F.mse_loss(x, target, self.reduction)


class L1Loss(_Loss):
    """Mean (or sum) of the magnitudes of differences; shapes as `MSELoss`."""

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape -> the loss."""
        return F.l1_loss(x, target, self.reduction)


class SmoothL1Loss(_Loss):
    """Squares below `beta`, magnitudes above, see `functional.smooth_l1_loss`; shapes as `MSELoss`.

    Raises: ConfigError for a negative beta.
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        if not beta >= 0:
            raise ConfigError(f"SmoothL1Loss: expected a beta of at least 0, found {beta}")
        self.beta = beta

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape -> the loss."""
        return F.smooth_l1_loss(x, target, self.reduction, self.beta)


class HuberLoss(_Loss):
    """Squares up to `delta`, a line beyond, see `functional.huber_loss`; shapes as `MSELoss`.

    Raises: ConfigError unless delta is above 0.
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        if not delta > 0:
            raise ConfigError(f"HuberLoss: expected a delta above 0, found {delta}")
        self.delta = delta

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape -> the loss."""
        return F.huber_loss(x, target, self.reduction, self.delta)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of log-probabilities from a target, see `functional.kl_div`; shapes as `MSELoss`."""

    known = ("mean", "sum", "none", "batchmean")

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = log_target

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape -> the loss."""
        return F.kl_div(x, target, self.reduction, self.log_target)


class BCELoss(_WeightedLoss):
    """Cross-entropy of probabilities of one class, see `functional.binary_cross_entropy`; shapes as `MSELoss`."""

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape -> the loss."""
        return F.binary_cross_entropy(x, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """The same of logits, see `functional.binary_cross_entropy_with_logits`; shapes as `MSELoss`."""

    pos_weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(weight, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape -> the loss."""
        return F.binary_cross_entropy_with_logits(x, target, self.weight, self.reduction, self.pos_weight)
