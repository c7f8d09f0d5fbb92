"""Recomputed activations: the same gradients to the last bit, with less memory."""

from __future__ import annotations

import infinitrain as it
import numpy as np
import pytest
from infinitrain import nn
from infinitrain.errors import AutogradError
from infinitrain.nn import functional as F
from infinitrain.utils.checkpoint import checkpoint


def plain(function, *args, **kwargs):
    return function(*args, **kwargs)


def network(device, p=0.0):
    it.manual_seed(4)
    return nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Dropout(p), nn.Linear(32, 8), nn.LayerNorm(8)).to(device)


def gradients(device, call, p=0.0, blocks=3):
    model = [network(device, p) for _ in range(blocks)]
    it.manual_seed(9)
    x = it.randn(4, 8, device=device, requires_grad=True)
    y = x
    for block in model:
        y = call(block, y)
    (y * y).sum().backward()
    after = it.get_rng_state()
    found = [x.grad, *[parameter.grad for block in model for parameter in block.parameters()]]
    return [each.cpu().numpy() for each in found], after


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_bc037_gradients_and_random_numbers_are_those_without_it(device, p):
    (plain_grads, plain_state), (grads, state) = (gradients(device, call, p) for call in (plain, checkpoint))

    for mine, theirs in zip(grads, plain_grads, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert state == plain_state


def test_nested_calls_give_the_same(device):
    def nested(block, x):
        return checkpoint(lambda value: checkpoint(block, value) * 1.0, x)

    for mine, theirs in zip(gradients(device, nested, 0.5)[0], gradients(device, plain, 0.5)[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_activations_are_not_kept(device):
    def held(call):
        x = it.ones(256, 256, device=device, requires_grad=True)

        def work(value):
            for _ in range(8):
                value = F.silu(value)
            return value

        before = it.memory_allocated(device)
        y = call(work, x)
        return it.memory_allocated(device) - before, y

    with_saved, without = held(plain)[0], held(checkpoint)[0]

    assert without == 256 * 256 * 4  # the result alone
    assert with_saved >= 8 * without


def test_keyword_arguments_and_several_results_pass(device):
    x = it.ones(3, device=device, requires_grad=True)

    first, second = checkpoint(lambda a, *, factor: (a * factor, a.exp()), x, factor=2.0)
    (first.sum() + second.sum()).backward()

    np.testing.assert_allclose(x.grad.cpu().numpy(), 2.0 + np.exp(np.ones(3)), rtol=1e-6)


def test_nothing_is_repeated_without_gradients(device):
    calls = []

    def work(x):
        calls.append(1)
        return x * x

    with it.no_grad():
        checkpoint(work, it.ones(2, device=device))
    x = it.ones(2, device=device, requires_grad=True)
    checkpoint(work, x, preserve_rng_state=False).sum().backward()

    assert len(calls) == 3
    np.testing.assert_array_equal(x.grad.cpu().numpy(), [2.0, 2.0])


def test_function_that_does_something_else_the_second_time_is_refused(device):
    calls = []

    def work(x):
        calls.append(1)
        return x * x * x if len(calls) == 1 else x * x

    y = checkpoint(work, it.ones(2, device=device, requires_grad=True)).sum()

    with pytest.raises(AutogradError, match="does the same when it is run again, found 4 saved tensors at first and 2"):
        y.backward()


def test_replayed_step_recomputes_as_the_eager_one(device):
    def run(wrap):
        block = network(device, 0.3)
        it.manual_seed(1)

        @wrap
        def step(x):
            for parameter in block.parameters():
                parameter.grad = None
            checkpoint(block, x * 1.0).sum().backward()

        for call in range(6):
            step(it.full((4, 8), call + 1.0, device=device))
        return [parameter.grad.cpu().numpy() for parameter in block.parameters()], it.get_rng_state()

    replayed, eager = run(it.compile), run(lambda function: function)

    for mine, theirs in zip(replayed[0], eager[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert replayed[1] == eager[1]
