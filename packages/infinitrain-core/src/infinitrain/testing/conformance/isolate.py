"""Run tests in a worker process that the provider may bring down: the test that did it fails, and the run goes on.

The worker is a pytest of its own that collects the same tests and runs those that it is told to; it is started anew
after a crash or a hang. Requests and answers are lines of JSON on two pipes.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, cast

import pytest
from _pytest.runner import runtestprotocol

__all__ = ["Isolation", "key_of"]

START_TIMEOUT_S = 120.0


def key_of(item: pytest.Item) -> str:
    """Name a test the same way whatever directory pytest was started in."""
    return f"{item.path.name}::{item.nodeid.partition('::')[2]}"


class Isolation:
    """The parent's side: hands tests to a worker and turns its end into a failure of the test at hand."""

    def __init__(self, arguments: Sequence[str], timeout_s: float) -> None:
        self.arguments, self.timeout_s = list(arguments), timeout_s
        self.process: subprocess.Popen[bytes] | None = None
        self.requests: IO[str] | None = None
        self.answers: IO[bytes] | None = None
        self.log: IO[bytes] | None = None

    def start(self) -> None:
        """Start a worker."""
        ask_read, ask_write = os.pipe()
        answer_read, answer_write = os.pipe()
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(ask_read), str(answer_write), *self.arguments],
            pass_fds=(ask_read, answer_write),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        os.close(ask_read)
        os.close(answer_write)
        self.requests, self.answers = os.fdopen(ask_write, "w"), os.fdopen(answer_read, "rb", buffering=0)
        # Collecting the tests is not part of the first test's time; what goes wrong here shows when it is asked to run.
        self._read_line(max(self.timeout_s, START_TIMEOUT_S))

    def stop(self) -> None:
        """End the worker."""
        for stream in (self.requests, self.answers):
            if stream is not None:
                with suppress(OSError):  # the worker may have gone before it read everything
                    stream.close()
        if self.process is not None:
            try:
                self.process.wait(self.timeout_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.log is not None:
            self.log.close()
        self.process = self.requests = self.answers = self.log = None

    def run(self, item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
        """Run a test in the worker; gives its reports."""
        if self.process is None:
            self.start()
        request = {"run": key_of(item), "next": None if nextitem is None else key_of(nextitem)}
        try:
            requests = cast("IO[str]", self.requests)
            requests.write(json.dumps(request) + "\n")
            requests.flush()
        except OSError:
            return [self._failure(item, self._end())]
        line = self._read_line(self.timeout_s)
        if line is None:
            return [self._failure(item, self._end())]
        loaded = [
            item.config.hook.pytest_report_from_serializable(config=item.config, data=each) for each in json.loads(line)
        ]
        for report in loaded:
            report.nodeid, report.location = item.nodeid, item.location
            if isinstance(report.longrepr, list):  # JSON has no tuples: where and why a test was skipped
                report.longrepr = tuple(report.longrepr)
        return loaded

    def _read_line(self, timeout_s: float) -> bytes | None:
        """Read an answer; None where the worker ended or took too long."""
        answers = cast("IO[bytes]", self.answers)
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([answers], [], [], timeout_s)
            if not ready:
                return None
            more = os.read(answers.fileno(), 1 << 16)
            if not more:
                return None
            line += more
        return line

    def _end(self) -> str:
        """Say how the worker ended, and clear away what is left of it."""
        process = cast("subprocess.Popen[bytes]", self.process)
        try:
            code = process.wait(2)
            how = f"ended the process with exit code {code}"
            if code < 0:
                how = f"ended the process by signal {-code} ({signal.Signals(-code).name})"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            how = f"did not come back within {self.timeout_s:g} s"
        log = cast("IO[bytes]", self.log)
        log.seek(0)
        tail = log.read()[-3000:].decode(errors="replace").strip()
        self.stop()
        return f"the provider {how}" + (f"\n{tail}" if tail else "")

    @staticmethod
    def _failure(item: pytest.Item, text: str) -> pytest.TestReport:
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords=dict.fromkeys(item.keywords, 1),
            outcome="failed",
            longrepr=text,
            when="call",
            user_properties=item.user_properties,
        )


class Worker:
    """The worker's side: a run-test loop that takes its orders from a pipe."""

    def __init__(self, requests: IO[str], answers: IO[str]) -> None:
        self.requests, self.answers = requests, answers

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests that are asked for until the pipe is closed."""
        items = {key_of(item): item for item in session.items}
        self.answers.write("ready\n")
        self.answers.flush()
        for line in self.requests:
            request = json.loads(line)
            reports = runtestprotocol(items[request["run"]], log=False, nextitem=items.get(request["next"]))
            hook = session.config.hook
            data: list[dict[str, Any] | None] = [
                hook.pytest_report_to_serializable(config=session.config, report=report) for report in reports
            ]
            self.answers.write(json.dumps(data, default=str) + "\n")
            self.answers.flush()
        return True


def main() -> int:
    """Start the worker: two descriptors, then pytest's arguments."""
    requests, answers = os.fdopen(int(sys.argv[1])), os.fdopen(int(sys.argv[2]), "w")
    return int(pytest.main(sys.argv[3:], plugins=[Worker(requests, answers)]))


if __name__ == "__main__":
    sys.exit(main())
