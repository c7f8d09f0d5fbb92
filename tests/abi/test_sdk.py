"""The SDK's helpers: conversions against ml_dtypes and NumPy, unpackers, errors, ready-made slots."""

from __future__ import annotations

import ctypes
import re

import infinitrain_capi
import ml_dtypes
import numpy as np
import pytest
from infinitrain_capi import table
from toolchain import STRICT, compile_text, run_text

SOURCE = """
#include "infinitrain/dtype.h"
#include "infinitrain/kernels.h"
#include "infinitrain/sync.h"
void bf16_to_f32(const uint16_t *x, float *y, long n) { for (long i = 0; i < n; ++i) y[i] = itp_bf16_to_f32(x[i]); }
void f16_to_f32(const uint16_t *x, float *y, long n) { for (long i = 0; i < n; ++i) y[i] = itp_f16_to_f32(x[i]); }
void f32_to_bf16(const float *x, uint16_t *y, long n) { for (long i = 0; i < n; ++i) y[i] = itp_f32_to_bf16(x[i]); }
void f32_to_f16(const float *x, uint16_t *y, long n) { for (long i = 0; i < n; ++i) y[i] = itp_f32_to_f16(x[i]); }
int dtype_round_trip(int bit) { return itp_dtype_bit(itp_dtype_at(bit)); }
int item_size(int bit) { return (int)itp_itemsize(itp_dtype_at(bit)); }
"""
# Ties, NaNs of either sign and payload, overflow, and the edges of the half types' subnormals.
_ODD = """
    3F808000 3F818000 7F7FFFFF 7F800001 FF800001 7FC00000 FFFFFFFF 7F800000 FF800000 3F808001 3F807FFF 00000001 80000001
    00008000 00018000 80000000 477FEFFF 477FF000 33000000 33000001 32FFFFFF 387FE000 387FF000 38800000 387FFFFF 33800000
    33C00000
"""
ODD = np.array([int(word, 16) for word in _ODD.split()], dtype=np.uint32)


@pytest.fixture(scope="module")
def sdk(tmp_path_factory):
    path = tmp_path_factory.mktemp("sdk") / "sdk.so"
    compile_text("gcc", SOURCE, "-std=c11", "-O2", "-shared", "-fPIC", *STRICT, output=path)
    return ctypes.CDLL(str(path))


def convert(function, values, dtype):
    values = np.ascontiguousarray(values)
    out = np.empty(values.shape, dtype)
    function(values.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(values.size))
    return out


HALVES = [("bf16", ml_dtypes.bfloat16), ("f16", np.float16)]


@pytest.mark.parametrize(("name", "dtype"), HALVES)
def test_every_half_widens_exactly(sdk, name, dtype):
    halves = np.arange(65536, dtype=np.uint16)
    found = convert(getattr(sdk, f"{name}_to_f32"), halves, np.float32)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        expected = halves.view(dtype).astype(np.float32)

    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(found.view(np.uint32)[numbers], expected.view(np.uint32)[numbers])


def neighbours() -> np.ndarray:
    """Give every half, and the floats at and beside each midpoint between two halves, in both formats."""
    bits = np.arange(65536, dtype=np.uint32)
    bf16 = [(bits << 16) + np.uint32(delta) for delta in (0, 0x7FFF, 0x8000, 0x8001)]
    with np.errstate(invalid="ignore"):
        f16 = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    middle = [f16 + np.uint32(delta) for delta in (0, 0xFFF, 0x1000, 0x1001)]
    random = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32)
    return np.concatenate([*bf16, *middle, random, ODD]).view(np.float32)


@pytest.mark.parametrize(("name", "dtype"), HALVES)
def test_narrowing_rounds_to_nearest_even_and_keeps_nan(sdk, name, dtype):
    values = neighbours()
    found = convert(getattr(sdk, f"f32_to_{name}"), values, np.uint16)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        expected = values.astype(dtype).view(np.uint16)
    numbers = ~np.isnan(values)

    np.testing.assert_array_equal(found[numbers], expected[numbers])
    assert np.isnan(found[~numbers].view(dtype).astype(np.float32)).all()


@pytest.mark.parametrize(
    ("bits", "expected"),
    [(0x3F808000, 0x3F80), (0x3F818000, 0x3F82), (0x7F7FFFFF, 0x7F80), (0x3E89CB42, 0x3E8A)],
)
def test_bf16_ties_and_overflow(sdk, bits, expected):
    assert convert(sdk.f32_to_bf16, np.array([bits], np.uint32).view(np.float32), np.uint16)[0] == expected


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_nan_of_low_payload_stays_nan_and_keeps_its_sign(sdk, name):
    found = convert(getattr(sdk, f"f32_to_{name}"), np.array([0x7F800001, 0xFF800001], np.uint32), np.uint16)
    infinity = {"bf16": 0x7F80, "f16": 0x7C00}[name]

    assert (found & 0x7FFF > infinity).all()
    assert (found >> 15).tolist() == [0, 1]


def test_dtypes_go_to_bits_and_back(sdk):
    assert [sdk.dtype_round_trip(bit) for bit in range(len(table.DTYPES))] == list(range(len(table.DTYPES)))
    assert sdk.dtype_round_trip(-1) == sdk.dtype_round_trip(len(table.DTYPES)) == -1
    assert [sdk.item_size(bit) for bit in range(len(table.DTYPES))] == [1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8]


# ---- unpackers ----

UNPACK = r"""
#include <stdio.h>
#include "infinitrain/kernels.h"
static char text[256];
static itp_error err;
static const char *say(itp_status status) {
  (void)status;
  return status == ITP_OK ? "ok" : text;
}
int main(void) {
  int64_t shape[1] = {3};
  itp_tensor t;
  memset(&t, 0, sizeof t);
  t.ndim = 1;
  t.shape = shape;
  itp_tensor w = t, y = t, mean = t, rstd = t;
  const itp_tensor *inputs[3] = {&t, &w, NULL};
  itp_tensor *outputs[3] = {&y, &mean, &rstd};
  itp_value eps = {ITP_V_F64, 0, {0}};
  eps.u.d = 0.5;
  itp_launch l;
  memset(&l, 0, sizeof l);
  l.struct_size = sizeof l;
  l.inputs = inputs;
  l.outputs = outputs;
  l.attrs = &eps;
  l.n_inputs = 3;
  l.n_outputs = 3;
  l.n_attrs = 1;
  err.struct_size = sizeof err;
  err.message = text;
  err.message_capacity = sizeof text;
  itp_args_LayerNormForward a;
#define TRY printf("%s\n", say(itp_unpack_LayerNormForward(&l, &a, &err)))
  TRY;
  printf("%d %d %d %d %d %d %g\n", a.x == &t, a.weight == &w, a.bias == NULL, a.y == &y, a.mean == &mean,
         a.rstd == &rstd, a.eps);
  l.n_inputs = 2; TRY; l.n_inputs = 3;
  l.n_outputs = 4; TRY; l.n_outputs = 3;
  l.n_attrs = 0; TRY; l.n_attrs = 1;
  eps.kind = ITP_V_I64; TRY; eps.kind = ITP_V_F64;
  inputs[0] = NULL; TRY; inputs[0] = &t;
  outputs[2] = NULL; TRY; outputs[2] = &rstd;
  TRY;
  printf("%d\n", itp_unpack_LayerNormForward(&l, &a, NULL));
  l.n_inputs = 0; printf("%d\n", itp_unpack_LayerNormForward(&l, &a, NULL));
  return 0;
}
"""


def test_unpacker_fills_by_name_and_refuses_wrong_counts_kinds_and_missing_tensors(tmp_path):
    lines = run_text(UNPACK, tmp_path, "-std=c11", *STRICT).splitlines()
    head = "[LayerNormForward][INVALID_ARGUMENT] "
    counts = (
        head + "expected 3 inputs, 3 outputs, 1 attributes, found {}: core and provider disagree about the kernel table"
    )
    schema = table.load()["LayerNormForward"].schema

    assert lines == [
        "ok",
        "1 1 1 1 1 1 0.5",
        counts.format("2, 3, 1"),
        counts.format("3, 4, 1"),
        counts.format("3, 3, 0"),
        f"{head}an attribute is of another kind: {schema}",
        f"{head}a required tensor is missing: {schema}",
        f"{head}a required tensor is missing: {schema}",
        "ok",
        "0",
        "1",
    ]


EVERY = (
    r"""
#include <stdio.h>
#include "infinitrain/kernels.h"
static int64_t shape[1] = {3};
"""
    """
#define CHECK(Name, version) { \\
    itp_args_##Name a; \\
    memset(&a, 0xAA, sizeof a); \\
    l.n_inputs = 99; \\
    printf("%s|%d|%llx|%llx|%d\\n", itp_schema_##Name, version, (unsigned long long)ITP_DTYPES_##Name, \\
           (unsigned long long)(ITP_ALLOWS_##Name), itp_unpack_##Name(&l, &a, NULL)); }
int main(void) {
  itp_launch l;
  memset(&l, 0, sizeof l);
  (void)shape;
  ITP_KERNELS(CHECK)
  printf("%d\\n", ITP_KERNEL_COUNT);
  return 0;
}
"""
)


def test_header_has_every_row_as_the_table_says(tmp_path):
    *lines, count = run_text(EVERY, tmp_path, "-std=c11", *STRICT).splitlines()
    rows = table.load().values()
    expected = []
    for row in rows:
        mask = sum(1 << table.DTYPES.index(dtype) for dtype in row.dtypes)
        flags = (0x4 if row.layout != "contiguous" else 0) | (0x8 if row.alias else 0)
        expected.append(f"{row.schema}|{row.version}|{mask:x}|{flags:x}|1")

    assert lines == expected
    assert int(count) == len(rows)


# ---- errors ----

STATUSES = infinitrain_capi.cdef_text().partition("typedef int32_t itp_status;")[2].partition("/**")[0]
ERRORS = r"""
#include <stdio.h>
#include "infinitrain/error.h"
int main(void) {
  char text[64];
  itp_error e;
  memset(&e, 0x55, sizeof e);
  e.struct_size = sizeof e;
  e.message = text;
  e.message_capacity = sizeof text;
  itp_status s = ITP_FAIL_WITH(&e, OUT_OF_MEMORY, "alloc", 700, "%d bytes asked for", 64);
  printf("%d %d %lld %llu %llu %d %s\n", s, e.code, (long long)e.native_code, (unsigned long long)e.origin_tag,
         (unsigned long long)e.message_length, e.file != NULL && e.line > 0, text);
  for (int room = 0; room <= 12; room += 4) {
    memset(text, '#', sizeof text);
    e.message_capacity = (uint64_t)room;
    (void)ITP_FAIL(&e, OUT_OF_RANGE, "k", "%s", "long");
    printf("%llu %d %c\n", (unsigned long long)e.message_length, room > 0 ? (int)strlen(text) : -1, text[room]);
  }
  e.message = NULL;
  printf("%d\n", ITP_FAIL(&e, TIMEOUT, "k", "x"));
  printf("%d\n", ITP_FAIL(NULL, FORKED, "k", "x"));
  for (int i = -1; i < 15; ++i) printf("%s ", itp_status_name(i));
  return 0;
}
"""


def test_error_record_is_filled_as_the_contract_says(tmp_path):
    lines = run_text(ERRORS, tmp_path, "-std=c11", *STRICT).splitlines()

    assert lines[0] == "3 3 700 0 41 1 [alloc][OUT_OF_MEMORY] 64 bytes asked for"
    assert lines[1:5] == ["0 -1 #", "3 3 #", "7 7 #", "11 11 #"]
    assert lines[5:7] == ["8", "10"]
    names = re.findall(r"#define ITP_(?:E_)?(\w+) \d+", STATUSES)
    assert lines[7].split() == ["UNKNOWN", *names, "UNKNOWN"]


# ---- ready-made slots ----

SYNC = r"""
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#define ITP_SYNC_DEVICE_COUNT(self) (*(const int *)(self))
#include "infinitrain/sync.h"
static itp_status launch(void *self, const itp_launch *l, itp_error *err) {
  (void)self;
  return l->tag == 3 ? ITP_FAIL(err, INTERNAL, "K", "tag 3") : ITP_OK;
}
#define P(value) printf("%d ", (int)(value))
#define BAR printf("|")
int main(void) {
  int n = 2;
  void *self = &n;
  const itp_guard g = ITP_SYNC_GUARD;
  itp_stream s = NULL;
  itp_event a = NULL, b = NULL, plain = NULL;
  int64_t token = -7;
  uint64_t ns = 77, done = 99;
  void *native = NULL;
  P(g.enter(self, 2, &token, NULL)); P(token); P(g.enter(self, 1, &token, NULL)); P(g.leave(self, token, NULL));
  P(g.leave(self, 1LL << 32, NULL)); BAR;
  P(g.stream_create(self, 1, 8, 0, &s, NULL)); P(s == NULL); P(g.stream_create(self, 1, 0, -3, &s, NULL));
  P(s != NULL); BAR;
  P(g.stream_sync(self, 1, s, NULL)); P(g.stream_sync(self, 0, s, NULL)); P(g.stream_query(self, 0, NULL, NULL)); BAR;
  P(g.event_create(self, 1, ITP_EVENT_TIMING, &a, NULL));
  P(g.event_create(self, 1, ITP_EVENT_TIMING | ITP_EVENT_BLOCKING_SYNC, &b, NULL));
  P(g.event_create(self, 1, 4, &plain, NULL)); P(plain == NULL); P(g.event_create(self, 1, 0, &plain, NULL)); BAR;
  P(g.event_query(self, 1, a, NULL)); P(g.event_elapsed_ns(self, 1, a, b, &ns, NULL)); P(ns); BAR;
  P(g.event_record(self, 1, a, s, NULL)); P(g.event_record(self, 1, b, NULL, NULL));
  P(g.event_elapsed_ns(self, 1, a, b, &ns, NULL)); P(ns < 1000000000u);
  P(g.event_elapsed_ns(self, 1, a, plain, &ns, NULL)); BAR;
  P(g.stream_wait_event(self, 0, NULL, a, NULL)); P(g.stream_wait_event(self, 0, NULL, NULL, NULL)); BAR;
  P(g.stream_native(self, 1, s, &native, NULL)); P(native == (void *)s); BAR;
  P(g.event_sync(self, 1, a, NULL)); P(g.event_sync(self, 0, a, NULL)); P(g.device_sync(self, -1, NULL));
  P(g.device_sync(self, 1, NULL)); BAR;
  P(g.event_destroy(self, 1, a, NULL)); P(g.event_destroy(self, 1, b, NULL)); P(g.event_destroy(self, 1, plain, NULL));
  P(g.stream_destroy(self, 1, s, NULL)); printf("\n");
  itp_kernel kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.launch = launch;
  itp_launch l[4];
  const itp_launch *list[4];
  memset(l, 0, sizeof l);
  for (int i = 0; i < 4; ++i) {
    l[i].kernel = &kernel;
    l[i].tag = (uint64_t)i + 1;
    list[i] = &l[i];
  }
  printf("%d ", itp_sync_submit(self, list, 4, &done, NULL));
  printf("%llu ", (unsigned long long)done);
  printf("%d ", itp_sync_submit(self, list, 2, &done, NULL));
  printf("%llu ", (unsigned long long)done);
  printf("%d ", itp_sync_submit(self, list, 0, &done, NULL));
  printf("%llu\n", (unsigned long long)done);
  return 0;
}
"""


def test_ready_made_guard_and_submit(tmp_path):
    lines = run_text(SYNC, tmp_path, "-std=c11", "-fsanitize=address,undefined", *STRICT).splitlines()

    assert lines[0].split("|") == [
        "1 -7 0 0 1 ",  # enter refuses device 2 and leaves the token alone; leave takes what enter gave only
        "1 1 0 1 ",  # unknown flags make no stream
        "0 1 0 ",  # a stream of another device is refused
        "0 0 1 1 0 ",
        "0 1 77 ",  # never recorded: no time, nothing to wait for
        "0 0 0 1 1 ",  # an event without timing has no time
        "0 1 ",
        "0 1 ",
        "0 1 1 0 ",
        "0 0 0 0 ",
    ]
    assert lines[1] == "12 2 0 2 0 0"


def test_ready_made_guard_fills_every_slot():
    """The initialiser has as many values as the table has fields, so that a new slot is not left out of it."""
    program = """
    #include "infinitrain/sync.h"
    const itp_guard guard = ITP_SYNC_GUARD;
    """

    compile_text("gcc", program, "-std=c11", "-Wmissing-field-initializers", *STRICT)
    compile_text(
        "g++",
        "extern const itp_guard guard;\n".join(['#include "infinitrain/provider.h"\n', program]),
        "-std=c++17",
        *STRICT,
    )
