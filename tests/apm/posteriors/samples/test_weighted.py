"""Posteriors by weighted parameter values: moments, push, and selectors that read them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from apm import (
    APM,
    Belief,
    ContestedPair,
    Linear,
    NonLinear,
    PoolMaxPower,
    Predictions,
    SpectralPower,
)
from apm.posteriors.samples import WeightedSamples
from apm.posteriors.samples.weighted import log_sum
from channelcode import Logistic, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool
from tests.apm.given import GivenSamples

RNG = np.random.default_rng(3)
THETA, MASSES = RNG.normal(size=(6, 2)), np.array([1.0, 2.0, 0.0, 3.0, 1.0, 1.0])
X = RNG.normal(size=(5, 2))
product = NonLinear(lambda theta, rows: rows @ theta.T, 2)


class Solution(NamedTuple):
    log_weights: Any


class Some(WeightedSamples):
    """Given values of theta, reweighted by the labels."""

    __slots__ = ("_logs", "_theta")

    def __init__(self, theta, weights, channel=None, encoder=None, **options):
        with np.errstate(divide="ignore"):
            self._set(_theta=np.asarray(theta), _logs=np.log(np.asarray(weights)))
        super().__init__(Logistic() if channel is None else channel, encoder, **options)

    @property
    def theta(self):
        return self._theta

    @property
    def log_weights(self):
        return self._logs if self._solution is None else self._solution.log_weights

    def _solve(self, start, fresh):
        told = self.log_likelihood(self._theta, self._design, self._codes, self._weights)
        return Solution(self._logs + told - log_sum(self._logs + told))

    def _solution_state(self):
        return {"log_weights": self._solution.log_weights}

    def _restore_solution(self, state):
        return Solution(state["log_weights"])


def test_moments_are_those_of_the_masses():
    posterior = Some(THETA, MASSES)
    repeated = np.repeat(THETA, MASSES.astype(int), axis=0)
    np.testing.assert_allclose(posterior.mean, repeated.mean(axis=0))
    np.testing.assert_allclose(posterior.covariance, np.cov(repeated.T, bias=True))
    np.testing.assert_array_equal(posterior.map, THETA[3])
    assert posterior.weights.sum() == pytest.approx(1.0)
    assert posterior.ess == pytest.approx(64 / 16)
    assert "no labels yet" in repr(posterior)


def test_the_push_is_a_weighted_pool_of_the_encoders_inputs():
    bent = NonLinear(lambda theta, rows: np.tanh(rows @ theta.T) + theta[:, 0], 2)
    laws = Belief(Some(THETA, MASSES, encoder=bent)).push(X)
    assert isinstance(laws, EmpiricalPool)
    np.testing.assert_allclose(laws.samples, np.tanh(X @ THETA.T) + THETA[:, 0])
    np.testing.assert_allclose(laws.weights, MASSES / MASSES.sum())
    mean = Belief(Some(THETA, MASSES, encoder=bent)).mean_inputs(X)
    np.testing.assert_allclose(mean, laws.mean)


def test_labels_reweight_by_bayes_rule():
    posterior = Some(THETA, MASSES).update(X[:2], ["no", "yes"])
    chance = 1.0 / (1.0 + np.exp(-(X[:2] @ THETA.T)))
    expected = MASSES * (1.0 - chance[0]) * chance[1]
    np.testing.assert_allclose(posterior.weights, expected / expected.sum(), rtol=1e-12)
    weighted = Some(THETA, MASSES).update(X[0], 1, sample_weight=2.5)
    expected = MASSES * chance[0] ** 2.5
    np.testing.assert_allclose(weighted.weights, expected / expected.sum(), rtol=1e-12)


def test_predictions_are_averages_also_for_classes():
    theta = RNG.normal(size=(6, 6)) * 3
    belief = Belief(Some(theta, MASSES, Softmax(3)))
    logits = np.einsum("np,skp->nsk", X, theta.reshape(6, 3, 2))
    prob = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    expected = np.einsum("s,nsk->nk", MASSES / MASSES.sum(), prob)
    np.testing.assert_allclose(belief.predict_proba(X), expected, rtol=1e-12)
    np.testing.assert_array_equal(belief.likeliest(X), expected.argmax(axis=1))


def test_shares_of_classes_by_samples_are_those_of_a_regression():
    """rho^2 is the coefficient of determination of the pair's input on the target's logits."""
    theta = RNG.normal(size=(40, 6))
    weights = RNG.uniform(0.5, 1.5, size=40)
    belief = Belief(Some(theta, weights, Softmax(3)))
    from apm.selectors.matching.explained_variance import explained_share

    view: Any = ContestedPair().view(belief, belief.push(X))
    shares = explained_share(belief, X, X[:2], view)
    masses = np.sqrt(weights / weights.sum())
    for i, (first, second) in enumerate(view.pairs):
        laws: Any = belief.push(X)
        inputs = laws.samples
        pair = (inputs[i, :, first] - inputs[i, :, second]) * masses
        for j in range(2):
            design = np.column_stack([np.ones(40), inputs[j]]) * masses[:, None]
            fitted = design @ np.linalg.lstsq(design, pair, rcond=1e-10)[0]
            centred = pair - masses * (masses @ pair)
            residual = pair - fitted
            expected = 1 - residual @ residual / (centred @ centred)
            assert shares[i, j] == pytest.approx(expected, abs=1e-9)
    # the rule of the multi-class study works on samples in R^k
    rule = APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions(X[:3]))
    assert np.isfinite(rule.scores(belief, X)).all()


def test_spectral_budgets_are_refused():
    for encoder in (None, product):
        belief = Belief(Some(THETA, MASSES, encoder=encoder))
        for rule in (lambda b: SpectralPower().power(b, X), lambda b: APM().scores(b, X)):
            with pytest.raises(InvalidArgument, match="PoolMaxPower"):
                rule(belief)
        assert np.isfinite(APM(PoolMaxPower()).scores(belief, X)).all()


def test_the_same_law_given_as_linear_and_not():
    given: Any = Belief(GivenSamples(THETA, MASSES)).push(X)
    for encoder in (None, Linear(), product):
        laws: Any = Belief(Some(THETA, MASSES, encoder=encoder)).push(X)
        np.testing.assert_allclose(laws.samples, given.samples, atol=1e-14)


def test_bad_arguments():
    with pytest.raises(InvalidArgument, match="must be an encoder"):
        Some(THETA, MASSES, encoder=np.tanh)
    with pytest.raises(InvalidArgument, match="channel"):
        Some(THETA, MASSES, channel="logistic")
    with pytest.raises(InvalidArgument, match="2 features"):
        Some(THETA, MASSES).update(X[0], 1).update(np.ones(3), 1)


def test_the_covariance_bounds_a_variance_of_l_only_where_l_is_linear():
    linear = Some(THETA, MASSES, encoder=Linear())
    np.testing.assert_array_equal(linear.summed_covariance, linear.covariance)
    with pytest.raises(InvalidArgument, match="where l is not <theta, x>"):
        _ = Some(THETA, MASSES, encoder=product).summed_covariance
