from __future__ import annotations

from math import sqrt

import infinitrain as it
import pytest
from infinitrain import nn
from infinitrain.errors import ConfigError, DTypeError, ShapeError
from infinitrain.nn import functional as F
from infinitrain.testing import gradcheck


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: F.conv2d(x, it.zeros(3, 1, 2, 2, device=x.device)), r"found \(3, 1, 2, 2\) for x \(1, 2, 4, 4\)"),
        (lambda x: F.conv2d(x, it.zeros(3, 1, 2, 2, device=x.device), groups=2), "with O a multiple of groups"),
        (lambda x: F.conv2d(x[0, 0], it.zeros(3, 2, 2, 2, device=x.device)), r"expected x of shape \(N, C, H, W\)"),
        (lambda x: F.conv2d(x, it.zeros(3, 2, 5, 5, device=x.device)), "expected images no smaller than the kernel"),
        (lambda x: F.conv2d(x, it.zeros(3, 2, 2, 2, device=x.device), stride=0), "expected a stride of at least 1"),
        (lambda x: F.conv2d(x, it.zeros(3, 2, 2, 2, device=x.device), padding=(1, 2, 3)), "a whole number or two"),
        (
            lambda x: F.conv2d(x, it.zeros(3, 2, 2, 2, device=x.device), it.zeros(2, device=x.device)),
            r"expected a bias of shape \(3,\), found \(2,\)",
        ),
        (
            lambda x: F.conv2d(x, it.zeros(3, 2, 2, 2, device=x.device), stride=2, padding="same"),
            "'same' with stride 1, found 'same' with stride",
        ),
        (lambda x: F.max_pool2d(x, 3, padding=2), "expected padding of at most half of the window"),
        (lambda x: F.max_pool2d(x, 5), "expected images no smaller than the window"),
        (lambda x: F.max_pool2d(x[..., :2], (1, 2), padding=(0, 2), dilation=3, stride=1), "in the padding alone"),
    ],
)
def test_what_does_not_fit_is_refused(device, call, message):
    with pytest.raises(ShapeError, match=message):
        call(it.zeros(1, 2, 4, 4, device=device))


def test_dtypes_are_checked(device):
    x = it.zeros(1, 2, 4, 4, device=device)
    with pytest.raises(DTypeError, match="expected operands of one dtype, found float32, float64"):
        F.conv2d(x, it.zeros(3, 2, 2, 2, dtype=it.float64, device=device))
    with pytest.raises(DTypeError, match="max_pool2d: expected a floating-point tensor, found int64"):
        F.max_pool2d(x.to(it.int64), 2)
    with pytest.raises(ValueError, match="expected a divisor other than 0"):
        F.avg_pool2d(x, 2, divisor_override=0)


def test_modules_are_checked():
    with pytest.raises(ConfigError, match="expected channels that are multiples of groups"):
        nn.Conv2d(3, 4, 3, groups=2)
    with pytest.raises(ConfigError, match="expected padding_mode 'zeros', found 'circular'"):
        nn.Conv2d(3, 4, 3, padding_mode="circular")


def test_first_values_are_torchs(device):
    conv = nn.Conv2d(8, 64, 5, groups=2, device=device, generator=it.Generator(1))
    bound = 1 / sqrt(8 * 25 / 2)

    for parameter in (conv.weight, conv.bias):
        assert bound * 0.9 < parameter.detach().abs().max().item() <= bound
    assert repr(conv) == "Conv2d(8, 64, kernel_size=(5, 5), stride=(1, 1), groups=2)"


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=1, dilation=(1, 2)),
        lambda x, w, b: F.avg_pool2d(F.max_pool2d(x, 2, 1) * w.sum(), 2) + b.sum(),
    ],
)
def test_gradients_are_the_slopes(function):
    generator = it.Generator(3)
    operands = [
        it.randn(*shape, dtype=it.float64, generator=generator, requires_grad=True)
        for shape in ((1, 2, 5, 6), (3, 2, 2, 2), (3,))
    ]

    assert gradcheck(function, operands)


def test_no_images_give_no_outputs(device):
    x = it.zeros(0, 2, 4, 4, device=device, requires_grad=True)
    conv = nn.Conv2d(2, 3, 3, device=device)
    y = conv(x)
    y.sum().backward()

    assert y.shape == (0, 3, 2, 2)
    assert not conv.weight.grad.cpu().numpy().any()
    assert x.grad.shape == x.shape


def test_half_types_accumulate_in_float32(device):
    """4608 products of 1 and 1: in bfloat16 alone the sum would stop at 256."""
    y = F.conv2d(
        it.ones(1, 512, 3, 3, dtype=it.bfloat16, device=device), it.ones(1, 512, 3, 3, dtype=it.bfloat16, device=device)
    )

    assert y.item() == 4608
