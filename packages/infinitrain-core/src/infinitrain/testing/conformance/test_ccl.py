"""The table of collectives, where it is there: ranks as threads, and as processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from infinitrain.dtype import float32 as F32
from infinitrain.testing.conformance import probes
from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.collectives import CHECKS, SUM, Rank, address, join, raw_dtype, unique_id
from infinitrain.testing.conformance.driver import STATUS, Library, Provider, SlotError, ffi
from infinitrain.testing.conformance.fresh import in_fresh_process
from infinitrain.testing.conformance.work import busy, in_threads


@pytest.fixture
def ccl(provider: Provider) -> Provider:
    """The provider, where it has collectives."""
    if provider.table.ccl == ffi.NULL:
        pytest.skip("the provider has no collectives")
    return provider


@pytest.fixture(scope="module")
def n_ranks(provider: Provider) -> int:
    """How many ranks one process can have: one for each device, two on a single device if it allows that."""
    count = min(provider.device_count(), 4)
    if count > 1 or provider.table.ccl == ffi.NULL:
        return count
    name = unique_id(provider)
    refused: list[SlotError] = []

    def work(i: int) -> None:
        try:
            join(provider, 0, i, 2, name).leave()
        except SlotError as failure:
            refused.append(failure)

    in_threads(2, work)
    return 1 if refused else 2


def everywhere(provider: Provider, n: int, work: Callable[[Rank], None], leave: bool = True) -> None:
    """Run work on every rank of a new communicator, each in a thread of its own."""
    name, count = unique_id(provider), provider.device_count()

    def run(i: int) -> None:
        rank = join(provider, i % count, i, n, name)
        work(rank)
        if leave:
            rank.leave()

    in_threads(n, run)


def test_ccl_01_sum(ccl: Provider) -> None:
    """reduce_op_mask has SUM. Without AVG the core sums and scales."""
    assert ccl.table.ccl.reduce_op_mask & 1 << SUM
    assert ccl.table.ccl.reduce_op_mask >> 5 == 0


def test_ccl_02_f32(ccl: Provider) -> None:
    """dtype_mask has F32."""
    assert ccl.table.ccl.dtype_mask >> 11 & 1


def test_ccl_03_size_of_the_id(ccl: Provider) -> None:
    """At most 1024. Too little room is INVALID_ARGUMENT, and *size becomes what is needed."""
    needed = len(unique_id(ccl))
    assert 0 < needed <= 1024
    buffer, size = ffi.new("char[]", b"\x7e" * 1024), ffi.new("uint64_t *", needed - 1)
    status = int(ccl.table.ccl.unique_id(ccl.self, buffer, size, ffi.NULL))
    assert STATUS[status] == "INVALID_ARGUMENT"
    assert size[0] == needed
    assert bytes(ffi.buffer(buffer))[needed - 1 :].startswith(b"\x7e"), "wrote past the room"
    size[0] = needed
    ccl.check("unique_id", ccl.table.ccl.unique_id, ccl.self, buffer, size)


def test_ccl_04_two_ids(ccl: Provider) -> None:
    """OK, INVALID_ARGUMENT, UNAVAILABLE. Two calls give two ids."""
    assert unique_id(ccl) != unique_id(ccl)


def test_ccl_05_init_waits_for_all(ccl: Provider, n_ranks: int) -> None:
    """Join a communicator; returns when all its ranks have."""
    if n_ranks < 2:
        pytest.skip("one process can have one rank only")
    name, count = unique_id(ccl), ccl.device_count()
    called, lock = 0, threading.Lock()
    seen = []

    def work(i: int) -> None:
        nonlocal called
        if i == n_ranks - 1:
            time.sleep(0.2)
        with lock:
            called += 1
        rank = join(ccl, i % count, i, n_ranks, name)
        with lock:
            seen.append(called)
        rank.leave()

    in_threads(n_ranks, work)
    assert seen == [n_ranks] * n_ranks, "comm_init came back before every rank had called it"


def test_ccl_06_one_rank(ccl: Provider, bench: Bench) -> None:
    """>= 1; 1 is a communicator too."""
    rank = join(ccl, bench.device, 0, 1, unique_id(ccl))
    for check in ("all_reduce", "all_gather", "broadcast", "well"):
        CHECKS[check](rank)
    rank.leave()


def test_ccl_07_rank_out_of_range(ccl: Provider, bench: Bench) -> None:
    """[0, n_ranks), else INVALID_ARGUMENT."""
    name = unique_id(ccl)
    for rank, n in ((-1, 1), (1, 1), (5, 2), (0, 0), (0, -1)):
        with pytest.raises(SlotError) as caught:
            join(ccl, bench.device, rank, n, name)
        assert caught.value.status == "INVALID_ARGUMENT", f"rank {rank} of {n}"


def test_ccl_08_destroy_after_the_work(ccl: Provider, n_ranks: int) -> None:
    """Give a communicator back when its work is done."""

    def work(rank: Rank) -> None:
        x = rank.bench.put(np.zeros(1 << 16, np.float32))
        busy(rank.bench, x, ffi.NULL, 2.0)
        f32 = raw_dtype(F32)
        rank.call("all_reduce", address(x), address(x), 1 << 16, f32, SUM, rank.comm, ffi.NULL)
        rank.leave()
        rank.sync()
        assert (x.numpy() == 2.0 * rank.n).all()
        x.free()

    everywhere(ccl, n_ranks, work, leave=False)


def test_ccl_09_abort(ccl: Provider, n_ranks: int) -> None:
    """Give a communicator back now. Its work ends with ABORTED on this rank, and does not hang."""
    if ccl.slot("ccl", "comm_abort") == ffi.NULL:
        pytest.skip("comm_abort is absent")
    if n_ranks < 2:
        pytest.skip("one process can have one rank only")
    statuses: list[str] = []

    def work(rank: Rank) -> None:
        if rank.rank != 0:  # never joins in
            time.sleep(0.3)
            rank.call("comm_abort", rank.comm)
            return
        x = rank.bench.put(np.zeros(4, np.float32))
        timer = threading.Timer(0.1, lambda: rank.call("comm_abort", rank.comm))
        timer.start()
        try:
            rank.call("all_reduce", address(x), address(x), 4, raw_dtype(F32), SUM, rank.comm, ffi.NULL)
            rank.sync()
            statuses.append("OK")
        except SlotError as failure:
            statuses.append(failure.status)
        timer.join()
        x.free()

    everywhere(ccl, n_ranks, work, leave=False)
    assert statuses in (["ABORTED"], ["ASYNC"])


def run_check(ccl: Provider, n_ranks: int, *names: str) -> None:
    """Run checks on every rank of one communicator."""

    def work(rank: Rank) -> None:
        for name in names:
            CHECKS[name](rank)

    everywhere(ccl, n_ranks, work)


def test_ccl_10_async_error(ccl: Provider, n_ranks: int) -> None:
    """OK while nothing has failed; ASYNC, ABORTED, DEVICE_LOST."""
    run_check(ccl, n_ranks, "well", "broadcast", "well")


def test_ccl_11_groups(ccl: Provider, n_ranks: int) -> None:
    """The calls of this thread up to the matching group_end may depend on each other. Groups nest."""
    if ccl.slot("ccl", "group_begin") == ffi.NULL:
        pytest.skip("group_begin is absent")
    run_check(ccl, n_ranks, "neighbours")


def test_ccl_12_all_reduce(ccl: Provider, n_ranks: int) -> None:
    """Combine src of all ranks by `op`; every rank's dst gets all of it. dst may be src."""
    run_check(ccl, n_ranks, "all_reduce")


def test_ccl_13_other_dtypes(ccl: Provider, n_ranks: int) -> None:
    """One of dtype_mask, else UNIMPLEMENTED."""
    run_check(ccl, n_ranks, "other_dtypes")


def test_ccl_14_operations(ccl: Provider, n_ranks: int) -> None:
    """One of reduce_op_mask, else UNIMPLEMENTED. AVG gives the sum divided by the ranks."""
    run_check(ccl, n_ranks, "average")


def test_ccl_15_order(ccl: Provider, n_ranks: int) -> None:
    """After earlier and before later work of `stream`."""
    run_check(ccl, n_ranks, "order")


def test_ccl_16_broadcast(ccl: Provider, n_ranks: int) -> None:
    """Give the root's src to every rank's dst. dst may be src."""
    run_check(ccl, n_ranks, "broadcast")


def test_ccl_17_reduce(ccl: Provider, n_ranks: int) -> None:
    """Combine src of all ranks by `op`; the root's dst gets it, the others' stay."""
    if ccl.slot("ccl", "reduce") == ffi.NULL:
        pytest.skip("reduce is absent")
    run_check(ccl, n_ranks, "reduce")


def test_ccl_18_all_gather(ccl: Provider, n_ranks: int) -> None:
    """Join src of all ranks, in the order of ranks, in every rank's dst."""
    run_check(ccl, n_ranks, "all_gather")


def test_ccl_19_reduce_scatter(ccl: Provider, n_ranks: int) -> None:
    """Combine src of all ranks by `op`; rank r gets the r-th part of it."""
    run_check(ccl, n_ranks, "reduce_scatter")


def test_ccl_20_all_to_all(ccl: Provider, n_ranks: int) -> None:
    """Give part r of src to rank r, and take part r of dst from rank r."""
    if ccl.slot("ccl", "all_to_all") == ffi.NULL:
        pytest.skip("all_to_all is absent")
    run_check(ccl, n_ranks, "all_to_all")


def test_ccl_21_send_and_recv(ccl: Provider, n_ranks: int) -> None:
    """Send to one rank. Matches its recv, in order, between the two."""
    run_check(ccl, n_ranks, "neighbours")


def test_collectives_between_processes(ccl: Provider, library: Library, options: dict[str, str]) -> None:
    """Ranks of one job are processes as well as threads."""
    n = max(2, min(ccl.device_count(), 4))
    name = unique_id(ccl).hex()
    failures: list[str] = []

    def work(i: int) -> None:
        failures.extend(in_fresh_process(probes.collectives, str(library.path), options, i, n, name, timeout_s=100))

    in_threads(n, work)
    if any("refused" in failure for failure in failures):
        pytest.skip(f"comm_init refuses {n} processes on the devices of this machine: {failures[0]}")
    assert failures == [], "\n".join(failures)
