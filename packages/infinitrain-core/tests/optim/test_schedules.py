from __future__ import annotations

import json
from itertools import pairwise
from math import cos, isfinite, pi

import infinitrain as it
import pytest
from infinitrain.errors import CheckpointError, ConfigError
from infinitrain.nn import Parameter
from infinitrain.optim import (
    SGD,
    ChainedScheduler,
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    SequentialLR,
    StepLR,
    WarmupCosineLR,
    WarmupLR,
    create_scheduler,
    warmup_cosine,
    warmup_rate,
)


def sgd(*rates):
    return SGD([{"params": [Parameter(it.ones(1))], "lr": rate} for rate in rates])


def rates(schedule, count):
    found = []
    for _ in range(count):
        found.append(schedule.get_last_lr()[0])
        schedule.step()
    return found


MAKERS = {
    "constant": lambda o: ConstantLR(o, 0.5, 3),
    "step": lambda o: StepLR(o, 2, 0.1),
    "milestones": lambda o: MultiStepLR(o, [4, 1, 4], 0.5),
    "exponential": lambda o: ExponentialLR(o, 0.5),
    "linear": lambda o: LinearLR(o, 0.25, 0.75, 4),
    "cosine": lambda o: CosineAnnealingLR(o, 5, 0.1),
    "lambda": lambda o: LambdaLR(o, lambda step: 0.9**step),
    "warmup": lambda o: WarmupCosineLR(o, 3, 9, 0.1),
    "warmup-linear": lambda o: WarmupLR(o, "linear", 2, 7, 0.1),
    "warmup-sqrt": lambda o: WarmupLR(o, "inverse-square-root", 4, 7),
    "sequence": lambda o: SequentialLR(o, [ConstantLR(o, 0.1, 9), StepLR(o, 2), LinearLR(o)], [2, 6]),
    "chain": lambda o: ChainedScheduler([ConstantLR(o, 0.1, 3), StepLR(o, 2)]),
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("constant", [0.5, 0.5, 0.5, 1.0, 1.0]),
        ("step", [1.0, 1.0, 0.1, 0.1, 0.01]),
        ("milestones", [1.0, 0.5, 0.5, 0.5, 0.125, 0.125]),
        ("exponential", [1.0, 0.5, 0.25, 0.125]),
        ("warmup-linear", [0.5, 1.0, 0.82, 0.64, 0.46, 0.28, 0.1, 0.1]),
        ("warmup-sqrt", [0.25, 0.5, 0.75, 1.0, (4 / 5) ** 0.5, (4 / 6) ** 0.5, (4 / 7) ** 0.5]),
        ("linear", [0.25, 0.375, 0.5, 0.625, 0.75, 0.75]),
        ("cosine", [0.1 + 0.9 * (1 + cos(pi * t / 5)) / 2 for t in range(7)]),
        ("lambda", [0.9**t for t in range(6)]),
        ("sequence", [0.1, 0.1, 1.0, 1.0, 0.1, 0.1, 1 / 3, 1 / 3 + 2 / 15]),
        ("chain", [0.1, 0.1, 0.01, 0.1, 0.01]),
    ],
)
def test_rates(name, expected):
    """B11: the rate of each step."""
    assert rates(MAKERS[name](sgd(1.0)), len(expected)) == pytest.approx(expected, rel=1e-12)


def test_bc091_warmup_cosine_is_the_stated_closed_form():
    """BC-091: first step above 0, peak reached once, last step at the floor."""
    found = rates(WarmupCosineLR(sgd(1.0), 4, 10, floor=0.1), 12)

    assert found[:4] == [0.25, 0.5, 0.75, 1.0]
    assert found[9:] == [0.1, 0.1, 0.1]
    assert found[4:9] == pytest.approx([0.1 + 0.45 * (1 + cos(pi * k / 6)) for k in range(1, 6)], rel=1e-12)
    assert found.count(1.0) == 1
    assert all(a > b for a, b in pairwise(found[3:10]))


@pytest.mark.parametrize(
    ("warmup", "total", "expected"),
    [
        (0, 1, [1.0, 0.0]),  # one step: it is at the peak
        (1, 1, [1.0, 0.0]),
        (0, 2, [1.0, 0.0]),
        (0, 3, [1.0, 0.5, 0.0]),
        (1, 3, [1.0, 0.5, 0.0]),
        (3, 3, [1 / 3, 2 / 3, 1.0, 0.0]),  # warm-up to the last step
        (5, 3, [0.2, 0.4, 0.6, 0.8, 1.0, 0.0]),  # and beyond it
    ],
)
def test_bc092_degenerate_warmup_cosine_is_finite(warmup, total, expected):
    """BC-092."""
    found = [warmup_cosine(step, 1.0, warmup, total) for step in range(len(expected))]

    assert found == pytest.approx(expected, abs=1e-12)
    assert all(isfinite(rate) for rate in found)


@pytest.mark.parametrize("style", ["constant", "linear", "cosine", "inverse-square-root"])
def test_bc091_every_style_rises_to_its_peak_once(style):
    found = rates(create_scheduler(style, sgd(1.0), 4, 10, 0.1), 12)

    assert found[:4] == [0.25, 0.5, 0.75, 1.0]
    assert all(0.1 <= rate <= 1.0 for rate in found[3:])
    assert all(a >= b for a, b in pairwise(found[3:]))
    assert (found[9:] == [0.1] * 3) == (style in ("linear", "cosine"))
    assert (found[4] < 1.0) == (style != "constant")


@pytest.mark.parametrize("style", ["constant", "linear", "cosine", "inverse-square-root"])
@pytest.mark.parametrize(("warmup", "total"), [(0, 1), (0, 2), (1, 1), (3, 3), (5, 3)])
def test_bc092_degenerate_styles_are_finite(style, warmup, total):
    found = [warmup_rate(style, step, 1.0, warmup, total) for step in range(8)]

    assert all(isfinite(rate) for rate in found)
    assert found[max(warmup - 1, 0)] == 1.0


def test_no_style_makes_no_schedule():
    optimizer = sgd(0.5)

    assert create_scheduler("none", optimizer, 4, 10) is None
    assert "initial_lr" not in optimizer.param_groups[0]
    with pytest.raises(ConfigError, match=r"expected a style of none, constant, .* found 'poly'"):
        create_scheduler("poly", optimizer)
    with pytest.raises(ConfigError, match=r"expected a style of constant, .* found 'poly'"):
        warmup_rate("poly", 0, 1.0, 0, 1)


@pytest.mark.parametrize("name", sorted(set(MAKERS) - {"sequence"}))
def test_a_group_that_is_added_later_joins_the_curve(name):
    """Its own rate is its base: from the next step on it has the first group's rate, scaled."""
    optimizer = sgd(1.0)
    schedule = MAKERS[name](optimizer)
    schedule.step()
    optimizer.add_param_group({"params": [Parameter(it.ones(1))], "lr": 0.5})
    for _ in range(3):
        schedule.step()
        mine, added = schedule.get_last_lr()
        if "cosine" not in name and "warmup" not in name:  # these have floors that do not scale
            assert added == pytest.approx(mine / 2, rel=1e-12)
        assert added == schedule.rate(0.5, schedule.last_epoch)


def test_a_group_without_a_function_is_refused():
    optimizer = sgd(1.0)
    schedule = LambdaLR(optimizer, [lambda step: 0.5])
    optimizer.add_param_group({"params": [Parameter(it.ones(1))]})

    with pytest.raises(ConfigError, match="expected 2 functions, one for each group, found 1"):
        schedule.step()


@pytest.mark.parametrize(
    "make",
    [lambda o: LinearLR(o, total_iters=0), lambda o: ConstantLR(o, total_iters=0), lambda o: CosineAnnealingLR(o, 1)],
)
def test_bc092_other_degenerate_schedules_are_finite(make):
    assert all(isfinite(rate) for rate in rates(make(sgd(1.0)), 4))


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("stop", [0, 1, 4])
def test_bc094_resumed_rates_are_bit_equal(name, stop):
    """BC-094: stopped at k and resumed through JSON, into a schedule whose optimizer has other rates."""
    unbroken = rates(MAKERS[name](sgd(0.3)), 10)
    first = MAKERS[name](sgd(0.3))
    rates(first, stop)
    state = json.loads(json.dumps(first.state_dict()))
    optimizer = sgd(0.7)
    resumed = MAKERS[name](optimizer)
    resumed.load_state_dict(state)

    assert rates(resumed, 10 - stop) == unbroken[stop:]


@pytest.mark.parametrize("name", MAKERS)
def test_every_group_has_its_own_base(name):
    schedule = MAKERS[name](sgd(1.0, 2.0))
    for _ in range(4):
        schedule.step()
    one, two = schedule.get_last_lr()

    if name in ("cosine", "warmup", "warmup-linear"):  # these have a floor that does not scale
        one, two = one - 0.1, (two - 0.1) / 1.9 * 0.9
        assert two == pytest.approx(one)
    else:
        assert two == pytest.approx(2.0 * one)


def test_one_function_for_each_group():
    schedule = LambdaLR(sgd(1.0, 1.0), [lambda t: 1.0, lambda t: 1.0 / (t + 1)])
    schedule.step()

    assert schedule.get_last_lr() == [1.0, 0.5]
    with pytest.raises(ConfigError, match="expected 1 functions, one for each group, found 2"):
        LambdaLR(sgd(1.0), [abs, abs])


def test_rate_of_step_zero_is_set_at_once():
    optimizer = sgd(1.0)
    WarmupCosineLR(optimizer, 4, 10)

    assert optimizer.param_groups[0]["lr"] == 0.25
    assert optimizer.param_groups[0]["initial_lr"] == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: ConstantLR(o, 1.5), r"ConstantLR: expected factor in \[0, 1\], found 1.5"),
        (lambda o: ConstantLR(o, 0.5, -1), "expected total_iters of at least 0, found -1"),
        (lambda o: StepLR(o, 0), "StepLR: expected step_size of at least 1, found 0"),
        (lambda o: LinearLR(o, -0.1), r"expected start_factor in \[0, 1\]"),
        (lambda o: CosineAnnealingLR(o, 0), "expected T_max of at least 1"),
        (lambda o: WarmupCosineLR(o, -1, 5), "expected warmup_steps of at least 0, found -1"),
        (lambda o: WarmupCosineLR(o, 0, 0), "expected total_steps of at least 1, found 0"),
        (lambda o: SequentialLR(o, [StepLR(o, 1)], [3]), r"expected 0 ascending milestones, found \[3\]"),
        (lambda o: SequentialLR(o, [StepLR(o, 1)] * 3, [5, 3]), r"expected 2 ascending milestones"),
        (lambda o: SequentialLR(o, [StepLR(sgd(1.0), 1)], []), "expected schedules of its own optimizer"),
        (lambda o: ChainedScheduler([]), "expected schedules, found none"),
        (lambda o: ChainedScheduler([StepLR(o, 1), StepLR(sgd(1.0), 1)]), "found several optimizers"),
        (lambda o: ChainedScheduler([StepLR(o, 1)], sgd(1.0)), "expected schedules of its own optimizer"),
    ],
)
def test_settings_out_of_range(make, message):
    with pytest.raises(ConfigError, match=message):
        make(sgd(1.0))
    with pytest.raises(ConfigError, match="expected warmup_steps of at least 0"):
        warmup_cosine(0, 1.0, -1, 5)


def test_state_of_another_schedule_is_refused():
    schedule = StepLR(sgd(1.0), 2)

    with pytest.raises(CheckpointError, match="expected the state of StepLR, found that of ConstantLR"):
        schedule.load_state_dict(ConstantLR(sgd(1.0)).state_dict())
    with pytest.raises(CheckpointError, match="StepLR: expected 1 parameter groups, found 2"):
        schedule.load_state_dict(StepLR(sgd(1.0, 2.0), 2).state_dict())
    optimizer = sgd(1.0)
    chain = ChainedScheduler([StepLR(optimizer, 2)])
    state = chain.state_dict()
    state["schedulers"] *= 2
    with pytest.raises(CheckpointError, match="ChainedScheduler: expected 1 parts, found 2"):
        chain.load_state_dict(state)
