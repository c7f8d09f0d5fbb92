"""INFINITRAIN_VALIDATE=1 names the rule that a provider, or a program, breaks, and is silent where none is broken."""

from __future__ import annotations

import pytest

USE = """
import sys, infinitrain as it
from infinitrain._native import ffi, lib
from infinitrain.dispatch import launch
from infinitrain.strided import Strided
if sys.argv[1]: it.load_provider(sys.argv[1])
try:
    device = it.Device(sys.argv[2])
    x, y = (Strided._empty((4,), it.float32, device) for _ in range(2))
    launch('Copy', (x,), (y,))
    stream = it.current_stream(device)
    {then}
    it.synchronize(device)
except it.errors.InfinitrainError as e: print(type(e).__name__, e)
else: print('nothing')
import os
sys.stdout.flush()
os._exit(0)  # what a wrong provider does at its end is not the question
"""
COUNT = "lib.it_device_count(device.provider.native, ffi.new('int32_t *'))"
NATIVE = "lib.it_stream_native(stream.native, ffi.new('void **'))"
REPLAY = "lib.it_replay(stream.native, ffi.NULL, ffi.NULL, 0, ffi.new('uint64_t *'))"
#: The rule, what the provider does wrong, and the call that shows it.
WRONG = [
    ("ITP-ERR-03", "RECORD", "pass"),
    ("ITP-ERR-04", "CODE", "pass"),
    ("ITP-ERR-08", "ROOM", "pass"),
    ("ITP-ERR-10", "NATIVE", "stream.synchronize()"),
    ("ITP-RT-02", "INFO", "pass"),
    ("ITP-RT-08", "COUNT", f"device.provider.check({COUNT}, '')"),
    ("ITP-RT-11", "ALIGN", "pass"),
    ("ITP-RT-11", "OVERLAP", "more = Strided._empty((1 << 10,), it.float32, device)"),
    ("ITP-RT-16", "FREE", "it.mem_info(device)"),
    ("ITP-GD-07", "", "a, b = it.Stream(device), it.Stream(device)"),
    ("ITP-GD-14", "HANDLE", f"[device.provider.check({NATIVE}, '') for _ in range(2)]"),
    ("ITP-KN-07", "LAUNCH", "pass"),
    ("ITP-KN-24", "DONE", f"device.provider.check({REPLAY}, '')"),
]


@pytest.mark.parametrize(("rule", "wrong", "then"), WRONG)
def test_each_wrong_provider_is_named_with_its_rule(build, run, rule, wrong, then):
    library = build(f"libitp_wrong{wrong.lower()}.so", *([f"WRONG_{wrong}"] if wrong else []))
    text = run(USE.format(then=then), library, "acme", INFINITRAIN_VALIDATE=1)

    assert f"[INTERNAL] {rule}: " in text


def test_a_wrong_current_device_is_found(run):
    pytest.importorskip("infinitrain_fake", reason="needs a device that leaves another current")
    text = run(USE.format(then="pass"), "", "fake", INFINITRAIN_VALIDATE=1, INFINITRAIN_FAKE_WRONG_DEVICE=1)

    assert "[INTERNAL] ITP-GD-01: the thread's native current device was 0 and is 1" in text


def test_without_the_variable_nothing_stands_between(build, run):
    library = build("libitp_wronglaunch.so", "WRONG_LAUNCH")

    assert run(USE.format(then="pass"), library, "acme").strip() == "nothing"


#: What a program does wrong on two streams, and with memory.
MISUSE = {
    "ITP-GD-13: writes": "it.synchronize(device)\n    launch('Copy', (x,), (y,))\n    other = it.Stream(device)\n"
    "    with other: launch('Fill', (), (y,), value=1.0)",
    "ITP-GD-13: reads": "z = Strided._empty((4,), it.float32, device)\n    other = it.Stream(device)\n"
    "    it.synchronize(device)\n    launch('Copy', (x,), (y,))\n"
    "    with other: launch('Copy', (y,), (z,))",
    "ITP-RT-14: [0x1000, ": "y.desc.tensor.data = ffi.cast('void *', 4096)\n    launch('Copy', (x,), (y,))",
    "ITP-RT-01: a tensor of device 1": "x.desc.tensor.device_id = 1\n    launch('Copy', (x,), (y,))",
}


@pytest.mark.parametrize("words", MISUSE)
def test_a_program_that_breaks_the_order_or_uses_what_is_gone(run, words):
    pytest.importorskip("infinitrain_fake", reason="needs a device with streams")
    text = run(USE.format(then=MISUSE[words]), "", "fake", INFINITRAIN_VALIDATE=1)

    assert f"[INVALID_ARGUMENT] {words}" in text


RIGHT = """
import sys, infinitrain as it
from infinitrain import nn, optim
device = it.Device(sys.argv[1])
it.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 1)).to(device)
optimizer = optim.AdamW(model.parameters(), lr=0.01)
x = it.randn(32, 8, device=device)
def step(x):
    optimizer.zero_grad()
    loss = (model(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss
program = it.compile(step)
losses = [program(x).item() for _ in range(20)]
assert losses[-1] < losses[0] / 2, losses
other, event = it.Stream(device), it.Event(device)
event.record()
other.wait_event(event)
with other: y = x * 2
it.current_stream(device).wait_stream(other)
z = y + x
assert abs(float((z - 3 * x).abs().sum().item())) == 0
del x, y, z
it.empty_cache()
w = it.ones(1 << 20, device=device).sum().item()
print(w, it.from_numpy(__import__('numpy').ones(3, dtype='float32')).to(device).tolist())
"""


@pytest.mark.parametrize("device", ["cpu", "fake:1"])
def test_a_right_program_on_a_right_provider_is_left_alone(run, device):
    assert run(RIGHT, device, INFINITRAIN_VALIDATE=1).split()[0] == "1048576.0"
