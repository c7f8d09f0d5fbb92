"""What convolutions and pools share: pairs of settings, and how many outputs a window has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from infinitrain.errors import ShapeError
from infinitrain.ops.shape import reshape
from infinitrain.tensor import Tensor

Pair = tuple[int, int]
#: One number for both dimensions, or (height, width).
Size2d = int | Sequence[int]


def pair(name: str, what: str, value: Size2d, low: int) -> Pair:
    """Give (height, width) of a setting.

    Raises: ShapeError unless it is one number or two, none below `low`.
    """
    both = (value, value) if isinstance(value, int) else tuple(value)
    if len(both) != 2 or any(isinstance(each, bool) or not isinstance(each, int) for each in both):
        raise ShapeError(f"{name}: expected {what} as a whole number or two, found {value!r}")
    if min(both) < low:
        raise ShapeError(f"{name}: expected {what} of at least {low}, found {value!r}")
    return both[0], both[1]


def batched(name: str, x: Tensor, what: str = "x") -> tuple[Tensor, bool]:
    """Give (N, C, H, W) for that or for one image (C, H, W), and whether it was one.

    Raises: ShapeError for any other number of dimensions.
    """
    if len(x.shape) not in (3, 4):
        raise ShapeError(f"{name}: expected {what} of shape (N, C, H, W) or (C, H, W), found {x.shape}")
    single = len(x.shape) == 3
    return (reshape(x, (1, *x.shape)) if single else x), single


def outputs(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil_mode: bool = False) -> int:
    """Count the positions of a window; below 1 where it does not fit.

    With `ceil_mode` the last one may end outside, but begins in the image or its left padding.
    """
    room = size + 2 * pad - dilation * (kernel - 1) - 1
    count = (room + stride - 1 if ceil_mode else room) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + pad else count


@lru_cache(maxsize=1024)
def always_sees(size: int, count: int, kernel: int, stride: int, pad: int, dilation: int) -> bool:
    """Whether each of `count` windows has a tap inside the image."""
    return all(
        any(0 <= place * stride - pad + tap * dilation < size for tap in range(kernel)) for place in range(count)
    )


def geometry(stride: Pair, pad: Pair, dilation: Pair | None = None) -> dict[str, Any]:
    """Name settings as kernels' attributes."""
    named = {"stride_h": stride[0], "stride_w": stride[1], "pad_h": pad[0], "pad_w": pad[1]}
    return named if dilation is None else {**named, "dilation_h": dilation[0], "dilation_w": dilation[1]}
