"""Attributes as the contract wants them."""

from __future__ import annotations

import pytest
from infinitrain import dtype as dt
from infinitrain._abi.attributes import pack
from infinitrain._native import ffi, lib
from infinitrain.errors import DTypeError
from infinitrain_capi.table import KernelRow, Tolerance, load, parse_schema


def row(schema: str) -> KernelRow:
    name, inputs, attributes, outputs = parse_schema(schema)
    tolerance = Tolerance("exact", "", {})
    return KernelRow(
        name, 1, 3, "test", schema, inputs, attributes, outputs, (), (), "strided", False, False, tolerance, ""
    )


EVERY = row("Every(f32 x, *, i64 i, f64 d=0.5, bool b=true, dtype t, i64s many, str text, scalar s) -> (f32 y)")


def test_every_kind():
    i, d, b, t, many, text, s = pack(
        EVERY, {"i": -3, "t": dt.bfloat16, "many": (4, -5), "text": "übung", "s": 2.5, "b": False}
    )

    assert (i.kind, i.u.i) == (lib.ITP_V_I64, -3)
    assert (d.kind, d.u.d) == (lib.ITP_V_F64, 0.5)
    assert (b.kind, b.u.i) == (lib.ITP_V_BOOL, 0)
    assert (t.kind, t.u.i) == (lib.ITP_V_DTYPE, lib.ITP_DT_BF16)
    assert (many.kind, ffi.unpack(ffi.cast("int64_t *", many.u.p), many.count)) == (lib.ITP_V_I64S, [4, -5])
    assert (text.kind, bytes(ffi.buffer(ffi.cast("char *", text.u.p), text.count)).decode()) == (lib.ITP_V_STR, "übung")
    assert (s.kind, s.u.d) == (lib.ITP_V_F64, 2.5)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1, "I64"), (1.0, "F64"), (True, "BOOL"), (0, "I64"), (0.0, "F64"), (-0.0, "F64"), (False, "BOOL")],
)
def test_equal_values_of_different_kinds_are_kept_apart(value, kind):
    fill = load()["Fill"]
    (first,), (again,) = pack(fill, {"value": value}), pack(fill, {"value": value})

    assert first.kind == getattr(lib, f"ITP_V_{kind}")
    assert str(first.u.d if kind == "F64" else first.u.i) == str(value if kind == "F64" else int(value))
    assert pack(fill, {"value": value}) is pack(fill, {"value": value})
    assert again.kind == first.kind


def test_defaults_are_filled_in():
    (eps,) = pack(load()["LayerNormForward"], {})

    assert (eps.kind, eps.u.d) == (lib.ITP_V_F64, 1e-5)


def test_what_does_not_fit_the_schema():
    with pytest.raises(DTypeError, match="'value' is missing"):
        pack(load()["Fill"], {})
    with pytest.raises(DTypeError, match="unknown attributes colour"):
        pack(load()["Fill"], {"value": 1, "colour": 2})
