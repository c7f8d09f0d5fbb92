from __future__ import annotations

import copy

import infinitrain as it
import numpy as np
import pytest
from infinitrain.errors import DTypeError
from infinitrain.nn import Linear, Module, ModuleList, Parameter, Sequential


class Tied(Module):
    """Two layers that share a weight, and a buffer."""

    def __init__(self, device=None):
        super().__init__()
        self.first = Linear(3, 3, device=device)
        self.second = Linear(3, 3, bias=False, device=device)
        self.second.weight = self.first.weight
        self.register_buffer("scale", it.full((), 2.0, device=device))
        self.register_buffer("cache", it.zeros(1, device=device), persistent=False)

    def forward(self, x):
        return self.second(self.first(x)) * self.scale


def test_names_come_in_order_of_registration():
    model = Tied()

    assert [name for name, _ in model.named_parameters()] == ["first.weight", "first.bias"]
    assert [name for name, _ in model.named_parameters(remove_duplicate=False)] == [
        "first.weight",
        "first.bias",
        "second.weight",
    ]
    assert [name for name, _ in model.named_buffers()] == ["scale", "cache"]
    assert [name for name, _ in model.named_modules()] == ["", "first", "second"]
    assert [name for name, _ in model.named_children()] == ["first", "second"]
    assert [name for name, _ in model.named_parameters(prefix="m")] == ["m.first.weight", "m.first.bias"]
    assert list(model.parameters(recurse=False)) == []


def test_nested_modules_are_walked_parents_first():
    inner = Sequential(Linear(1, 1), Linear(1, 1))
    model = Sequential(inner, inner, Linear(1, 1))

    assert [name for name, _ in model.named_modules()] == ["", "0", "0.0", "0.1", "2"]
    assert len(list(model.parameters())) == 6


def test_assignment_registers_and_deletion_forgets():
    module = Module()
    module.w = Parameter(it.zeros(1))
    module.child = Linear(1, 1)
    del module.w
    module.child = None

    assert list(module.parameters()) == []
    assert list(module.modules()) == [module]


def test_assignment_of_another_kind_moves_the_name():
    module = Module()
    module.part = Linear(1, 1)
    module.part = Parameter(it.zeros(1))

    assert [name for name, _ in module.named_parameters()] == ["part"]
    assert list(module.children()) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [(it.zeros(1), r"Linear\.weight: expected a Parameter or None, found Tensor"), (3, "found int")],
)
def test_parameter_cannot_become_something_else(value, message):
    with pytest.raises(TypeError, match=message):
        Linear(1, 1).weight = value


def test_child_cannot_become_something_else():
    module = Sequential(Linear(1, 1))

    with pytest.raises(TypeError, match="expected a Module or None, found int"):
        setattr(module, "0", 1)


def test_assignment_before_init_is_refused():
    class Early(Module):
        def __init__(self):
            self.layer = Linear(1, 1)

    with pytest.raises(AttributeError, match=r"Early\.layer: expected super\(\).__init__\(\) to have run"):
        Early()


@pytest.mark.parametrize("name", ["", "a.b"])
def test_names_with_dots_are_refused(name):
    with pytest.raises(KeyError, match="not empty and has no dot"):
        Module().register_parameter(name, None)


def test_names_in_use_are_refused():
    with pytest.raises(KeyError, match="attribute 'forward' exists already"):
        Module().add_module("forward", Linear(1, 1))
    with pytest.raises(TypeError, match="expected a Module or None, found int"):
        Module().add_module("x", 1)


def test_forward_must_be_written():
    with pytest.raises(NotImplementedError, match=r"Module: expected a method forward"):
        Module()(1)


def test_train_and_eval_reach_every_module():
    model = Sequential(Linear(1, 1), ModuleList([Linear(1, 1)]))

    assert not any(module.training for module in model.eval().modules())
    assert all(module.training for module in model.train().modules())


def test_apply_visits_children_first():
    model = Sequential(Linear(1, 1), Sequential(Linear(2, 2)))
    seen = []
    model.apply(lambda module: seen.append(type(module).__name__))

    assert seen == ["Linear", "Linear", "Sequential", "Sequential"]


@pytest.mark.parametrize("set_to_none", [True, False])
def test_zero_grad(device, set_to_none):
    model = Tied(device)
    model(it.ones(1, 3, device=device)).sum().backward()
    model.zero_grad(set_to_none)
    grads = [parameter.grad for parameter in model.parameters()]

    assert all(grad is None if set_to_none else not grad.numpy().any() for grad in grads)


def test_to_dtype_keeps_ties_identity_and_requires_grad(device):
    model = Tied(device)
    model.first.bias.requires_grad_(False)
    model(it.ones(1, 3, device=device)).sum().backward()
    weight = model.first.weight
    before = weight.detach().numpy().copy()
    grad = weight.grad.numpy().copy()

    assert model.to(it.float64) is model
    assert model.first.weight is weight
    assert model.second.weight is weight
    assert weight.dtype is it.float64
    assert weight.requires_grad
    assert not model.first.bias.requires_grad
    assert model.scale.dtype is it.float64
    np.testing.assert_array_equal(weight.detach().numpy(), before)
    np.testing.assert_array_equal(weight.grad.numpy(), grad)
    assert weight.grad.dtype is it.float64
    assert model(it.ones(1, 3, dtype=it.float64, device=device)).dtype is it.float64


def test_to_device_moves_everything(device):
    model = Tied()
    model(it.ones(1, 3)).sum().backward()
    expected = model(it.ones(2, 3)).detach().numpy()
    model.to(device)

    assert {str(t.device) for t in (*model.parameters(), *model.buffers())} == {str(it.Device(device))}
    assert str(model.first.weight.grad.device) == str(it.Device(device))
    assert model.first.weight is model.second.weight
    np.testing.assert_allclose(model(it.ones(2, 3, device=device)).detach().numpy(), expected, rtol=1e-6)


def test_to_leaves_integer_buffers_their_dtype():
    module = Module()
    module.register_buffer("count", it.zeros(1, dtype=it.int64))
    module.to("bfloat16")

    assert module.count.dtype is it.int64


def test_to_integers_is_refused():
    with pytest.raises(DTypeError, match=r"Linear\.to: expected a floating-point dtype, found int32"):
        Linear(1, 1).to(it.int32)


def test_deepcopy_keeps_ties_and_shares_no_memory(device):
    model = Tied(device)
    copied = copy.deepcopy(model)
    with it.no_grad():
        copied.first.weight.zero_()

    assert copied.first.weight is copied.second.weight
    assert model.first.weight.detach().numpy().any()


def test_get_submodule_and_parameter():
    model = Sequential(Sequential(Linear(1, 2)))

    assert model.get_submodule("") is model
    assert model.get_submodule("0.0") is model[0][0]
    assert model.get_parameter("0.0.weight") is model[0][0].weight
    with pytest.raises(AttributeError, match=r"named '0\.5', found none: Sequential has no '5'"):
        model.get_submodule("0.5")
    with pytest.raises(AttributeError, match=r"named '0\.0\.w', found none"):
        model.get_parameter("0.0.w")


def test_requires_grad_reaches_every_parameter():
    assert not any(parameter.requires_grad for parameter in Tied().requires_grad_(False).parameters())


def test_repr_shows_the_tree():
    assert repr(Sequential(Linear(1, 2), Sequential(Linear(2, 1, bias=False)))) == (
        "Sequential(\n"
        "  (0): Linear(in_features=1, out_features=2, bias=True)\n"
        "  (1): Sequential(\n"
        "    (0): Linear(in_features=2, out_features=1, bias=False)\n"
        "  )\n"
        ")"
    )
