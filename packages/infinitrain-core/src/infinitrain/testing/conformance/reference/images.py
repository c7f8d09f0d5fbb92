"""Convolutions and pools, tap by tap: each tap is a strided slice of the padded image."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from infinitrain.testing.conformance.case import Case, Expected
from infinitrain.testing.conformance.layout import Array
from infinitrain.testing.conformance.reference import reference
from infinitrain.testing.conformance.reference.base import operand, output
from infinitrain.testing.conformance.reference.number import wide

__all__: list[str] = []

Pair = tuple[int, int]


def _pairs(case: Case, start: int, count: int) -> list[Pair]:
    """Give attributes two by two, as (h, w)."""
    values = [int(value) for value in case.attributes]
    return [(values[start + 2 * i], values[start + 2 * i + 1]) for i in range(count)]


def _padded(x: Array, outputs: Pair, kernel: Pair, geometry: tuple[Pair, Pair, Pair], fill: float) -> Array:
    """Give (N, C, H, W) with padding on all sides, as far as the last window reaches."""
    stride, pad, dilation = geometry
    wanted = [(outputs[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1 if outputs[d] else 0 for d in range(2)]
    sides = [(pad[d], max(wanted[d] - x.shape[2 + d] - pad[d], 0)) for d in range(2)]
    return np.pad(x, [(0, 0), (0, 0), *sides], constant_values=fill)


def _taps(outputs: Pair, kernel: Pair, geometry: tuple[Pair, Pair, Pair]) -> Iterator[tuple[int, int, slice, slice]]:
    """Give each tap (u, v) and where the outputs see a padded image through it."""
    stride, _, dilation = geometry
    for u in range(kernel[0]):
        for v in range(kernel[1]):
            top, left = u * dilation[0], v * dilation[1]
            yield (
                u,
                v,
                slice(top, top + (outputs[0] - 1) * stride[0] + 1, stride[0]),
                slice(left, left + (outputs[1] - 1) * stride[1] + 1, stride[1]),
            )


def _convolve(x: Array, weight: Array, outputs: Pair, geometry: tuple[Pair, Pair, Pair], groups: int) -> Array:
    kernel: Pair = (weight.shape[2], weight.shape[3])
    padded = _padded(x, outputs, kernel, geometry, 0.0)
    n, inside = len(x), weight.shape[1]
    grouped = weight.reshape(groups, -1, *weight.shape[1:])
    y = np.zeros((n, groups, grouped.shape[1], *outputs))
    for u, v, rows, columns in _taps(outputs, kernel, geometry):
        seen = padded[:, :, rows, columns].reshape(n, groups, inside, *outputs)
        y += np.einsum("ngcpq,goc->ngopq", seen, grouped[:, :, :, u, v])
    return y.reshape(n, len(weight), *outputs)


@reference("Conv2dForward")
def conv2d(case: Case) -> list[Expected | None]:
    """Sum of taps, and the bias of the channel."""
    x, weight, y = wide(operand(case, 0)), wide(operand(case, 1)), output(case)
    stride, pad, dilation = _pairs(case, 0, 3)
    rest = ((y.shape[2], y.shape[3]), (stride, pad, dilation), int(case.attributes[6]))
    value = _convolve(x, weight, *rest)
    magnitude = _convolve(np.abs(x), np.abs(weight), *rest)
    if case.inputs[2] is not None:
        bias = wide(case.inputs[2])[:, None, None]
        value, magnitude = value + bias, magnitude + np.abs(bias)
    return [Expected(value, magnitude)]


def _on_old(case: Case, value: Array, magnitude: Array) -> list[Expected | None]:
    if case.attributes[7]:
        old = wide(output(case))
        value, magnitude = value + old, magnitude + np.abs(old)
    return [Expected(value, magnitude)]


@reference("Conv2dBackwardInput")
def conv2d_backward_input(case: Case) -> list[Expected | None]:
    """Each output's gradient goes back through every tap."""
    grad, weight, dx = wide(operand(case, 0)), wide(operand(case, 1)), output(case)
    stride, pad, dilation = _pairs(case, 0, 3)
    outputs, kernel = (grad.shape[2], grad.shape[3]), (weight.shape[2], weight.shape[3])
    geometry, groups = (stride, pad, dilation), int(case.attributes[6])
    found = []
    for g, w in ((grad, weight), (np.abs(grad), np.abs(weight))):
        padded = _padded(np.zeros(dx.shape), outputs, kernel, geometry, 0.0)
        slopes = g.reshape(len(g), groups, g.shape[1] // groups, *outputs)
        grouped = w.reshape(groups, -1, *w.shape[1:])
        for u, v, rows, columns in _taps(outputs, kernel, geometry):
            back = np.einsum("ngopq,goc->ngcpq", slopes, grouped[:, :, :, u, v])
            padded[:, :, rows, columns] += back.reshape(len(g), dx.shape[1], *outputs)
        found.append(padded[:, :, pad[0] : pad[0] + dx.shape[2], pad[1] : pad[1] + dx.shape[3]])
    return _on_old(case, *found)


@reference("Conv2dBackwardWeight")
def conv2d_backward_weight(case: Case) -> list[Expected | None]:
    """What each tap saw, times the gradients."""
    x, grad, dweight = wide(operand(case, 0)), wide(operand(case, 1)), output(case)
    stride, pad, dilation = _pairs(case, 0, 3)
    outputs, kernel = (grad.shape[2], grad.shape[3]), (dweight.shape[2], dweight.shape[3])
    geometry, groups = (stride, pad, dilation), int(case.attributes[6])
    found = []
    for image, g in ((x, grad), (np.abs(x), np.abs(grad))):
        padded = _padded(image, outputs, kernel, geometry, 0.0)
        slopes = g.reshape(len(g), groups, g.shape[1] // groups, *outputs)
        total = np.zeros((groups, slopes.shape[2], dweight.shape[1], *kernel))
        for u, v, rows, columns in _taps(outputs, kernel, geometry):
            seen = padded[:, :, rows, columns].reshape(len(g), groups, dweight.shape[1], *outputs)
            total[..., u, v] = np.einsum("ngopq,ngcpq->goc", slopes, seen)
        found.append(total.reshape(dweight.shape))
    return _on_old(case, *found)


@reference("MaxPool2dForward")
def max_pool2d(case: Case) -> list[Expected | None]:
    """The largest of a window and where it stands: the first of equals, the last NaN."""
    x, y = operand(case, 0), output(case)
    kernel, *geometry = _pairs(case, 0, 4)
    stride, pad, dilation = geometry
    value, index = np.empty_like(y), np.empty(y.shape, np.int64)
    for at in np.ndindex(*y.shape):
        places = [
            (row, column)
            for row in (at[2] * stride[0] - pad[0] + u * dilation[0] for u in range(kernel[0]))
            for column in (at[3] * stride[1] - pad[1] + v * dilation[1] for v in range(kernel[1]))
            if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]
        ]
        seen = [wide(x[at[0], at[1], row, column][None])[0] for row, column in places]
        bad = np.flatnonzero(np.isnan(seen))
        chosen = places[bad[-1] if len(bad) else int(np.argmax(seen))]
        value[at], index[at] = x[at[0], at[1], *chosen], chosen[0] * x.shape[3] + chosen[1]
    return [Expected(value), Expected(index)]


@reference("MaxPool2dBackward")
def max_pool2d_backward(case: Case) -> list[Expected | None]:
    """Gradients at the places that were chosen."""
    grad, index, dx = wide(operand(case, 0)), operand(case, 1), output(case)
    value, magnitude = np.zeros((2, dx.shape[0] * dx.shape[1], dx.shape[2] * dx.shape[3]))
    planes = np.arange(len(value)).repeat(grad.shape[2] * grad.shape[3])
    np.add.at(value, (planes, index.reshape(-1)), grad.reshape(-1))
    np.add.at(magnitude, (planes, index.reshape(-1)), np.abs(grad.reshape(-1)))
    return [Expected(value.reshape(dx.shape), magnitude.reshape(dx.shape))]


def _divisors(case: Case, image: Pair, outputs: Pair) -> Array:
    """Count the positions of each window, with or without padding, or repeat the divisor that was given."""
    kernel, stride, pad = _pairs(case, 0, 3)
    if case.attributes[7]:
        return np.full(outputs, float(case.attributes[7]))
    counts = []
    for d in range(2):
        margin = pad[d] if case.attributes[6] else 0
        begin = np.arange(outputs[d]) * stride[d] - pad[d]
        counts.append(np.minimum(begin + kernel[d], image[d] + margin) - np.maximum(begin, -margin))
    return np.asarray(np.outer(*counts), np.float64)


@reference("AvgPool2dForward")
def avg_pool2d(case: Case) -> list[Expected | None]:
    """Sums of windows over their divisors."""
    x, y = wide(operand(case, 0)), output(case)
    kernel, stride, pad = _pairs(case, 0, 3)
    outputs, geometry = (y.shape[2], y.shape[3]), (stride, pad, (1, 1))
    total, magnitude = np.zeros((2, *y.shape))
    padded = _padded(x, outputs, kernel, geometry, 0.0)
    for _, _, rows, columns in _taps(outputs, kernel, geometry):
        total += padded[:, :, rows, columns]
        magnitude += np.abs(padded[:, :, rows, columns])
    divisors = _divisors(case, (x.shape[2], x.shape[3]), outputs)
    return [Expected(total / divisors, magnitude / np.abs(divisors))]


@reference("AvgPool2dBackward")
def avg_pool2d_backward(case: Case) -> list[Expected | None]:
    """Each output's share goes back to all that it saw."""
    grad, dx = wide(operand(case, 0)), output(case)
    kernel, stride, pad = _pairs(case, 0, 3)
    outputs, geometry = (grad.shape[2], grad.shape[3]), (stride, pad, (1, 1))
    divisors = _divisors(case, (dx.shape[2], dx.shape[3]), outputs)
    found = []
    for share in (grad / divisors, np.abs(grad / divisors)):
        padded = _padded(np.zeros(dx.shape), outputs, kernel, geometry, 0.0)
        for _, _, rows, columns in _taps(outputs, kernel, geometry):
            padded[:, :, rows, columns] += share
        found.append(padded[:, :, pad[0] : pad[0] + dx.shape[2], pad[1] : pad[1] + dx.shape[3]])
    return [Expected(found[0], found[1])]
