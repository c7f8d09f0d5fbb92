"""Element types: what NumPy, DLPack and the contract call them, and how they promote."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from infinitrain.errors import DTypeError

__all__ = [
    "ALL",
    "DType",
    "bfloat16",
    "bool_",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "int8",
    "int16",
    "int32",
    "int64",
    "parse",
    "promote_types",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """One element type; there is exactly one object for each, so `is` compares.

    Attributes:
        name: As a user writes it, "float32".
        short: As the kernel table writes it, "f32".
        bit: Its position in every dtype mask of the contract.
        code: DLPack's type code.
        bits: Size in bits.
    """

    name: str
    short: str
    bit: int
    code: int
    bits: int
    _numpy: np.dtype[Any] | None

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype with the same bits; bfloat16 is that of ml_dtypes."""
        return _bfloat16() if self._numpy is None else self._numpy

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.bits // 8

    @property
    def is_floating_point(self) -> bool:
        """Whether this is one of the float types."""
        return self.code in (2, 4)

    @property
    def is_integer(self) -> bool:
        """Whether this is a signed or unsigned integer type; bool is not."""
        return self.code in (0, 1)

    @property
    def is_signed(self) -> bool:
        """Whether values below zero exist."""
        return self.code in (0, 2, 4)

    @property
    def is_bool(self) -> bool:
        """Whether this is the bool type."""
        return self.code == 6

    @property
    def packed(self) -> int:
        """Code and bits in one number, as the C module takes them."""
        return self.code | self.bits << 8

    @property
    def accumulator(self) -> DType:
        """The type that sums of this one are kept in: float64 for float64, else float32."""
        return float64 if self is float64 else float32

    def __repr__(self) -> str:
        return f"infinitrain.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (parse, (self.name,))

    def __deepcopy__(self, memo: object) -> DType:
        return self


@cache
def _bfloat16() -> np.dtype[Any]:
    # Not at the top: importing it takes most of a second, and few programs need it.
    import ml_dtypes

    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


bool_ = DType("bool", "bool", 0, 6, 8, np.dtype(np.bool_))
uint8 = DType("uint8", "u8", 1, 1, 8, np.dtype(np.uint8))
int8 = DType("int8", "i8", 2, 0, 8, np.dtype(np.int8))
uint16 = DType("uint16", "u16", 3, 1, 16, np.dtype(np.uint16))
int16 = DType("int16", "i16", 4, 0, 16, np.dtype(np.int16))
uint32 = DType("uint32", "u32", 5, 1, 32, np.dtype(np.uint32))
int32 = DType("int32", "i32", 6, 0, 32, np.dtype(np.int32))
uint64 = DType("uint64", "u64", 7, 1, 64, np.dtype(np.uint64))
int64 = DType("int64", "i64", 8, 0, 64, np.dtype(np.int64))
bfloat16 = DType("bfloat16", "bf16", 9, 4, 16, None)
float16 = DType("float16", "f16", 10, 2, 16, np.dtype(np.float16))
float32 = DType("float32", "f32", 11, 2, 32, np.dtype(np.float32))
float64 = DType("float64", "f64", 12, 2, 64, np.dtype(np.float64))

#: In the order of their bit positions.
ALL = (
    *(bool_, uint8, int8, uint16, int16, uint32, int32, uint64, int64),
    *(bfloat16, float16, float32, float64),
)
_BY_NAME = {dtype.name: dtype for dtype in ALL} | {dtype.short: dtype for dtype in ALL}
_BY_NUMPY = {dtype.numpy: dtype for dtype in ALL if dtype is not bfloat16}
_SIGNED = {8: int8, 16: int16, 32: int32, 64: int64}


def parse(spec: DType | str | type | npt.DTypeLike) -> DType:
    """Turn a name ("float32", "f32"), a NumPy dtype or Python's bool, int, float into a DType.

    Raises: DTypeError naming the known types.
    """
    if isinstance(spec, DType):
        return spec
    if isinstance(spec, str) and spec in _BY_NAME:
        return _BY_NAME[spec]
    if isinstance(spec, type) and spec in (bool, int, float):
        return {bool: bool_, int: int64, float: float32}[spec]
    try:
        return from_numpy(np.dtype(spec))
    except TypeError:
        names = ", ".join(dtype.name for dtype in ALL)
        raise DTypeError(f"dtype {spec!r} is unknown: expected one of {names}") from None


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """Find the DType of a NumPy dtype in native byte order.

    Raises: DTypeError for a type that tensors cannot have (complex, text, big-endian, ...).
    """
    found = _BY_NUMPY.get(dtype)
    if found is None and dtype.name == "bfloat16" and dtype == bfloat16.numpy:
        return bfloat16
    if found is None:
        names = ", ".join(each.name for each in ALL)
        raise DTypeError(f"NumPy dtype {dtype!r} has no tensor type: expected one of {names}. Convert with .astype()")
    return found


def promote_types(a: DType, b: DType) -> DType:
    """Give the type of the result of an operation on two types.

    Within a kind as the array API standard 2024.12; a float type wins over integers and bool; bfloat16 with float16
    gives float32.

    Raises: DTypeError for uint64 with a signed integer, which no integer type can hold.
    """
    if a is b or b.is_bool:
        return a
    if a.is_bool:
        return b
    if a.is_floating_point != b.is_floating_point:
        return a if a.is_floating_point else b
    if a.is_floating_point:
        if a.bits == b.bits:
            return float32  # bfloat16 with float16: neither holds the other
        return a if a.bits > b.bits else b
    if a.is_signed == b.is_signed:
        return a if a.bits > b.bits else b
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    if unsigned.bits < signed.bits:
        return signed
    if unsigned is uint64:
        raise DTypeError("uint64 with a signed integer: no integer type holds both. Cast one of them with .to(dtype)")
    return _SIGNED[unsigned.bits * 2]


def result_type(*operands: object) -> DType:
    """Promote tensors, DTypes and Python scalars; scalars are weak and take the tensors' type within its kind.

    A 0-d tensor promotes like any other. Scalars alone give int64, float32 or bool.

    Raises: DTypeError where types do not promote.
    """
    strong: DType | None = None
    scalar_kind = -1
    for operand in operands:
        if isinstance(operand, bool | np.bool_):
            scalar_kind = max(scalar_kind, 0)
        elif isinstance(operand, int):
            scalar_kind = max(scalar_kind, 1)
        elif isinstance(operand, float):
            scalar_kind = max(scalar_kind, 2)
        else:
            dtype = operand if isinstance(operand, DType) else getattr(operand, "dtype", None)
            if not isinstance(dtype, DType):
                raise DTypeError(f"result_type: expected tensors, dtypes or numbers, found {type(operand).__name__}")
            strong = dtype if strong is None else promote_types(strong, dtype)
    if strong is None:
        return (bool_, int64, float32)[scalar_kind]
    if scalar_kind == 2 and not strong.is_floating_point:
        return float32
    if scalar_kind == 1 and strong.is_bool:
        return int64
    return strong
