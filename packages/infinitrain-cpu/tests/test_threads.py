"""One pool: any number of threads, several callers, forked children, the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cpu_driver import BF16, DTYPES, Cpu, values

HERE = str(Path(__file__).parent)


def everything(cpu: Cpu, dtype: str = "f32") -> dict[str, bytes]:
    """Results of kernels that are split over threads, at sizes that are split."""
    d = DTYPES[dtype]
    x, w, g = values(dtype, (300, 700)), values(dtype, (900, 700), 1), values(dtype, (300, 900), 2)
    vector, statistics = values(dtype, (700,), 3), np.float64 if dtype == "f64" else np.float32
    mean, rstd = np.empty(300, statistics), np.empty(300, statistics)
    dx, dw, db = np.empty_like(x), np.empty_like(vector), np.empty_like(vector)
    index = np.random.default_rng(0).integers(0, 50, 300)
    found = {
        "sum rows": cpu.new("SumForward", [g], (300, 1), d),
        "sum columns": cpu.new("SumForward", [g], (1, 900), d),
        "sum all": cpu.new("SumForward", [g], (1, 1), d),
        "max": cpu.new("MaxForward", [g], (1, 900), d),
        "linear": cpu.new("LinearForward", [x, w, None], (300, 900), d),
        "dw": cpu.new("LinearBackwardWeight", [x, g], (900, 700), d),
        "dx": cpu.new("LinearBackwardInput", [g, w], (300, 700), d),
        "db": cpu.new("LinearBackwardBias", [g], (900,), d),
        "softmax": cpu.new("SoftmaxForward", [g], g.shape, d),
        "gelu": cpu.new("GeluForward", [g], g.shape, d),
        "embedding": cpu.new("EmbeddingBackward", [index, x], (50, 700), d),
    }
    left, right = x.reshape(30, 10, 700), w[: 30 * 20].reshape(30, 20, 700).swapaxes(1, 2)
    found["batch"] = cpu.new("MatmulForward", [left, right], (30, 10, 20), d)
    cpu.launch("LayerNormForward", [x, vector, vector], [dx, mean, rstd])
    found["norm"] = dx.copy()
    cpu.launch("LayerNormBackward", [x, vector, mean, rstd, x], [dx, dw, db])
    found |= {"norm dx": dx, "norm dw": dw, "norm db": db}
    return {name: value.tobytes() for name, value in found.items()}


@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16"])
def test_bits_do_not_depend_on_the_number_of_threads(make_cpu: Any, dtype: str) -> None:
    """But for large products, whose pieces are cut to the number of threads."""
    results = [everything(make_cpu(threads=n), dtype) for n in (1, 2, 3, 7)]
    for other in results[1:]:
        differing = [name for name in other if other[name] != results[0][name]]

        assert set(differing) <= {"linear", "dw", "dx"}


def test_bits_are_the_same_from_run_to_run(cpu: Cpu) -> None:
    first = everything(cpu)
    for _ in range(3):
        assert everything(cpu) == first


def test_exact_rows_and_sums_do_not_depend_on_the_instruction_set(each_isa: Cpu, make_cpu: Any) -> None:
    """What is exact is so everywhere; sums are added in the same order everywhere."""
    base = make_cpu(threads=2, isa="baseline")
    for dtype in ("f32", "bf16", "f16", "f64"):
        x, y = values(dtype, (37, 1009)), values(dtype, (37, 1009), 1)
        for name, inputs, shape in (
            ("AddForward", [x, y], x.shape),
            ("MulForward", [x, y], x.shape),
            ("DivForward", [x, y], x.shape),
            ("SqrtForward", [np.abs(x)], x.shape),
            ("SumForward", [x], (37, 1)),
            ("SumForward", [x], (1, 1009)),
            ("MeanForward", [x], (1, 1)),
            ("MaxForward", [x], (37, 1)),
        ):
            ours = each_isa.new(name, inputs, shape, x.dtype)
            assert ours.tobytes() == base.new(name, inputs, shape, x.dtype).tobytes(), (name, dtype)


def test_several_callers_at_once(make_cpu: Any) -> None:
    cpu = make_cpu(threads=3)
    want = everything(cpu)
    wrong: list[Any] = []

    def call() -> None:
        own = Cpu.__new__(Cpu)  # the same provider with an error record of its own
        own.__dict__.update(cpu.__dict__)
        own.renew_error()
        for _ in range(5):
            found = everything(own)
            wrong.extend(name for name in want if found[name] != want[name])

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert wrong == []
    assert not any(thread.is_alive() for thread in threads)


def run(script: str, timeout: float = 60, **environment: str) -> str:
    """The output of a script in a fresh process."""
    imports = "import os, threading, numpy as np\nfrom cpu_driver import Cpu, library\n"
    text = f"import sys; sys.path.insert(0, {HERE!r})\n{imports}{script}"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=timeout, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


COUNT = "def count(): return len(os.listdir('/proc/self/task'))\n"
BIG = "x = np.ones((600, 700), np.float32)\n"


def test_no_thread_before_the_first_parallel_region() -> None:
    """Neither the query nor init nor a small kernel starts one."""
    out = run(
        COUNT + BIG + "before = count(); library.infinitrain_provider_v1(0); a = count()\n"
        "cpu = Cpu(threads=3); b = count(); cpu.new('NegForward', [x[:2]], (2, 700), x.dtype); c = count()\n"
        "cpu.new('NegForward', [x], x.shape, x.dtype); d = count()\n"
        "cpu.close(); print(*(n - before for n in (a, b, c, d, count())))"
    )

    assert out.split() == ["0", "0", "0", "2", "0"]


def test_one_thread_starts_none() -> None:
    out = run(
        COUNT
        + BIG
        + "b = count(); cpu = Cpu(threads=1); cpu.new('NegForward', [x], x.shape, x.dtype); print(count() - b)"
    )

    assert out.split() == ["0"]


def test_the_pool_is_as_large_as_the_affinity_mask() -> None:
    out = run(
        COUNT + BIG + "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); b = count()\n"
        "cpu = Cpu(); cpu.new('NegForward', [x], x.shape, x.dtype); print(count() - b, len(os.sched_getaffinity(0)))"
    )

    assert out.split() == ["0", "1"]


def test_loading_leaves_the_affinity_as_it_was() -> None:
    assert run("a = os.sched_getaffinity(0); Cpu(); print(a == os.sched_getaffinity(0))").split() == ["True"]


FORK = """
def child(f):
    pid = os.fork()
    if pid == 0:
        try:
            f()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1]
def work(cpu):
    y = cpu.new('LinearForward', [x, x, None], (600, 600), x.dtype)
    assert (y == 700).all()
"""


def test_a_child_of_a_parent_that_never_used_it_works() -> None:
    out = run(
        BIG
        + FORK
        + "print(child(lambda: work(Cpu(threads=3))), child(lambda: work(Cpu(threads=2)))); work(Cpu(threads=2))"
    )

    assert out.split() == ["0", "0"]


def test_a_child_of_a_busy_parent_neither_hangs_nor_fails() -> None:
    """The core answers FORKED before this; the pool starts anew all the same."""
    out = run(
        BIG + FORK + "cpu = Cpu(threads=3); work(cpu)\n"
        "for _ in range(5): print(child(lambda: work(cpu)), child(lambda: None))\nwork(cpu)"
    )

    assert out.split() == ["0"] * 10


def test_exit_with_and_without_shutdown() -> None:
    for end in (
        "",
        "cpu.close()",
        # The thread goes on reading x while the interpreter ends: x is never freed, as the core's memory is not.
        "import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))\n"
        "f = lambda: [cpu.new('NegForward', [x], x.shape, x.dtype) for _ in range(100)]\n"
        "threading.Thread(target=f, daemon=True).start()",
    ):
        run(BIG + "cpu = Cpu(threads=3); cpu.new('NegForward', [x], x.shape, x.dtype)\n" + end, timeout=20)


def test_signals_reach_the_program_and_not_the_workers() -> None:
    out = run(
        BIG + "import signal\nseen = []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(threading.current_thread().name))\n"
        "cpu = Cpu(threads=3); cpu.new('NegForward', [x], x.shape, x.dtype)\n"
        "lines = [l for t in os.listdir('/proc/self/task') for l in open(f'/proc/self/task/{t}/status')]\n"
        "masks = [l.split()[1] for l in lines if l.startswith('SigBlk')]\n"
        "os.kill(os.getpid(), signal.SIGINT); print(seen, sum(int(m, 16) & 2 != 0 for m in masks))"
    )

    assert out.strip() == "['MainThread'] 2"


def test_alignment_does_not_change_bits(cpu: Cpu) -> None:
    for d in (np.dtype(np.float32), BF16):
        room = np.zeros(100_001, d)
        room[:] = values("f32", room.shape).astype(d)
        x, shifted = room[:100_000].copy(), np.empty(100_001, d)[1:]
        shifted[:] = x
        for name in ("SumForward", "MeanForward"):
            assert cpu.new(name, [x], (1,), d).tobytes() == cpu.new(name, [shifted], (1,), d).tobytes()
