from __future__ import annotations

import gc

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import AutogradError
from infinitrain.nn import Linear, Module, Sequential


class Double(Module):
    def forward(self, x, times=2.0):
        return x * times


def test_forward_hooks_see_and_replace(device):
    module = Double()
    calls = []
    module.register_forward_pre_hook(lambda m, args: calls.append(("pre", args[0].tolist())))
    module.register_forward_pre_hook(lambda m, args: args[0] + 1.0)
    module.register_forward_hook(lambda m, args, out: calls.append(("post", out.tolist())))
    module.register_forward_hook(lambda m, args, out: out * 10.0)

    assert module(it.tensor([1.0], device=device)).tolist() == [40.0]
    assert calls == [("pre", [1.0]), ("post", [4.0])]


def test_hooks_run_once_for_each_call_and_stop_when_removed():
    module = Double()
    counts = {"a": 0, "b": 0}

    def count(name):
        def hook(m, args, out):
            counts[name] += 1

        return hook

    handle = module.register_forward_hook(count("a"))
    module.register_forward_hook(count("b"))
    module(it.ones(1))
    handle.remove()
    handle.remove()
    module(it.ones(1))

    assert counts == {"a": 1, "b": 2}


def test_keyword_arguments_reach_forward():
    module = Double()
    module.register_forward_pre_hook(lambda m, args: None)

    assert module(it.ones(1), times=3.0).tolist() == [3.0]


def test_handle_is_harmless_when_the_module_is_gone():
    module = Double()
    handle = module.register_forward_hook(lambda m, args, out: None)
    del module
    gc.collect()
    handle.remove()


def test_backward_hook_sees_gradients_of_inputs_and_outputs(device):
    layer = Linear(2, 1, bias=False, device=device)
    with it.no_grad():
        layer.weight.copy_(it.tensor([[2.0, 3.0]], device=device))
    seen = []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0].tolist(), go[0].tolist())))
    x = it.tensor([[1.0, 1.0]], device=device, requires_grad=True)
    (layer(x) * 5.0).sum().backward()

    assert seen == [([[10.0, 15.0]], [[5.0]])]
    assert x.grad.tolist() == [[10.0, 15.0]]
    assert layer.weight.grad.tolist() == [[5.0, 5.0]]


def test_backward_hook_replaces_the_inputs_gradient():
    module = Double()
    module.register_full_backward_hook(lambda m, gi, go: (gi[0] * 100.0,))
    x = it.ones(2, requires_grad=True)
    module(x).sum().backward()

    assert x.grad.tolist() == [200.0, 200.0]


def test_backward_hook_runs_where_no_input_requires_grad():
    layer = Linear(1, 1)
    seen = []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].tolist())))
    layer(it.ones(1, 1)).sum().backward()

    assert seen == [((None,), [[1.0]])]


def test_backward_hook_changes_no_gradient_and_counts_calls():
    model = Sequential(Linear(3, 3), Linear(3, 2))
    x = it.tensor(np.arange(6, dtype="f4").reshape(2, 3))
    model(x).sum().backward()
    expected = [parameter.grad.numpy().copy() for parameter in model.parameters()]
    model.zero_grad()
    calls = []
    handles = [module.register_full_backward_hook(lambda m, gi, go: calls.append(m)) for module in model]
    model(x).sum().backward()

    assert calls == [model[1], model[0]]
    for parameter, value in zip(model.parameters(), expected, strict=True):
        np.testing.assert_array_equal(parameter.grad.numpy(), value)
    for handle in handles:
        handle.remove()
    model(x).sum().backward()
    assert len(calls) == 2


def test_backward_hook_with_a_wrong_count_is_named():
    module = Double()
    module.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    x = it.ones(1, requires_grad=True)

    with pytest.raises(AutogradError, match="backward hook of Double: expected 1 gradients of inputs, found 2"):
        module(x).sum().backward()


def test_no_graph_under_no_grad():
    layer = Linear(1, 1)
    layer.register_full_backward_hook(lambda m, gi, go: None)
    with it.no_grad():
        assert not layer(it.ones(1, 1)).requires_grad
