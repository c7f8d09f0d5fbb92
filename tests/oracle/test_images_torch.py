"""Convolution, pools and products against PyTorch: values, gradients and second derivatives, on each device."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import infinitrain as it  # noqa: E402
from infinitrain import nn  # noqa: E402
from infinitrain.nn import functional as F  # noqa: E402
from infinitrain.ops.loss import vocab_parallel_cross_entropy_gradient  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
TF = torch.nn.functional
TOLERANCE = {"float64": (1e-10, 1e-11), "float32": (3e-5, 3e-5), "bfloat16": (3e-2, 6e-2)}

#: A function of either library's functional module and root, and the shapes of its operands.
CASES = {
    "conv": (lambda f, lib, x, w, b: f.conv2d(x, w, b), (2, 3, 6, 5), (4, 3, 3, 2), (4,)),
    "conv-no-bias": (lambda f, lib, x, w: f.conv2d(x, w), (2, 3, 6, 5), (4, 3, 3, 2)),
    "conv-one-image": (lambda f, lib, x, w, b: f.conv2d(x, w, b, padding=1), (3, 6, 5), (4, 3, 3, 3), (4,)),
    "conv-strided": (
        lambda f, lib, x, w, b: f.conv2d(x, w, b, stride=(2, 3), padding=(1, 2), dilation=(2, 1)),
        (2, 2, 9, 8),
        (3, 2, 3, 3),
        (3,),
    ),
    "conv-groups": (lambda f, lib, x, w: f.conv2d(x, w, padding=1, groups=2), (2, 4, 5, 5), (6, 2, 3, 3)),
    "conv-depthwise": (lambda f, lib, x, w: f.conv2d(x, w, stride=2, groups=3), (1, 3, 6, 6), (6, 1, 2, 2)),
    "conv-same": (lambda f, lib, x, w: f.conv2d(x, w, padding="same"), (1, 2, 5, 6), (3, 2, 4, 3)),
    "conv-valid": (lambda f, lib, x, w: f.conv2d(x, w, padding="valid", dilation=2), (1, 2, 5, 6), (3, 2, 2, 3)),
    "conv-twice": (
        lambda f, lib, x, w: f.conv2d(f.conv2d(x, w / 4, padding=1), w, padding=1),
        (1, 2, 4, 4),
        (2, 2, 3, 3),
    ),
    "conv-view": (lambda f, lib, x, w: f.conv2d(x.transpose(2, 3), w), (1, 2, 4, 5), (2, 2, 3, 3)),
    "max-pool": (lambda f, lib, x: f.max_pool2d(x, 2), (2, 3, 6, 8)),
    "max-pool-overlap": (lambda f, lib, x: f.max_pool2d(x, 3, stride=2, padding=1), (2, 2, 7, 6)),
    "max-pool-dilated": (lambda f, lib, x: f.max_pool2d(x, (3, 2), 1, (1, 0), (2, 3)), (1, 2, 8, 9)),
    "max-pool-ceil": (lambda f, lib, x: f.max_pool2d(x, 3, 2, ceil_mode=True), (1, 2, 6, 7)),
    "max-pool-one-image": (lambda f, lib, x: f.max_pool2d(x, 2), (3, 5, 4)),
    "avg-pool": (lambda f, lib, x: f.avg_pool2d(x, 2), (2, 3, 6, 8)),
    "avg-pool-padded": (lambda f, lib, x: f.avg_pool2d(x, 3, 2, 1), (2, 2, 7, 6)),
    "avg-pool-bare": (lambda f, lib, x: f.avg_pool2d(x, 3, 2, 1, count_include_pad=False), (2, 2, 7, 6)),
    "avg-pool-ceil": (lambda f, lib, x: f.avg_pool2d(x, (3, 2), (2, 2), (1, 1), ceil_mode=True), (1, 2, 6, 7)),
    "avg-pool-divisor": (lambda f, lib, x: f.avg_pool2d(x, 2, divisor_override=3), (1, 5, 4)),
    "addmm": (lambda f, lib, c, a, b: lib.addmm(c, a, b, beta=0.5, alpha=-2.0), (3, 5), (3, 4), (4, 5)),
    "addmm-row": (lambda f, lib, c, a, b: c.addmm(a, b), (5,), (3, 4), (4, 5)),
    "addmm-turned": (lambda f, lib, c, a, b: lib.addmm(c, a.t(), b.t()), (3, 5), (4, 3), (5, 4)),
    "baddbmm": (lambda f, lib, c, a, b: lib.baddbmm(c, a, b, beta=2.0), (2, 3, 1), (2, 3, 4), (2, 4, 5)),
    "outer": (lambda f, lib, a, b: lib.outer(a, b), (4,), (3,)),
}


def operands(shapes, device, dtype):
    rng = np.random.default_rng(len(shapes))
    arrays = [rng.standard_normal(shape) for shape in shapes]
    ours = [it.tensor(array, dtype=dtype, device=device, requires_grad=True) for array in arrays]
    return ours, [torch.tensor(array).to(getattr(torch, dtype)).requires_grad_() for array in arrays]


def compare(found, expected, dtype, what):
    rtol, atol = TOLERANCE[dtype]
    assert tuple(found.shape) == tuple(expected.shape), what
    np.testing.assert_allclose(
        found.detach().cpu().numpy().astype(np.float64),
        expected.detach().double().numpy(),
        rtol=rtol,
        atol=atol,
        err_msg=what,
    )


@pytest.fixture(params=[True, False], ids=["fused", "composed"])
def fused(request, monkeypatch):
    """With a provider's own kernels of tier 3, and without any."""
    if not request.param:
        for module in ("products", "loss"):
            monkeypatch.setattr(f"infinitrain.ops.{module}.offers", lambda kernel, x: False)
    return request.param


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    ("name", "fused"),
    [(name, True) for name in CASES] + [(name, False) for name in CASES if "pool" not in name and "conv" not in name],
    indirect=["fused"],
)
def test_forward_and_backward_equal_torch(device, name, dtype, fused):
    function, *shapes = CASES[name]
    ours, theirs = operands(shapes, device, dtype)
    y, expected = function(F, it, *ours), function(TF, torch, *theirs)

    compare(y, expected, dtype, "forward")
    start = np.random.default_rng(1).standard_normal(expected.shape)
    for _ in range(2):  # the second time gradients are added in place
        y = function(F, it, *ours)
        y.backward(it.tensor(start, dtype=dtype, device=device))
        function(TF, torch, *theirs).backward(torch.tensor(start).to(expected.dtype))
    for position, (x, reference) in enumerate(zip(ours, theirs, strict=True)):
        compare(x.grad, reference.grad, dtype, f"gradient of operand {position}")


@pytest.mark.parametrize("name", CASES)
def test_second_derivative_equals_torch(name):
    function, *shapes = CASES[name]
    ours, theirs = operands(shapes, "cpu", "float64")

    def second(lib, f, root, leaves, start):
        first = lib.autograd.grad(function(f, root, *leaves), leaves, start, create_graph=True)
        total = sum((g * g * g).sum() for g in first)
        return lib.autograd.grad(total, leaves, allow_unused=True) if total.requires_grad else [None] * len(leaves)

    start = np.random.default_rng(1).standard_normal(tuple(function(TF, torch, *theirs).shape))
    found = second(it, F, it, ours, it.tensor(start, requires_grad=True))
    expected = second(torch, TF, torch, theirs, torch.tensor(start, requires_grad=True))
    for x, got, wanted in zip(ours, found, expected, strict=True):
        compare(
            it.zeros_like(x) if got is None else got,
            torch.zeros(x.shape) if wanted is None else wanted,
            "float64",
            "second derivative",
        )


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_max_pool_places_equal_torch(device, bad):
    """Equals, NaN and -inf: the same elements, and the gradient goes where theirs goes."""
    rng = np.random.default_rng(0)
    array = rng.integers(-2, 3, (2, 3, 7, 6)).astype(np.float32)
    array[0, 0, 2:5, 2:5], array[1, 1, 0, 0] = bad, bad
    x = it.tensor(array, device=device, requires_grad=True)
    t = torch.tensor(array, requires_grad=True)
    y, index = F.max_pool2d(x, 3, 2, 1, return_indices=True)
    expected, places = TF.max_pool2d(t, 3, 2, 1, return_indices=True)
    y.sum().backward()
    expected.sum().backward()

    np.testing.assert_array_equal(y.detach().cpu().numpy(), expected.detach().numpy())
    np.testing.assert_array_equal(index.cpu().numpy(), places.numpy())
    np.testing.assert_array_equal(x.grad.cpu().numpy(), t.grad.numpy())


def test_beta_zero_reads_nothing(device, fused):
    c = it.full((2, 3), float("nan"), device=device)

    y = it.addmm(c, it.ones(2, 4, device=device), it.ones(4, 3, device=device), beta=0)
    assert y.tolist() == [[4.0] * 3] * 2


MODULES = {
    "conv": (lambda n: n.Conv2d(3, 4, 3), (2, 3, 6, 5)),
    "conv-all": (lambda n: n.Conv2d(4, 6, (3, 2), (2, 1), (1, 2), 2, 2, bias=False), (2, 4, 7, 6)),
    "max-pool": (lambda n: n.MaxPool2d(3, 2, 1), (2, 3, 6, 5)),
    "avg-pool": (lambda n: n.AvgPool2d(2), (2, 3, 6, 5)),
    "flatten": (lambda n: n.Sequential(n.Flatten(), n.Flatten(0, 1)), (2, 3, 2)),
    "net": (
        lambda n: n.Sequential(
            n.Conv2d(1, 4, 3, padding=1), n.ReLU(), n.MaxPool2d(2), n.Conv2d(4, 2, 3), n.AvgPool2d(2)
        ),
        (2, 1, 8, 8),
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_equal_torch(device, name):
    make, shape = MODULES[name]
    theirs = make(torch.nn).double()
    ours = make(nn).to(device).to(it.float64)
    ours.load_state_dict({key: it.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    array = np.random.default_rng(0).standard_normal(shape)
    x, t = it.tensor(array, device=device, requires_grad=True), torch.tensor(array, requires_grad=True)
    y, expected = ours(x), theirs(t)
    (y * y).sum().backward()
    (expected * expected).sum().backward()

    compare(y, expected, "float64", "forward")
    compare(x.grad, t.grad, "float64", "input")
    for (key, p), (other, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert key == other
        compare(p.grad, q.grad, "float64", key)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_shards_of_a_vocabulary_have_the_gradient_of_the_whole(device, dtype, smoothing, fused):
    """Three shards of 4 hold 10 classes: 2 are padding, and get 0."""
    rng = np.random.default_rng(0)
    logits, target, grad = rng.standard_normal((6, 10)), np.array([0, 3, 4, 9, -100, 7]), rng.standard_normal(6)
    t = torch.tensor(logits).to(getattr(torch, dtype)).requires_grad_()
    loss = TF.cross_entropy(t.double(), torch.tensor(target), reduction="none", label_smoothing=smoothing)
    loss.backward(torch.tensor(grad))
    shares = np.pad(torch.softmax(t.detach().double(), 1).numpy(), ((0, 0), (0, 2)), constant_values=0.25)
    parts = [
        vocab_parallel_cross_entropy_gradient(
            it.tensor(shares[:, start : start + 4], dtype=dtype, device=device),
            it.tensor(target, device=device),
            it.tensor(grad, dtype="float64" if dtype == "float64" else "float32", device=device),
            vocab_start=start,
            vocab_size=10,
            label_smoothing=smoothing,
        )
        for start in (0, 4, 8)
    ]
    found = it.cat(parts, 1)

    compare(found[:, :10], t.grad, dtype, "gradient")
    assert found[:, 10:].tolist() == [[0.0, 0.0]] * 6
    assert found[4].tolist() == [0.0] * 12
