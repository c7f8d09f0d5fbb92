"""A replayed program gives what the function gives when Python runs it, to the last bit, or says why it cannot."""

from __future__ import annotations

import re
import threading

import infinitrain as it
import numpy as np
import pytest
from infinitrain import dispatch, nn
from infinitrain.errors import AutogradError, CaptureError, IndexOutOfRange
from infinitrain.models.gpt2 import GPT2, GPT2Config
from infinitrain.nn import functional as F
from infinitrain.nn.utils import clip_coefficient
from infinitrain.optim import SGD, AdamW


def unchanged(function):
    return function


def host(tensor):
    return np.asarray(tensor.detach().cpu().numpy())


def run_gpt2(device, wrap, *, dropout, calls=8):
    it.manual_seed(7)
    config = GPT2Config(vocab_size=61, block_size=16, n_layer=2, n_head=2, n_embd=16, dropout=dropout)
    model = GPT2(config).to(device)
    optimizer = AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)

    @wrap
    def step(tokens, targets):
        optimizer.zero_grad()
        loss = model(tokens, targets)[1]
        loss.backward()
        norm, factor = clip_coefficient(model.parameters(), 1.0)
        optimizer.step(grad_scale=factor)
        return {"loss": loss, "norm": norm}

    random = np.random.default_rng(3)
    seen = []
    for call in range(calls):
        optimizer.param_groups[0]["lr"] = 1e-3 * (call + 1)
        tokens, targets = (it.tensor(random.integers(0, 61, (2, 16)), device=device) for _ in range(2))
        seen.append(step(tokens, targets))
    numbers = [(result["loss"].item(), result["norm"].item()) for result in seen]
    grads = [host(parameter.grad) for parameter in model.parameters()]
    state = it.get_rng_state()
    return numbers, [host(parameter) for parameter in model.parameters()], grads, state, step


@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_training_step_has_the_bits_of_the_eager_one(device, dropout):
    eager, replayed = (run_gpt2(device, wrap, dropout=dropout) for wrap in (unchanged, it.compile))

    assert replayed[0] == eager[0]
    for mine, theirs in zip(replayed[1] + replayed[2], eager[1] + eager[2], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert replayed[3] == eager[3]
    step = replayed[4]
    assert (step.recordings, step.replays, len(step.programs)) == (3, 5, 1)


@pytest.mark.parametrize("settings", [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}])
def test_sgd_step_has_the_bits_of_the_eager_one(device, settings):
    def run(wrap):
        weight = nn.Parameter(it.tensor([1.0, -2.0, 3.0], device=device))
        optimizer = SGD([weight], lr=0.1, **settings)

        @wrap
        def step(x):
            optimizer.zero_grad()
            ((weight * x - 1.0) ** 2).sum().backward()
            optimizer.step()

        for call in range(7):
            optimizer.param_groups[0]["lr"] = 0.1 / (call + 1)
            step(it.tensor([1.0, 2.0, call], device=device))
        return host(weight)

    np.testing.assert_array_equal(run(it.compile), run(unchanged))


def test_gradients_that_are_there_before_are_added_to(device):
    def run(wrap):
        weight = nn.Parameter(it.tensor([1.0, 2.0], device=device))

        @wrap
        def add(x):
            (weight * x).sum().backward()

        seen = []
        for call in range(12):
            if call % 6 == 0:
                weight.grad = None
            add(it.tensor([1.0, call], device=device))
            seen.append(host(weight.grad).copy())
        return np.array(seen), add

    replayed, add = run(it.compile)

    np.testing.assert_array_equal(replayed, run(unchanged)[0])
    assert add.replays > 0


def test_gradients_that_a_kernel_adds_to_are_taken_as_given(device):
    def run(wrap):
        it.manual_seed(0)
        layer = nn.Linear(3, 2).to(device)

        @wrap
        def add(x):
            layer(x).sum().backward()

        seen = []
        for call in range(12):
            if call == 6:
                layer.zero_grad()
            add(it.full((1, 3), call + 1.0, device=device))
            seen.append(host(layer.weight.grad).copy())
        return np.array(seen)

    np.testing.assert_array_equal(run(it.compile), run(unchanged))


def test_results_are_the_callers_own(device):
    @it.compile
    def double(x):
        return x * 2

    given = [double(it.tensor([float(call)], device=device)) for call in range(6)]

    assert [result.item() for result in given] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_another_shape_dtype_or_constant_makes_another_program(device):
    @it.compile
    def scaled(x, factor):
        return x * factor

    for factor in (2.0, 3.0):
        for shape in ((2,), (3, 2)):
            for dtype in (it.float32, it.float64):
                for call in range(4):
                    x = it.full(shape, call + 1.0, dtype=dtype, device=device)
                    assert scaled(x, factor).dtype is dtype
                    np.testing.assert_array_equal(host(scaled(x, factor)), host(x) * factor)
    assert len(scaled.programs) == 8


def test_mode_of_a_module_is_taken_as_given(device):
    dropout = nn.Dropout(0.5)
    step = it.compile(lambda x: dropout(x))
    x = it.ones(64, device=device)

    for _ in range(2):
        dropout.train()
        for _ in range(4):
            assert 0 < (host(step(x)) == 0).sum() < 64
        dropout.eval()
        for _ in range(4):
            np.testing.assert_array_equal(host(step(x)), np.ones(64))


def test_grad_mode_is_taken_as_given(device):
    weight = nn.Parameter(it.ones(3, device=device))

    @it.compile
    def step(x):
        y = (weight * x).sum()
        if y.requires_grad:
            y.backward()
        return y

    x = it.ones(3, device=device)
    with it.no_grad():
        for _ in range(4):
            step(x)
    assert weight.grad is None
    for _ in range(4):
        step(x)
    np.testing.assert_array_equal(host(weight.grad), [4.0, 4.0, 4.0])


def test_parameters_in_other_memory_are_recorded_anew(device):
    layer = nn.Linear(3, 2).to(device)
    step = it.compile(lambda x: layer(x))
    x = it.ones(1, 3, device=device)
    for _ in range(4):
        step(x)

    layer.weight = nn.Parameter(it.full((2, 3), 5.0, device=device))
    layer.bias = nn.Parameter(it.zeros(2, device=device))

    for _ in range(4):
        np.testing.assert_array_equal(host(step(x)), [[15.0, 15.0]])


def test_optimizer_state_that_was_loaded_is_used(device):
    def run(wrap):
        weight = nn.Parameter(it.tensor([1.0, 2.0], device=device))
        optimizer = AdamW([weight], lr=0.1)

        @wrap
        def step():
            optimizer.zero_grad()
            (weight * weight).sum().backward()
            optimizer.step()

        for _ in range(5):
            step()
        optimizer.load_state_dict(optimizer.state_dict())
        for _ in range(5):
            step()
        optimizer.param_groups[0]["weight_decay"] = 0.5
        for _ in range(5):
            step()
        return host(weight), optimizer.state_dict()["state"][0]["step"]

    replayed, eager = run(it.compile), run(unchanged)

    np.testing.assert_array_equal(replayed[0], eager[0])
    assert replayed[1] == eager[1] == 15


def test_random_numbers_go_on_where_eager_ones_would(device):
    def run(wrap):
        it.manual_seed(5)

        @wrap
        def draw():
            return it.rand(5, device=device), it.randn(3, device=device)

        seen = []
        for call in range(6):
            seen += [host(each) for each in draw()]
            if call == 3:
                seen.append(host(it.rand(2, device=device)))
                it.manual_seed(11)
        return np.concatenate(seen), it.get_rng_state()

    replayed, eager = run(it.compile), run(unchanged)

    np.testing.assert_array_equal(replayed[0], eager[0])
    assert replayed[1] == eager[1]


def test_constant_that_is_overwritten_begins_anew_in_each_call(device):
    @it.compile
    def count(x):
        total = it.tensor([10.0, 20.0], device=device)
        total.add_(x)
        return total

    for _ in range(6):
        np.testing.assert_array_equal(host(count(it.ones(2, device=device))), [11.0, 21.0])


def test_views_and_writes_through_them_are_replayed(device):
    def function(x):
        y = x.clone()
        y[1:3].mul_(10.0)
        y.reshape(2, 3).T[0].add_(1.0)
        return y.reshape(3, 2)

    compiled = it.compile(function)
    for call in range(6):
        x = it.arange(6, device=device).to(it.float32) + call
        np.testing.assert_array_equal(host(compiled(x)), host(function(x)))


def test_tensor_kept_outside_is_written_by_each_call(device):
    kept = it.zeros(2, device=device)

    @it.compile
    def add(x):
        kept.add_(x)

    for _ in range(7):
        add(it.ones(2, device=device))

    np.testing.assert_array_equal(host(kept), [7.0, 7.0])


def test_write_by_a_replay_is_noticed_by_a_backward_elsewhere(device):
    kept = it.ones(2, device=device)
    weight = it.ones(2, device=device, requires_grad=True)
    add = it.compile(lambda: kept.add_(1.0).shape)
    for _ in range(4):
        add()
    product = (weight * kept).sum()

    add()

    assert add.replays == 3
    with pytest.raises(AutogradError, match="in place"):
        product.backward()


def test_replay_runs_no_python_launch(device, monkeypatch):
    kept = it.zeros(4, device=device)

    @it.compile
    def step():
        for _ in range(10):
            kept.add_(1.0)

    for _ in range(3):
        step()
    monkeypatch.setattr(dispatch, "_submit", lambda *_: pytest.fail("Python launched a kernel"))
    before = it.memory_stats(device)["allocations"]

    step()

    assert it.memory_stats(device)["allocations"] == before
    np.testing.assert_array_equal(host(kept), np.full(4, 40.0))


def test_launches_that_nobody_needs_are_dropped(device):
    @it.compile
    def function(x):
        (x.exp() + 1.0).sum()
        return x * 2.0

    for _ in range(3):
        function(it.ones(3, device=device))

    explained = function.explain()
    assert explained.dropped == 3
    assert [step.kernel for step in explained.launches] == ["MulScalar"]
    assert "MulScalar" in str(explained)


def test_memory_is_planned_and_given_back(device):
    before = it.memory_allocated(device)

    @it.compile
    def chain(x):
        for _ in range(20):
            x = x + 1.0
        return x.sum()

    x = it.zeros(1 << 16, device=device)
    for _ in range(4):
        chain(x)
    explained = chain.explain()
    # Two of the twenty results are alive at once.
    assert explained.lower_bound <= explained.arena <= 3 * (1 << 18)
    settled = it.memory_allocated(device)
    for _ in range(20):
        assert chain(x).item() == 20 << 16
    assert it.memory_allocated(device) == settled

    del chain, x

    assert it.memory_allocated(device) == before


def test_bad_index_in_a_replay_is_the_same_error(device):
    table = it.ones(4, 2, device=device)
    look = it.compile(lambda index: F.embedding(index, table))
    for _ in range(3):
        look(it.tensor([0, 3], device=device))

    with pytest.raises(IndexOutOfRange, match="4"):
        look(it.tensor([1, 4], device=device)).cpu()

    np.testing.assert_array_equal(host(look(it.tensor([2, 1], device=device))), np.ones((2, 2)))


def test_compiled_function_inside_another_is_part_of_it(device):
    inner = it.compile(lambda x: x + 1.0)
    outer = it.compile(lambda x: inner(x) * 2.0)

    for call in range(5):
        assert outer(it.tensor([float(call)], device=device)).item() == 2.0 * (call + 1)
    assert inner.recordings == 0
    assert outer.replays == 3


def test_error_of_the_function_leaves_it_usable(device):
    weight = it.ones(2, device=device)
    failing = True

    @it.compile
    def function(x):
        if failing:
            raise KeyError("mine")
        return x * weight

    with pytest.raises(KeyError, match="mine"):
        function(it.ones(2, device=device))
    failing = False
    for _ in range(4):
        np.testing.assert_array_equal(host(function(it.ones(2, device=device))), [1.0, 1.0])


def test_other_threads_are_not_recorded_and_may_replay(device):
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            it.ones(3, device=device) * 2.0

    @it.compile
    def function(x):
        for _ in range(50):
            x = x + 1.0
        return x

    noise = threading.Thread(target=disturb)
    noise.start()
    try:
        for call in range(5):
            assert function(it.tensor([float(call)], device=device)).item() == call + 50.0
    finally:
        stop.set()
        noise.join()
    assert len(function.explain().launches) == 50
    assert {step.kernel for step in function.explain().launches} == {"AddScalar"}


def call_often(function, *args):
    for _ in range(20):
        function(*args)


# ---- what cannot be repeated is refused, at its line ----


def here(text):
    """Match an error that names this file and a line."""
    return rf"{re.escape(__file__)}:\d+: .*{text}"


@pytest.mark.parametrize(
    "look", [lambda x: x.sum().item(), lambda x: bool(x[0] > 0), lambda x: x.tolist(), lambda x: x.cpu().numpy()]
)
def test_looking_at_a_value_is_refused(device, look):
    function = it.compile(look)

    with pytest.raises(CaptureError, match=here("inside a compiled function")):
        function(it.ones(2, device=device))

    assert it.ones(2, device=device).sum().item() == 2.0


def test_work_on_a_second_device_is_refused():
    function = it.compile(lambda x: x.to("fake:1"))

    with pytest.raises(CaptureError, match=here("a copy from cpu:0 to fake:1")):
        function(it.ones(2, device="cpu"))


def test_writing_to_an_argument_is_refused(device):
    function = it.compile(lambda x: x.add_(1.0))

    with pytest.raises(CaptureError, match=here("writes in place to its argument 0")):
        function(it.ones(2, device=device))


def test_argument_that_requires_grad_is_refused(device):
    function = it.compile(lambda x: (x * 2).sum())

    with pytest.raises(CaptureError, match="argument 0 requires grad"):
        function(it.ones(2, device=device, requires_grad=True))


def test_result_that_is_no_tensor_is_refused(device):
    function = it.compile(lambda x: {1, 2})

    with pytest.raises(CaptureError, match="gave back a set"):
        function(it.ones(2, device=device))


def test_argument_that_cannot_be_compared_is_refused(device):
    function = it.compile(lambda x, names: x)

    with pytest.raises(CaptureError, match="can be hashed"):
        function(it.ones(2, device=device), {"a", "b"})


def test_function_that_differs_from_call_to_call_is_refused(device):
    calls = iter(range(100))
    function = it.compile(lambda x: x * float(next(calls)))

    with pytest.raises(CaptureError, match=r"found another in each .* value=.*Give what changes as a tensor argument"):
        call_often(function, it.ones(2, device=device))


def test_host_data_that_differs_from_call_to_call_is_refused(device):
    calls = iter(range(100))
    function = it.compile(lambda x: x * it.tensor([float(next(calls))] * 2, device=device))

    with pytest.raises(CaptureError, match="bytes from the host"):
        call_often(function, it.ones(2, device=device))


def test_two_step_counts_in_one_optimizer_are_refused(device):
    first, second = (nn.Parameter(it.ones(2, device=device)) for _ in range(2))
    optimizer = AdamW([first, second], lr=0.1)
    first.grad = it.ones(2, device=device)
    optimizer.step()

    @it.compile
    def step():
        optimizer.zero_grad()
        (first * second).sum().backward()
        optimizer.step()

    with pytest.raises(CaptureError, match="'step' is 2 and then 1"):
        step()


def test_explaining_needs_a_program(device):
    function = it.compile(lambda x: x + 1.0)

    with pytest.raises(CaptureError, match="expected a program, found none: 0 calls"):
        function.explain()
