"""Bradley-Terry comparisons: which of two is preferred, against choix 0.4.1."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from apm import Belief, Difference, InformationGain, Laplace, Learner, Linear
from channelcode import Logistic

CASE = json.loads((Path(__file__).parents[1] / "data" / "pairs.json").read_text())["bradley_terry"]
ITEMS = np.eye(CASE["items"])
WON = np.array(CASE["wins"])
PAIRS = np.hstack([ITEMS[WON[:, 0]], ITEMS[WON[:, 1]]])


def test_strengths_equal_choix():
    """Its alpha is half the prior precision; its own optimiser stops at 1e-9."""
    prior = Laplace(Logistic(), CASE["prior_precision"])
    belief = Belief(prior, Difference(Linear())).fit(PAIRS, np.ones(len(PAIRS), dtype=int))
    posterior = belief.posterior
    np.testing.assert_allclose(posterior.mean, CASE["map"], atol=1e-9)
    np.testing.assert_allclose(posterior.covariance, CASE["laplace_covariance"], atol=1e-9)
    np.testing.assert_allclose(posterior.mean, CASE["choix"]["map_alpha_half_precision"], atol=5e-9)
    inside = Laplace(Logistic(), CASE["prior_precision"], encoder=Difference(Linear()))
    inside = inside.fit(PAIRS, np.ones(len(PAIRS), dtype=int))
    np.testing.assert_allclose(inside.mean, CASE["map"], atol=1e-8)


def test_pairs_are_asked_where_the_answer_is_open():
    """All 66 pairs of a ranking: the label of the pair that is asked says most."""
    first, second = np.triu_indices(12, 1)
    pool = np.hstack([ITEMS[first], ITEMS[second]])
    belief = Belief(Laplace(Logistic(), 0.5), Difference(Linear()))
    belief = belief.fit(PAIRS, np.ones(len(PAIRS), dtype=int))
    learner = Learner(pool, belief, InformationGain(), seed=0)
    gains = belief.information_gain(pool)
    assert int(learner.ask()) == int(np.argmax(gains))
    law = belief.push(pool)
    strengths = np.asarray(belief.posterior.mean)
    np.testing.assert_allclose(law.mean, strengths[first] - strengths[second], atol=1e-12)
