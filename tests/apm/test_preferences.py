"""Bradley-Terry comparisons: which of two is preferred, against choix 0.4.1."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from apm import Belief, Difference, InformationGain, Laplace, Learner, Linear, Particles
from channelcode import Logistic
from channelcode.measures import Gaussian

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


def test_the_posterior_mean_is_that_of_expectation_propagation():
    """choix's `ep_pairwise` gives means and variances of strengths, by another approximation.

    2,000 draws err by about .03 deviations in a mean and 7 % in a variance: five of these.
    """
    prior = Gaussian(np.zeros(12), np.eye(12) / CASE["prior_precision"])
    draws = Particles(Logistic(), Difference(Linear()), prior, samples=2000, rng=0)
    posterior = draws.fit(PAIRS, np.ones(len(PAIRS), dtype=int))
    mean, variance = (np.array(CASE["choix"][name]) for name in ("ep_mean", "ep_variance"))
    assert np.abs((posterior.mean - mean) / np.sqrt(variance)).max() < 0.15
    assert np.abs(np.diag(posterior.covariance) / variance - 1.0).max() < 0.35
    # the maximum of the density is another thing: it lies .2 deviations nearer to zero
    assert np.abs((np.array(CASE["map"]) - mean) / np.sqrt(variance)).max() > 0.19
