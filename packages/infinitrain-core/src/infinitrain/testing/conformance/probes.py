"""Functions that tests run in a process of their own (fresh.py): the query, init, shutdown, fork."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from infinitrain.testing.conformance.bench import Bench
from infinitrain.testing.conformance.driver import Library, Provider, SlotError, ffi, new_error, text_of
from infinitrain.testing.conformance.work import busy, fill, values

__all__ = ["fork", "hosts", "keeps_process", "query", "restart", "shutdown_with_work", "unknown_option"]

Options = dict[str, str]


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def _files() -> list[str]:
    """List what the process has open, the listing itself left out."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.append(f"{entry.name}: {entry.readlink()}")
        except OSError:  # the directory that is being listed
            continue
    return sorted(each for each in found if not each.endswith("/fd"))


def _in_child(work: Callable[[], None]) -> int:
    """Run work in a forked child; gives its exit code, or minus the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _works(provider: Provider) -> bool:
    """Whether a buffer can be filled and read back."""
    bench = Bench(provider, 0)
    y = values(bench, 1000)
    fill(bench, y, 7.0)
    right = bool((y.numpy() == 7.0).all())
    y.free()
    return right


def query(path: str) -> dict[str, Any]:
    """Look at threads and files before and after the query, and ask again in a child."""
    raw: Any = ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    child = _in_child(lambda: _require(raw.infinitrain_provider_v1(0) != ffi.NULL))
    threads, files = [_threads()], [_files()]
    table = raw.infinitrain_provider_v1(0)
    threads.append(_threads())
    files.append(_files())
    again = _in_child(lambda: _require(raw.infinitrain_provider_v1(0) == table))
    return {"threads": threads, "files": files, "child": child or again}


def _require(condition: bool) -> None:
    if not condition:
        raise AssertionError("not so")


def hosts(path: str, options: Options) -> list[str]:
    """Start with an itp_host that is short, long, and without functions; say which did not work."""
    library = Library(Path(path))
    wrong = []
    full = ffi.sizeof("itp_host")
    for what, size in (("short", ffi.offsetof("itp_host", "log")), ("full", full), ("long", full + 64)):
        memory = ffi.new("char[]", b"\xff" * (full + 64))
        host = ffi.cast("itp_host *", memory)
        ffi.memmove(host, bytes(full), min(size, full))
        version = ffi.new("char[]", b"conformance")
        host.struct_size, host.core_version = size, version
        try:
            provider = Provider(library, options, host)
            if not _works(provider):
                wrong.append(f"{what}: wrong values")
            provider.shutdown()
        except SlotError as failure:
            wrong.append(f"{what}: {failure}")
        if library.table.shutdown == ffi.NULL:
            break  # no second start in this process
    return wrong


def unknown_option(path: str, options: Options, name: str, value: str) -> dict[str, Any]:
    """Start with an option that the provider does not have, or a value that it does not take; then rightly."""
    library = Library(Path(path))
    threads, files = _threads(), _files()
    shell = Provider.__new__(Provider)
    shell.library, shell.keep = library, []
    out = ffi.new("void **")
    record, message = new_error()
    status = library.table.init(shell.host(), shell.config({**options, name: value}), out, record)
    seen = {
        "status": int(status),
        "message": text_of(message),
        "self": out[0] != ffi.NULL,
        "threads": [threads, _threads()],
        "files": [files, _files()],
    }
    if status == 0:
        return seen
    provider = Provider(library, options)
    seen["works"] = _works(provider)
    provider.shutdown()
    return seen


def _process_state() -> dict[str, Any]:
    environment = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    variables, i = [], 0
    while environment[i]:
        variables.append((environment[i] or b"").decode(errors="replace"))
        i += 1
    masks = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Sig")]
    handlers = [line for line in masks if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]
    return {"directory": os.getcwd(), "environment": variables, "signals": handlers}


def keeps_process(path: str, options: Options) -> list[str]:
    """Say what init changed of working directory, environment and signal handlers."""
    library = Library(Path(path))
    before = _process_state()
    provider = Provider(library, options)
    after = _process_state()
    provider.shutdown()
    return [what for what in before if before[what] != after[what]]


def restart(path: str, options: Options) -> dict[str, Any]:
    """Start, work, end; three times."""
    library = Library(Path(path))
    before = _threads()
    works, threads = [], []
    for _ in range(3):
        provider = Provider(library, options)
        works.append(_works(provider))
        provider.shutdown()
        threads.append(_threads())
    return {"works": works, "threads": threads, "before": before}


def shutdown_with_work(path: str, options: Options) -> dict[str, Any]:
    """End with work still in the streams; then start again."""
    library = Library(Path(path))
    provider = Provider(library, options)
    bench = Bench(provider, 0)
    y = values(bench, 1 << 18)
    busy(bench, y, ffi.NULL, 3.0, rounds=100)
    y.free()
    begin = time.monotonic()
    status = "OK"
    try:
        provider.shutdown()
    except SlotError as failure:
        status = failure.status
    seconds = time.monotonic() - begin
    time.sleep(0.05)  # what was not waited for would now touch memory that is gone
    provider = Provider(library, options)
    works = _works(provider)
    provider.shutdown()
    return {"status": status, "seconds": seconds, "works": works}


def fork(path: str, options: Options) -> dict[str, Any]:
    """Fork a process that has used the provider: the query in the child, an orderly end of it, the parent's work."""
    library = Library(Path(path))
    provider = Provider(library, options)
    first = _works(provider)

    def ask() -> None:
        _require(library.query() == library.table)

    def touch() -> None:
        """Enter a slot all the same: it must not crash or hang; FORKED is the best answer."""
        record, _ = new_error()
        status = library.table.guard.device_sync(provider.self, 0, record)
        _require(status in (0, 10))

    child, entered = _in_child(ask), _in_child(touch)
    again = _works(provider)
    provider.shutdown()
    return {"child": child, "entered": entered, "works": [first, again]}


def core_in_child(path: str, name: str, options: Options) -> dict[str, str]:
    """Use the device through the core, fork, and use it in the child."""
    import infinitrain
    from infinitrain._abi import names
    from infinitrain.device import Device
    from infinitrain.memory import allocate

    if name not in names.OURS:  # ours are found by their package only
        infinitrain.load_provider(path)
    if options:
        infinitrain.configure(name, **options)
    device = Device(f"{name}:0")
    kept = allocate(64, device)
    read, write = os.pipe()

    def work() -> None:
        try:
            allocate(1 << 21, device)
            answer = "no error"
        except Exception as failure:
            answer = type(failure).__name__
        os.write(write, answer.encode())

    code = _in_child(work)
    os.close(write)
    answer = os.read(read, 1000).decode()
    del kept
    return {"answer": answer, "code": str(code)}


def collectives(path: str, options: Options, rank: int, n: int, name: str) -> list[str]:
    """Be one rank of a communicator between processes; say what did not hold."""
    from infinitrain.testing.conformance.collectives import CHECKS, join

    provider = Provider(Library(Path(path)), options)
    try:
        joined = join(provider, rank % provider.device_count(), rank, n, bytes.fromhex(name))
    except SlotError as failure:
        return [f"rank {rank} was refused: {failure}"]
    wrong = []
    for check, work in CHECKS.items():
        try:
            work(joined)
        except (SlotError, AssertionError) as failure:
            wrong.append(f"rank {rank}, {check}: {failure}")
    joined.leave()
    provider.shutdown()
    return wrong
