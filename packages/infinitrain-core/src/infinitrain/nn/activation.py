"""Elementwise functions, softmax and dropout as modules."""

from __future__ import annotations

from infinitrain.errors import ConfigError
from infinitrain.nn import functional as F
from infinitrain.nn.module import Module
from infinitrain.tensor import Tensor

__all__ = ["GELU", "Dropout", "LeakyReLU", "LogSoftmax", "ReLU", "SiLU", "Sigmoid", "Softmax", "Softplus", "Tanh"]


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.relu(x)


class Tanh(Module):
    """Hyperbolic tangent."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.tanh(x)


class Sigmoid(Module):
    """1 / (1 + e^-x)."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.sigmoid(x)


class SiLU(Module):
    """x / (1 + e^-x), also called swish. Source: Elfwing, Uchibe and Doya 2017, arXiv:1702.03118."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.silu(x)


class LeakyReLU(Module):
    """x where x > 0, else negative_slope * x. Source: Maas, Hannun and Ng 2013."""

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.leaky_relu(x, self.negative_slope)

    def extra_repr(self) -> str:
        """Give the slope."""
        return f"negative_slope={self.negative_slope}"


class Softplus(Module):
    """ln(1 + e^(beta x)) / beta, x where beta x > threshold. Source: Dugas et al. 2000."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.softplus(x, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Give both numbers."""
        return f"beta={self.beta}, threshold={self.threshold}"


class GELU(Module):
    """x times the normal distribution function at x; `approximate="tanh"` is GPT-2's form.

    Raises: ConfigError for another name than none and tanh.
    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415.
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        if approximate not in ("none", "tanh"):
            raise ConfigError(f"GELU: expected approximate 'none' or 'tanh', found {approximate!r}")
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.gelu(x, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Give the form."""
        return f"approximate={self.approximate!r}"


class Softmax(Module):
    """e^x, scaled so that sums over `dim` are 1."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.softmax(x, dim=self.dim)

    def extra_repr(self) -> str:
        """Give the dimension."""
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """The logarithm of softmax over `dim`."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.log_softmax(x, dim=self.dim)


class Dropout(Module):
    """In training, sets elements to 0 with probability p and scales the rest by 1 / (1 - p); else does nothing.

    Raises: ConfigError for p outside [0, 1].
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ConfigError(f"Dropout: expected p in [0, 1], found {p}")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return F.dropout(x, self.p, self.training) if self.training and self.p else x

    def extra_repr(self) -> str:
        """Give p."""
        return f"p={self.p}"
