"""What each collective has to do, as one rank sees it: functions that every rank of a communicator runs at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infinitrain.dtype import ALL, DType
from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import STATUS, Provider, ffi
from infinitrain.testing.conformance.launch import DeviceArray
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.work import busy, fill, stream

__all__ = ["CHECKS", "Rank", "join", "unique_id"]

SUM, PROD, MAX, MIN, AVG = range(5)
SIZES = (1, 7, 1000, 100_003)


def unique_id(provider: Provider) -> bytes:
    """Make a communicator's name."""
    buffer, size = ffi.new("char[]", 1024), ffi.new("uint64_t *", 1024)
    provider.check("unique_id", provider.table.ccl.unique_id, provider.self, buffer, size)
    return bytes(ffi.buffer(buffer, size[0]))


@dataclass(slots=True)
class Rank:
    """One rank of a communicator.

    Attributes:
        bench: The provider and the rank's device.
        comm: Its handle.
        rank: Its number.
        n: How many there are.
    """

    bench: Bench
    comm: Any
    rank: int
    n: int

    def call(self, name: str, *arguments: object) -> None:
        """Call a collective; raises SlotError."""
        p = self.bench.provider
        p.check(name, getattr(p.table.ccl, name), p.self, *arguments)

    def has(self, name: str) -> bool:
        """Whether an optional slot is there."""
        return bool(self.bench.provider.slot("ccl", name))

    def sync(self, own: Any = ffi.NULL) -> None:
        """Wait for the rank's stream."""
        self.bench.provider.sync(self.bench.device, own)

    def leave(self) -> None:
        """Give the communicator back."""
        self.call("comm_destroy", self.comm)


def join(provider: Provider, device: int, rank: int, n: int, name: bytes) -> Rank:
    """Join a communicator; returns when all ranks have."""
    out, given = ffi.new("itp_comm *"), ffi.new("char[]", name)
    provider.check("comm_init", provider.table.ccl.comm_init, provider.self, device, n, rank, given, len(name), out)
    return Rank(Bench(provider, device), out[0], rank, n)


def raw_dtype(dtype: DType) -> Any:
    """Give a dtype by value, as collectives take it."""
    raw = ffi.new("itp_dtype *")
    raw.code, raw.bits, raw.lanes = dtype.code, dtype.bits, 1
    return raw[0]


def address(array: DeviceArray, elements: int = 0) -> Any:
    """Give the address of an element."""
    return ffi.cast("void *", array.address + elements * array.placement.dtype.itemsize)


def offered(rank: Rank) -> list[DType]:
    """List the dtypes of collectives."""
    return [dtype for dtype in ALL if rank.bench.provider.table.ccl.dtype_mask >> dtype.bit & 1]


def of_rank(rank: int, count: int, dtype: DType) -> Array:
    """Give a rank's operand: small whole numbers, so that every order of adding gives the same bits."""
    return ((np.arange(count) * 7 + rank) % 3 + 1).astype(dtype.numpy)


def combined(n: int, count: int, dtype: DType, op: int) -> Array:
    """Give what combining all ranks' operands has to give."""
    parts = np.stack([of_rank(rank, count, dtype).astype(np.float64) for rank in range(n)])
    how: dict[int, Callable[[Array], Array]] = {
        SUM: lambda x: np.asarray(x.sum(axis=0)),
        PROD: lambda x: np.asarray(x.prod(axis=0)),
        MAX: lambda x: np.asarray(x.max(axis=0)),
        MIN: lambda x: np.asarray(x.min(axis=0)),
        AVG: lambda x: np.asarray(x.sum(axis=0) / n),
    }
    return how[op](parts).astype(dtype.numpy)


def ops(rank: Rank, dtype: DType) -> list[int]:
    """List the operations that are offered for a dtype; bool has only the largest and the smallest."""
    mask = rank.bench.provider.table.ccl.reduce_op_mask
    return [
        op
        for op in range(5)
        if mask >> op & 1 and (op != AVG or dtype.is_floating_point) and (not dtype.is_bool or op in (MAX, MIN))
    ]


def expect(array: DeviceArray, expected: Array, what: str) -> None:
    """Compare, bit by bit but for the last bit of an average."""
    found = array.numpy().astype(np.float64)
    wanted = expected.astype(np.float64)
    assert np.allclose(found, wanted, rtol=1e-2 if array.placement.dtype.itemsize == 2 else 1e-6, atol=0), what


def all_reduce(rank: Rank) -> None:
    """Combine src of all ranks by `op`; every rank's dst gets all of it. dst may be src."""
    for dtype in offered(rank):
        for op in ops(rank, dtype):
            for count in SIZES[:3] if dtype.short != "f32" else SIZES:
                for in_place in (False, True):
                    src = rank.bench.put(of_rank(rank.rank, count, dtype))
                    dst = src if in_place else rank.bench.put(np.zeros(count, dtype.numpy))
                    arguments = (address(src), address(dst), count, raw_dtype(dtype), op, rank.comm, ffi.NULL)
                    rank.call("all_reduce", *arguments)
                    rank.sync()
                    what = f"all_reduce of {count} {dtype.name}, op {op}, in place: {in_place}"
                    expect(dst, combined(rank.n, count, dtype, op), what)
                    if not in_place:
                        expect(src, of_rank(rank.rank, count, dtype), f"{what}: src was changed")
                        dst.free()
                    src.free()


def average(rank: Rank) -> None:
    """One of reduce_op_mask, else UNIMPLEMENTED. AVG gives the sum divided by the ranks."""
    f32 = next(dtype for dtype in ALL if dtype.short == "f32")
    table, p = rank.bench.provider.table.ccl, rank.bench.provider
    src, dst = rank.bench.put(of_rank(rank.rank, 9, f32)), rank.bench.put(np.zeros(9, np.float32))
    for op in (*range(5), 5, 99):
        status = int(
            table.all_reduce(p.self, address(src), address(dst), 9, raw_dtype(f32), op, rank.comm, ffi.NULL, ffi.NULL)
        )
        if op > AVG or not table.reduce_op_mask >> op & 1:
            assert STATUS[status] == "UNIMPLEMENTED", f"op {op}: {STATUS[status]}"
            continue
        assert STATUS[status] == "OK"
        rank.sync()
        expect(dst, combined(rank.n, 9, f32, op), f"op {op}")
    src.free()
    dst.free()


def other_dtypes(rank: Rank) -> None:
    """One of dtype_mask, else UNIMPLEMENTED."""
    table, p = rank.bench.provider.table.ccl, rank.bench.provider
    memory = rank.bench.put(np.zeros(64, np.uint8))
    for dtype in ALL:
        if not table.dtype_mask >> dtype.bit & 1:
            arguments = (address(memory), address(memory), 4, raw_dtype(dtype), SUM, rank.comm, ffi.NULL, ffi.NULL)
            status = int(table.all_reduce(p.self, *arguments))
            assert STATUS[status] == "UNIMPLEMENTED", f"{dtype.name}: {STATUS[status]}"
    memory.free()


def order(rank: Rank) -> None:
    """After earlier and before later work of `stream`."""
    f32 = next(dtype for dtype in ALL if dtype.short == "f32")
    n = 1 << 16
    x, y = rank.bench.put(np.zeros(n, np.float32)), rank.bench.put(np.zeros(n, np.float32))
    with stream(rank.bench) as own:
        for i in range(5):
            busy(rank.bench, x, own, float(i + rank.rank), rounds=20)
            rank.call("all_reduce", address(x), address(y), n, raw_dtype(f32), SUM, rank.comm, own)
            fill(rank.bench, x, -1.0, own)
            rank.sync(own)
            expect(y, np.full(n, sum(i + r for r in range(rank.n)), np.float32), f"round {i}")
    x.free()
    y.free()


def broadcast(rank: Rank) -> None:
    """Give the root's src to every rank's dst. dst may be src."""
    for dtype in offered(rank):
        for root in range(rank.n):
            for in_place in (False, True):
                src = rank.bench.put(of_rank(rank.rank, 1000, dtype))
                dst = src if in_place else rank.bench.put(np.zeros(1000, dtype.numpy))
                source = address(src) if rank.rank == root or in_place else ffi.NULL
                rank.call("broadcast", source, address(dst), 1000, raw_dtype(dtype), root, rank.comm, ffi.NULL)
                rank.sync()
                expect(dst, of_rank(root, 1000, dtype), f"broadcast of {dtype.name} from {root}, in place: {in_place}")
                if not in_place:
                    dst.free()
                src.free()


def reduce(rank: Rank) -> None:
    """Combine src of all ranks by `op`; the root's dst gets it, the others' stay."""
    if not rank.has("reduce"):
        return
    for dtype in offered(rank):
        for op in ops(rank, dtype):
            for root in range(rank.n):
                src, dst = rank.bench.put(of_rank(rank.rank, 99, dtype)), rank.bench.put(np.zeros(99, dtype.numpy))
                arguments = (address(src), address(dst), 99, raw_dtype(dtype), op, root, rank.comm, ffi.NULL)
                rank.call("reduce", *arguments)
                rank.sync()
                wanted = combined(rank.n, 99, dtype, op) if rank.rank == root else np.zeros(99, dtype.numpy)
                expect(dst, wanted, f"reduce of {dtype.name}, op {op}, to {root}")
                src.free()
                dst.free()


def all_gather(rank: Rank) -> None:
    """Join src of all ranks, in the order of ranks, in every rank's dst."""
    for dtype in offered(rank):
        for count in (1, 501):
            for in_place in (False, True):
                mine = of_rank(rank.rank, count, dtype)
                begin = np.zeros((rank.n, count), dtype.numpy)
                begin[rank.rank] = mine if in_place else 0
                dst, src = rank.bench.put(begin), rank.bench.put(mine)
                source = address(dst, rank.rank * count) if in_place else address(src)
                rank.call("all_gather", source, address(dst), count, raw_dtype(dtype), rank.comm, ffi.NULL)
                rank.sync()
                wanted = np.stack([of_rank(r, count, dtype) for r in range(rank.n)])
                expect(dst, wanted, f"all_gather of {count} {dtype.name}, in place: {in_place}")
                src.free()
                dst.free()


def reduce_scatter(rank: Rank) -> None:
    """Combine src of all ranks by `op`; rank r gets the r-th part of it."""
    for dtype in offered(rank):
        for op in ops(rank, dtype):
            for in_place in (False, True):
                count = 33
                src = rank.bench.put(of_rank(rank.rank, count * rank.n, dtype))
                dst = rank.bench.put(np.zeros(count, dtype.numpy))
                target = address(src, rank.rank * count) if in_place else address(dst)
                arguments = (address(src), target, count, raw_dtype(dtype), op, rank.comm, ffi.NULL)
                rank.call("reduce_scatter", *arguments)
                rank.sync()
                part = slice(rank.rank * count, (rank.rank + 1) * count)
                wanted = combined(rank.n, count * rank.n, dtype, op)[part]
                found = src.numpy()[part] if in_place else dst.numpy()
                what = f"reduce_scatter of {dtype.name}, op {op}, in place: {in_place}"
                assert np.allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=1e-2), what
                src.free()
                dst.free()


def all_to_all(rank: Rank) -> None:
    """Give part r of src to rank r, and take part r of dst from rank r."""
    if not rank.has("all_to_all"):
        return
    for dtype in offered(rank):
        count = 17
        src = rank.bench.put(of_rank(rank.rank, count * rank.n, dtype))
        dst = rank.bench.put(np.zeros(count * rank.n, dtype.numpy))
        rank.call("all_to_all", address(src), address(dst), count, raw_dtype(dtype), rank.comm, ffi.NULL)
        rank.sync()
        part = slice(rank.rank * count, (rank.rank + 1) * count)
        wanted = np.concatenate([of_rank(r, count * rank.n, dtype)[part] for r in range(rank.n)])
        expect(dst, wanted, f"all_to_all of {dtype.name}")
        src.free()
        dst.free()


def neighbours(rank: Rank) -> None:
    """Send to one rank. Matches its recv, in order, between the two: a ring, several messages in a group."""
    after, before = (rank.rank + 1) % rank.n, (rank.rank - 1) % rank.n
    grouped = rank.has("group_begin") and rank.has("group_end")
    for dtype in offered(rank):
        src = [rank.bench.put(of_rank(rank.rank + 3 * i, 100, dtype)) for i in range(3)]
        dst = [rank.bench.put(np.zeros(100, dtype.numpy)) for _ in range(3)]
        raw = raw_dtype(dtype)
        if grouped:
            rank.call("group_begin")
            rank.call("group_begin")
        first, second = ("send", "recv") if rank.rank % 2 == 0 or grouped else ("recv", "send")
        for name in (first, second):
            for i in range(3):
                memory, peer = (src[i], after) if name == "send" else (dst[i], before)
                rank.call(name, address(memory), 100, raw, peer, rank.comm, ffi.NULL)
        if grouped:
            rank.call("group_end")
            rank.call("group_end")
        rank.sync()
        for i in range(3):
            expect(dst[i], of_rank(before + 3 * i, 100, dtype), f"message {i} of {dtype.name} from {before}")
        for array in (*src, *dst):
            array.free()


def well(rank: Rank) -> None:
    """OK while nothing has failed."""
    if rank.has("comm_async_error"):
        rank.call("comm_async_error", rank.comm)


#: What every rank does, by name.
CHECKS: dict[str, Callable[[Rank], None]] = {
    "all_reduce": all_reduce,
    "average": average,
    "other_dtypes": other_dtypes,
    "order": order,
    "broadcast": broadcast,
    "reduce": reduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "all_to_all": all_to_all,
    "neighbours": neighbours,
    "well": well,
}
