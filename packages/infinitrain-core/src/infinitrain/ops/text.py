"""How a tensor prints: values as PyTorch shows them, then what is not the default."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinitrain import dtype as dt
from infinitrain.copy import to_numpy
from infinitrain.tensor import Tensor

_SHOWN_BY_VALUES = (dt.float32, dt.int64, dt.bool_)


def represent(x: Tensor) -> str:
    """Give `tensor([...])` with the values; waits for the device."""
    values = to_numpy(x)
    prefix = "tensor("
    if values.size == 0:
        body = "[]"
    else:
        body = np.array2string(
            values.astype(np.float64) if x.dtype.is_floating_point else values,
            separator=", ",
            prefix=prefix,
            threshold=1000,
            edgeitems=3,
            max_line_width=80,
            formatter=_formatter(values, x),
        )
    parts = [body]
    if values.size == 0 and x.shape != (0,):
        parts.append(f"size={x.shape}")
    if str(x.device) != "cpu:0":
        parts.append(f"device='{x.device}'")
    if x.dtype is not dt.float32 and (x.dtype not in _SHOWN_BY_VALUES or values.size == 0):
        parts.append(f"dtype={x.dtype!r}")
    if x.grad_fn is not None:
        parts.append(f"grad_fn={x.grad_fn!r}")
    elif x.requires_grad:
        parts.append("requires_grad=True")
    return f"{prefix}{', '.join(parts)})"


def _formatter(values: np.ndarray[Any, Any], x: Tensor) -> Any:
    """Choose one format for all values: whole numbers, four digits, or scientific; all of one width."""
    if not x.dtype.is_floating_point:
        width = max(len(str(v)) for v in (values.reshape(-1)[[values.argmin(), values.argmax()]]).tolist())
        if x.dtype.is_bool:
            width = max(len(str(v)) for v in np.unique(values).tolist())
        return {"all": lambda v: str(v).rjust(width)}
    wide = np.abs(values.astype(np.float64))
    finite = wide[np.isfinite(wide)]
    nonzero = finite[finite != 0]
    if not nonzero.size:
        spec = "{:.0f}."
    else:
        low, high = float(nonzero.min()), float(nonzero.max())
        whole = bool(np.all(finite == np.ceil(finite)))
        scientific = high > 1e8 or high / low > 1000 or (not whole and low < 1e-4)
        spec = "{:.4e}" if scientific else "{:.0f}." if whole else "{:.4f}"
    shown = values.astype(np.float64).reshape(-1)
    shown = shown[np.isfinite(shown) & (shown != 0)]
    width = max((len(spec.format(v)) for v in shown.tolist()), default=1)
    return {"all": lambda v: (spec.format(v) if np.isfinite(v) else str(float(v))).rjust(width)}
