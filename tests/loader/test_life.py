"""From init to the end of the process: order, fork, threads, in fresh processes."""

from __future__ import annotations

import pytest


def test_exit_with_live_tensors_streams_and_work_in_flight(run):
    code = """
import infinitrain as it
from infinitrain.stream import Stream, Event
from infinitrain.strided import Strided
from infinitrain import dtype
from infinitrain.dispatch import launch
device = it.Device('fake:1')
kept = [Strided._empty((256, 256), dtype.float32, device) for _ in range(3)]
stream, event = Stream(device), Event(device)
with stream:
    for _ in range(50): launch('AddForward', (kept[0], kept[1]), (kept[2],))
event.record(stream)
"""
    run(code, INFINITRAIN_FAKE_DELAY_US="200")


def test_child_of_a_fork_is_told(run):
    code = """
import os, infinitrain as it
from infinitrain.strided import Strided
from infinitrain import dtype
for name in ('cpu', 'fake'):
    device = it.Device(name); kept = Strided._empty((4,), dtype.float32, device)
    child = os.fork()
    if child == 0:
        try: Strided._empty((1 << 20,), dtype.float32, device)
        except it.errors.ForkedError as e:
            os._exit(0 if 'spawn' in str(e) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    Strided._empty((1 << 20,), dtype.float32, device)
"""
    run(code)


def test_a_library_is_never_unloaded(build, run):
    code = """
import gc, sys, infinitrain as it
from infinitrain._abi import registry
it.load_provider(sys.argv[1])
registry._loaded.clear()
gc.collect()
assert sys.argv[1] in open('/proc/self/maps').read()
"""
    run(code, build("libitp_acme.so"))


def test_child_may_start_what_the_parent_never_used(run):
    code = """
import os, infinitrain as it
child = os.fork()
if child == 0:
    os._exit(0 if str(it.Device('cpu')) == 'cpu:0' else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    run(code)


HELD = """
import sys, infinitrain as it
from infinitrain.stream import Stream, Event
from infinitrain.strided import Strided
from infinitrain import dtype
from infinitrain.dispatch import launch
device = it.Device('fake:1')
kept = [Strided._empty((256, 256), dtype.float32, device) for _ in range(4)]
stream, event = Stream(device), Event(device)
with stream:
    for _ in range(int(sys.argv[1])): launch('Fill', (), (kept[0],), value=1.0)
event.record(stream)
kept.pop()
"""


def test_the_end_gives_everything_back_in_order(run, tmp_path):
    log = tmp_path / "calls.txt"
    run(HELD, 1, INFINITRAIN_FAKE_CALL_LOG=log)
    calls = [line.split()[0] for line in log.read_text().splitlines()]

    end = calls[calls.index("device_sync") :]
    assert end == ["device_sync", "event_destroy", "stream_sync", "stream_destroy", *["dealloc"] * 4, "shutdown"]
    assert calls.count("alloc") == 4


def test_a_device_that_stays_busy_does_not_hold_the_process(run, tmp_path):
    log = tmp_path / "calls.txt"
    text = run(
        HELD,
        200,
        INFINITRAIN_FAKE_CALL_LOG=log,
        INFINITRAIN_FAKE_DELAY_US="200000",
        INFINITRAIN_EXIT_TIMEOUT="0.1",
    )

    assert "'fake' is still busy" in text
    assert log.read_text().splitlines()[-1].split()[0] == "device_sync"


def test_nothing_enters_a_provider_that_has_been_shut_down(run):
    code = """
import atexit
late = []
atexit.register(lambda: late[0]())  # registered before infinitrain's: runs after it
import infinitrain as it
from infinitrain.strided import Strided
from infinitrain import dtype
from infinitrain.dispatch import launch
kept = Strided._empty((4,), dtype.float32, it.Device('fake'))
def after():
    for use in (lambda: launch('Fill', (), (kept,), value=1.0), lambda: it.synchronize('fake')):
        try: use()
        except it.errors.ProviderUnavailable as e: print(e)
late.append(after)
"""
    assert run(code).count("has been shut down") == 2


def test_a_fork_while_threads_are_busy_leaves_no_lock_behind(run):
    code = """
import os, threading, infinitrain as it
from infinitrain.strided import Strided
from infinitrain import dtype
from infinitrain.dispatch import launch
device = it.Device('fake:0')
stop = threading.Event()
def work():
    while not stop.is_set():
        x = Strided._empty((1 << 18,), dtype.float32, device)
        launch('Fill', (), (x,), value=1.0)
        it.synchronize(device)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        told = 0
        allocate = lambda: Strided._empty((1 << 22,), dtype.float32, device)
        for use in (lambda: it.synchronize(device), allocate, it.empty_cache):
            try: use()
            except it.errors.ForkedError: told += 1
        os._exit(told)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) >= 2
stop.set()
for thread in threads: thread.join()
"""
    run(code)


THREADS = """
import sys, threading, infinitrain as it
from infinitrain.stream import Stream, current_stream
from infinitrain.strided import Strided
from infinitrain import dtype
from infinitrain.dispatch import launch
it.load_provider(sys.argv[1])
device = it.Device('acme')
problems = []
def work():
    x, y = (Strided._empty((4,), dtype.float32, device) for _ in range(2))
    try:
        with Stream(device) if sys.argv[2] == 'own' else current_stream(device) as stream:
            for _ in range(50):
                launch('Copy', (x,), (y,))
                stream.synchronize()
                stream.query()
    except Exception as problem: problems.append(problem)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not problems, problems
"""


@pytest.mark.parametrize(("file", "define", "stream"), [("watch", "WATCH", "one"), ("serial", "SERIAL", "own")])
def test_calls_on_one_stream_or_of_a_serial_provider_never_overlap(build, run, file, define, stream):
    library = build(f"libitp_{file}.so", *{"WATCH", define})

    run(THREADS, library, stream)


def test_what_a_provider_cannot_do_at_a_launch_is_a_missing_kernel(build, run):
    code = """
import sys, infinitrain as it
from infinitrain.strided import Strided
from infinitrain import dtype
from infinitrain.dispatch import launch
it.load_provider(sys.argv[1])
x, y = (Strided._empty((4,), each, it.Device('acme')) for each in (dtype.float32, dtype.int8))
try: launch('Cast', (x,), (y,))
except it.errors.KernelNotFound as e: print(e)
"""
    text = run(code, build("libitp_picky.so", "PICKY"))

    assert "no kernel 'Cast' for float32, int8 on acme:0 (provider acme 1.0)" in text
    assert "[Cast][UNIMPLEMENTED] not between these types" in text


def test_init_is_told_of_the_core_and_logs_through_it(run):
    code = """
import logging, infinitrain as it
logging.basicConfig(level=logging.DEBUG, format='%(name)s %(message)s')
it.configure('fake', fail_init=1)
try: it.Device('fake')
except it.errors.ProviderUnavailable as e: print(e)
"""
    assert "infinitrain providers --explain" in run(code)
