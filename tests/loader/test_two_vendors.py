"""Several providers in one process: each leg of a copy is run by the owner of its device side."""

from __future__ import annotations

import pytest

CODE = """
import sys
import numpy as np
import infinitrain as it
from infinitrain import copy as router
from infinitrain.strided import Strided
names = sys.argv[2:]
it.load_provider(sys.argv[1])
values = np.arange(24, dtype=np.float32).reshape(4, 6)
devices = [it.Device(n) for n in names]
for source in devices:
    for target in devices:
        a = router.from_numpy(values, source)
        b = Strided._empty((4, 6), a.dtype, target)
        router.copy_(b, a)
        assert b.device is target
        np.testing.assert_array_equal(router.to_numpy(b), values)
        turned = a.as_strided((6, 4), (1, 6), 0)
        wide = Strided._empty((6, 8), a.dtype, target)
        slot = wide.as_strided((6, 4), (8, 2), 1)
        router.copy_(slot, turned)
        np.testing.assert_array_equal(router.to_numpy(slot), values.T)
        empty = Strided._empty((0, 3), a.dtype, source)
        router.copy_(Strided._empty((0, 3), a.dtype, target), empty)
        assert str(it.current_device()) == 'cpu:0'
"""


@pytest.mark.parametrize("order", [("acme:0", "fake:0", "fake:1", "cpu:0"), ("cpu:0", "fake:1", "acme:1", "fake:0")])
def test_values_between_every_pair(build, run, order):
    library = build("libitp_acme_full.so", "DEVICES=2", reference=True)

    run(CODE, library, *order)


def test_the_destinations_provider_runs_the_destinations_leg(build, run, tmp_path):
    library = build("libitp_acme_full.so", "DEVICES=2", reference=True)
    log = tmp_path / "calls.txt"
    code = """
import sys, numpy as np, infinitrain as it
from infinitrain import copy as router
from infinitrain.strided import Strided
it.load_provider(sys.argv[1])
a = router.from_numpy(np.ones(8, np.float32), it.Device('acme:0'))
b = Strided._empty((8,), a.dtype, it.Device('fake:1'))
it.synchronize('fake:1')
open(sys.argv[2], 'a').write('MARK\\n')
router.copy_(b, a)
"""
    run(code, library, log, INFINITRAIN_FAKE_CALL_LOG=str(log))
    copies = [line for line in log.read_text().partition("MARK\n")[2].splitlines() if line.split()[0] == "copy"]

    assert len(copies) == 1
    assert copies[0].split()[1].strip(",") == "1"
