"""The kernels that a run needs are those that it launches."""

from __future__ import annotations

import pytest
from infinitrain import dispatch
from infinitrain.device import Device
from infinitrain.errors import KernelNotFound
from infinitrain.models import requirements
from infinitrain.models.requirements import check_kernels, needed_kernels
from infinitrain.train.trainer import Trainer


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize(("family", "dropout"), [("gpt2", 0.0), ("gpt2", 0.1), ("llama3", 0.0), ("mixtral", 0.0)])
def test_the_kernels_are_those_that_a_run_launches(device, small_run, monkeypatch, family, dropout, accumulate):
    launched = set()
    submit = dispatch._submit

    def spy(kernel, where, *rest, **named):
        if str(where).startswith(device.partition(":")[0]):
            launched.add(kernel.row.name)
        return submit(kernel, where, *rest, **named)

    monkeypatch.setattr(dispatch, "_submit", spy)
    config = small_run(model=f"{family}-tiny", device=device, dropout=dropout, accumulate=accumulate)
    assert Trainer(config).run() == 0
    listed = set(needed_kernels(family, dropout=dropout > 0, accumulates=accumulate > 1))

    assert listed - launched == set()
    assert launched - listed - {"UniformForward"} == set()  # the sample's draws are made on the host


def test_all_that_is_missing_is_named_at_once(device, monkeypatch):
    missing = ["CausalSoftmaxBackward", "GeluForward"]
    monkeypatch.setattr(requirements, "missing_kernels", lambda needed, *rest: [x for x in needed if x in missing])

    with pytest.raises(KernelNotFound, match="lacks 2 of the 31 kernels that it needs: GeluForward, CausalSoftmaxBac"):
        check_kernels("gpt2", Device(device), dropout=False, accumulates=False)
    with pytest.raises(KernelNotFound, match="lacks 1 of the 34 kernels that it needs: GeluForward"):
        check_kernels("gpt2", Device(device), dropout=True, accumulates=True)
