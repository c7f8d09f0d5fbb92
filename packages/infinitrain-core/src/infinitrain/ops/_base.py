"""What operations share: broadcasting, promotion, outputs, dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from infinitrain import dtype as dt
from infinitrain import strided
from infinitrain.dispatch import has_kernel, launch
from infinitrain.dtype import DType, promote_types
from infinitrain.errors import DeviceMismatch, DTypeError, ShapeError
from infinitrain.ops import cast
from infinitrain.strided import Strided
from infinitrain.tensor import Tensor

Scalar = bool | int | float
#: A tensor or a Python number; NumPy's scalars count as Python numbers.
Operand = Any

SCALARS = (bool, int, float)


def new_like(x: Tensor) -> Tensor:
    """Give an uninitialised tensor with the shape, dtype and device of `x`, compact."""
    return Tensor._empty(x.shape, x.dtype, x.buffer.device)


def new(shape: tuple[int, ...], dtype: DType, like: Tensor) -> Tensor:
    """Give an uninitialised tensor on the device of `like`."""
    return Tensor._empty(shape, dtype, like.buffer.device)


def full_like_device(shape: tuple[int, ...], value: Scalar, dtype: DType, like: Tensor) -> Tensor:
    """Give a tensor of one value on the device of `like`."""
    y = Tensor._empty(shape, dtype, like.buffer.device)
    launch("Fill", (), (y,), value=as_attr(value, dtype))
    return y


def as_attr(value: Scalar, dtype: DType) -> Scalar:
    """Make a number fit a kernel's attribute: floats hold integers that int64 does not."""
    if value.__class__ is int and dtype.is_floating_point and not -(1 << 63) <= value < 1 << 63:
        return float(value)
    return value


def scalar_tensor(value: Scalar, dtype: DType, like: Tensor) -> Tensor:
    """Give a 0-d tensor of a Python number on the device of `like`."""
    return full_like_device((), value, dtype, like)


def offers(kernel: str, x: Tensor) -> bool:
    """Tell whether a kernel that is never needed is there, for this tensor's device and dtype."""
    return has_kernel(kernel, x.buffer.device, x.dtype)


#: As in `strided`, remembered: the same shapes come at every step.
broadcast_shapes = lru_cache(maxsize=4096)(strided.broadcast_shapes)


def unary(kernel: str, x: Tensor, out: Tensor | None) -> Tensor:
    """Run a kernel of one operand into a new tensor, or over `out`, which counts as a write of it."""
    if out is None:
        out = Tensor._empty(x.shape, x.dtype, x.buffer.device)
        launch(kernel, (x,), (out,))
    else:
        launch(kernel, (x,), (out,))
        out.buffer.version += 1
    return out


def binary(kernel: str, a: Tensor, b: Tensor, out: Tensor | None, dtype: DType | None = None) -> Tensor:
    """Run a kernel of two operands of one dtype, broadcast to each other, into `out` or a new tensor."""
    left: Strided = a
    right: Strided = b
    if a.shape != b.shape:
        shape = broadcast_shapes(a.shape, b.shape)
        if a.shape != shape:
            left = a.broadcast_to(shape)
        if b.shape != shape:
            right = b.broadcast_to(shape)
    if out is None:
        out = Tensor._empty(left.shape, a.dtype if dtype is None else dtype, a.buffer.device)
    launch(kernel, (left, right), (out,))
    return out


def promote(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Cast two tensors to the dtype that both promote to."""
    if a.dtype is b.dtype:
        return a, b
    dtype = promote_types(a.dtype, b.dtype)
    return cast_to(a, dtype), cast_to(b, dtype)


def cast_to(x: Tensor, dtype: DType) -> Tensor:
    """Give `x` in another dtype; itself where it has it."""
    return x if x.dtype is dtype else cast.cast_to(x, dtype)


def scalar_dtype(dtype: DType, value: Scalar) -> DType:
    """Give the dtype of `tensor op number`: numbers are weak, they only raise the kind."""
    if value.__class__ is float:
        return dtype if dtype.is_floating_point else dt.float32
    if dtype.is_bool and value.__class__ is int:
        return dt.int64
    return dtype


def as_scalar(value: Operand) -> Scalar | None:
    """Give a Python number for a Python or NumPy number; None for anything else."""
    if isinstance(value, SCALARS):
        return float(value) if isinstance(value, float) else value
    if isinstance(value, np.generic):
        number = value.item()
        return number if isinstance(number, SCALARS) else None
    return None


def check_range(value: Scalar, dtype: DType, name: str) -> None:
    """Raise OverflowError for an integer that `dtype` cannot hold (as NumPy does)."""
    if value.__class__ is int and dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        if not info.min <= value <= info.max:
            raise OverflowError(f"{name}: expected an integer that {dtype.name} can hold, found {value}")


def as_tensors(a: Operand, b: Operand, name: str) -> tuple[Tensor, Tensor]:
    """Make two operands, of which one is a tensor, into tensors of one dtype.

    Raises: TypeError if an operand is neither a tensor nor a number.
    """
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return promote(a, b)
    tensor, other = (a, b) if isinstance(a, Tensor) else (b, a)
    number = as_scalar(other)
    if number is None or not isinstance(tensor, Tensor):
        raise TypeError(f"{name}: expected tensors or numbers, found {type(a).__name__} and {type(b).__name__}")
    dtype = scalar_dtype(tensor.dtype, number)
    check_range(number, dtype, name)
    tensor = cast_to(tensor, dtype)
    filled = scalar_tensor(number, dtype, tensor)
    return (tensor, filled) if isinstance(a, Tensor) else (filled, tensor)


def is_operand(value: Operand) -> bool:
    """Tell whether an operator knows what to do with `value`."""
    return isinstance(value, Tensor | bool | int | float | np.generic)


def require_floating(x: Tensor, name: str) -> None:
    """Raise DTypeError unless `x` is floating-point."""
    if not x.dtype.is_floating_point:
        raise DTypeError(f"{name}: expected a floating-point tensor, found {x.dtype.name}. Cast it, as by float().")


def require_same_device(name: str, *tensors: Tensor | None) -> None:
    """Raise DeviceMismatch unless all tensors are on one device."""
    devices = {t.buffer.device for t in tensors if t is not None}
    if len(devices) > 1:
        raise DeviceMismatch(
            f"{name}: expected operands on one device, found {', '.join(sorted(str(d) for d in devices))}. "
            "Move them with to(device)."
        )


def floating(x: Tensor) -> Tensor:
    """Give a floating-point tensor: integers and bools become float32."""
    return x if x.dtype.is_floating_point else cast_to(x, dt.float32)


def dims_of(x: Tensor, dim: int | Sequence[int] | None, name: str) -> tuple[int, ...]:
    """Give the dimensions to reduce, ascending; all for None or an empty sequence.

    Raises: IndexError for a dimension that is not there; ShapeError for one named twice.
    """
    ndim = len(x.shape)
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, int):
        return (x._dim(dim),) if ndim else ()
    dims = sorted(x._dim(d) for d in dim)
    if len(set(dims)) != len(dims):
        raise ShapeError(f"{name}: expected different dimensions, found {tuple(dim)}")
    if not dims:
        return tuple(range(ndim))
    return tuple(dims) if ndim else ()


def kept_shape(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[int, ...]:
    """Give `shape` with size 1 in each of `dims`."""
    if len(dims) == len(shape):
        return (1,) * len(shape)
    return tuple([1 if d in dims else size for d, size in enumerate(shape)])


def dropped_shape(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[int, ...]:
    """Give `shape` without `dims`."""
    if len(dims) == len(shape):
        return ()
    return tuple([size for d, size in enumerate(shape) if d not in dims])


def sum_to(grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum a gradient over the dimensions that broadcasting added or widened, so that it has `shape`."""
    if grad.shape == shape:
        return grad
    extra = len(grad.shape) - len(shape)
    dims = list(range(extra))
    dims += [d + extra for d, size in enumerate(shape) if size == 1 and grad.shape[d + extra] != 1]
    if dims:
        grad = grad.sum(dims, keepdim=True)
    return grad if grad.shape == shape else grad.reshape(shape)
