"""The kernels that a run needs are those that it launches."""

from __future__ import annotations

from infinitrain import dispatch
from infinitrain.train.command import main
from infinitrain.train.requirements import DROPOUT_KERNELS, TRAINING_KERNELS


def test_the_list_of_kernels_is_what_a_run_launches(device, tmp_path, monkeypatch):
    monkeypatch.setenv("INFINITRAIN_CACHE", str(tmp_path / "cache"))
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be, that is the question. " * 100)
    launched = set()
    submit = dispatch._submit

    def spy(kernel, where, *rest, **named):
        if str(where).startswith(device.partition(":")[0]):
            launched.add(kernel.row.name)
        return submit(kernel, where, *rest, **named)

    monkeypatch.setattr(dispatch, "_submit", spy)
    options = ["--steps=2", "--accumulate=2", "--dropout=0.1", "--batch-size=2", "--seq-len=8", "--sample-tokens=2"]
    assert main(["gpt2-tiny", "--device", device, "--data", str(text), "--out", str(tmp_path / "run"), *options]) == 0
    listed = {*TRAINING_KERNELS, *DROPOUT_KERNELS}

    assert listed - launched == set()
    assert launched - listed - {"UniformForward"} == set()  # the sample's draws are made on the host
