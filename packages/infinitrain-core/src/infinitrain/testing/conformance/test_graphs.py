"""The table of graphs, where it is there: recording a stream, running what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import STATUS, SlotError, ffi
from infinitrain.testing.conformance.launch import HOST, DeviceArray
from infinitrain.testing.conformance.work import busy, copy, fill, stream, values

CAPTURABLE, CAP_GRAPHS = 0x1, 0x40


@pytest.fixture
def graphs(bench: Bench) -> Bench:
    """The bench, where the device has graphs and Fill and Copy can be recorded."""
    if bench.provider.table.graphs == ffi.NULL or not bench.info.caps & CAP_GRAPHS:
        pytest.skip("the device has no graphs")
    if not bench.flags("Fill") & bench.flags("Copy") & CAPTURABLE:
        pytest.skip("Fill and Copy do not have ITP_K_CAPTURABLE")
    return bench


def call(bench: Bench, name: str, *arguments: object) -> None:
    """Call a slot of the graphs table."""
    p = bench.provider
    p.check(name, getattr(p.table.graphs, name), p.self, bench.device, *arguments)


@contextmanager
def recorded(bench: Bench, own: Any, a: DeviceArray, b: DeviceArray) -> Iterator[Any]:
    """Record: copy a to b, then set a to 9."""
    out = ffi.new("itp_graph *")
    call(bench, "capture_begin", own)
    launches = [copy(bench, a, b, own), fill(bench, a, 9.0, own)]  # to be kept as long as the graph
    call(bench, "capture_end", own, out)
    yield out[0]
    call(bench, "destroy", out[0])
    launches.clear()


def test_gr_01_recording_does_not_run(graphs: Bench) -> None:
    """From now on record what is submitted to `stream`, and do not run it."""
    a, b = values(graphs, 1000, 1.0), values(graphs, 1000, 2.0)
    with stream(graphs) as own, recorded(graphs, own, a, b):
        graphs.provider.guard("device_sync", graphs.device)
        assert (a.numpy() == 1.0).all()
        assert (b.numpy() == 2.0).all()
    a.free()
    b.free()


def test_gr_02_what_cannot_be_recorded(graphs: Bench) -> None:
    """A launch without CAPTURABLE, or a call that waits, gives UNIMPLEMENTED; the recording goes on."""
    p, d = graphs.provider, graphs.device
    a, b, out = values(graphs, 1000, 1.0), values(graphs, 1000, 2.0), ffi.new("itp_graph *")
    host = np.zeros(1000, np.float32)
    with stream(graphs) as own:
        call(graphs, "capture_begin", own)
        kept = copy(graphs, a, b, own)
        assert STATUS[p.table.guard.stream_sync(p.self, d, own, ffi.NULL)] == "UNIMPLEMENTED"
        with pytest.raises(SlotError) as caught:
            p.copy(host.ctypes.data, HOST, a.address, d, a.nbytes, own)
        assert caught.value.status == "UNIMPLEMENTED"
        call(graphs, "capture_end", own, out)
        call(graphs, "replay", out[0], own)
        p.sync(d, own)
        assert (b.numpy() == 1.0).all()
        call(graphs, "destroy", out[0])
        del kept
    a.free()
    b.free()


def test_gr_03_recording_twice(graphs: Bench) -> None:
    """Not NULL. A stream that is recording already is INVALID_ARGUMENT."""
    out = ffi.new("itp_graph *")
    for handle in (ffi.NULL,):
        with pytest.raises(SlotError) as caught:
            call(graphs, "capture_begin", handle)
        assert caught.value.status == "INVALID_ARGUMENT"
    with stream(graphs) as own:
        call(graphs, "capture_begin", own)
        with pytest.raises(SlotError) as caught:
            call(graphs, "capture_begin", own)
        assert caught.value.status == "INVALID_ARGUMENT"
        call(graphs, "capture_end", own, out)
        call(graphs, "destroy", out[0])


def test_gr_04_end_without_begin(graphs: Bench) -> None:
    """As in capture_begin; INVALID_ARGUMENT where it does not record."""
    out = ffi.new("itp_graph *")
    with stream(graphs) as own:
        with pytest.raises(SlotError) as caught:
            call(graphs, "capture_end", own, out)
        assert caught.value.status == "INVALID_ARGUMENT"
        assert out[0] == ffi.NULL, "*out was written"


def test_gr_05_replay(graphs: Bench) -> None:
    """Gives what its work gives on the memory's contents of now; any number of times."""
    p, d = graphs.provider, graphs.device
    a, b = values(graphs, 1000, 1.0), values(graphs, 1000, 2.0)
    with stream(graphs) as own, recorded(graphs, own, a, b) as graph:
        for i in range(5):
            fill(graphs, a, 10.0 + i, own)
            call(graphs, "replay", graph, own)
            p.sync(d, own)
            assert (b.numpy() == 10.0 + i).all(), f"replay {i}"
            assert (a.numpy() == 9.0).all(), f"replay {i}"
    a.free()
    b.free()


def test_gr_06_order(graphs: Bench) -> None:
    """On `stream`: a replay runs after earlier and before later work, on any stream of the device."""
    p, d = graphs.provider, graphs.device
    a, b, seen = values(graphs), values(graphs), values(graphs)
    with stream(graphs) as own, stream(graphs) as other, recorded(graphs, own, a, b) as graph:
        for i in range(3):
            busy(graphs, a, other, 20.0 + i, rounds=30)
            call(graphs, "replay", graph, other)
            copy(graphs, b, seen, other)
            fill(graphs, b, -1.0, other)
            p.sync(d, other)
            assert (seen.numpy() == 20.0 + i).all(), f"replay {i}"
    for array in (a, b, seen):
        array.free()


def test_gr_07_destroy_under_way(graphs: Bench) -> None:
    """Give a graph back. A replay that is under way is still completed."""
    p, d, out = graphs.provider, graphs.device, ffi.new("itp_graph *")
    a, b = values(graphs, begin=1.0), values(graphs, begin=2.0)
    with stream(graphs) as own:
        call(graphs, "capture_begin", own)
        kept = [*busy(graphs, a, own, 5.0), copy(graphs, a, b, own)]
        call(graphs, "capture_end", own, out)
        call(graphs, "replay", out[0], own)
        call(graphs, "destroy", out[0])
        p.sync(d, own)
        kept.clear()
        assert (b.numpy() == 5.0).all()
    a.free()
    b.free()
