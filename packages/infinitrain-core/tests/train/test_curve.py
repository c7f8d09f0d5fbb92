"""The loss curve."""

from __future__ import annotations

import pytest
from infinitrain.train.curve import draw, smooth


def test_smoothing_is_the_mean_of_a_neighbourhood_without_a_lag():
    assert smooth([]) == []
    assert smooth([4.0]) == [4.0]
    assert smooth([1.0, 3.0, 2.0]) == [1.0, 3.0, 2.0]  # too few to smooth
    line = [float(value) for value in range(100)]
    assert smooth(line) == pytest.approx(line)
    zigzag = smooth([0.0, 1.0] * 100)
    assert zigzag[0] == 0.0
    assert all(abs(value - 0.5) < 0.06 for value in zigzag[5:-5])


def test_a_curve_of_one_step_and_of_many(tmp_path, record):
    for count in (0, 1, 30):
        path = tmp_path / f"{count}.png"
        draw(path, [record(step, val_loss=5.0 if step % 10 == 0 else None) for step in range(1, count + 1)], 6.4, "x")

        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 10_000
