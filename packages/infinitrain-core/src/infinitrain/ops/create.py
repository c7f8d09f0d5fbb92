"""New tensors: from Python and NumPy values, from a rule, from another tensor's shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from operator import index
from typing import Any

import numpy as np

from infinitrain import dtype as dt
from infinitrain.copy import from_numpy as copy_from_numpy
from infinitrain.copy import share_numpy
from infinitrain.device import Device
from infinitrain.dispatch import launch
from infinitrain.dtype import DType
from infinitrain.errors import DTypeError, ShapeError
from infinitrain.ops._base import check_range
from infinitrain.tensor import Tensor, device_of

Spec = DType | str | None
Place = Device | str | None


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """Give sizes written as `f(2, 3)` or as `f((2, 3))`.

    Raises: ShapeError for a negative size.
    """
    try:
        sizes = tuple(shape[0]) if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        result = tuple([index(size) for size in sizes])
    except TypeError:
        raise ShapeError(f"shape: expected integers, found {shape[0] if len(shape) == 1 else shape!r}") from None
    if any(size < 0 for size in result):
        raise ShapeError(f"shape: expected sizes of at least 0, found {result}")
    return result


def _filled(shape: tuple[int, ...], value: Any, dtype: DType, device: Device, requires_grad: bool) -> Tensor:
    """Give a tensor of one value."""
    y = Tensor._empty(shape, dtype, device)
    launch("Fill", (), (y,), value=value)
    return y.requires_grad_() if requires_grad else y


def empty(*shape: Any, dtype: Spec = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Give an uninitialised tensor: `empty(2, 3)` or `empty((2, 3))`; float32 by default."""
    wanted = dt.float32 if dtype is None else dt.parse(dtype)
    y = Tensor._empty(_sizes(shape), wanted, device_of(device))
    return y.requires_grad_() if requires_grad else y


def zeros(*shape: Any, dtype: Spec = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Give a tensor of zeros; float32 by default."""
    wanted = dt.float32 if dtype is None else dt.parse(dtype)
    return _filled(_sizes(shape), 0, wanted, device_of(device), requires_grad)


def ones(*shape: Any, dtype: Spec = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Give a tensor of ones; float32 by default."""
    wanted = dt.float32 if dtype is None else dt.parse(dtype)
    return _filled(_sizes(shape), 1, wanted, device_of(device), requires_grad)


def full(
    shape: Any, fill_value: Any, *, dtype: Spec = None, device: Place = None, requires_grad: bool = False
) -> Tensor:
    """Give a tensor of one value; the dtype is that of the value by default: bool, int64 or float32.

    Raises: OverflowError for an integer that the dtype cannot hold.
    """
    wanted = dt.result_type(fill_value) if dtype is None else dt.parse(dtype)
    value = float(fill_value) if wanted.is_floating_point else fill_value
    check_range(value, wanted, "full")
    return _filled(_sizes((shape,)), value, wanted, device_of(device), requires_grad)


def empty_like(x: Tensor, *, dtype: Spec = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Give an uninitialised tensor with the shape, dtype and device of another."""
    return empty(x.shape, dtype=dtype or x.dtype, device=device or x.device, requires_grad=requires_grad)


def zeros_like(x: Tensor, *, dtype: Spec = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Give zeros with the shape, dtype and device of another tensor."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device or x.device, requires_grad=requires_grad)


def ones_like(x: Tensor, *, dtype: Spec = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Give ones with the shape, dtype and device of another tensor."""
    return ones(x.shape, dtype=dtype or x.dtype, device=device or x.device, requires_grad=requires_grad)


def full_like(
    x: Tensor, fill_value: Any, *, dtype: Spec = None, device: Place = None, requires_grad: bool = False
) -> Tensor:
    """Give one value with the shape, dtype and device of another tensor."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device, requires_grad=requires_grad)


def new_empty(x: Tensor, *shape: Any, dtype: Spec = None, device: Place = None) -> Tensor:
    """Give an uninitialised tensor of another shape with the dtype and device of `x`."""
    return empty(*shape, dtype=dtype or x.dtype, device=device or x.device)


def new_zeros(x: Tensor, *shape: Any, dtype: Spec = None, device: Place = None) -> Tensor:
    """Give zeros of another shape with the dtype and device of `x`."""
    return zeros(*shape, dtype=dtype or x.dtype, device=device or x.device)


def new_ones(x: Tensor, *shape: Any, dtype: Spec = None, device: Place = None) -> Tensor:
    """Give ones of another shape with the dtype and device of `x`."""
    return ones(*shape, dtype=dtype or x.dtype, device=device or x.device)


def new_full(x: Tensor, shape: Any, fill_value: Any, dtype: Spec = None, device: Place = None) -> Tensor:
    """Give one value in another shape with the dtype and device of `x`."""
    return full(shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


def _as_array(data: Any, dtype: DType | None) -> np.ndarray[Any, np.dtype[Any]]:
    """Make Python or NumPy values an array; Python floats are float32, integers int64."""
    if isinstance(data, np.ndarray | np.generic):
        array = np.asarray(data)
    elif isinstance(data, Sequence) and not isinstance(data, str) and any(isinstance(d, Tensor) for d in data):
        array = np.array([d.detach().to("cpu").numpy() if isinstance(d, Tensor) else d for d in data])
    else:
        try:
            array = np.array(data)
        except ValueError as error:
            raise ShapeError(f"tensor: expected rows of equal length, found {error}") from error
        if array.dtype == np.float64:
            array = array if dtype is not None else array.astype(np.float32)
    # Floats become integers by the Cast kernel, whose rule for NaN and range is ours, not NumPy's.
    return array if dtype is None or (array.dtype.kind == "f" and dtype.is_integer) else array.astype(dtype.numpy)


def tensor(data: Any, dtype: Spec = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Copy values into a new tensor: numbers, nested lists, arrays, or another tensor.

    Without `dtype`, Python floats give float32, integers int64, bools bool; arrays and tensors keep theirs.

    Raises: ShapeError for ragged lists; DTypeError for what no dtype holds.
    """
    wanted = None if dtype is None else dt.parse(dtype)
    if isinstance(data, Tensor):
        y = data.detach().to(device=device or data.device, dtype=wanted or data.dtype, copy=True)
    else:
        array = _as_array(data, wanted)
        if array.dtype.kind in "OUSc":
            raise DTypeError(f"tensor: expected numbers, found values of NumPy dtype {array.dtype}")
        y = copy_from_numpy(array, device_of(device), None, Tensor)
        if wanted is not None:
            y = y.to(wanted)
    return y.requires_grad_() if requires_grad else y


def from_numpy(array: np.ndarray[Any, np.dtype[Any]]) -> Tensor:
    """Give a tensor on the host's device that shares the memory of an array where that can be written.

    A read-only array, or one that is not row-major, is copied: its own bytes never change.
    """
    cpu = Device("cpu")
    if array.flags.writeable and array.flags.c_contiguous and array.dtype.isnative:
        shared: Tensor = share_numpy(array, cpu, Tensor)
        return shared
    copied: Tensor = copy_from_numpy(array, cpu, None, Tensor)
    return copied


def as_tensor(data: Any, dtype: Spec = None, device: Place = None) -> Tensor:
    """Give `data` itself if it is a tensor that fits, else a tensor of its values."""
    if isinstance(data, Tensor):
        return data.to(device=device or data.device, dtype=dtype or data.dtype)
    return tensor(data, dtype, device)


def arange(
    start: float, end: float | None = None, step: float = 1, *, dtype: Spec = None, device: Place = None
) -> Tensor:
    """Give start, start + step, ... before `end` (from 0 if one value is given); int64 for integers, else float32.

    Raises: ValueError for a step of 0 or of the wrong sign, or bounds that are not finite; OverflowError for integers
        beyond int64.
    """
    first, last = (0, start) if end is None else (start, end)
    if not all(isfinite(value) for value in (first, last, step)):
        raise ValueError(f"arange: expected finite numbers, found {first}, {last}, {step}")
    if step == 0 or (last - first) * step < 0:
        raise ValueError(f"arange: expected a step that leads from {first} to {last}, found {step}")
    whole = all(isinstance(value, int) for value in (first, last, step))
    wanted = dt.parse(dtype) if dtype is not None else dt.int64 if whole else dt.float32
    for value in (first, last, step):
        check_range(value, dt.int64, "arange")
    values = np.arange(first, last, step, dtype=np.int64 if whole else np.float64)
    return tensor(values.astype(wanted.numpy), device=device)


def linspace(start: float, end: float, steps: int, *, dtype: Spec = None, device: Place = None) -> Tensor:
    """Give `steps` evenly spaced values from `start` to `end`, both included; float32 by default."""
    wanted = dt.float32 if dtype is None else dt.parse(dtype)
    return tensor(np.linspace(start, end, steps).astype(wanted.numpy), device=device)


def eye(rows: int, columns: int | None = None, *, dtype: Spec = None, device: Place = None) -> Tensor:
    """Give the identity matrix; float32 by default."""
    wanted = dt.float32 if dtype is None else dt.parse(dtype)
    return tensor(np.eye(rows, columns).astype(wanted.numpy), device=device)


def rebuild(
    cls: type[Tensor], array: np.ndarray[Any, np.dtype[Any]], dtype: str, device: str, requires_grad: bool
) -> Tensor:
    """Make the tensor that a pickle holds by value."""
    y = tensor(array, dtype, device)
    new = cls.__new__(cls)
    Tensor.__init__(new, y.buffer, y.shape, y.strides, y.offset, y.dtype)
    new._requires_grad = requires_grad
    return new
