"""Names and schemas made of anything: a refusal that can be read, or a provider."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from infinitrain._abi import loader, names
from infinitrain._native import ffi, lib
from infinitrain.errors import ProviderLoadError

TEXT = st.one_of(st.binary(max_size=40), st.text("abz09_-A", max_size=40).map(str.encode))


@pytest.fixture(scope="module")
def table(build):
    path = build("libitp_acme.so")
    return lib.it_library_query(loader._resolve(path), 0), path


@settings(max_examples=300, deadline=None)
@given(text=TEXT)
def test_names(table, text):
    raw, path = table
    copy = ffi.new("itp_provider *", raw[0])
    kept = copy.name = ffi.new("char[]", text)
    seen = ffi.string(kept).decode("utf-8", errors="replace")
    fine = names.is_valid(seen) and seen not in (*names.OURS, names.ALIAS)

    if fine:
        assert loader._negotiate(copy, path, None).name == seen
        return
    with pytest.raises(ProviderLoadError) as caught:
        loader._negotiate(copy, path, None)
    assert repr(seen) in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(name=TEXT, schema=TEXT, version=st.integers(0, 2**32 - 1), mask=st.integers(0, 2**64 - 1))
def test_kernels(table, name, schema, version, mask):
    raw, path = table
    odd = ffi.new("itp_kernel *", raw.kernels.items[0][0])
    kept = [ffi.new("char[]", name), ffi.new("char[]", schema)]
    odd.name, odd.schema = kept
    odd.op_version, odd.dtype_mask = version, mask
    items = ffi.new("itp_kernel *[]", [raw.kernels.items[i] for i in range(raw.kernels.count)] + [odd])
    kernels = ffi.new("itp_kernels *", raw.kernels[0])
    kernels.items, kernels.count = items, len(items)
    copy = ffi.new("itp_provider *", raw[0])
    copy.kernels = kernels

    provider = loader._negotiate(copy, path, None)

    assert len(provider.kernels) == 5
    assert len(provider.notes) == 4
