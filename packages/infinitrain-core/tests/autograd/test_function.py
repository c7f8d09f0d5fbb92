"""Functions that users write."""

from __future__ import annotations

import infinitrain as it
import pytest
from infinitrain.autograd import ACCUMULATED, Function, grad
from infinitrain.errors import AutogradError, ShapeError
from infinitrain.testing import gradcheck


class Cube(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        ctx.seen = ctx.needs_input_grad
        return x * x * x * scale

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * x * (3 * ctx.scale), None


def test_forward_and_backward(device):
    x = it.tensor([1.0, 2.0], dtype=it.float64, device=device, requires_grad=True)

    y = Cube.apply(x, 2.0)
    y.sum().backward()

    assert y.tolist() == [2, 16]
    assert x.grad.tolist() == [6, 24]
    assert gradcheck(lambda x: Cube.apply(x, 2.0), [x])
    assert repr(y.grad_fn) == "<CubeBackward>"
    assert y.grad_fn.seen == (True, False)


def test_backward_is_recorded_under_create_graph(device):
    x = it.tensor(2.0, device=device, requires_grad=True)

    (first,) = grad(Cube.apply(x, 1.0), x, create_graph=True)
    (second,) = grad(first, x)

    assert (first.item(), second.item()) == (12, 12)


def test_forward_records_nothing_inside(device):
    inside = []

    class Look(Function):
        @staticmethod
        def forward(ctx, x):
            inside.append(it.is_grad_enabled())
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            return g

    y = Look.apply(it.ones(1, device=device, requires_grad=True))

    assert inside == [False]
    assert type(y.grad_fn).__name__ == "Look"


def test_several_outputs_one_unused_one_without_gradient(device):
    class Parts(Function):
        @staticmethod
        def forward(ctx, x):
            low, high, sign = x * 1, x * 2, x * 0
            ctx.mark_non_differentiable(sign)
            return low, high, sign

        @staticmethod
        def backward(ctx, low, high, sign):
            assert low.tolist() == [0, 0]  # an output without a gradient comes as zeros
            assert sign is None
            return low + high * 2

    x = it.tensor([1.0, 2.0], device=device, requires_grad=True)

    _, high, sign = Parts.apply(x)
    high.sum().backward()

    assert sign.grad_fn is None
    assert not sign.requires_grad
    assert high.output_nr == 1
    assert x.grad.tolist() == [2, 2]


def test_returned_input_is_a_view_with_its_own_history(device):
    class Identity(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = it.tensor([1.0], device=device, requires_grad=True)

    y = Identity.apply(x)
    y.backward()

    assert y is not x
    assert x.is_leaf
    assert x.grad.tolist() == [5]


def test_mark_dirty(device):
    class AddOne(Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = it.tensor([1.0], device=device, requires_grad=True)
    y = x * 2

    z = AddOne.apply(y)
    z.backward()

    assert z is y
    assert x.grad.tolist() == [6]


def test_wrong_gradients_are_refused(device):
    class Wrong(Function):
        returned = None

        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return Wrong.returned

    x = it.ones(2, device=device, requires_grad=True)

    Wrong.returned = it.ones(3, device=device)
    with pytest.raises(ShapeError, match=r"backward of Wrong.*\(2,\).*\(3,\)"):
        Wrong.apply(x).sum().backward()
    Wrong.returned = (it.ones(2, device=device), None)
    with pytest.raises(AutogradError, match="expected 1 gradients"):
        Wrong.apply(x).sum().backward()
    Wrong.returned = it.ones(2, dtype=it.float64, device=device)
    Wrong.apply(x).sum().backward()
    assert x.grad.dtype is it.float32


def test_accumulator_gives_the_gradient_so_far(device):
    seen = []

    class Row(Function):
        @staticmethod
        def forward(ctx, x, i):
            ctx.i = i
            return x[i] * 1

        @staticmethod
        def backward(ctx, g):
            total = ctx.accumulator(0)
            seen.append(total is not None)
            if total is not None:
                total[ctx.i].add_(g)
                return ACCUMULATED, None
            full = it.zeros(3, 2, device=g.device)
            full[ctx.i] = g
            return full, None

    x = it.ones(3, 2, device=device, requires_grad=True)
    sum(Row.apply(x, i) * (i + 1) for i in range(3)).sum().backward()

    assert seen == [False, True, True]
    assert x.grad.tolist() == [[1, 1], [2, 2], [3, 3]]


def test_exception_in_backward_leaves_autograd_usable(device):
    class Broken(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("broken")

    x = it.ones(2, device=device, requires_grad=True)
    with pytest.raises(KeyError, match="broken"):
        Broken.apply(x).sum().backward()
    (x * 2).sum().backward()

    assert it.is_grad_enabled()
    assert x.grad.tolist() == [2, 2]


def test_backward_inside_backward(device):
    """Recomputation, as activation checkpoints do it."""

    class Checkpoint(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x * x).exp()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            again = x.detach().requires_grad_()
            with it.enable_grad():
                y = (again * again).exp()
            y.backward(g)
            return again.grad

    x = it.tensor([0.5, 1.0], dtype=it.float64, device=device, requires_grad=True)

    assert gradcheck(Checkpoint.apply, [x])
