"""Modules against torch.nn: values and the gradients of inputs and parameters, from the same state dict."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import infinitrain as it  # noqa: E402
from infinitrain import nn  # noqa: E402

TOLERANCE = {"float64": (1e-9, 1e-11), "float32": (2e-5, 2e-5)}

#: A maker that serves both libraries, and the shape of the input (or the number of rows that it indexes).
CASES = {
    "linear": (lambda n: n.Linear(5, 3), (4, 2, 5)),
    "linear-no-bias": (lambda n: n.Linear(5, 3, bias=False), (5,)),
    "layer-norm": (lambda n: n.LayerNorm(6), (3, 4, 6)),
    "layer-norm-2d": (lambda n: n.LayerNorm((4, 6), eps=1e-3), (3, 4, 6)),
    "layer-norm-no-bias": (lambda n: n.LayerNorm(6, bias=False), (2, 6)),
    "layer-norm-plain": (lambda n: n.LayerNorm(6, elementwise_affine=False), (2, 6)),
    "gelu": (lambda n: n.GELU(), (40,)),
    "gelu-tanh": (lambda n: n.GELU(approximate="tanh"), (40,)),
    "relu": (lambda n: n.ReLU(), (40,)),
    "tanh": (lambda n: n.Tanh(), (40,)),
    "sigmoid": (lambda n: n.Sigmoid(), (40,)),
    "softmax": (lambda n: n.Softmax(dim=1), (3, 5, 2)),
    "log-softmax": (lambda n: n.LogSoftmax(dim=-1), (3, 5)),
    "identity": (lambda n: n.Identity(), (3,)),
    "dropout-eval": (lambda n: n.Dropout(0.5).eval(), (9,)),
    "embedding": (lambda n: n.Embedding(7, 4), 7),
    "embedding-padding": (lambda n: n.Embedding(7, 4, padding_idx=-3), 7),
    "chain": (lambda n: n.Sequential(n.Linear(5, 8), n.GELU(), n.LayerNorm(8), n.Linear(8, 2), n.Tanh()), (6, 5)),
    "nested": (
        lambda n: n.Sequential(n.Sequential(n.Linear(5, 5), n.ReLU()), n.Sequential(n.Linear(5, 1, bias=False))),
        (2, 5),
    ),
}


def same(name, device, dtype):
    """Give both modules with the same parameters."""
    make, _ = CASES[name]
    theirs = make(torch.nn).to(getattr(torch, dtype))
    ours = make(nn).to(device).to(dtype)
    ours.load_state_dict({key: it.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    return ours, theirs


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", CASES)
def test_forward_and_backward_equal_torch(device, name, dtype):
    ours, theirs = same(name, device, dtype)
    shape = CASES[name][1]
    rng = np.random.default_rng(0)
    rtol, atol = TOLERANCE[dtype]
    if isinstance(shape, int):
        array = rng.integers(0, shape, (4, 9))
        x, expected_x = it.tensor(array, device=device), torch.from_numpy(array)
    else:
        array = rng.normal(size=shape).astype(dtype)
        x = it.tensor(array, device=device, requires_grad=True)
        expected_x = torch.from_numpy(array).requires_grad_()
    y, expected_y = ours(x), theirs(expected_x)
    start = rng.normal(size=y.shape).astype(dtype)
    y.backward(it.tensor(start, device=device))
    expected_y.backward(torch.from_numpy(start))

    np.testing.assert_allclose(y.detach().cpu().numpy(), expected_y.detach().numpy(), rtol=rtol, atol=atol)
    if not isinstance(shape, int):
        np.testing.assert_allclose(x.grad.cpu().numpy(), expected_x.grad.numpy(), rtol=rtol, atol=atol)
    expected = dict(theirs.named_parameters())
    assert list(expected) == [key for key, _ in ours.named_parameters()]
    for key, parameter in ours.named_parameters():
        np.testing.assert_allclose(
            parameter.grad.cpu().numpy(), expected[key].grad.numpy(), rtol=rtol, atol=atol, err_msg=key
        )


@pytest.mark.parametrize("name", CASES)
def test_names_and_shapes_equal_torch(name):
    ours, theirs = CASES[name][0](nn), CASES[name][0](torch.nn)

    assert {key: tuple(value.shape) for key, value in theirs.state_dict().items()} == {
        key: value.shape for key, value in ours.state_dict().items()
    }
    assert list(theirs.state_dict()) == list(ours.state_dict())
    assert [key for key, _ in theirs.named_modules()] == [key for key, _ in ours.named_modules()]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("ignore_index", [-100, 2])
def test_cross_entropy_equals_torch(device, reduction, smoothing, ignore_index):
    rng = np.random.default_rng(0)
    logits, target = rng.normal(size=(6, 5)), np.array([0, 2, 4, 2, 1, 3])
    settings = {"reduction": reduction, "label_smoothing": smoothing, "ignore_index": ignore_index}
    x = it.tensor(logits, device=device, requires_grad=True)
    expected_x = torch.from_numpy(logits).requires_grad_()
    loss = nn.CrossEntropyLoss(**settings)(x, it.tensor(target, device=device))
    expected = torch.nn.CrossEntropyLoss(**settings)(expected_x, torch.from_numpy(target))
    loss.sum().backward()
    expected.sum().backward()

    np.testing.assert_allclose(loss.detach().cpu().numpy(), expected.detach().numpy(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(x.grad.cpu().numpy(), expected_x.grad.numpy(), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_mse_equals_torch(device, reduction):
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4))
    x = it.tensor(a, device=device, requires_grad=True)
    expected_x = torch.from_numpy(a).requires_grad_()
    loss = nn.MSELoss(reduction)(x, it.tensor(b, device=device))
    expected = torch.nn.MSELoss(reduction=reduction)(expected_x, torch.from_numpy(b))
    loss.sum().backward()
    expected.sum().backward()

    np.testing.assert_allclose(loss.detach().cpu().numpy(), expected.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(x.grad.cpu().numpy(), expected_x.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", ["linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu"])
def test_gains_equal_torch(name):
    assert nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    assert nn.init.calculate_gain("leaky_relu", 0.3) == torch.nn.init.calculate_gain("leaky_relu", 0.3)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("normal_", {"mean": 1.0, "std": 0.5}),
        ("uniform_", {"a": -1.0, "b": 3.0}),
        ("xavier_uniform_", {"gain": 2.0}),
        ("xavier_normal_", {}),
        ("kaiming_uniform_", {"a": 5**0.5}),
        ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "relu"}),
    ],
)
def test_first_values_have_torchs_distribution(name, settings):
    """Quantiles of 120000 draws; the bits are our own."""
    ours, theirs = it.zeros(300, 400), torch.zeros(300, 400)
    getattr(nn.init, name)(ours, generator=it.Generator(1), **settings)
    getattr(torch.nn.init, name)(theirs, generator=torch.Generator().manual_seed(1), **settings)
    at = np.linspace(0.01, 0.99, 25)
    expected = np.quantile(theirs.numpy(), at)

    np.testing.assert_allclose(np.quantile(ours.numpy(), at), expected, atol=0.03 * theirs.numpy().std())


@pytest.mark.parametrize("make", [lambda n: n.Linear(200, 300), lambda n: n.Embedding(300, 200)])
def test_modules_start_as_torchs_do(make):
    torch.manual_seed(0)
    ours, theirs = make(nn), make(torch.nn)
    for (name, a), b in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert a.detach().numpy().std() == pytest.approx(b.detach().numpy().std(), rel=0.1), name


def test_backward_hooks_see_what_torchs_see(device):
    ours, theirs = same("chain", device, "float64")
    array = np.random.default_rng(0).normal(size=(6, 5))
    seen = {}
    for key, model, x in (
        ("ours", ours, it.tensor(array, device=device, requires_grad=True)),
        ("theirs", theirs, torch.from_numpy(array).requires_grad_()),
    ):
        found = seen[key] = []

        def note(module, grad_input, grad_output, found=found):
            found.append([np.array(g.detach().cpu().numpy()) for g in (*grad_input, *grad_output)])

        for module in model:
            module.register_full_backward_hook(note)
        model(x).sum().backward()

    assert len(seen["ours"]) == len(seen["theirs"]) == 5
    for mine, yours in zip(seen["ours"], seen["theirs"], strict=True):
        for a, b in zip(mine, yours, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-11)
