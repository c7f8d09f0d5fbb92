"""The engine: gradients of graphs, ownership, depth, hooks, saved tensors, and what is refused."""

from __future__ import annotations

import gc
import threading

import infinitrain as it
import numpy as np
import pytest
from infinitrain.autograd import grad, saved_tensors_hooks
from infinitrain.errors import AutogradError, DTypeError, ShapeError


def leaf(values, device, dtype=it.float32):
    return it.tensor(values, dtype=dtype, device=device, requires_grad=True)


# ---- gradients ----


def test_a_leaf_used_several_times_gets_the_sum(device):
    x = leaf([1.0, 2.0], device)

    (x * x + 3 * x).sum().backward()

    assert x.grad.tolist() == [5, 7]


def test_gradients_accumulate_over_passes(device):
    x = leaf([1.0, 2.0], device)
    for _ in range(3):
        (x * 2).sum().backward()

    assert x.grad.tolist() == [6, 6]


def test_bc139_equal_leaves_are_two_leaves(device):
    """BC-139."""
    w1, w2 = leaf(3.0, device), leaf(3.0, device)

    (w1 + w2).backward()

    assert w1.grad.item() == w2.grad.item() == 1


@pytest.mark.parametrize("accumulate", [False, True])
def test_two_leaves_never_share_a_gradient(accumulate, device):
    """BC-017: writing into one gradient, by hand or in a hook, leaves the other."""
    a, b = leaf([1.0, 2.0], device), leaf([3.0, 4.0], device)
    if accumulate:
        (a + b).sum().backward()
    a.register_post_accumulate_grad_hook(lambda p: p.grad.div_(4))

    (a + b).backward(it.ones(2, device=device))
    a.grad.mul_(100)

    assert b.grad.tolist() == ([2, 2] if accumulate else [1, 1])
    assert a.grad.tolist() == ([50, 50] if accumulate else [25, 25])
    assert a.grad.data_ptr() != b.grad.data_ptr()


def test_the_start_gradient_belongs_to_the_caller(device):
    a, start = leaf([1.0, 2.0], device), it.ones(2, device=device)

    (a + 1).backward(start)
    a.grad.mul_(5)

    assert start.tolist() == [1, 1]


def test_views_of_one_gradient_are_not_shared(device):
    a, b = leaf([[1.0, 2.0]], device), leaf([1.0, 2.0], device)

    (a.view(2) + b).backward(it.ones(2, device=device))
    a.grad.zero_()

    assert b.grad.tolist() == [1, 1]


def test_broadcast_dimensions_are_summed(device):
    """BC-106."""
    z = leaf(1.0, device)
    (z + it.zeros(1000, device=device)).sum().backward()
    a, b = leaf([[1.0], [2.0], [3.0]], device), leaf([[1.0, 2.0, 3.0, 4.0]], device)
    (a * b).sum().backward()
    c = leaf([1.0] * 4, device)
    (c + it.zeros(2, 3, 4, device=device)).sum().backward()

    assert z.grad.shape == ()
    assert z.grad.item() == 1000
    assert a.grad.tolist() == [[10], [10], [10]]
    assert b.grad.tolist() == [[6, 6, 6, 6]]
    assert c.grad.tolist() == [6, 6, 6, 6]


def test_unused_outputs_and_consumers_delay_nothing(device):
    x = leaf([1.0, 2.0, 3.0, 4.0], device)
    first, _unused = x.split(2)
    y = first * 2
    _never = (y * 5, x.exp(), x.sum())

    y.sum().backward()

    assert x.grad.tolist() == [2, 2, 0, 0]


def test_graph_of_ten_thousand_nodes(device):
    x = leaf([1.0], device)
    y = x
    for _ in range(10_000):
        y = y + 1

    y.backward()

    assert x.grad.tolist() == [1]


def test_deep_graph_goes_without_recursion():
    x = it.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    del y
    z = x
    for _ in range(20_000):
        z = z.tanh()  # saves its output

    del z

    assert x.grad is None


def test_wide_graph_counts_each_path_once(device):
    x = leaf([1.0], device)
    y = x
    for _ in range(20):
        y = y + y

    y.backward()

    assert x.grad.item() == 2.0**20


def test_comparison_in_the_graph(device):
    """BC-140."""
    x = leaf([-1.0, 2.0], device)

    (x * (x < 0)).sum().backward()

    assert x.grad.tolist() == [1, 0]


def test_integer_results_carry_no_gradient(device):
    x = leaf([1.5, 2.5], device)

    assert not x.to(it.int32).requires_grad
    assert not (x > 1).requires_grad
    assert not x.argmax().requires_grad
    with pytest.raises(DTypeError, match="floating-point"):
        it.ones(2, dtype=it.int32, device=device).requires_grad_()


def test_gradient_of_another_device_comes_back(device):
    x = leaf([1.0, 2.0], device)

    (x.to("fake:0") * 3).sum().backward()

    assert x.grad.device == it.Device(device)
    assert x.grad.tolist() == [3, 3]


# ---- second pass, freed graphs, create_graph ----


def test_second_backward_without_retention_is_refused(device):
    """BC-090."""
    x = leaf([1.0, 2.0], device)
    y = (x * x).sum()
    y.backward()

    with pytest.raises(AutogradError, match="retain_graph=True"):
        y.backward()

    assert x.grad.tolist() == [2, 4]


def test_retained_graph_doubles_the_leaf_and_stores_no_intermediate(device):
    """BC-090."""
    x = leaf([1.0, 2.0], device)
    middle = x * x
    y = middle.sum()

    y.backward(retain_graph=True)
    y.backward()

    assert x.grad.tolist() == [4, 8]
    assert middle.grad is None


def test_derivatives_of_derivatives(device):
    x = leaf(2.0, device, it.float64)
    y = x**4

    (first,) = grad(y, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)

    assert (first.item(), second.item(), third.item()) == (32, 48, 48)
    assert not third.requires_grad


def test_backward_with_create_graph_gives_a_gradient_with_history(device):
    x = leaf([1.0, 2.0], device)
    (x**3).sum().backward(create_graph=True)

    (penalty,) = grad(x.grad.sum(), x)

    assert x.grad.tolist() == [3, 12]
    assert penalty.tolist() == [6, 12]
    x.grad = None


def test_grad_leaves_grad_alone_and_says_what_is_unused(device):
    x, y = leaf([1.0], device), leaf([2.0], device)
    z = x * 3

    assert grad(z, [x, z], retain_graph=True)[0].tolist() == [3]
    assert grad(z, [y, x], allow_unused=True)[0] is None
    assert x.grad is None
    with pytest.raises(AutogradError, match="input 1 is not used"):
        grad(x * 3, [x, y])


def test_grad_of_an_intermediate_and_of_several_outputs(device):
    x = leaf([1.0, 2.0], device)
    middle = x * 2

    found = grad([middle.sum(), (middle * middle).sum()], [middle, x])

    assert found[0].tolist() == [5, 9]
    assert found[1].tolist() == [10, 18]


def test_grad_runs_only_what_leads_to_the_inputs(device):
    seen = []

    class Noted(it.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(g)
            return g

    x, y = leaf([1.0], device), leaf([1.0], device)

    grad(Noted.apply(x) * y, y)

    assert seen == []


def test_backward_of_several_elements_needs_a_gradient(device):
    x = leaf([1.0, 2.0], device)

    with pytest.raises(AutogradError, match=r"shape \(2,\)"):
        (x * 2).backward()
    with pytest.raises(ShapeError, match=r"\(2,\)"):
        (x * 2).backward(it.ones(3, device=device))
    with pytest.raises(AutogradError, match="requires grad"):
        it.ones(1, device=device).backward()


# ---- in place ----


def test_in_place_on_what_backward_needs_names_both_operations(device):
    x = leaf([1.0, 2.0], device)
    y = x.exp()
    z = y.sum()
    y.add_(1)

    with pytest.raises(AutogradError, match=r"backward of Exp.*add_.*version 0 when saved, 1 now"):
        z.backward()


def test_in_place_on_a_view_of_what_backward_needs_is_seen(device):
    x = leaf([1.0, 2.0], device)
    y = x * 1
    z = (y * y).sum()
    with it.no_grad():
        y[0].fill_(7)

    with pytest.raises(AutogradError, match="fill_"):
        z.backward()


def test_in_place_on_a_leaf_is_refused_but_not_under_no_grad(device):
    x = leaf([1.0, 2.0], device)

    with pytest.raises(AutogradError, match="leaf"):
        x.add_(1)
    with pytest.raises(AutogradError, match="leaf"):
        x[0] = 1
    with pytest.raises(AutogradError, match="leaf"):
        x.view(2, 1).mul_(2)
    with it.no_grad():
        x.add_(1)

    assert x.tolist() == [2, 3]


def test_in_place_operations_have_gradients(device):
    x, w = leaf([1.0, 2.0], device), leaf([3.0, 4.0], device)
    y = x * 2
    y.add_(w)
    y.mul_(3)
    y.log_()
    y.mul_(w.detach() * 0 + 1)
    y.exp_()

    y.sum().backward()

    np.testing.assert_allclose(x.grad.cpu().numpy(), [6, 6], rtol=1e-5)
    np.testing.assert_allclose(w.grad.cpu().numpy(), [3, 3], rtol=1e-5)


def test_assignment_has_gradients_of_both_sides(device):
    x, v = leaf([[1.0, 2.0], [3.0, 4.0]], device), leaf([5.0], device)
    y = x * 2
    y[0] = v
    y[it.tensor([1], device=device), it.tensor([0], device=device)] = v * 2

    (y * y).sum().backward()

    assert y.tolist() == [[5, 5], [10, 8]]
    assert x.grad.tolist() == [[0, 0], [0, 32]]
    assert v.grad.tolist() == [60]


def test_assignment_into_fresh_memory_records_it(device):
    v = leaf([1.0, 2.0], device)
    y = it.zeros(3, 2, device=device)
    y[1] = v
    y[it.tensor([True, False, False], device=device)] = v[0] * 3

    (y * it.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], device=device)).sum().backward()

    assert v.grad.tolist() == [8, 2]


def test_writing_through_a_view_changes_the_history_of_base_and_views(device):
    x = leaf([[1.0, 2.0], [3.0, 4.0]], device)
    base = x * 1
    row, column = base[0], base[:, 1]
    row.mul_(10)

    base.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[10, 10], [1, 1]]

    x.grad = None
    column.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[0, 10], [0, 1]]

    x.grad = None
    row.sum().backward()
    assert x.grad.tolist() == [[10, 10], [0, 0]]


def test_augmented_assignment_through_a_key(device):
    x = leaf([[1.0, 2.0], [3.0, 4.0]], device)
    y = x * 1

    y[:, 0] += 5
    y.t()[1] *= 3
    y.sum().backward()

    assert y.tolist() == [[6, 6], [8, 12]]
    assert x.grad.tolist() == [[1, 3], [1, 3]]


# ---- hooks ----


def test_hook_on_a_leaf_replaces_the_gradient_once_it_is_complete(device):
    x = leaf([1.0, 2.0], device)
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    handle = x.register_hook(lambda g: g * 10)

    (x * 2 + x * 3).sum().backward()
    handle.remove()
    handle.remove()
    (x * 2).sum().backward()

    assert seen == [[5, 5], [2, 2]]
    assert x.grad.tolist() == [52, 52]


def test_hook_on_an_intermediate(device):
    x = leaf([1.0, 2.0], device)
    y = x * 2
    y.register_hook(lambda g: g + 1)
    with y.register_hook(lambda g: g * 100):
        pass

    (y * 3).sum().backward()

    assert x.grad.tolist() == [8, 8]


def test_handle_outlives_its_owner(device):
    x = leaf([1.0], device)
    handle = (x * 2).register_hook(lambda g: g)

    handle.remove()


def test_post_accumulate_hook_runs_once_per_pass_with_the_gradient_stored(device):
    w = leaf([[1.0, 2.0], [3.0, 4.0]], device)
    seen = []
    w.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.sum().item()))
    x = it.ones(3, 2, device=device)
    for _ in range(2):  # linear writes the second pass, and the second use, into the gradient in place
        it.linear(it.linear(x, w), w).sum().backward()

    assert seen == [seen[0], 2 * seen[0]]
    with pytest.raises(AutogradError, match="leaf"):
        (w * 1).register_post_accumulate_grad_hook(lambda p: None)


def test_retain_grad_keeps_the_gradient_of_an_intermediate(device):
    x = leaf([1.0, 2.0], device)
    y = x * 2
    y.retain_grad()
    y.retain_grad()

    (y * y).sum().backward()

    assert y.grad.tolist() == [4, 8]
    assert x.grad.tolist() == [8, 16]


# ---- accumulating in place ----


def test_tied_weight_needs_one_gradient_buffer(device):
    weight = it.ones(50, 64, device=device, requires_grad=True)
    index = it.tensor([1, 1, 3], device=device)

    def loss():
        return it.linear(it.embedding(index, weight), weight).sum()

    loss().backward()
    expected = np.full((50, 64), 3.0)
    expected[[1, 3]] += [[100.0], [50.0]]
    np.testing.assert_array_equal(weight.grad.cpu().numpy(), expected)

    address = weight.grad.data_ptr()
    it.reset_peak_memory_stats(device)
    y = loss()
    held = it.memory_allocated(device)
    it.reset_peak_memory_stats(device)
    y.backward()

    assert weight.grad.data_ptr() == address
    np.testing.assert_array_equal(weight.grad.cpu().numpy(), 2 * expected)
    assert it.max_memory_allocated(device) - held < weight.nbytes


def test_leaf_hooks_see_the_gradient_of_one_pass_alone(device):
    w = leaf([[2.0]], device)
    seen = []
    w.register_hook(lambda g: seen.append(g.item()))
    for _ in range(2):
        it.linear(it.ones(1, 1, device=device), w).sum().backward()

    assert seen == [1, 1]
    assert w.grad.item() == 2


def test_first_gradient_is_taken_over_without_a_copy(device):
    x = it.ones(1000, device=device, requires_grad=True)
    y = (x * 2).sum()
    held = it.memory_allocated(device)
    it.reset_peak_memory_stats(device)

    y.backward()

    assert it.max_memory_allocated(device) - held <= 2 * 4096 + 2048


# ---- saved tensors ----


def test_saved_tensors_hooks_pack_once_and_unpack_at_each_read(device):
    """B6: inputs are packed as they are, outputs detached over the same memory; the innermost pair wins."""
    packed, unpacked = [], []

    def pack(x):
        packed.append(x)
        return len(packed) - 1

    def unpack(i):
        unpacked.append(i)
        return packed[i]

    x = leaf([1.0, 2.0], device)
    with saved_tensors_hooks(lambda _: 1 / 0, lambda _: 1 / 0), saved_tensors_hooks(pack, unpack):
        y = x.log().exp()

    assert packed[0] is x
    assert packed[1] is not y
    assert packed[1].data_ptr() == y.data_ptr()
    assert packed[1].grad_fn is None
    y.sum().backward()
    assert sorted(unpacked) == [0, 1]
    np.testing.assert_allclose(x.grad.cpu().numpy(), [1, 1], rtol=1e-5)


def test_nothing_is_saved_when_nothing_is_recorded(device):
    packed = []
    x = it.ones(2, device=device)
    with saved_tensors_hooks(packed.append, lambda y: y):
        x.exp()
        with it.no_grad():
            x.requires_grad_().exp()

    assert packed == []


def test_no_reference_cycles(device):
    x = it.ones(100, device=device, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        before = it.memory_allocated(device)
        for _ in range(3):
            y = (x.tanh() * x.softmax(-1)).view(10, 10)
            y = it.layer_norm(y, (10,)).exp() * 2
            y[0] = 1
            z = (y.sqrt() @ y.t()).sum()
            z.backward()
            x.grad = None
        del y, z
        assert it.memory_allocated(device) == before
        assert gc.collect() == 0
    finally:
        gc.enable()


# ---- modes ----


def test_no_grad_records_nothing_and_nests(device):
    x = leaf([1.0], device)
    with it.no_grad():
        assert not (x * 2).requires_grad
        with it.enable_grad():
            assert (x * 2).requires_grad
        assert not it.is_grad_enabled()
    with pytest.raises(KeyError), it.no_grad():
        raise KeyError
    assert it.is_grad_enabled()


def test_modes_as_decorators(device):
    x = leaf([1.0], device)

    @it.no_grad()
    def evaluate(depth):
        return (x * 2).requires_grad or (depth and evaluate(depth - 1))

    @it.inference_mode()
    def infer():
        return (x * 2).requires_grad

    assert not evaluate(3)
    assert not infer()
    assert it.is_grad_enabled()


def test_set_grad_enabled(device):
    x = leaf([1.0], device)
    with it.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert it.is_grad_enabled()
    it.set_grad_enabled(False)
    assert not it.is_grad_enabled()
    it.set_grad_enabled(True)


def test_modes_are_per_thread():
    found = []
    with it.no_grad():
        thread = threading.Thread(target=lambda: found.append(it.is_grad_enabled()))
        thread.start()
        thread.join()

    assert found == [True]


def test_requires_grad_false_on_a_result_is_refused(device):
    y = leaf([1.0], device) * 2

    with pytest.raises(AutogradError, match="detach"):
        y.requires_grad = False
    assert not y.detach().requires_grad
    assert y.detach().is_leaf
    assert y.detach().output_nr == 0


def test_assigned_gradient_must_fit(device):
    x = leaf([1.0, 2.0], device)

    with pytest.raises(ShapeError):
        x.grad = it.ones(3, device=device)
    with pytest.raises(DTypeError):
        x.grad = it.ones(2, dtype=it.float64, device=device)
    x.grad = it.ones(2, device=device)
    (x * 2).sum().backward()

    assert x.grad.tolist() == [3, 3]
