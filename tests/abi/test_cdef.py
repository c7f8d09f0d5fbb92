"""cffi reads the region between the markers unchanged, and says the same as the C compiler."""

from __future__ import annotations

import re

import infinitrain_capi
from cffi import FFI
from toolchain import run_text


def test_region_is_the_headers_own_text():
    text = infinitrain_capi.header_path().read_text(encoding="ascii")

    assert infinitrain_capi.cdef_text() in text
    assert text.count("[cdef-begin]") == text.count("[cdef-end]") == 1


def test_nothing_is_declared_outside_the_region():
    text = infinitrain_capi.header_path().read_text(encoding="ascii")
    outside = text.replace(infinitrain_capi.cdef_text(), "")

    assert re.findall(r"\btypedef\b|\bstruct\b", re.sub(r"/\*.*?\*/", "", outside, flags=re.DOTALL)) == []


def test_region_parses():
    ffi = FFI()
    ffi.cdef(infinitrain_capi.cdef_text())

    assert ffi.sizeof("itp_provider") == ffi.typeof("itp_provider").fields[-1][1].offset + 8


def test_tensor_begins_as_a_dltensor():
    """Offsets of DLPack 1.x's DLTensor on a 64-bit machine: data, device, ndim, dtype, shape, strides, byte_offset."""
    ffi = FFI()
    ffi.cdef(infinitrain_capi.cdef_text())
    fields = {name: field.offset for name, field in ffi.typeof("itp_tensor").fields}

    assert fields["data"] == 0
    assert (fields["device_type"], fields["device_id"]) == (8, 12)
    assert (fields["ndim"], fields["dtype"]) == (16, 20)
    assert (fields["shape"], fields["strides"], fields["byte_offset"]) == (24, 32, 40)
    assert fields["nbytes"] == 48


def test_has_looks_at_the_writers_size(tmp_path):
    program = """
    #include <stdio.h>
    #include "infinitrain/provider.h"
    int main(void) {
      itp_config c = {0};
      c.struct_size = (uint32_t)offsetof(itp_config, n_options);
      printf("%d %d ", ITP_HAS(&c, itp_config, option_values), ITP_HAS(&c, itp_config, n_options));
      c.struct_size = (uint32_t)sizeof(c);
      printf("%d %d", ITP_HAS(&c, itp_config, n_options), ITP_HAS((itp_config *)NULL, itp_config, rank));
      return 0;
    }
    """

    assert run_text(program, tmp_path, "-std=c11") == "1 0 1 0"
