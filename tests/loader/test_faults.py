"""What goes wrong in a device comes out as a typed error that says where, and leaves nothing broken behind.

The fake fails on demand: by option, or while it runs by its table "fake.faults". Each case has a process of its own.
"""

from __future__ import annotations

import pytest

pytest.importorskip("infinitrain_fake", reason="needs a device that fails on demand")

HEAD = """
import time, infinitrain as it
from infinitrain._native import ffi, lib
device = it.Device('fake:0')


def fault(**options):
    provider = device.provider
    other = ffi.new('char[]', b'fake.faults')
    raw = provider.native.info.get_extension(provider.native.self, other, 1)
    set_option = ffi.cast('itp_status (*(*)[2])(void *, const char *, const char *, itp_error *)', raw)[0][1]
    for name, value in options.items():
        words = [ffi.new('char[]', str(each).encode()) for each in (name, value)]
        assert set_option(provider.native.self, *words, ffi.NULL) == 0, name


def idle():
    # Nothing is left: the allocator counts no byte, and the device has all its memory again.
    it.synchronize(device)
    it.empty_cache()
    assert it.memory_allocated(device) == 0, it.memory_allocated(device)
    free, total = it.mem_info(device)
    assert free == total, (free, total)


def works():
    assert (it.ones(3, device=device) * 2).tolist() == [2.0, 2.0, 2.0]


x = it.ones(2, 3, device=device)
it.synchronize(device)
"""


def test_one_refused_allocation_is_tried_again_with_empty_caches(run):
    run(HEAD + "fault(fail_alloc_at=1); y = it.ones(1 << 20, device=device); assert y.sum().item() == 1 << 20\n")


def test_memory_that_runs_out_is_named_and_comes_back(run):
    code = """
try: y = it.ones(1 << 22, device=device)
except it.errors.OutOfMemory as e:
    assert isinstance(e, MemoryError)
    assert e.requested == 1 << 24 and e.total == 16 << 20 and e.free < e.total, vars(e)
    print(e)
works(); del x; idle()
"""
    assert "out of memory on fake:0: asked for 16,777,216 bytes" in run(HEAD + code, INFINITRAIN_FAKE_MEMORY_MB=16)


def test_a_launch_that_fails_now_names_itself(run):
    code = """
fault(fail_launch_at=2)
y = x + x
try: z = y * y
except it.errors.DeviceError as e: print(e)
works(); del x, y; idle()
"""
    text = run(HEAD + code)

    assert "[MulForward][INTERNAL]" in text
    assert "was MulForward: float32(2, 3), float32(2, 3) -> float32(2, 3)" in text


LATER = """
fault(fail_launch_at=2, fail_launch_async=1)
fault(fail_launch_at=2)
y = x + x
z = y * y  # line
try: z.tolist()
except it.errors.AsyncError as e:
    assert e.tag > 0
    print(e)
works(); del x, y, z; idle()
"""


def test_a_launch_that_fails_later_is_traced_to_its_line(run):
    line = (HEAD + LATER).splitlines().index("z = y * y  # line") + 1
    text = run(HEAD + LATER, INFINITRAIN_DEBUG_ASYNC=1)

    assert "was MulForward: float32(2, 3), float32(2, 3) -> float32(2, 3)" in text
    assert f"at <string>:{line}." in text
    assert "undefined" in text


def test_without_the_variable_it_says_how_to_find_out(run):
    text = run(HEAD + LATER)

    assert "in launch " in text
    assert "INFINITRAIN_DEBUG_ASYNC=1 names its kernel, shapes and line" in text


@pytest.mark.parametrize("later", [0, 1])
def test_a_launch_of_a_replayed_program_is_traced_without_it(run, later):
    code = f"""
def double(a):
    b = a + a
    return b * b  # line
program = it.compile(double)
for _ in range(3): program(x).tolist()
fault(fail_launch_async={later})
fault(fail_launch_at=3)  # after the copy of the argument and the sum
try: program(x).tolist()
except it.errors.DeviceError as e: print(e)
assert program(x).tolist() == [[4.0] * 3] * 2
"""
    line = (HEAD + code).splitlines().index("    return b * b  # line") + 1
    text = run(HEAD + code)

    assert "MulForward: float32(2, 3), float32(2, 3) -> float32(2, 3)" in text
    assert f"recorded at <string>:{line}" in text


def test_a_lost_device_stays_lost_and_the_process_goes_on(run):
    code = """
other = it.ones(3, device='fake:1')
fault(lose_device_after=2)
for _ in range(3):
    try:
        for _ in range(5): y = x + x
        it.synchronize(device)
    except it.errors.DeviceLost as e: print('lost', e)
fault(lose_device_after=-1)
assert (other * 3).tolist() == [3.0] * 3
assert it.tensor([1.0]).sum().item() == 1.0
"""
    assert run(HEAD + code).count("lost [") == 3


def test_slow_streams_and_copies_change_no_value(run):
    code = """
expected = (x @ it.ones(3, 4, device=device)).tolist()
fault(delay_us=3000, copy_delay_us=50000)
begin = time.perf_counter()
a = it.ones(2, 3, device=device)
other = it.Stream(device)
other.wait_stream(it.current_stream(device))
with other:
    b = a @ it.ones(3, 4, device=device)
it.current_stream(device).wait_stream(other)
assert b.tolist() == expected
assert time.perf_counter() - begin > 0.05, 'copies are not slow'
"""
    run(HEAD + code)


def test_a_refused_start_is_an_error_and_others_work(run):
    code = """
import infinitrain as it
it.configure('fake', fail_init=1)
for _ in range(2):
    try: it.ones(3, device='fake')
    except it.errors.ProviderUnavailable as e: print(e)
assert it.ones(3).tolist() == [1.0] * 3
"""
    assert run(code).count("init fails, as option fail_init wants") == 2


def test_nothing_depends_on_the_native_current_device(run):
    code = """
fault(wrong_device=1)
y, z = x + x, it.ones(2, 3, device='fake:1') * 4
assert y.tolist() == [[2.0] * 3] * 2 and z.to(device).tolist() == z.tolist() == [[4.0] * 3] * 2
"""
    run(HEAD + code)


@pytest.mark.parametrize(
    ("slot", "use"),
    [
        ("alloc", "it.ones(1 << 20, device=device)"),
        ("stream_create", "it.Stream(device)"),
        ("event_create", "it.Event(device)"),
    ],
)
def test_ok_with_a_null_is_the_providers_mistake(run, slot, use):
    code = f"""
fault(null_outputs=1)
try: {use}
except it.errors.DeviceError as e: print(e)
fault(null_outputs=0)
{use}
works()
"""
    assert f"[{slot}][INTERNAL] the provider said OK and gave NULL" in run(HEAD + code)


STEP = """
from infinitrain import nn, optim
it.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)).to(device)
optimizer = getattr(optim, KIND)(model.parameters(), lr=0.1)


def gradients():
    optimizer.zero_grad()
    model(x).sum().backward()


def values():
    return [p.tolist() for p in model.parameters()]


gradients(); optimizer.step(); gradients()
saved = [{name: it.tensor(t.tolist(), device=device) for name, t in model.state_dict().items()}]
state = optimizer.state_dict()
kept = {'param_groups': state['param_groups'], 'state': {n: {k: it.tensor(v.tolist(), device=device)
        if hasattr(v, 'tolist') else v for k, v in s.items()} for n, s in state['state'].items()}}
before = values()
"""


def test_a_step_that_fails_at_its_first_launch_changes_nothing_and_is_repeated(run):
    code = f"""
KIND = 'AdamW'
{STEP}
optimizer.step(); expected = values()
model.load_state_dict(saved[0]); optimizer.load_state_dict(kept); gradients()
it.synchronize(device)
fault(fail_launch_at=1)
try: optimizer.step()
except it.errors.DeviceError as e: print(e)
assert values() == before
optimizer.step()
assert values() == expected
"""
    assert "AdamAccumulateGrad" in run(HEAD + code)


@pytest.mark.parametrize("kind", ["AdamW", "SGD"])
def test_a_step_that_fails_half_way_asks_for_a_checkpoint_and_goes_on_from_it(run, kind):
    code = f"""
KIND = {kind!r}
{STEP}
optimizer.step(); expected = values()
model.load_state_dict(saved[0]); optimizer.load_state_dict(kept); gradients()
it.synchronize(device)
fault(fail_launch_at=3)
try: optimizer.step()
except it.errors.DeviceError as e: print(e)
try: optimizer.step()
except it.errors.UndefinedState as e: print(e)
model.load_state_dict(saved[0]); optimizer.load_state_dict(kept); gradients()
assert values() == before
optimizer.step()
assert values() == expected
"""
    text = run(HEAD + code)

    assert f"{kind}: a step failed after 2 of its parameters were updated: load a checkpoint before the next" in text
    assert f"{kind}: a step failed after 2 of its parameters were updated: expected a checkpoint" in text


TRAIN = (
    HEAD
    + """
import sys
from infinitrain.cli.main import main
from infinitrain.train.trainer import Trainer
queue = Trainer._queue
def queue_and_fail(self, step):
    if step == int(sys.argv[1]): fault(lose_device_after=20)
    return queue(self, step)
Trainer._queue = queue_and_fail
sys.exit(main(sys.argv[2:]))
"""
)


@pytest.mark.parametrize(("at", "words"), [(3, "The last checkpoint is"), (0, "There is no checkpoint yet")])
def test_a_trainer_that_loses_its_device_names_step_and_checkpoint(run, tmp_path, at, words):
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be, that is the question. " * 100)
    options = ["train", "gpt2-tiny", "--device", "fake:0", "--data", text, "--out", tmp_path / "run", "--steps", 8]
    options += ["--batch-size", 2, "--seq-len", 8, "--checkpoint-every", 2, "--eval-every", 0]
    said = run(TRAIN, at, *options, expect=2, INFINITRAIN_CACHE=tmp_path / "cache")

    assert f"training stopped in step {at + 1} on fake:0: [" in said or f"training stopped in steps {at}" in said, said
    assert "is lost" in said
    assert words in said
    if at:
        resumed = [*options, "--resume"]
        run("import sys; from infinitrain.cli.main import main; sys.exit(main(sys.argv[1:]))", *resumed)
