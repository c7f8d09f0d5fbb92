"""From a kernel's name and tensors to one launch: the only way by which anything is computed.

Operands are checked against the kernel table once for each combination of dtypes; layouts are made to fit on every
launch, because a provider that declares no strides is given compact tensors only. There is no fallback to another
device or provider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from infinitrain_capi.table import KernelRow, Operand
from infinitrain_capi.table import load as load_table

from infinitrain import config, recording
from infinitrain import dtype as dtypes
from infinitrain._abi import launches
from infinitrain._abi.attributes import pack
from infinitrain._abi.provider import Kernel
from infinitrain._abi.status import last_message
from infinitrain._native import ffi, lib
from infinitrain.device import Device
from infinitrain.dtype import DType
from infinitrain.errors import DeviceMismatch, DTypeError, KernelNotFound, ReadOnlyError, ShapeError
from infinitrain.memory import allocate
from infinitrain.stream import current_stream
from infinitrain.strided import Strided

__all__ = ["has_kernel", "launch", "missing_kernels"]

NULL = ffi.NULL
_launch_4, _launch_8 = lib.it_launch_4, lib.it_launch_8
_UNFIT: int = lib.IT_UNFIT
_DTYPES = {dtype.short: dtype for dtype in dtypes.ALL}
#: Absent tensors behind the last one, for the calls that take a fixed number.
_PAD = tuple((NULL,) * (8 - count if count > 4 else 4 - count) for count in range(9))


def launch(name: str, inputs: Sequence[Strided | None], outputs: Sequence[Strided | None], **attributes: Any) -> None:
    """Run a kernel on the device that its operands live on, in the device's current stream.

    Outputs are allocated by the caller. An operand of None is absent, where the table allows it. Attributes that are
    not given take the table's defaults.

    Raises:
        KernelNotFound: The provider has no such kernel for these dtypes.
        DTypeError, ShapeError, DeviceMismatch: Operands do not fit the kernel's row.
        IndexOutOfRange, AsyncError, OutOfMemory, ...: What the kernel reported.
    """
    first = outputs[0]
    if first is None:
        raise ShapeError(f"{name}: expected a first output, found none")
    device = first.buffer.device
    kernel = device.provider.kernels.get(name)
    if kernel is not None:
        status = _submit(kernel, device, inputs, outputs, attributes)
        if not status:
            if recording.listener is not None:
                recording.listener.launched(kernel, inputs, outputs, attributes, 0)
            return
        if status == lib.IT_WANTS_WORKSPACE:
            status = _submit_checked(kernel, device, inputs, outputs, attributes)
        if status != _UNFIT:
            _check(status, kernel, device, inputs, outputs)
            return
    _launch_unusual(name, device, inputs, outputs, attributes)


def _submit(
    kernel: Kernel,
    device: Device,
    inputs: Sequence[Strided | None],
    outputs: Sequence[Strided | None],
    attributes: dict[str, Any],
) -> int:
    """Launch operands that fit as they are, which the C side sees at once; else nothing is done and it says so."""
    tensors = (*inputs, *outputs)
    count = len(tensors)
    if count != kernel.n_tensors or len(outputs) != kernel.n_outputs or count > 8:
        return _UNFIT
    attrs = pack(kernel.row, attributes) if kernel.n_attrs or attributes else NULL
    queue = current_stream(device).native
    status: int
    # Written out for the two commonest counts: a list would cost half of the launch.
    if count == 3 and kernel.all_required:
        a, b, c = tensors
        if a is None or b is None or c is None:
            return _UNFIT
        status = _launch_4(kernel.record, queue, attrs, a._desc or a.desc, b._desc or b.desc, c._desc or c.desc, NULL)
    elif count == 2 and kernel.all_required:
        a, b = tensors
        if a is None or b is None:
            return _UNFIT
        status = _launch_4(kernel.record, queue, attrs, a._desc or a.desc, b._desc or b.desc, NULL, NULL)
    else:
        views = [NULL if t is None else t._desc or t.desc for t in tensors]
        status = (_launch_4 if count <= 4 else _launch_8)(kernel.record, queue, attrs, *views, *_PAD[count])
    return status


def _submit_checked(
    kernel: Kernel,
    device: Device,
    inputs: Sequence[Strided | None],
    outputs: Sequence[Strided | None],
    attributes: dict[str, Any],
) -> int:
    """Launch on tensors that have been found to fit, with workspace where the kernel asks for it."""
    stream = current_stream(device).native
    attrs = pack(kernel.row, attributes)
    tensors = [NULL if t is None else t.desc for t in (*inputs, *outputs)]
    size = 0
    status: int = lib.it_launch(kernel.record, stream, attrs, tensors, 0, 0, 1)
    if status == lib.IT_WANTS_WORKSPACE:
        size = lib.it_wanted_workspace()
        workspace = allocate(size, device)
        status = lib.it_launch(kernel.record, stream, attrs, tensors, workspace.ptr, size, 1)
    if recording.listener is not None and not status:
        recording.listener.launched(kernel, inputs, outputs, attributes, size)
    return status


def _noted(submit: Callable[..., int]) -> Callable[..., int]:
    """Let each launch leave a note, by which a failure that shows later is traced to its line."""

    def noted(
        kernel: Kernel,
        device: Device,
        inputs: Sequence[Strided | None],
        outputs: Sequence[Strided | None],
        attributes: dict[str, Any],
    ) -> int:
        status = submit(kernel, device, inputs, outputs, attributes)
        if not status:
            launches.note(lib.it_last_tag(), kernel.row.name, launches.operands_text(inputs, outputs))
        return status

    return noted


if config.debug_async():  # decided once: who does not debug pays nothing
    globals().update(_submit=_noted(_submit), _submit_checked=_noted(_submit_checked))


def _check(
    status: int,
    kernel: Kernel,
    device: Device,
    inputs: Sequence[Strided | None],
    outputs: Sequence[Strided | None],
) -> None:
    """Raise what a launch reported; a kernel that cannot do these operands is one that is not there."""
    if status == lib.ITP_E_UNIMPLEMENTED:
        raise _not_found(kernel.row, kernel, device, inputs, outputs, last_message())
    if status:
        device.provider.check(status, kernel.row.name, f"{kernel.row.name}: {launches.operands_text(inputs, outputs)}")


def _launch_unusual(
    name: str,
    device: Device,
    inputs: Sequence[Strided | None],
    outputs: Sequence[Strided | None],
    attributes: dict[str, Any],
) -> None:
    """Say what is wrong with a launch, or make its operands fit and run it."""
    _check_devices(name, device, inputs, outputs)
    kernel = _find_kernel(name, device, inputs, outputs)
    _check_outputs(kernel.row, outputs)
    if kernel.row.same_rank:
        _check_shapes(kernel.row, inputs, outputs)
    if all(t is None or not t.numel() for t in outputs):
        return
    ready_outputs, write_back = _fit_outputs(kernel, outputs)
    ready_inputs = _fit_inputs(kernel, inputs, ready_outputs)
    status = _submit_checked(kernel, device, ready_inputs, ready_outputs, attributes)
    _check(status, kernel, device, ready_inputs, ready_outputs)
    for target, temporary in write_back:
        launch("Copy", (temporary,), (target,))


def has_kernel(name: str, device: Device | str, dtype: DType | None = None) -> bool:
    """Whether a device's provider has a kernel, for a dtype if one is given."""
    kernel = Device(device).provider.kernels.get(name)
    if kernel is None:
        return False
    return dtype is None or not kernel.dtype_mask or bool(kernel.dtype_mask >> dtype.bit & 1)


def missing_kernels(names: Iterable[str], device: Device | str, dtype: DType | None = None) -> list[str]:
    """List those of the kernels that a device's provider does not have, in the order given."""
    return [name for name in dict.fromkeys(names) if not has_kernel(name, device, dtype)]


def _check_devices(
    name: str, device: Device, inputs: Sequence[Strided | None], outputs: Sequence[Strided | None]
) -> None:
    found = {str(t.device): None for t in (*inputs, *outputs) if t is not None}
    if len(found) > 1:
        raise DeviceMismatch(
            f"{name}: expected all tensors on one device, found {' and '.join(found)}. Move them with .to(device)"
        )


def _check_outputs(row: KernelRow, outputs: Sequence[Strided | None]) -> None:
    for position, output in enumerate(outputs):
        if output is None:
            continue
        if output.buffer.read_only:
            raise ReadOnlyError(
                f"{row.name}: expected an output that may be written, found memory that its owner keeps read-only. "
                "Write to a .clone()"
            )
        if any(other is not None and _shares(other, output) for other in outputs[:position]):
            raise ShapeError(f"{row.name}: outputs overlap each other: expected each in memory of its own")


def _check_shapes(row: KernelRow, inputs: Sequence[Strided | None], outputs: Sequence[Strided | None]) -> None:
    """Hold every tensor of an elementwise kernel to one shape: broadcasting is done before."""
    tensors = zip((*row.outputs, *row.inputs), (*outputs, *inputs), strict=True)
    found = {operand.name: tensor.shape for operand, tensor in tensors if tensor is not None}
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{name} {shape}" for name, shape in found.items())
        raise ShapeError(f"{row.name}: expected tensors of one shape, found {listed}. Broadcast them before")


# ---- what a launch needs, and what is said when it is not there ----


def _find_kernel(
    name: str, device: Device, inputs: Sequence[Strided | None], outputs: Sequence[Strided | None]
) -> Kernel:
    row = load_table().get(name)
    if row is None:
        raise KernelNotFound(f"kernel {name!r} is not in the kernel table: expected a name from kernels.toml")
    bound = _bind(row, inputs, outputs)
    kernel = device.provider.kernels.get(name)
    if kernel is None or ("T" in bound and not kernel.dtype_mask >> bound["T"].bit & 1):
        raise _not_found(row, kernel, device, inputs, outputs)
    return kernel


def _bind(row: KernelRow, inputs: Sequence[Strided | None], outputs: Sequence[Strided | None]) -> dict[str, DType]:
    """Check counts, presence and dtypes against a row, and give what T and U stand for."""
    if len(inputs) != len(row.inputs) or len(outputs) != len(row.outputs):
        raise ShapeError(
            f"{row.name}: expected {len(row.inputs)} operands and {len(row.outputs)} outputs ({row.schema}), "
            f"found {len(inputs)} and {len(outputs)}"
        )
    pairs = list(zip((*row.inputs, *row.outputs), (*inputs, *outputs), strict=True))
    bound: dict[str, DType] = {}
    for operand, tensor in pairs:
        if tensor is None:
            if not operand.optional:
                raise ShapeError(f"{row.name}: operand {operand.name!r} is missing ({row.schema})")
            continue
        expected = _expected(operand, bound)
        if expected is None:
            allowed = row.dtypes if operand.type == "T" else row.other_dtypes
            if tensor.dtype.short not in allowed:
                names = ", ".join(_DTYPES[short].name for short in allowed)
                raise DTypeError(f"{row.name}: {operand.name} is {tensor.dtype.name}, expected one of {names}. Cast it")
            bound[operand.type] = tensor.dtype
        elif tensor.dtype is not expected:
            raise DTypeError(f"{row.name}: {operand.name} is {tensor.dtype.name}, expected {expected.name}. Cast it")
    return bound


def _expected(operand: Operand, bound: dict[str, DType]) -> DType | None:
    if operand.type in ("T", "U"):
        return bound.get(operand.type)
    if operand.type == "A":
        return bound["T"].accumulator
    return _DTYPES[operand.type]


def _not_found(
    row: KernelRow,
    kernel: Kernel | None,
    device: Device,
    inputs: Sequence[Strided | None],
    outputs: Sequence[Strided | None],
    reason: str = "",
) -> KernelNotFound:
    """Write the one text for a kernel that is not there."""
    provider = device.provider
    used = ", ".join(dict.fromkeys(t.dtype.name for t in (*inputs, *outputs) if t is not None))
    if kernel is None:
        offer = f"the provider has {len(provider.kernels)} of {len(load_table())} kernels, this one not"
        off = [note for note in provider.notes if f"'{row.name}'" in note]
        advice = off[0] if off else f"`infinitrain providers --explain` lists them by tier (this is tier {row.tier})"
    else:
        names = [dtype.name for dtype in dtypes.ALL if kernel.dtype_mask >> dtype.bit & 1]
        offer = reason or f"the provider offers it for {', '.join(names)}"
        advice = "cast the tensors with .to(dtype), or ask the vendor for the kernel"
    return KernelNotFound(
        f"no kernel {row.name!r} for {used} on {device} (provider {provider.name} {provider.version}): {offer}. "
        f"What to do: {advice}"
    )


# ---- layouts: what is made to fit on every launch ----


def _compact(tensor: Strided) -> Strided:
    """Copy a view into compact memory by the one kernel that takes any layout."""
    fresh = Strided._empty(tensor.shape, tensor.dtype, tensor.device)
    if fresh.numel():
        launch("Copy", (tensor,), (fresh,))
    return fresh


def _is_matrix_layout(tensor: Strided) -> bool:
    """Whether the last two dimensions are a matrix with unit stride along one of them."""
    if tensor.ndim < 2:
        return False
    rows, columns = tensor.shape[-2:]
    row_step, column_step = tensor.strides[-2:]
    return (column_step == 1 and row_step >= columns) or (row_step == 1 and column_step >= rows)


def _layout_fits(kernel: Kernel, tensor: Strided) -> bool:
    if tensor.is_contiguous():
        return True
    flags = kernel.record.flags
    return bool(flags & lib.IT_LAYOUT_STRIDED) or (bool(flags & lib.IT_LAYOUT_MATRIX) and _is_matrix_layout(tensor))


def _fit_inputs(
    kernel: Kernel, inputs: Sequence[Strided | None], outputs: Sequence[Strided | None]
) -> list[Strided | None]:
    ready = [t if t is None or _layout_fits(kernel, t) else _compact(t) for t in inputs]
    may_alias = kernel.record.flags & lib.IT_MAY_ALIAS
    for output in outputs:
        for index, tensor in enumerate(ready):
            # As if the operand were read whole before anything is written.
            if (
                output is not None
                and tensor is not None
                and _shares(tensor, output)
                and not (may_alias and _identical(tensor, output))
            ):
                ready[index] = _compact(tensor)
    return ready


def _fit_outputs(
    kernel: Kernel, outputs: Sequence[Strided | None]
) -> tuple[list[Strided | None], list[tuple[Strided, Strided]]]:
    """Give outputs that the kernel may write, and the copies to make afterwards."""
    ready: list[Strided | None] = []
    write_back: list[tuple[Strided, Strided]] = []
    for operand, tensor in zip(kernel.row.outputs, outputs, strict=True):
        if tensor is None or tensor.is_contiguous():
            ready.append(tensor)
            continue
        if tensor.overlaps_itself():
            raise ShapeError(
                f"{kernel.row.name}: output of shape {tensor.shape} and strides {tensor.strides} overlaps itself: "
                "expected one element for each place in memory. Write to .clone() or .contiguous() instead"
            )
        if kernel.record.flags & lib.IT_LAYOUT_STRIDED:
            ready.append(tensor)
            continue
        temporary = _compact(tensor) if operand.inout else Strided._empty(tensor.shape, tensor.dtype, tensor.device)
        ready.append(temporary)
        write_back.append((tensor, temporary))
    return ready, write_back


def _identical(a: Strided, b: Strided) -> bool:
    if a.shape != b.shape or a.strides != b.strides or a.dtype is not b.dtype:
        return False
    return _extent(a) == _extent(b)


def _extent(tensor: Strided) -> tuple[int, int]:
    size = tensor.dtype.itemsize
    begin = tensor.buffer.ptr + tensor.offset * size
    reach = sum(step * (length - 1) for step, length in zip(tensor.strides, tensor.shape, strict=True))
    return begin, begin + (reach + 1) * size


def _shares(a: Strided, b: Strided) -> bool:
    """Whether two views meet in memory (strided views count as the whole range that they span)."""
    if a.device is not b.device or not a.numel() or not b.numel():
        return False
    (a_begin, a_end), (b_begin, b_end) = _extent(a), _extent(b)
    return a_begin < b_end and b_begin < a_end
