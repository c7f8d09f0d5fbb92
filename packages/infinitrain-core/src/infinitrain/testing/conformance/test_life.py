"""Start, end, fork: each in a process of its own."""

from __future__ import annotations

from typing import Any

import pytest

from infinitrain.testing.conformance import probes
from infinitrain.testing.conformance.driver import STATUS, Library, ffi, text_of
from infinitrain.testing.conformance.fresh import in_fresh_process


def needs_shutdown(library: Library) -> None:
    """Skip where the provider cannot be started again in one process."""
    if library.table.shutdown == ffi.NULL:
        pytest.skip("shutdown is absent")


@pytest.fixture(scope="module")
def refused(library: Library, options: dict[str, str]) -> dict[str, Any]:
    """What a start with an option that no provider has leaves."""
    seen: dict[str, Any] = in_fresh_process(probes.unknown_option, str(library.path), options, "no_such_option", "1")
    return seen


def test_life_01_fork(library: Library, options: dict[str, str]) -> None:
    """In a child of a process that has called init, the core enters no slot but the query: each call is FORKED."""
    seen = in_fresh_process(probes.fork, str(library.path), options)
    assert seen["child"] == 0, f"the query in the child ended with {seen['child']}"
    assert seen["works"] == [True, True], "the parent's device does not work after a fork"
    core = in_fresh_process(probes.core_in_child, str(library.path), library.name, options)
    assert core["answer"] == "ForkedError", f"the core in the child gave {core['answer']}"
    assert core["code"] == "0", f"the child ended with {core['code']}"


def test_life_02_host_without_functions(library: Library, options: dict[str, str]) -> None:
    """Any function may be NULL, and the struct shorter or longer than this one."""
    assert in_fresh_process(probes.hosts, str(library.path), options) == []


def test_life_03_unknown_option(refused: dict[str, Any]) -> None:
    """An unknown option, or a value that the option does not take, is INVALID_ARGUMENT and named in the message."""
    assert STATUS[refused["status"]] == "INVALID_ARGUMENT"
    assert "no_such_option" in refused["message"]


def test_life_03_wrong_value(library: Library, options: dict[str, str]) -> None:
    """An unknown option, or a value that the option does not take, is INVALID_ARGUMENT and named in the message."""
    numbers = [library.table.options[i] for i in range(library.table.n_options) if library.table.options[i].kind == 1]
    if not numbers:
        pytest.skip("the provider has no numeric option")
    name = text_of(numbers[0].name)
    seen = in_fresh_process(probes.unknown_option, str(library.path), options, name, "not-a-number")
    assert STATUS[seen["status"]] == "INVALID_ARGUMENT"
    assert name in seen["message"]


def test_life_04_failed_init_leaves_nothing(refused: dict[str, Any]) -> None:
    """On failure everything is released by the provider and *self stays NULL."""
    assert refused["self"] is False, "*self was written"
    assert refused["threads"][0] == refused["threads"][1], "a thread was left"
    assert refused["files"][0] == refused["files"][1], "a file was left open"
    assert refused["works"] is True, "a right init does not work afterwards"


def test_life_05_process_stays_as_it_was(library: Library, options: dict[str, str]) -> None:
    """The working directory, the environment and the process's signal handlers stay as they were."""
    assert in_fresh_process(probes.keeps_process, str(library.path), options) == []


def test_life_06_init_after_shutdown(library: Library, options: dict[str, str]) -> None:
    """End: the core has given back all handles and memory. Afterwards init may be called again, and works."""
    needs_shutdown(library)
    seen = in_fresh_process(probes.restart, str(library.path), options)
    assert seen["works"] == [True, True, True]


def test_life_07_shutdown_waits(library: Library, options: dict[str, str]) -> None:
    """One thread; waits for work that is still in flight."""
    needs_shutdown(library)
    seen = in_fresh_process(probes.shutdown_with_work, str(library.path), options)
    assert seen["status"] in ("OK", "TIMEOUT")
    assert seen["works"] is True
