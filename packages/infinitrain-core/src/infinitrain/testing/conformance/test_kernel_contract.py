"""Kernels beside their values: what they are, what a launch may count on, submit, workspace, indices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from infinitrain_capi.table import KernelRow

from infinitrain.dtype import parse
from infinitrain.testing.conformance.bench import Bench, Placed
from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.cases import cases, dtype_pairs, rng_of
from infinitrain.testing.conformance.cases.values import bits
from infinitrain.testing.conformance.driver import STATUS, TABLE, Library, ffi, new_error, text_of
from infinitrain.testing.conformance.indices import INDEXED, bad_index
from infinitrain.testing.conformance.launch import DeviceArray, Request
from infinitrain.testing.conformance.layout import Placement
from infinitrain.testing.conformance.work import busy, copy, fill, stream, values

STRIDED, MAY_ALIAS = 0x4, 0x8
ALL = list(TABLE)


def usual(library: Library, bench: Bench, name: str) -> tuple[Case, list[Expected | None]]:
    """Give one usual case of a kernel, for the first dtype that it is offered for; float32 if it can be.

    Skips: where it is not offered.
    """
    pairs = sorted(dtype_pairs(TABLE[name]), key=lambda pair: pair[0] != "f32")
    offered = [(t, u) for t, u in pairs if name in library.kernels and library.offers(name, t or None)]
    if not offered:
        pytest.skip("not offered")
    for t, u in offered:
        made = [each for each in cases(name, t, u) if not each[0].tags]
        for case, expected in sorted(made, key=lambda each: abs(size_of(each[0]) - 100)):
            with bench.place(name, case) as placed:
                if placed.request.supported():
                    return case, expected
    pytest.skip("the kernel's `supports` declines it")


def size_of(case: Case) -> int:
    """Count the elements of the outputs."""
    return sum(output.array.size for output in case.outputs if output is not None)


def judge(bench: Bench, name: str, case: Case, expected: list[Expected | None], placed: Placed) -> None:
    """Wait, and fail where the outputs are wrong or something else was written."""
    bench.provider.sync(bench.device)
    outcome = bench.read(placed)
    problem, _ = bench.judge(name, case, expected, outcome)
    assert problem == "", f"{name}: {problem}"
    assert outcome.trespass == "", f"{name}: {outcome.trespass}"


@pytest.mark.parametrize("t", TABLE["Copy"].dtypes)
def test_kn_01_addresses_of_elements(bench: Bench, t: str) -> None:
    """Element (i, j) is at data + byte_offset + itemsize * (i * strides[0] + j * strides[1])."""
    rng, dtype = rng_of("addresses", t), parse(t)
    if not bench.info.stores(dtype):
        pytest.skip(f"the device stores no {dtype.name}")
    item, n = dtype.numpy.itemsize, 4000
    for _ in range(6):
        shape = tuple(int(size) for size in rng.integers(1, 5, rng.integers(1, 4)))
        order = rng.permutation(len(shape))
        strides, step = [0] * len(shape), int(rng.integers(1, 4))
        for d in order:
            strides[d] = step * int(rng.choice([-1, 1]))
            step *= shape[d] + int(rng.integers(0, 3))
        offset = (n // 2) * item
        source = bits(rng, dtype, n).view(np.uint8)
        target = np.full(n * item, 0x5A, np.uint8)
        x = DeviceArray(bench.provider, bench.device, Placement(source, offset, tuple(strides), shape, dtype.numpy))
        y = DeviceArray(bench.provider, bench.device, Placement(target, offset, tuple(strides), shape, dtype.numpy))
        copy(bench, x, y)
        bench.provider.sync(bench.device)
        expected = target.copy()
        for index in np.ndindex(shape):
            at = offset + item * sum(i * s for i, s in zip(index, strides, strict=True))
            expected[at : at + item] = source[at : at + item]
        assert (y.block() == expected).all(), f"shape {shape}, strides {strides}"
        x.free()
        y.free()


def test_kn_02_rows(library: Library) -> None:
    """Name, schema and op_version are those of one row, byte for byte; a kernel that differs is off."""
    wrong = []
    for name, kernel in library.kernels.items():
        row = TABLE.get(name)
        if row is None:
            wrong.append(f"{name}: no such row")
        elif text_of(kernel.schema) != row.schema or kernel.op_version != row.version:
            wrong.append(f"{name}: schema {text_of(kernel.schema)!r}, version {kernel.op_version}")
    assert wrong == [], "; ".join(wrong)


def test_kn_03_dtype_masks(library: Library) -> None:
    """dtype_mask has only dtypes that the row allows for T, at least one, and is 0 for a row without T."""
    wrong = []
    for name, kernel in library.kernels.items():
        allowed = sum(1 << parse(t).bit for t in TABLE[name].dtypes) if name in TABLE else 0
        if kernel.dtype_mask & ~allowed or bool(kernel.dtype_mask) != bool(allowed):
            wrong.append(f"{name}: mask {kernel.dtype_mask:#x}, allowed {allowed:#x}")
    assert wrong == [], "; ".join(wrong)


def test_kn_04_flags(library: Library) -> None:
    """STRIDED and MAY_ALIAS are set only where the row allows them; Copy has STRIDED."""
    wrong = []
    for name, kernel in library.kernels.items():
        row = TABLE[name]
        if kernel.flags & STRIDED and row.layout == "contiguous":
            wrong.append(f"{name} has STRIDED")
        if kernel.flags & MAY_ALIAS and not row.alias:
            wrong.append(f"{name} has MAY_ALIAS")
    assert wrong == [], "; ".join(wrong)
    assert library.kernels["Copy"].flags & STRIDED, "Copy does not have STRIDED"


def scribble(request: Request) -> None:
    """Overwrite a launch and everything that it points at, data excepted."""
    for thing in (*request.keep, request.inputs, request.outputs, request.attrs, request.raw):
        ffi.buffer(thing)[:] = b"\xa5" * len(ffi.buffer(thing))


@pytest.mark.parametrize("name", ALL)
def test_kn_14_launch_is_borrowed(library: Library, bench: Bench, name: str) -> None:
    """The launch and everything it points at (data excepted) may be overwritten as soon as the call is back."""
    case, expected = usual(library, bench, name)
    load = values(bench)
    with bench.place(name, case) as placed:
        size = placed.request.raw.workspace_size
        busy(bench, load, ffi.NULL, 1.0, rounds=20)  # an asynchronous device is busy when the launch arrives
        placed.request.launch()
        scribble(placed.request)
        judge(bench, name, case, expected, placed)
        placed.request.raw.workspace_size = size
    load.free()


def tampered(request: Request) -> Iterator[tuple[str, Callable[[], None]]]:
    """Give changes after which counts or kinds are not the schema's; each is undone by the next."""
    raw, right = request.raw, (request.raw.n_inputs, request.raw.n_outputs, request.raw.n_attrs)

    def counts(inputs: int, outputs: int, attrs: int) -> Callable[[], None]:
        def change() -> None:
            raw.n_inputs, raw.n_outputs, raw.n_attrs = inputs, outputs, attrs

        return change

    yield "one input too many", counts(right[0] + 1, right[1], right[2])
    yield "one output too many", counts(right[0], right[1] + 1, right[2])
    yield "one attribute too many", counts(right[0], right[1], right[2] + 1)
    if right[0]:
        yield "one input too few", counts(right[0] - 1, right[1], right[2])
    yield "no output", counts(right[0], 0, right[2])
    if right[2]:
        yield "no attribute", counts(right[0], right[1], 0)
    for i in range(right[2]):
        for kind in (0, 6, 99):

            def change(i: int = i, kind: int = kind) -> None:
                counts(*right)()
                request.attrs[i].kind = kind

            before = request.attrs[i].kind
            yield f"attribute {i} of kind {kind}", change
            request.attrs[i].kind = before


@pytest.mark.parametrize("name", ALL)
def test_kn_15_counts_and_kinds(library: Library, bench: Bench, name: str) -> None:
    """Counts and kinds that are not the schema's are INVALID_ARGUMENT; nothing is written."""
    case, expected = usual(library, bench, name)
    with bench.place(name, case) as placed:
        right = (placed.request.raw.n_inputs, placed.request.raw.n_outputs, placed.request.raw.n_attrs)
        for what, change in tampered(placed.request):
            change()
            status, _, _ = placed.request.status()
            assert STATUS[status] == "INVALID_ARGUMENT", f"{name}, {what}"
            bench.provider.sync(bench.device)
        memory = placed.outputs[0]
        assert memory is not None
        assert (memory.block() == memory.placement.block).all(), f"{name}: a refused launch wrote"
        raw = placed.request.raw
        raw.n_inputs, raw.n_outputs, raw.n_attrs = right
        placed.request.launch()
        judge(bench, name, case, expected, placed)


TRIALS = 8


@pytest.mark.parametrize("name", INDEXED)
def test_kn_16_index_out_of_range(library: Library, bench: Bench, name: str) -> None:
    """An index outside its bound is OUT_OF_RANGE, at once or later as ASYNC; the text names index, bound, position."""
    if not library.offers(name, "f32"):
        pytest.skip("not offered for f32")
    rng = rng_of("out of range", name)
    for trial in range(TRIALS):
        case, wrong = bad_index(rng, name, trial)
        tag = 1000 + trial
        with bench.place(name, case, tag=tag) as placed:
            status, record, message = placed.request.status()
            if status == 0:
                record, text = new_error()
                status = int(
                    bench.provider.table.guard.stream_sync(bench.provider.self, bench.device, ffi.NULL, record)
                )
                message = text_of(text)
                assert STATUS[status] == "ASYNC", f"{name}: {wrong}: no failure was reported"
                assert record.origin_tag == tag, f"{name}: {wrong}: {message}"
            else:
                assert STATUS[status] == "OUT_OF_RANGE", f"{name}: {wrong}: {message}"
                bench.provider.sync(bench.device)
            assert "OUT_OF_RANGE" in message, f"{name}: {wrong}: {message}"
            found = [int(number) for number in re.findall(r"-?\d+", message)]
            missing = [what for what in (wrong.index, wrong.bound) if what not in found]
            assert missing == [], f"{name}: {wrong}: the message names neither of {missing}: {message}"
            # A position is counted over all elements, or given by its row and column.
            assert wrong.position in found or set(wrong.place) <= set(found), f"{name}: {wrong}: {message}"
            outcome = bench.read(placed)
            assert outcome.trespass == "", f"{name}: {wrong}: {outcome.trespass}"


def test_kn_17_order(bench: Bench) -> None:
    """Runs after earlier and before later work of its stream."""
    a, b = values(bench), values(bench)
    results = [values(bench) for _ in range(10)]
    with stream(bench) as own:
        bench.provider.sync(bench.device)
        for i, result in enumerate(results):
            fill(bench, a, float(i), own)
            copy(bench, a, b, own)
            fill(bench, a, -1.0, own)
            copy(bench, b, result, own)
        bench.provider.sync(bench.device, own)
    for i, result in enumerate(results):
        assert (result.numpy() == i).all(), f"launch {i}"
        result.free()
    a.free()
    b.free()


@pytest.mark.parametrize("name", ALL)
def test_kn_18_launch_of_a_later_core(library: Library, bench: Bench, name: str) -> None:
    """A launch of a later core, with a larger struct_size, runs the same."""
    case, expected = usual(library, bench, name)
    with bench.place(name, case) as placed:
        size = ffi.sizeof("itp_launch")
        memory = ffi.new("char[]", b"\xa5" * (size + 64))
        ffi.memmove(memory, ffi.buffer(placed.request.raw), size)
        longer = ffi.cast("itp_launch *", memory)
        longer.struct_size = size + 64
        bench.provider.check(name, placed.request.kernel.launch, bench.provider.self, longer)
        judge(bench, name, case, expected, placed)


@pytest.mark.parametrize("name", ALL)
def test_kn_19_workspace(library: Library, bench: Bench, name: str) -> None:
    """Written on OK; the same for the same shapes, dtypes and attributes."""
    case, expected = usual(library, bench, name)
    if library.kernels[name].workspace == ffi.NULL:
        pytest.skip("the kernel needs no workspace")
    with bench.place(name, case) as placed:
        sizes = {placed.request.workspace_size() for _ in range(3)}
        bare = placed.request
        for array, count in ((bare.inputs, len(case.inputs)), (bare.outputs, len(case.outputs))):
            for i in range(count):
                if array[i] != ffi.NULL:
                    ffi.cast("itp_tensor *", array[i]).data = ffi.NULL
        bare.raw.workspace, bare.raw.workspace_size = ffi.NULL, 0
        sizes.add(bare.workspace_size())
    assert len(sizes) == 1, f"{name}: {sizes}"
    problem, _ = bench.check(name, case, expected)
    assert problem == ""


@pytest.mark.parametrize("name", ALL)
def test_kn_20_supports(library: Library, bench: Bench, name: str) -> None:
    """OK: launch will not answer UNIMPLEMENTED. UNIMPLEMENTED otherwise."""
    if name not in library.kernels:
        pytest.skip("not offered")
    asked = 0
    for t, u in dtype_pairs(TABLE[name]):
        if not library.offers(name, t or None):
            continue
        case, _ = next(each for each in cases(name, t, u) if not each[0].tags)
        with bench.place(name, case) as placed:
            asked += 1
            supports, answer = library.kernels[name].supports, 0
            if supports != ffi.NULL:
                answer = int(supports(bench.provider.self, placed.request.raw, ffi.NULL))
                assert STATUS[answer] in ("OK", "UNIMPLEMENTED"), f"{name}-{t}-{u}"
            status, _, message = placed.request.status()
            if answer == 0:
                assert STATUS[status] != "UNIMPLEMENTED", f"{name}-{t}-{u}: {message}"
            bench.provider.sync(bench.device)
    if not asked:
        pytest.skip("not offered")


def test_kn_21_tier_0(library: Library) -> None:
    """The kernels. Every kernel of tier 0 is among them."""
    assert [row.name for row in TABLE.values() if row.tier == 0 and row.name not in library.kernels] == []


def test_kn_22_items(library: Library) -> None:
    """No item is NULL, no name is there twice."""
    table = library.table.kernels
    items = [table.items[i] for i in range(table.count)]
    assert ffi.NULL not in items
    names = [text_of(kernel.name) for kernel in items]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def batch(bench: Bench, a: DeviceArray, b: DeviceArray, n: int) -> list[Request]:
    """Make launches that have to run in order: fill a with i, copy it to b."""
    made = []
    for i in range(n):
        made.append(Request(bench.provider, TABLE["Fill"], [], [a], (float(i),), device=bench.device, tag=2 * i))
        made.append(Request(bench.provider, TABLE["Copy"], [a], [b], (), device=bench.device, tag=2 * i + 1))
    return made


def submit(bench: Bench, requests: list[Request]) -> tuple[int, int, Any]:
    """Submit launches; gives status, how many were handed over, and the error record."""
    listed = ffi.new("const itp_launch *[]", [request.raw for request in requests] or [ffi.NULL])
    done, (record, _) = ffi.new("uint64_t *", 12345), new_error()
    status = bench.provider.table.kernels.submit(bench.provider.self, listed, len(requests), done, record)
    return int(status), int(done[0]), record


def needs_submit(bench: Bench) -> None:
    """Skip where submit is absent."""
    if bench.provider.slot("kernels", "submit") == ffi.NULL:
        pytest.skip("submit is absent")


@pytest.mark.parametrize("n", [0, 1, 50])
def test_kn_23_submit(bench: Bench, n: int) -> None:
    """Gives what calling each kernel's `launch` in turn gives."""
    needs_submit(bench)
    a, b = values(bench, 5000, -7.0), values(bench, 5000, -7.0)
    status, done, _ = submit(bench, batch(bench, a, b, n))
    bench.provider.sync(bench.device)
    assert STATUS[status] == "OK"
    assert done == 2 * n
    assert (b.numpy() == (n - 1 if n else -7.0)).all()
    a.free()
    b.free()


def test_kn_24_done(bench: Bench) -> None:
    """Launches handed over, on failure too: list[*done] is the one that failed."""
    needs_submit(bench)
    a, b, before = values(bench, 1000), values(bench, 1000), 0.0
    for failing in (0, 3, 7):
        requests = batch(bench, a, b, 4)
        requests[failing].raw.n_outputs = 0
        status, done, record = submit(bench, requests)
        bench.provider.sync(bench.device)
        assert STATUS[status] == "INVALID_ARGUMENT"
        assert record.code == status
        assert done == failing
        filled = [i // 2 for i in range(failing) if i % 2 == 0]
        assert (a.numpy() == (filled[-1] if filled else before)).all(), "the launches before the failing one"
        before = float(a.numpy()[0])
    a.free()
    b.free()


def rows_with_indices() -> list[KernelRow]:
    """List the rows that follow indices; a pool's gradient has them from its forward, and no caller's."""
    named = [row for row in TABLE.values() if any(operand.name in ("index", "target") for operand in row.inputs)]
    return [row for row in named if row.name != "MaxPool2dBackward"]


def test_every_row_with_indices_is_tried_out_of_range() -> None:
    """A row that follows indices has its out-of-range cases."""
    assert sorted(row.name for row in rows_with_indices()) == sorted(INDEXED)
