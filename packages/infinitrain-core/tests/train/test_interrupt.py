"""Signals: the first is remembered, the second ends the program."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from infinitrain.train.interrupt import Interrupt


@pytest.mark.parametrize(
    ("number", "code", "end"), [(signal.SIGINT, 130, KeyboardInterrupt), (signal.SIGTERM, 143, SystemExit)]
)
def test_the_first_signal_is_remembered_and_the_second_ends(number, code, end):
    before = signal.getsignal(number)
    with Interrupt() as interrupt:
        assert interrupt.received is None
        assert interrupt.exit_code == 0
        os.kill(os.getpid(), number)
        assert interrupt.received is number
        assert interrupt.exit_code == code
        with pytest.raises(end) as caught:
            os.kill(os.getpid(), number)

    assert signal.getsignal(number) is before
    if end is SystemExit:
        assert caught.value.code == 143


def test_another_thread_leaves_the_program_its_handlers():
    before = signal.getsignal(signal.SIGINT)
    inside = []

    def work():
        with Interrupt():
            inside.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert inside == [before]
