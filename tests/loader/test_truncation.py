"""Structs cut at every length, their last byte before memory that nobody may read: an error or a provider, no fault."""

from __future__ import annotations

from importlib import import_module

import pytest

WALL = """
import ctypes, mmap, struct, sys
from pathlib import Path
from infinitrain._abi import loader
from infinitrain._native import ffi, lib
from infinitrain.errors import ProviderLoadError

path = Path(sys.argv[1])
raw = lib.it_library_query(loader._resolve(path), 0)
libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE
keep = []


def before_a_wall(data):
    # Bytes at the end of a page whose neighbour is not accessible.
    region = mmap.mmap(-1, 2 * PAGE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(region))
    assert libc.mprotect(ctypes.c_void_p(base + PAGE), PAGE, 0) == 0
    start = PAGE - len(data)
    region[start:PAGE] = data
    keep.append(region)
    return ffi.cast('void *', base + start)
"""

#: Any struct of a provider's, cut, claimed to be of any size, with NULL from some slot on.
ANY = (
    WALL
    + """
from hypothesis import given, settings, strategies as st

SIZES = st.one_of(st.integers(0, 160), st.integers(0, 2**32 - 1), st.sampled_from([7, 2**31, 2**32 - 8]))
seen = {True: 0, False: 0}


def replaced(what, cut):
    copy = ffi.new('itp_provider *', raw[0])
    keep.append(copy)
    if what in ('runtime', 'guard', 'kernels', 'ccl', 'graphs'):
        setattr(copy, what, ffi.cast('itp_' + what + ' *', cut))
    elif what == 'option':
        listed = ffi.new('itp_option *[]', [ffi.cast('itp_option *', cut)])
        keep.append(listed)
        copy.options, copy.n_options = listed, 1
    elif what == 'kernel':
        items = [raw.kernels.items[i] for i in range(raw.kernels.count)] + [ffi.cast('itp_kernel *', cut)]
        kernels, listed = ffi.new('itp_kernels *', raw.kernels[0]), ffi.new('itp_kernel *[]', items)
        keep.extend([kernels, listed])
        kernels.items, kernels.count = listed, len(items)
        copy.kernels = kernels
    else:
        copy = ffi.cast('const itp_provider *', cut)
    return copy


@settings(max_examples=400, deadline=None, database=None)
@given(
    what=st.sampled_from(['provider', 'runtime', 'guard', 'kernels', 'ccl', 'graphs', 'kernel', 'option']),
    claimed=SIZES,
    slots=st.integers(0, 24),
)
def any_prefix(what, claimed, slots):
    keep.clear()
    size = ffi.sizeof('itp_' + what)
    right = {'provider': raw, 'runtime': raw.runtime, 'guard': raw.guard, 'kernels': raw.kernels}.get(what, ffi.NULL)
    if what == 'kernel':
        right = raw.kernels.items[0]
    content = bytes(size) if right == ffi.NULL else bytes(ffi.buffer(ffi.cast('char *', right), size))
    content = content[:8 + 8 * slots].ljust(size, bytes(1))
    cut = before_a_wall(claimed.to_bytes(4, 'little') + content[4:max(4, min(claimed, size))])
    try:
        loader._negotiate(replaced(what, cut), path, None)
        seen[True] += 1
    except ProviderLoadError as error:
        assert error.problems
        seen[False] += 1


any_prefix()
assert seen[True] > 5 and seen[False] > 100, seen
"""
)

#: What the core hands to a provider, each struct as long as its own size says and not a byte longer.
REQUESTS = (
    WALL
    + """
def made(kind, **values):
    new = ffi.new(f'{kind} *')
    new.struct_size = ffi.sizeof(kind)
    for name, value in values.items():
        setattr(new, name, value)
    return ffi.cast(f'{kind} *', before_a_wall(bytes(ffi.buffer(new))))


def done(status):
    assert status == lib.ITP_OK, ffi.string(text)


text = ffi.new('char[256]')
record = made('itp_error', message=text, message_capacity=256)
out = ffi.cast('void **', before_a_wall(bytes(8)))
done(raw.init(made('itp_host'), made('itp_config', world_size=1), out, record))
self = out[0]
for length in range(8, ffi.sizeof('itp_device_info') + 1, 8):
    short = ffi.cast('itp_device_info *', before_a_wall(length.to_bytes(4, 'little') + bytes(length - 4)))
    done(raw.runtime.device_info(self, 0, short, record))
info = made('itp_device_info')
done(raw.runtime.device_info(self, 0, info, record))
done(raw.runtime.alloc(self, 0, lib.ITP_MEM_DEVICE, 64, ffi.NULL, out, record))
block, outside = out[0], before_a_wall(bytes(64))
done(raw.runtime.copy(self, made('itp_copy', dst=block, src=outside, bytes=64, src_device=lib.ITP_DEVICE_HOST), record))
tensor = ffi.new('itp_tensor *')
tensor.data, tensor.ndim, tensor.nbytes = block, 1, 64
tensor.shape = ffi.cast('int64_t *', before_a_wall((16).to_bytes(8, 'little')))
tensor.device_type = info.dlpack_device_type
tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = 2, 32, 1
placed = ffi.cast('itp_tensor *', before_a_wall(bytes(ffi.buffer(tensor))))
outputs = ffi.cast('itp_tensor **', before_a_wall(int(ffi.cast('uintptr_t', placed)).to_bytes(8, 'little')))
value = ffi.new('itp_value *')
value.kind, value.u.d = lib.ITP_V_F64, 2.5
attrs = ffi.cast('itp_value *', before_a_wall(bytes(ffi.buffer(value))))
(fill,) = [raw.kernels.items[i] for i in range(raw.kernels.count) if ffi.string(raw.kernels.items[i].name) == b'Fill']
request = dict(outputs=outputs, n_outputs=1, attrs=attrs, n_attrs=1, kernel=fill)
done(fill.launch(self, made('itp_launch', **request), record))
done(raw.guard.stream_sync(self, 0, ffi.NULL, record))
done(raw.runtime.copy(self, made('itp_copy', dst=outside, src=block, bytes=64, dst_device=lib.ITP_DEVICE_HOST), record))
assert struct.unpack('16f', bytes(ffi.buffer(outside, 64))) == (2.5,) * 16
assert fill.launch(self, made('itp_launch', device=99, **request), record) == lib.ITP_E_INVALID_ARGUMENT
done(raw.runtime.dealloc(self, 0, lib.ITP_MEM_DEVICE, block, 64, ffi.NULL, record))
done(raw.shutdown(self, 0, record) if raw.shutdown else 0)
"""
)

CODE = (
    WALL
    + """
loaded, refused = 0, 0
full = ffi.sizeof('itp_provider')
whole = bytes(ffi.buffer(ffi.cast('char *', raw), full))
for claimed in [*range(0, full + 1), full + 3, 2**31, 2**32 - 1]:
    length = max(min(claimed, full), 4)
    data = claimed.to_bytes(4, 'little') + whole[4:length]
    try:
        loader._negotiate(ffi.cast('const itp_provider *', before_a_wall(data)), path, None)
        loaded += 1
    except ProviderLoadError as error:
        assert 'struct_size' in str(error)
        refused += 1
for table in ('runtime', 'guard', 'kernels'):
    size = ffi.sizeof('itp_' + table)
    content = bytes(ffi.buffer(ffi.cast('char *', getattr(raw, table)), size))
    for claimed in [*range(0, size + 1), 2**32 - 8]:
        length = max(min(claimed, size), 4)
        cut = before_a_wall(claimed.to_bytes(4, 'little') + content[4:length])
        copy = ffi.new('itp_provider *')
        ffi.memmove(copy, raw, full)
        setattr(copy, table, ffi.cast('itp_' + table + ' *', cut))
        try:
            loader._negotiate(copy, path, None)
            loaded += 1
        except ProviderLoadError as error:
            assert table + '.struct_size' in str(error)
            refused += 1
    keep.clear()
print(loaded, refused)
"""
)

NULLS = """
import sys
from pathlib import Path
from infinitrain._abi import loader
from infinitrain._native import ffi, lib
from infinitrain.errors import ProviderLoadError

path = Path(sys.argv[1])
raw = lib.it_library_query(loader._resolve(path), 0)
OPTIONAL = {'mem_info', 'fill_bytes', 'enter', 'leave', 'stream_native', 'event_elapsed_ns', 'submit'}
for table in ('runtime', 'guard', 'kernels'):
    kind = ffi.typeof('itp_' + table)
    for name, field in kind.fields:
        if field.type.kind != 'function':
            continue
        changed = ffi.new('itp_' + table + ' *', getattr(raw, table)[0])
        setattr(changed, name, ffi.NULL)
        copy = ffi.new('itp_provider *', raw[0])
        setattr(copy, table, changed)
        try:
            loader._negotiate(copy, path, None)
            assert name in OPTIONAL, name
        except ProviderLoadError as error:
            assert name not in OPTIONAL, name
            assert error.problems == [f'slot {table}.{name} is NULL: it is required'], error.problems
            print(name)
"""


OPTIONAL_TABLES = """
import sys
from pathlib import Path
from infinitrain._abi import loader
from infinitrain._native import ffi, lib
from infinitrain.errors import ProviderLoadError

path = Path(sys.argv[1])
raw = lib.it_library_query(loader._resolve(path), 0)
for table in ('ccl', 'graphs'):
    empty = ffi.new('itp_' + table + ' *')
    empty.struct_size = ffi.sizeof(empty[0])
    copy = ffi.new('itp_provider *', raw[0])
    setattr(copy, table, empty)
    try:
        loader._negotiate(copy, path, None)
    except ProviderLoadError as error:
        print(*[problem.split()[1] for problem in error.problems])
"""


def test_an_optional_table_that_is_there_has_its_required_slots(build, run):
    ccl, graphs = run(OPTIONAL_TABLES, build("libitp_acme.so")).splitlines()

    assert "ccl.all_reduce" in ccl
    assert "ccl.group_begin" not in ccl
    assert graphs.split() == ["graphs.capture_begin", "graphs.capture_end", "graphs.replay", "graphs.destroy"]


def test_every_prefix_is_refused_and_the_whole_loads(build, run):
    loaded, refused = map(int, run(CODE, build("libitp_acme.so")).split())

    assert loaded == 4
    assert refused > 300


def test_required_slots_are_refused_by_name_and_optional_ones_are_not_needed(build, run):
    missing = run(NULLS, build("libitp_acme.so")).split()

    assert len(missing) == 16
    assert {"alloc", "copy", "stream_sync", "event_query"} <= set(missing)


def test_any_struct_of_any_size_is_an_error_or_a_provider(build, run):
    run(ANY, build("libitp_acme.so"))


@pytest.mark.parametrize("name", ["cpu", "fake"])
def test_providers_read_no_request_past_its_end(run, name):
    run(REQUESTS, import_module(f"infinitrain_{name}").library_path())
