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


#: A loss of two tensors of one shape, made with PyTorch's names by either library; probabilities where it wants them.
LOSSES = {
    "mse": (lambda n, t, r: n.MSELoss(reduction=r), "any"),
    "l1": (lambda n, t, r: n.L1Loss(reduction=r), "any"),
    "smooth-l1": (lambda n, t, r: n.SmoothL1Loss(reduction=r, beta=0.5), "any"),
    "huber": (lambda n, t, r: n.HuberLoss(reduction=r, delta=0.5), "any"),
    "kl": (lambda n, t, r: n.KLDivLoss(reduction=r), "share"),
    "kl-log": (lambda n, t, r: n.KLDivLoss(reduction=r, log_target=True), "any"),
    "bce": (lambda n, t, r: n.BCELoss(t([1.0, 2.0, 0.5, 1.5]), reduction=r), "shares"),
    "bce-logits": (
        lambda n, t, r: n.BCEWithLogitsLoss(t([1.0, 2.0, 0.5, 1.5]), reduction=r, pos_weight=t([3.0])),
        "share",
    ),
}


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_equal_torch(device, name, reduction):
    make, kind = LOSSES[name]
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4))
    if kind != "any":
        b = 1 / (1 + np.exp(-b))
    if kind == "shares":
        a = 1 / (1 + np.exp(-a))
    if name == "kl":
        b[0, 0] = 0.0
    x = it.tensor(a, device=device, requires_grad=True)
    expected_x = torch.from_numpy(a).requires_grad_()
    ours = make(nn, lambda values: it.tensor(values, dtype=it.float64), reduction).to(device)
    theirs = make(torch.nn, lambda values: torch.tensor(values, dtype=torch.float64), reduction)
    loss = ours(x, it.tensor(b, device=device))
    expected = theirs(expected_x, torch.from_numpy(b))
    loss.sum().backward()
    expected.sum().backward()

    assert list(ours.state_dict()) == list(theirs.state_dict())
    np.testing.assert_allclose(loss.detach().cpu().numpy(), expected.detach().numpy(), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(x.grad.cpu().numpy(), expected_x.grad.numpy(), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("kind", ["CrossEntropyLoss", "NLLLoss"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_class_weights_equal_torch(device, kind, reduction):
    rng = np.random.default_rng(0)
    rows, target, weight = rng.normal(size=(6, 3)), np.array([0, 2, -100, 1, 1, 2]), np.array([0.5, 2.0, 1.0])
    x = it.tensor(rows, device=device, requires_grad=True)
    expected_x = torch.from_numpy(rows).requires_grad_()
    loss = getattr(nn, kind)(it.tensor(weight), reduction=reduction).to(device)(x, it.tensor(target, device=device))
    expected = getattr(torch.nn, kind)(torch.from_numpy(weight), reduction=reduction)(
        expected_x, torch.from_numpy(target)
    )
    loss.sum().backward()
    expected.sum().backward()

    np.testing.assert_allclose(loss.detach().cpu().numpy(), expected.detach().numpy(), rtol=1e-11)
    np.testing.assert_allclose(x.grad.cpu().numpy(), expected_x.grad.numpy(), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("x", [-200.0, -90.0, -20.0, 0.0, 20.0, 90.0, 200.0])
def test_binary_cross_entropy_of_large_logits_equals_torch(device, x):
    """No overflow and, where loss or slope are tiny, no cancellation: torch needs float64 for that."""
    for target in (0.0, 1.0):
        ours = it.tensor([x], device=device, requires_grad=True)
        theirs = torch.tensor([x], dtype=torch.float64, requires_grad=True)
        loss = nn.BCEWithLogitsLoss()(ours, it.tensor([target], device=device))
        expected = torch.nn.BCEWithLogitsLoss()(theirs, torch.tensor([target], dtype=torch.float64))
        loss.backward()
        expected.backward()

        assert loss.item() == pytest.approx(expected.item(), rel=1e-5, abs=1e-30)
        assert ours.grad.item() == pytest.approx(theirs.grad.item(), rel=1e-5, abs=1e-30)


def test_certain_probabilities_have_a_finite_loss(device):
    p, t = [0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]
    ours, theirs = it.tensor(p, device=device, requires_grad=True), torch.tensor(p, requires_grad=True)
    loss = nn.BCELoss(reduction="none")(ours, it.tensor(t, device=device))
    expected = torch.nn.BCELoss(reduction="none")(theirs, torch.tensor(t))
    loss.sum().backward()
    expected.sum().backward()

    np.testing.assert_array_equal(loss.detach().cpu().numpy(), expected.detach().numpy())
    np.testing.assert_allclose(ours.grad.cpu().numpy()[:2], theirs.grad.numpy()[:2], rtol=1e-6)


def test_batchmean_is_the_divergence(device):
    p, q = np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([[0.25, 0.75], [0.5, 0.5]])
    found = nn.KLDivLoss("batchmean")(it.tensor(np.log(q), device=device), it.tensor(p, device=device))

    assert found.item() == pytest.approx((p * np.log(p / q)).sum() / 2, rel=1e-12)


@pytest.mark.parametrize("name", ["linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"])
def test_gains_equal_torch(name):
    assert nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    assert nn.init.calculate_gain("leaky_relu", 0.3) == torch.nn.init.calculate_gain("leaky_relu", 0.3)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("normal_", {"mean": 1.0, "std": 0.5}),
        ("uniform_", {"a": -1.0, "b": 3.0}),
        ("trunc_normal_", {"std": 0.02}),
        ("trunc_normal_", {"mean": 1.0, "std": 2.0, "a": -1.0, "b": 2.0}),
        ("trunc_normal_", {"a": -9.0, "b": 9.0}),
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


def test_lists_and_dictionaries_of_parameters_have_torchs_names():
    def build(n, tensor):
        model = n.Module()
        model.rows = n.ParameterList([n.Parameter(tensor), tensor])
        model.rows.append(tensor)
        model.named = n.ParameterDict({"b": tensor, "a": n.Parameter(tensor)})
        model.named["c"] = n.Parameter(tensor)
        del model.named["b"]
        return model

    ours, theirs = build(nn, it.ones(2)), build(torch.nn, torch.ones(2))

    assert sorted(ours.state_dict()) == sorted(theirs.state_dict())
    assert sorted(name for name, _ in ours.named_parameters()) == sorted(name for name, _ in theirs.named_parameters())
