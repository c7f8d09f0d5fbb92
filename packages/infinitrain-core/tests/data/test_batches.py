"""Batches: what is in them, and that they follow from seed and index alone."""

from __future__ import annotations

import numpy as np
import pytest
from infinitrain.data import Batches
from infinitrain.errors import DataError

TOKENS = np.arange(1000, dtype=np.uint16)


def test_targets_are_the_inputs_one_token_later():
    batch = Batches(TOKENS, 4, 16, seed=3).at(7)

    assert batch.inputs.shape == batch.targets.shape == (4, 16)
    assert batch.inputs.dtype == np.int64
    np.testing.assert_array_equal(batch.targets, batch.inputs + 1)
    np.testing.assert_array_equal(np.diff(batch.inputs), 1)


def test_a_batch_follows_from_seed_and_index_alone():
    one, two = Batches(TOKENS, 4, 16, seed=3), Batches(TOKENS, 4, 16, seed=3)
    for index in (5, 0, 5, 2):
        one.at(index + 1)
        np.testing.assert_array_equal(one.at(index).inputs, two.at(index).inputs)


def test_indices_and_seeds_give_different_batches():
    rows = {tuple(Batches(TOKENS, 4, 16, seed).at(index).inputs[:, 0]) for seed in range(5) for index in range(20)}

    assert len(rows) == 100


def test_every_start_is_possible():
    tokens = np.arange(20)
    starts = {int(row) for index in range(200) for row in Batches(tokens, 8, 16, 0).at(index).inputs[:, 0]}

    assert starts == {0, 1, 2, 3}


def test_in_order_predicts_each_token_once():
    batches = list(Batches(TOKENS, 4, 16).in_order())

    np.testing.assert_array_equal(np.concatenate([b.targets.ravel() for b in batches]), np.arange(1, 993))
    assert batches[-1].inputs.shape == (2, 16)


def test_a_limit_spreads_over_the_data():
    firsts = [int(batch.inputs[0, 0]) for batch in Batches(TOKENS, 2, 10).in_order(limit=5)]

    assert firsts == [0, 200, 400, 600, 800]


def test_too_little_text_is_refused_with_figures():
    with pytest.raises(DataError, match=r"has 16 tokens here: expected at least seq_len \+ 1 = 17"):
        Batches(TOKENS[:16], 1, 16)

    assert Batches(TOKENS[:17], 1, 16).at(0).inputs.shape == (1, 16)
