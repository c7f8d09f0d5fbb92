"""Rotary position embedding. T positions, D head size."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
import numpy.typing as npt

from infinitrain.device import Device
from infinitrain.errors import ConfigError, ShapeError
from infinitrain.ops._base import cast_to, require_floating
from infinitrain.ops.create import tensor
from infinitrain.ops.shape import cat, stack
from infinitrain.tensor import Tensor


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """LLaMA 3.1's stretching of positions: long wavelengths by `factor`, short ones not, those between in part.

    Attributes:
        factor: By how much the context grows.
        low_freq_factor: Wavelengths beyond original / low_freq_factor are stretched in full.
        high_freq_factor: Wavelengths below original / high_freq_factor are left as they are.
        original_context: Positions that the model was trained with before.

    Source: LLaMA 3.1's reference code; Grattafiori et al. 2024, arXiv:2407.21783.
    Raises: ConfigError for factors that are not 0 < low < high, or a factor below 1.
    """

    factor: float = 8.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_context: int = 8192

    def __post_init__(self) -> None:
        if not (self.factor >= 1 and 0 < self.low_freq_factor < self.high_freq_factor and self.original_context >= 1):
            raise ConfigError(f"RopeScaling: expected factor >= 1 and 0 < low < high, found {self}")

    def apply(self, frequencies: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Stretch angular frequencies, in radians a position."""
        wavelengths = 2 * pi / frequencies
        share = (self.original_context / wavelengths - self.low_freq_factor) / (
            self.high_freq_factor - self.low_freq_factor
        )
        share = share.clip(0.0, 1.0)  # 0: stretched in full, 1: as it was
        return (1 - share) * frequencies / self.factor + share * frequencies


def rotary_tables(
    positions: int,
    head_size: int,
    theta: float = 10000.0,
    scaling: RopeScaling | None = None,
    device: Device | str | None = None,
) -> tuple[Tensor, Tensor]:
    """Give cos and sin of position times frequency, (T, D / 2) float32; frequency i is theta^(-2 i / D).

    Angles are computed in float64: in lower precision, positions above 256 would merge.

    Source: Su et al. 2021, arXiv:2104.09864.
    Raises: ShapeError for an odd head size.
    """
    if head_size % 2 or head_size < 2:
        raise ShapeError(f"rotary_tables: expected an even head size, found {head_size}")
    frequencies = theta ** -(np.arange(0, head_size, 2, dtype=np.float64) / head_size)
    if scaling is not None:
        frequencies = scaling.apply(frequencies)
    angles = np.arange(positions, dtype=np.float64)[:, None] * frequencies
    cos, sin = (tensor(function(angles).astype(np.float32), device=device) for function in (np.cos, np.sin))
    return cos, sin


def rotary_embedding(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> Tensor:
    """Turn pairs of elements by the angle of their position.

    Shapes: x (..., T, D), cos and sin (T, D / 2) -> as x, in x's dtype, computed in float32 at least. A pair is
    elements i and i + D / 2, as Hugging Face's weights have it; with `interleaved` elements 2 i and 2 i + 1, as Meta's.

    Raises: ShapeError, DTypeError.
    """
    require_floating(x, "rotary_embedding")
    half = x.shape[-1] // 2 if x.shape else 0
    if len(x.shape) < 2 or x.shape[-1] % 2 or cos.shape != (x.shape[-2], half) or sin.shape != cos.shape:
        raise ShapeError(
            f"rotary_embedding: expected x (..., T, D) with D even, and cos and sin (T, D / 2), found {x.shape}, "
            f"{cos.shape} and {sin.shape}"
        )
    wide = x.dtype.accumulator
    values, cos, sin = (cast_to(each, wide) for each in (x, cos, sin))
    if interleaved:
        first, second = values[..., 0::2], values[..., 1::2]
    else:
        first, second = values[..., :half], values[..., half:]
    turned = (first * cos - second * sin, second * cos + first * sin)
    y = stack(turned, -1).reshape(x.shape) if interleaved else cat(turned, -1)
    return cast_to(y, x.dtype)
