"""The control: every candidate with equal probability, from the seed alone."""

from __future__ import annotations

import numpy as np
from scipy import stats

from apm.selectors import Random
from tests.apm.given import given_belief


def test_random_is_even():
    belief = given_belief([0.0], [[1.0]])
    X = np.zeros((4, 1))
    picks = [int(Random().select(belief, X, exclude=[2], rng=seed)[0]) for seed in range(600)]
    counts = np.bincount(picks, minlength=4)
    assert counts[2] == 0
    assert stats.chisquare(counts[[0, 1, 3]]).pvalue > 1e-4


def test_the_seed_decides_and_the_belief_does_not():
    X = np.random.default_rng(0).normal(size=(7, 2))
    one, other = given_belief([0.0, 0.0], np.eye(2)), given_belief([9.0, 1.0], 4 * np.eye(2))
    scores = Random().scores(one, X, rng=3)
    np.testing.assert_array_equal(scores, np.random.default_rng(3).random(7))
    np.testing.assert_array_equal(Random().scores(other, -X, rng=3), scores)
    assert not np.array_equal(Random().scores(one, X, rng=4), scores)


def test_a_batch_is_a_simple_random_sample():
    """Each of the six pairs out of four rows is equally likely."""
    belief, X = given_belief([0.0], [[1.0]]), np.zeros((4, 1))
    pairs = [frozenset(Random().select(belief, X, n=2, rng=seed).tolist()) for seed in range(900)]
    counts = [pairs.count(pair) for pair in set(pairs)]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-4
