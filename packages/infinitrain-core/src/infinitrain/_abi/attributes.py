"""A launch's attributes as the contract wants them; the same come at every step, so they are packed once."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any
from weakref import WeakKeyDictionary

from infinitrain_capi.table import Attribute, KernelRow

from infinitrain._native import ffi, lib
from infinitrain.errors import DTypeError

__all__ = ["pack"]

NULL = ffi.NULL
#: Values that change from call to call (Fill) must not grow this without end.
_MAX_PACKED = 4096

_packed: dict[tuple[Any, ...], Any] = {}
#: What packed attributes point at, for as long as they live.
_pointed_at: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()


def pack(row: KernelRow, attributes: dict[str, Any]) -> Any:
    """Give the attributes of a launch as an array of itp_value in the schema's order, defaults filled in; it is kept.

    Raises: DTypeError for one that is missing or that the row does not have.
    """
    if not row.attributes and not attributes:
        return NULL
    # 1, 1.0 and True are equal and not the same attribute, nor are 0.0 and -0.0.
    key: tuple[Any, ...]
    if len(attributes) == 1:
        ((name, value),) = attributes.items()
        key = (row.name, name, value or str(value), value.__class__)
    else:
        key = (row.name, *[(name, value or str(value), value.__class__) for name, value in attributes.items()])
    found = _packed.get(key)
    if found is None:
        if len(_packed) >= _MAX_PACKED:
            _packed.clear()
        found = _packed[key] = _pack_values(row, dict(attributes))
    return found


def _pack_values(row: KernelRow, given: dict[str, Any]) -> Any:
    values = ffi.new("itp_value[]", len(row.attributes))
    kept: list[Any] = []

    def keep(block: Any) -> Any:
        kept.append(block)
        return block

    for slot, attribute in zip(values, row.attributes, strict=True):
        value = given.pop(attribute.name, attribute.default)
        if value is None:
            raise DTypeError(f"{row.name}: attribute {attribute.name!r} is missing ({row.schema})")
        _pack_value(slot, attribute, value, keep)
    if given:
        raise DTypeError(f"{row.name}: unknown attributes {', '.join(given)} ({row.schema})")
    if kept:
        _pointed_at[values] = kept
    return values


def _pack_value(slot: Any, attribute: Attribute, value: Any, keep: Callable[[Any], Any]) -> None:
    """Write one attribute; `keep` holds what it points at."""
    kind = attribute.kind
    if kind == "scalar":
        kind = "bool" if isinstance(value, bool) else "i64" if isinstance(value, Integral) else "f64"
    if kind == "f64":
        slot.kind, slot.u.d = lib.ITP_V_F64, float(value)
    elif kind == "bool":
        slot.kind, slot.u.i = lib.ITP_V_BOOL, int(bool(value))
    elif kind == "dtype":
        slot.kind, slot.u.i = lib.ITP_V_DTYPE, value.bit
    elif kind == "i64":
        number = int(value)
        if not -(1 << 63) <= number < 1 << 64:
            raise OverflowError(f"attribute {attribute.name!r}: expected an integer of 64 bits, found {number}")
        # A uint64 above the signed range travels as its bit pattern.
        slot.kind, slot.u.i = lib.ITP_V_I64, number - (1 << 64) if number >= 1 << 63 else number
    elif kind == "str":
        text = str(value).encode()
        slot.kind, slot.count, slot.u.p = lib.ITP_V_STR, len(text), keep(ffi.new("char[]", text))
    else:
        slot.kind, slot.count, slot.u.p = lib.ITP_V_I64S, len(value), keep(ffi.new("int64_t[]", value))
