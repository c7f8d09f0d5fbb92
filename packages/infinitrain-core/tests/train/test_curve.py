"""The loss curve."""

from __future__ import annotations

import pytest
from infinitrain.train.curve import draw, smooth


def test_smoothing_starts_at_the_first_value_and_follows():
    assert smooth([4.0]) == [pytest.approx(4.0)]
    assert smooth([4.0] * 50)[-1] == pytest.approx(4.0)
    assert smooth([0.0] + [1.0] * 100)[-1] == pytest.approx(1.0, abs=1e-4)


def test_a_curve_of_one_step_and_of_many(tmp_path, record):
    for count in (1, 30):
        path = tmp_path / f"{count}.png"
        draw(path, [record(step, val_loss=5.0 if step % 10 == 0 else None) for step in range(1, count + 1)], 6.4, "x")

        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 10_000
