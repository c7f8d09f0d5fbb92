"""Structs cut at every length, their last byte before memory that nobody may read: an error or a provider, no fault."""

from __future__ import annotations

CODE = """
import ctypes, mmap, sys
from pathlib import Path
from infinitrain._abi import loader
from infinitrain._native import ffi, lib
from infinitrain.errors import ProviderLoadError

path = Path(sys.argv[1])
raw = lib.it_library_query(loader._resolve(path), 0)
libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE


def before_a_wall(data):
    '''Put bytes at the end of a page whose neighbour is not accessible.'''
    region = mmap.mmap(-1, 2 * PAGE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(region))
    assert libc.mprotect(ctypes.c_void_p(base + PAGE), PAGE, 0) == 0
    start = PAGE - len(data)
    region[start:PAGE] = data
    keep.append(region)
    return ffi.cast('void *', base + start)


keep, loaded, refused = [], 0, 0
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
