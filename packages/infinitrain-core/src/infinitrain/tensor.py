"""Tensor: a strided view of device memory with a place in the autograd graph. No arithmetic lives here.

Operators and functions are attached from above: `autograd` gives `backward` and the hooks, `ops` the rest. Their
names are declared in the class, so that type checkers and readers see the whole vocabulary in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from infinitrain import recording
from infinitrain.copy import host_view, to_numpy
from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import AutogradError, DeviceMismatch, DTypeError, ShapeError
from infinitrain.memory import Buffer, allocate
from infinitrain.strided import Strided, compact_strides

if TYPE_CHECKING:
    from infinitrain.autograd.function import Node
    from infinitrain.autograd.hooks import RemovableHandle, TensorHooks

_new = object.__new__
#: Strides and element count of the shapes seen: the same come at every step.
_layouts: dict[tuple[int, ...], tuple[tuple[int, ...], int]] = {}
_MAX_LAYOUTS = 4096

#: A method bound from above that gives a tensor.
Method = Callable[..., "Tensor"]


class Vocabulary:
    """The methods that `autograd` and `ops` bind to `Tensor`; each is documented where it is written."""

    __slots__ = ()

    if TYPE_CHECKING:  # unlike `object`'s, ours give tensors

        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]

    # ---- bound by autograd ----

    backward: Callable[..., None]
    register_hook: Callable[[Callable[[Tensor], Tensor | None]], RemovableHandle]
    register_post_accumulate_grad_hook: Callable[[Callable[[Tensor], None]], RemovableHandle]
    retain_grad: Callable[[], None]

    # ---- bound by ops: operators ----

    __add__: Method
    __radd__: Method
    __iadd__: Method
    __sub__: Method
    __rsub__: Method
    __isub__: Method
    __mul__: Method
    __rmul__: Method
    __imul__: Method
    __truediv__: Method
    __rtruediv__: Method
    __itruediv__: Method
    __floordiv__: Method
    __rfloordiv__: Method
    __mod__: Method
    __rmod__: Method
    __pow__: Method
    __rpow__: Method
    __matmul__: Method
    __neg__: Method
    __pos__: Method
    __abs__: Method
    __invert__: Method
    __and__: Method
    __rand__: Method
    __or__: Method
    __ror__: Method
    __xor__: Method
    __rxor__: Method
    __lshift__: Method
    __rlshift__: Method
    __rshift__: Method
    __rrshift__: Method
    __lt__: Method
    __le__: Method
    __gt__: Method
    __ge__: Method
    __getitem__: Method
    __setitem__: Callable[[Any, Any], None]

    # ---- bound by ops: elementwise ----

    abs: Method
    acos: Method
    acosh: Method
    add: Method
    asin: Method
    asinh: Method
    atan: Method
    atan2: Method
    atanh: Method
    bitwise_and: Method
    bitwise_left_shift: Method
    bitwise_not: Method
    bitwise_or: Method
    bitwise_right_shift: Method
    bitwise_xor: Method
    ceil: Method
    clamp: Method
    clip: Method
    clone: Method
    copysign: Method
    cos: Method
    cosh: Method
    div: Method
    eq: Method
    erf: Method
    exp: Method
    expm1: Method
    floor: Method
    floor_divide: Method
    fmod: Method
    ge: Method
    gelu: Method
    gt: Method
    hypot: Method
    isfinite: Method
    isinf: Method
    isnan: Method
    le: Method
    log: Method
    log10: Method
    log1p: Method
    log2: Method
    logaddexp: Method
    logical_and: Method
    logical_not: Method
    logical_or: Method
    logical_xor: Method
    lt: Method
    masked_fill: Method
    maximum: Method
    minimum: Method
    mul: Method
    ne: Method
    neg: Method
    nextafter: Method
    pow: Method
    reciprocal: Method
    relu: Method
    remainder: Method
    round: Method
    rsqrt: Method
    sigmoid: Method
    sign: Method
    signbit: Method
    sin: Method
    sinh: Method
    sqrt: Method
    square: Method
    sub: Method
    tan: Method
    tanh: Method
    trunc: Method
    where: Method

    # ---- bound by ops: in place ----

    abs_: Method
    acos_: Method
    acosh_: Method
    add_: Method
    asin_: Method
    asinh_: Method
    atan_: Method
    atanh_: Method
    bernoulli_: Method
    ceil_: Method
    clamp_: Method
    copy_: Method
    cos_: Method
    cosh_: Method
    div_: Method
    erf_: Method
    exp_: Method
    expm1_: Method
    fill_: Method
    floor_: Method
    floor_divide_: Method
    fmod_: Method
    log10_: Method
    log1p_: Method
    log2_: Method
    log_: Method
    masked_fill_: Method
    mul_: Method
    neg_: Method
    normal_: Method
    pow_: Method
    reciprocal_: Method
    relu_: Method
    remainder_: Method
    round_: Method
    rsqrt_: Method
    scatter_: Method
    scatter_add_: Method
    sigmoid_: Method
    sign_: Method
    sin_: Method
    sinh_: Method
    sqrt_: Method
    square_: Method
    sub_: Method
    tan_: Method
    tanh_: Method
    trunc_: Method
    uniform_: Method
    zero_: Method

    # ---- bound by ops: reductions and products ----

    argsort: Method
    count_nonzero: Method
    cumprod: Method
    cumsum: Method
    prod: Method
    sort: Callable[..., Any]
    topk: Callable[..., Any]

    all: Method
    amax: Method
    amin: Method
    any: Method
    argmax: Method
    argmin: Method
    log_softmax: Method
    logsumexp: Method
    matmul: Method
    max: Callable[..., Any]
    mean: Method
    min: Callable[..., Any]
    norm: Method
    softmax: Method
    std: Method
    sum: Method
    var: Method

    # ---- bound by ops: shape and index ----

    diagonal: Method
    index_add: Method
    repeat: Method
    roll: Method
    take_along_dim: Method
    tile: Method

    chunk: Callable[..., tuple[Tensor, ...]]
    contiguous: Method
    expand: Method
    expand_as: Method
    flatten: Method
    gather: Method
    index_select: Method
    movedim: Method
    narrow: Method
    permute: Method
    repeat_interleave: Method
    reshape: Method
    reshape_as: Method
    scatter: Method
    scatter_add: Method
    select: Method
    split: Callable[..., tuple[Tensor, ...]]
    squeeze: Method
    t: Method
    to: Method
    transpose: Method
    tril: Method
    triu: Method
    unbind: Callable[..., tuple[Tensor, ...]]
    unsqueeze: Method
    view: Method
    view_as: Method

    # ---- bound by ops: dtypes and devices ----

    bfloat16: Method
    bool: Method
    cpu: Method
    double: Method
    float: Method
    half: Method
    int: Method
    long: Method
    new_empty: Method
    new_full: Method
    new_ones: Method
    new_zeros: Method
    type_as: Method


class Tensor(Strided, Vocabulary):
    """An n-dimensional array on a device, which remembers how it was made if asked to.

    Make tensors with `infinitrain.tensor`, `zeros`, `rand` and the like, never with the constructor.
    """

    __slots__ = (
        "__weakref__",
        "_base",
        "_base_version",
        "_grad",
        "_hooks",
        "_node",
        "_out_index",
        "_requires_grad",
    )

    _base: Tensor | None
    _base_version: int
    _grad: Tensor | None
    _hooks: TensorHooks | None
    _node: Node | None
    _out_index: int
    _requires_grad: bool

    def __init__(
        self, buffer: Buffer, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: DType
    ) -> None:
        self.buffer = buffer
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.dtype = dtype
        self._desc = None
        self._compact = None
        self._numel = -1
        self._requires_grad = False
        self._node = None
        self._grad = None
        self._base = None
        self._hooks = None

    @classmethod
    def _empty(cls, shape: tuple[int, ...], dtype: DType, device: Device) -> Self:
        """Allocate a compact tensor with undefined contents; written out, as every operation calls it."""
        layout = _layouts.get(shape)
        if layout is None:
            layout = _layouts[shape] = (compact_strides(shape), prod(shape))
            if len(_layouts) > _MAX_LAYOUTS:
                _layouts.clear()
        self = _new(cls)
        self.strides, self._numel = layout
        self.buffer = allocate(layout[1] * dtype.itemsize, device)
        self.shape = shape
        self.offset = 0
        self.dtype = dtype
        self._desc = None
        self._compact = True
        self._requires_grad = False
        self._node = None
        self._grad = None
        self._base = None
        self._hooks = None
        return self

    # ---- what it is ----

    __hash__ = object.__hash__
    __array_priority__ = 1000  # NumPy's operators leave the work to ours

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether gradients are collected for this leaf.

        Raises: AutogradError for a result of recorded operations; DTypeError for a dtype that is not floating-point.
        """
        if self._node is not None:
            if requires_grad:
                return self
            raise AutogradError("requires_grad_: expected a leaf, found a result of recorded operations. Use detach().")
        if requires_grad and not self.dtype.is_floating_point:
            raise DTypeError(f"requires_grad_: expected a floating-point tensor, found {self.dtype.name}")
        self._requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user, not by a recorded operation."""
        return self._node is None

    @property
    def grad_fn(self) -> Node | None:
        """The recorded operation that made this tensor."""
        return self._node

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this tensor is."""
        return 0 if self._node is None else self._out_index

    @property
    def grad(self) -> Tensor | None:
        """The gradient collected for this leaf; the leaf owns it."""
        if recording.listener is not None:
            recording.listener.gradient(self, read=True)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            found = (value.shape, value.dtype, value.device)
            expected = (self.shape, self.dtype, self.device)
            if value is self or found[0] != expected[0]:
                raise ShapeError(f"grad: expected another tensor of shape {expected[0]}, found {found[0]}")
            if found[1] is not expected[1]:
                raise DTypeError(f"grad: expected {self.dtype.name}, found {value.dtype.name}")
            if found[2] != expected[2]:
                raise DeviceMismatch(f"grad: expected a tensor on {self.device}, found one on {value.device}")
        if recording.listener is not None:
            recording.listener.gradient(self, read=False)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def data(self) -> Tensor:
        """The same memory, outside the graph."""
        return self.detach()

    @property
    def T(self) -> Tensor:  # noqa: N802 - torch's name
        """The tensor with its dimensions reversed."""
        return self.permute(tuple(range(len(self.shape) - 1, -1, -1)))

    @property
    def mT(self) -> Tensor:  # noqa: N802 - torch's name
        """The tensor with its last two dimensions exchanged."""
        return self.transpose(-2, -1)

    @property
    def _version(self) -> int:
        """How often the memory was written in place; views share it."""
        return self.buffer.version

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        return self.shape if dim is None else self.shape[self._dim(dim)]

    def stride(self, dim: int | None = None) -> Any:
        """The strides in elements, or that of one dimension."""
        return self.strides if dim is None else self.strides[self._dim(dim)]

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def storage_offset(self) -> int:
        """The position of the first element in its memory, in elements."""
        return self.offset

    def data_ptr(self) -> int:
        """The device address of the first element; 0 if there is none."""
        return self.buffer.ptr + self.offset * self.dtype.itemsize if self.buffer.ptr else 0

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating-point one."""
        return self.dtype.is_floating_point

    def _dim(self, dim: int) -> int:
        """Give a dimension counted from the start.

        Raises: IndexError if there is no such dimension.
        """
        ndim = len(self.shape)
        if not -max(ndim, 1) <= dim < max(ndim, 1):
            raise IndexError(
                f"dim: expected a value in [{-max(ndim, 1)}, {max(ndim, 1) - 1}] for shape {self.shape}, found {dim}"
            )
        return dim + max(ndim, 1) if dim < 0 else dim

    # ---- the same memory, seen otherwise ----

    def _alias(
        self,
        shape: tuple[int, ...] | None = None,
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> Tensor:
        """Give a tensor over the same memory without history; `offset` counts from this tensor's first element."""
        if shape is None or strides is None:
            return Tensor(self.buffer, self.shape, self.strides, self.offset, self.dtype)
        return Tensor(self.buffer, shape, strides, self.offset + offset, self.dtype)

    def detach(self) -> Tensor:
        """Give a leaf over the same memory (and version), outside the graph."""
        return self._alias()

    def detach_(self) -> Tensor:
        """Forget how this tensor was made."""
        self._node = None
        self._base = None
        self._requires_grad = False
        return self

    def _mark_written(self, name: str) -> None:
        """Count one write in place, by the operation `name`, into this tensor's memory."""
        self.buffer.version += 1
        self.buffer.writer = name

    # ---- to Python and NumPy ----

    def numpy(self) -> np.ndarray[Any, np.dtype[Any]]:
        """Give the values as a NumPy array; waits for the device.

        On a device whose memory the host reads, the array shares the memory; else it is a copy.

        Raises: AutogradError for a tensor that requires grad: use `detach().numpy()`.
        """
        if self._requires_grad:
            raise AutogradError(
                "numpy: expected a tensor that does not require grad, found one that does. Use detach().numpy()."
            )
        return host_view(self) if self.device.host_readable else to_numpy(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, np.dtype[Any]]:
        array = self.detach().numpy()
        if dtype is not None and array.dtype != np.dtype(dtype):
            if copy is False:
                raise ValueError("__array__: expected the tensor's own dtype where copy=False, found another")
            return array.astype(dtype)
        return array.copy() if copy else array

    def item(self) -> Any:
        """Give the one element as a Python number; waits for the device.

        Raises: ShapeError if there is not exactly one element.
        """
        if self.numel() != 1:
            raise ShapeError(f"item: expected one element, found shape {self.shape}")
        return to_numpy(self).reshape(()).item()

    def tolist(self) -> Any:
        """Give the values as nested lists of Python numbers; waits for the device."""
        return to_numpy(self).tolist()

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise ShapeError(
                f"bool: expected one element, found shape {self.shape}: the truth of several is ambiguous. "
                "Use any() or all()."
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self.dtype.is_floating_point or self.numel() != 1:
            raise TypeError(f"index: expected one integer, found {self.dtype.name} of shape {self.shape}")
        return int(self.item())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len: expected a tensor with dimensions, found a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration: expected a tensor with dimensions, found a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value: object) -> bool:
        return bool((self == value).any())

    def __repr__(self) -> str:
        from infinitrain.ops.text import represent

        return represent(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.shape else object.__format__(self, spec)

    # ---- copies and pickles ----

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """Copy a leaf with its memory and gradient.

        Raises: AutogradError for a result of recorded operations, whose history cannot be copied.
        """
        if id(self) in memo:
            known: Tensor = memo[id(self)]
            return known
        if self._node is not None:
            raise AutogradError("deepcopy: expected a leaf, found a result of recorded operations. Use detach().")
        copied = self.detach().clone()
        new = type(self).__new__(type(self))
        Tensor.__init__(new, copied.buffer, copied.shape, copied.strides, copied.offset, copied.dtype)
        new._requires_grad = self._requires_grad
        memo[id(self)] = new
        if self._grad is not None:
            new._grad = self._grad.__deepcopy__(memo)
        return new

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle by value: the array, the device's name, and whether it requires grad."""
        if self._node is not None:
            raise AutogradError("pickle: expected a leaf, found a result of recorded operations. Use detach().")
        from infinitrain.ops.create import rebuild

        array = np.array(to_numpy(self))
        return rebuild, (type(self), array, self.dtype.name, str(self.device), self._requires_grad)

    def __setstate__(self, state: Any) -> NoReturn:
        raise TypeError("Tensor: expected to be built by `rebuild`, found a foreign pickle")


def device_of(spec: Device | str | None) -> Device:
    """Give the device that `spec` names, or the current one."""
    from infinitrain.device import current_device

    return current_device() if spec is None else Device(spec)
