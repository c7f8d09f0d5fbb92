"""Anomaly mode names the line of the forward whose backward went wrong."""

from __future__ import annotations

import re

import infinitrain as it
import pytest
from infinitrain import autograd
from infinitrain.errors import AutogradError

HERE = re.escape(__file__)


class Failing(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, grad):
        raise KeyError("mine")


def root_of(x):
    return (x * 0.0).sqrt()  # the derivative of the root at 0 is infinite, times 0 is NaN


def test_nan_is_traced_to_its_forward(device):
    x = it.ones(2, device=device, requires_grad=True)

    with autograd.detect_anomaly():
        y = root_of(x).sum()
        with pytest.raises(
            AutogradError, match=rf"backward of \w+: gradient 0 .* holds NaN; .*\n(.|\n)*{HERE}(.|\n)*root_of"
        ):
            y.backward()


def test_nan_is_no_error_where_it_is_not_looked_for(device):
    x = it.ones(2, device=device, requires_grad=True)

    root_of(x).sum().backward()
    with autograd.detect_anomaly(check_nan=False):
        root_of(x).sum().backward()

    assert x.grad.isnan().all().item()


def test_graph_from_outside_says_that_it_knows_no_line(device):
    y = root_of(it.ones(2, device=device, requires_grad=True)).sum()

    with autograd.detect_anomaly(), pytest.raises(AutogradError, match="holds NaN, recorded outside anomaly mode"):
        y.backward()


def test_error_in_a_backward_carries_the_line_as_a_note(device):
    with autograd.detect_anomaly():
        y = Failing.apply(it.ones(2, device=device, requires_grad=True)).sum()
        with pytest.raises(KeyError, match="mine") as caught:
            y.backward()

    assert "in the backward of Failing, whose forward was called at" in caught.value.__notes__[0]
    assert __file__ in caught.value.__notes__[0]


def test_mode_nests_and_ends(device):
    with autograd.detect_anomaly():
        with autograd.set_detect_anomaly(False):
            root_of(it.ones(2, device=device, requires_grad=True)).sum().backward()
        y = root_of(it.ones(2, device=device, requires_grad=True)).sum()
        with pytest.raises(AutogradError, match="holds NaN"):
            y.backward()
    root_of(it.ones(2, device=device, requires_grad=True)).sum().backward()


def test_gradients_are_those_without_it(device):
    def run():
        it.manual_seed(0)
        layer = it.nn.Linear(4, 3).to(device)
        x = it.randn(5, 4, device=device)
        for _ in range(2):
            layer(x).tanh().sum().backward()
        return [parameter.grad.cpu().numpy().tolist() for parameter in layer.parameters()]

    expected = run()
    with autograd.detect_anomaly():
        assert run() == expected
