"""Uncertainty sampling: the two likeliest labels nearest in odds."""

from __future__ import annotations

import numpy as np
import pytest

from apm.selectors import Margin, Uncertainty
from channelcode.channels import Cloglog, Probit
from tests.apm.given import given_belief, three_classes


def test_uncertainty_is_the_distance_in_log_odds():
    belief, X = three_classes()
    logits = np.sort(X @ belief.posterior.map.T, axis=1)
    np.testing.assert_allclose(
        Uncertainty().scores(belief, X), logits[:, -2] - logits[:, -1], atol=1e-12
    )
    scalar = given_belief([1.0, -1.0], np.eye(2), map=[0.5, 2.0])
    np.testing.assert_allclose(Uncertainty().scores(scalar, X), -np.abs(X @ [0.5, 2.0]))


def test_uncertainty_of_an_asymmetric_channel_is_where_the_labels_are_even():
    # P(Y = 1) = 1 - exp(-e^l) is one half at l = ln ln 2, not at zero
    belief = given_belief([1.0], [[1.0]], channel=Cloglog())
    X = np.array([[0.0], [np.log(np.log(2.0))], [-1.0]])
    scores = Uncertainty().scores(belief, X)
    assert np.argmax(scores) == 1
    assert scores[1] == pytest.approx(0.0, abs=1e-12)


def test_far_candidates_keep_their_order_where_probabilities_round_to_one():
    belief = given_belief([1.0], [[1.0]], channel=Probit())
    X = np.array([[38.0], [-36.0], [37.0]])
    np.testing.assert_array_equal(np.argsort(-Uncertainty().scores(belief, X)), [1, 2, 0])
    assert len(set(Margin().scores(belief, X).tolist())) == 1


def test_the_variance_plays_no_part():
    X = np.random.default_rng(0).normal(size=(6, 2))
    narrow, wide = (given_belief([1.0, -1.0], scale * np.eye(2)) for scale in (1e-3, 1e3))
    np.testing.assert_array_equal(Uncertainty().scores(narrow, X), Uncertainty().scores(wide, X))


def test_rows_next_to_the_boundary_are_told_apart():
    """log P(1) - log P(0) = l, also where both are ln 2 to rounding."""
    belief = given_belief([1.0], [[1.0]])
    X = np.array([[3e-18], [1e-18], [-2e-18], [1e-30]])
    np.testing.assert_allclose(Uncertainty().scores(belief, X), -np.abs(X[:, 0]), rtol=1e-12)
