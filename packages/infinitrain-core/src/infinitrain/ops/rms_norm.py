"""Root mean square normalisation over the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from infinitrain.errors import ShapeError
from infinitrain.ops._base import cast_to, require_floating
from infinitrain.ops.reduce import mean
from infinitrain.ops.unary import rsqrt
from infinitrain.tensor import Tensor

#: torch's default for eps=None: the distance from 1 to the next number of the dtype that is computed in.
_EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}


def rms_norm(
    x: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Give y = x / sqrt(mean(x^2) + eps) * weight, the mean over the last dimensions.

    Shapes: x (..., *normalized_shape), weight normalized_shape -> as x, in x's dtype. Computed in float32 at least and
    rounded once, so that squares of half types do not overflow. `eps` is the accumulating dtype's epsilon if None.

    Source: Zhang and Sennrich 2019, arXiv:1910.07467.
    Raises: ShapeError if the last dimensions or the weight are not `normalized_shape`; DTypeError.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or len(x.shape) < len(shape) or x.shape[len(x.shape) - len(shape) :] != shape:
        raise ShapeError(f"rms_norm: expected last dimensions {shape}, found shape {x.shape}")
    if weight is not None and weight.shape != shape:
        raise ShapeError(f"rms_norm: expected a weight of shape {shape}, found {weight.shape}")
    require_floating(x, "rms_norm")
    wide = x.dtype.accumulator
    values = cast_to(x, wide)
    dims = tuple(range(-len(shape), 0))
    y = values * rsqrt(mean(values * values, dims, keepdim=True) + (_EPSILON[wide.name] if eps is None else eps))
    if weight is not None:
        y = y * cast_to(weight, wide)
    return cast_to(y, x.dtype)
