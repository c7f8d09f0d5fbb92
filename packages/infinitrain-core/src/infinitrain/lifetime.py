"""The end of the process: in order, and within a bounded time."""

from __future__ import annotations

import atexit
import logging

from infinitrain import config
from infinitrain._abi import registry
from infinitrain._native import lib
from infinitrain.errors import InfinitrainError
from infinitrain.memory import pools
from infinitrain.stream import close_all

_log = logging.getLogger("infinitrain.lifetime")


def _finish() -> None:
    """End in order: wait for the devices, then events and streams, memory, and the providers themselves.

    Finalizers that run after this do nothing. What a failing device still reports is of no use to anyone now, and one
    that stays busy is left to the operating system.
    """
    deadline = config.exit_timeout_ms()
    running = [provider for provider in registry.loaded() if provider.started and not lib.it_forked(provider.native)]
    for provider in list(running):
        if not provider.settle(deadline):
            _log.warning("device %r is still busy at the end of the process: left as it is", provider.name)
            provider.abandon()
            running.remove(provider)
    close_all()
    for pool in pools():
        if pool.device.provider in running:
            try:
                pool.end()
            except InfinitrainError:
                continue
    for provider in running:
        provider.shutdown()


atexit.register(_finish)
