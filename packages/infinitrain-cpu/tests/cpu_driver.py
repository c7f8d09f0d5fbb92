"""Drive the library as a core would, through the contract alone: cffi on the header's own text."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import cffi
import infinitrain_capi
import infinitrain_cpu
import ml_dtypes
import numpy as np

ffi = cffi.FFI()
ffi.cdef(infinitrain_capi.cdef_text())
ffi.cdef("const itp_provider *infinitrain_provider_v1(uint32_t core_minor);")
# A library built aside, with a sanitizer for one, can be tested in the place of the installed one.
library = ffi.dlopen(os.environ.get("CPU_TESTS_LIBRARY") or infinitrain_cpu.library_path())

BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {
    "bool": np.dtype(np.bool_),
    "u8": np.dtype(np.uint8),
    "i8": np.dtype(np.int8),
    "u16": np.dtype(np.uint16),
    "i16": np.dtype(np.int16),
    "u32": np.dtype(np.uint32),
    "i32": np.dtype(np.int32),
    "u64": np.dtype(np.uint64),
    "i64": np.dtype(np.int64),
    "bf16": BF16,
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
BITS = list(DTYPES)
SHORT = {dtype: short for short, dtype in DTYPES.items()}
TABLE = tomllib.loads(infinitrain_capi.kernel_table_path().read_text())
ROWS = {row["name"]: row for row in TABLE["kernel"]}


class CpuError(Exception):
    """A status that is not OK."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _dtype(dtype: np.dtype[Any]) -> tuple[int, int, int]:
    if dtype == BF16:
        return (4, 16, 1)
    return ({"i": 0, "u": 1, "f": 2, "b": 6}[dtype.kind], dtype.itemsize * 8, 1)


def _attributes(name: str) -> list[tuple[str, str, str | None]]:
    """Attributes of a kernel's schema: kind, name, default."""
    inside = re.search(r"\((.*?)\) ->", ROWS[name]["schema"])
    assert inside is not None
    if "*" not in inside[1]:
        return []
    found = []
    for text in inside[1].split("*", 1)[1].strip(" ,").split(", "):
        kind, rest = text.split(" ", 1)
        key, _, default = rest.partition("=")
        found.append((kind, key, default or None))
    return found


class Cpu:
    """One initialised provider."""

    def __init__(self, **options: object) -> None:
        self.table = library.infinitrain_provider_v1(0)
        self.renew_error()
        names = [ffi.new("char[]", key.encode()) for key in options]
        values = [ffi.new("char[]", str(value).encode()) for value in options.values()]
        name_array, value_array = ffi.new("char *[]", names), ffi.new("char *[]", values)
        config = ffi.new("itp_config *")
        config.struct_size = ffi.sizeof("itp_config")
        config.option_names, config.option_values = name_array, value_array
        config.n_options = len(options)
        slot = ffi.new("void **")
        self.check(self.table.init(ffi.NULL, config, slot, self.error))
        self.self = slot[0]
        self.kernels = {
            ffi.string(item.name).decode(): item
            for item in (self.table.kernels.items[i] for i in range(self.table.kernels.count))
        }

    def renew_error(self) -> None:
        """Make an error record of this object's own: one per calling thread."""
        self.message = ffi.new("char[]", 1024)
        self.error = ffi.new("itp_error *")
        self.error.struct_size = ffi.sizeof("itp_error")
        self.error.message = self.message
        self.error.message_capacity = 1024

    def check(self, status: int) -> None:
        if status != 0:
            raise CpuError(status, ffi.string(self.error.message).decode())

    def close(self) -> None:
        self.check(self.table.shutdown(self.self, 0, self.error))

    def tensor(self, array: np.ndarray[Any, Any] | None, keep: list[Any]) -> Any:
        """Describe an array of any strides."""
        if array is None:
            return ffi.NULL
        t = ffi.new("itp_tensor *")
        shape = ffi.new("int64_t[]", list(array.shape) or [0])
        strides = ffi.new("int64_t[]", [s // array.itemsize for s in array.strides] or [0])
        keep += [t, shape, strides, array]
        t.data = ffi.cast("void *", array.__array_interface__["data"][0])
        t.device_type = 1
        t.ndim = array.ndim
        t.dtype.code, t.dtype.bits, t.dtype.lanes = _dtype(array.dtype)
        t.shape = shape if array.ndim else ffi.NULL
        t.strides = strides if array.ndim and not array.flags.c_contiguous else ffi.NULL
        t.nbytes = array.nbytes
        return t

    def launch(self, name: str, inputs: Any, outputs: Any, workspace: bool = True, **attributes: Any) -> None:
        """Run a kernel once. Attributes not given take the schema's defaults."""
        self.prepare(name, inputs, outputs, workspace, **attributes)()

    def prepare(
        self, name: str, inputs: Any, outputs: Any, workspace: bool = True, **attributes: Any
    ) -> Callable[[], None]:
        """Make a function that runs a launch again and again."""
        launch, keep = self.build(name, inputs, outputs, workspace, **attributes)
        function, self_, error = self.kernels[name].launch, self.self, self.error

        def run() -> None:
            if function(self_, launch, error) != 0 or not keep:
                self.check(error.code)

        return run

    def build(
        self,
        name: str,
        inputs: Sequence[np.ndarray[Any, Any] | None],
        outputs: Sequence[np.ndarray[Any, Any] | None],
        workspace: bool = True,
        **attributes: Any,
    ) -> tuple[Any, list[Any]]:
        """Fill an itp_launch; the list keeps alive what it points to."""
        kernel = self.kernels[name]
        keep: list[Any] = []
        launch = ffi.new("itp_launch *")
        launch.struct_size = ffi.sizeof("itp_launch")
        ins = ffi.new("itp_tensor *[]", [self.tensor(a, keep) for a in inputs] or [ffi.NULL])
        outs = ffi.new("itp_tensor *[]", [self.tensor(a, keep) for a in outputs] or [ffi.NULL])
        rows = _attributes(name)
        attrs = ffi.new("itp_value[]", max(len(rows), 1))
        for slot, (kind, key, default) in zip(attrs, rows, strict=False):
            value = attributes.pop(key) if key in attributes else {"true": True, "false": False}.get(default, default)
            if kind == "f64" or (kind == "scalar" and isinstance(value, float)):
                slot.kind, slot.u.d = 2, float(value)
            elif kind == "bool" or isinstance(value, bool):
                slot.kind, slot.u.i = 3, int(value)
            else:
                slot.kind, slot.u.i = 1, int(value)
        assert not attributes, f"{name} has no attributes {list(attributes)}"
        launch.inputs, launch.outputs, launch.attrs = ins, outs, attrs
        launch.n_inputs, launch.n_outputs, launch.n_attrs = len(inputs), len(outputs), len(rows)
        launch.kernel = kernel
        if workspace and kernel.workspace != ffi.NULL:
            need = ffi.new("uint64_t *")
            self.check(kernel.workspace(self.self, launch, need, self.error))
            room = ffi.new("char[]", need[0] + 64)
            keep.append(room)
            launch.workspace, launch.workspace_size = room, need[0]
        keep += [ins, outs, attrs]
        return launch, keep

    def new(
        self,
        name: str,
        inputs: Sequence[np.ndarray[Any, Any] | None],
        shape: tuple[int, ...],
        dtype: Any,
        **attributes: Any,
    ) -> np.ndarray[Any, Any]:
        """Run a kernel with one output, which begins as garbage."""
        y = np.empty(shape, dtype)
        if y.size:
            ffi.memmove(ffi.cast("void *", y.__array_interface__["data"][0]), b"\xa5" * y.nbytes, y.nbytes)
        self.launch(name, inputs, [y], **attributes)
        return y


def dtypes_of(name: str) -> list[str]:
    """The dtypes that a row of the table is defined for."""
    dtypes = ROWS[name]["T"]
    return TABLE["groups"][dtypes] if isinstance(dtypes, str) else dtypes


def tolerance(name: str, dtype: str) -> tuple[float, float]:
    rtol, atol = TABLE["tolerances"][ROWS[name]["tolerance"]].get(dtype, [0.0, 0.0])
    return rtol, atol


def check(
    name: str, dtype: str, found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], magnitude: Any = None
) -> None:
    """Compare with the table's tolerance; `magnitude` scales the absolute part of the class `reduction`."""
    rtol, atol = tolerance(name, dtype)
    f, e = np.asarray(found), np.asarray(expected)
    if f.dtype.kind not in "iub":
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = e.astype(f.dtype).astype(np.float64)
        e = rounded if rtol == 0 else np.where(np.isinf(rounded), rounded, e.astype(np.float64))
        f = f.astype(np.float64)
    if rtol == 0:
        np.testing.assert_array_equal(f, e)
        return
    same = (f == e) | (np.isnan(f) & np.isnan(e))
    with np.errstate(invalid="ignore"):
        bound = atol * (1 if magnitude is None else np.maximum(magnitude, 1)) + rtol * np.abs(e)
        wrong = ~same & ~(np.abs(f - e) <= bound)
    assert not wrong.any(), (
        f"{name} {dtype}: {wrong.sum()} of {wrong.size} differ, first found {f[wrong][:3]}, expected {e[wrong][:3]}"
    )


def values(dtype: str, shape: tuple[int, ...], seed: int = 0, low: float = -3, high: float = 3) -> np.ndarray[Any, Any]:
    """Random numbers of a dtype; integers over their whole range."""
    rng = np.random.default_rng(seed)
    d = DTYPES[dtype]
    if d.kind == "b":
        return rng.random(shape) < 0.5
    if d.kind in "iu":
        info = np.iinfo(d)
        whole = rng.integers(info.min, info.max, shape, dtype=d, endpoint=True)
        small = rng.integers(0 if d.kind == "u" else -5, 5, shape).astype(d)
        return np.where(rng.random(shape) < 0.5, whole, small).astype(d)
    return rng.uniform(low, high, shape).astype(d)


def to_half(x: float, fraction_bits: int, lowest: int, largest: float) -> float:
    """The nearest number with so many fraction bits, ties to even, in exact arithmetic."""
    if x == 0 or not np.isfinite(x):
        return x
    exact = Fraction(x)
    exponent = max(np.frexp(x)[1] - 1, lowest)
    unit = Fraction(2) ** int(exponent - fraction_bits)
    rounded = float(round(exact / unit) * unit)  # Fraction rounds ties to even
    return rounded if abs(rounded) <= largest else float(np.copysign(np.inf, x))


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 65504.0, 1e-7, 0.5, 88.9, -103.5]
