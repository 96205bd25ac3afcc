"""Batches: the expected precision, the covariance it leaves, and what batches do with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from apm.belief import Belief
from apm.posteriors import (
    Bohning,
    DiagonalHessian,
    KroneckerHessian,
    Laplace,
    Sampled,
    VariationalLogistic,
)
from apm.power import FixedPower
from apm.selectors import APM, InformationGain, MaxVariance, Random, Uncertainty
from apm.selectors.batch import condition, expected_precision, shrunk_factor
from channelcode.channels import Link, Logistic, Probit, Softmax
from channelcode.measures import Empirical, Gaussian
from tests.apm.given import given_belief


@pytest.mark.parametrize("mean, variance", [(0.0, 1.0), (2.0, 0.25), (-1.0, 900.0), (3.0, 0.0)])
@pytest.mark.parametrize("channel", [Logistic(), Probit()])
def test_expected_precision_is_the_averaged_fisher_information(channel, mean, variance):
    def fisher(l: float) -> float:
        p = channel.prob(l)
        slope = channel.derivatives(l).gradient
        return float(p @ slope**2)  # the other form of Fisher information

    if variance == 0:
        expected = fisher(mean)
    else:
        sigma = np.sqrt(variance)
        expected, _ = integrate.quad(
            lambda l: fisher(l) * stats.norm.pdf(l, mean, sigma), -40, 40, limit=400, points=[0.0]
        )
    assert expected_precision(channel, Gaussian(mean, variance)) == pytest.approx(expected, 1e-6)


def test_expected_precision_of_samples_and_of_vectors():
    samples = np.array([-1.0, 0.5, 2.0])
    f = 1 / (1 + np.exp(-samples))
    assert expected_precision(Logistic(), Empirical(samples)) == pytest.approx(
        float(np.mean(f * (1 - f)))
    )
    sure = expected_precision(Softmax(3), Gaussian(np.zeros(3), np.zeros((3, 3))), rng=0)
    np.testing.assert_allclose(sure, np.eye(3) / 3 - 1 / 9, atol=1e-12)


def test_numerical_derivatives_serve_as_well():
    own = Link(lambda l: 1 / (1 + np.exp(-l)))
    law = Gaussian(0.3, 2.0)
    assert expected_precision(own, law) == pytest.approx(
        expected_precision(Logistic(), law), rel=1e-4
    )


@given(st.integers(0, 10_000), st.floats(0.0, 50.0))
def test_shrunk_factor_is_the_rank_one_update(seed, weight):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    factor, row = rng.normal(size=(size, size)), rng.normal(size=size)
    sigma = factor @ factor.T
    image = sigma @ row
    expected = sigma - weight / (1 + weight * (row @ image)) * np.outer(image, image)
    new = shrunk_factor(factor, row, weight)
    np.testing.assert_allclose(new @ new.T, expected, atol=1e-10 * (1 + np.abs(sigma).max()))


def test_a_row_without_variance_changes_nothing():
    factor = np.diag([1.0, 0.0])
    np.testing.assert_array_equal(shrunk_factor(factor, np.array([0.0, 3.0]), 5.0), factor)


def conditioned_precision(posterior, row, weight) -> np.ndarray:
    """Sigma^-1 + W (x) x x', inverted on the visible space (pseudo-inverse)."""
    sigma = np.asarray(posterior.covariance)
    precision = np.linalg.pinv(sigma, rcond=1e-10)
    return np.linalg.pinv(precision + np.kron(weight, np.outer(row, row)), rcond=1e-10)


def test_a_full_softmax_covariance_gains_the_precision(rng):
    X = rng.normal(size=(12, 2))
    belief = Belief(Laplace(Softmax(3), 0.5).fit(X, np.arange(12) % 3))
    row = X[3]
    weight = expected_precision(belief.channel, belief.push(X)[3], rng=7)
    after = condition(belief, row, rng=7)
    expected = conditioned_precision(belief.posterior, row, weight)
    np.testing.assert_allclose(np.asarray(after.posterior.covariance), expected, atol=1e-9)
    np.testing.assert_array_equal(after.posterior.mean, belief.posterior.mean)


def test_bohnings_covariance_is_the_one_any_label_will_leave(rng):
    X = rng.normal(size=(12, 2))
    belief = Belief(Bohning(4, 0.5).fit(X, np.arange(12) % 4))
    after = condition(belief, X[3])
    told = belief.update(X[3], 2)
    np.testing.assert_allclose(
        np.asarray(after.posterior.covariance), np.asarray(told.posterior.covariance), atol=1e-12
    )


@pytest.mark.parametrize("structure", [KroneckerHessian(), DiagonalHessian()])
def test_structures_are_kept_and_shrink(structure, rng):
    X = rng.normal(size=(12, 3))
    belief = Belief(Laplace(Softmax(3), 0.5, structure=structure).fit(X, np.arange(12) % 3))
    after = condition(belief, X[3], rng=0)
    assert type(after.posterior.covariance) is type(belief.posterior.covariance)
    lost = np.asarray(belief.posterior.covariance) - np.asarray(after.posterior.covariance)
    assert np.linalg.eigvalsh(lost).min() > -1e-12
    assert after.push(X[3:4]).total_variance[0] < belief.push(X[3:4]).total_variance[0]


def test_draws_keep_their_mean_and_shrink_like_a_gaussian(rng):
    pytest.importorskip("polyagamma")
    X = rng.normal(size=(12, 2))
    belief = Belief(Sampled(samples=300, burn_in=50).fit(X, np.arange(12) % 2))
    weight = expected_precision(belief.channel, belief.push(X)[3])
    after = condition(belief, X[3])
    expected = conditioned_precision(belief.posterior, X[3], np.array([[weight]]))
    np.testing.assert_allclose(after.posterior.covariance, expected, rtol=1e-9)
    np.testing.assert_allclose(after.posterior.mean, belief.posterior.mean, rtol=1e-12)


def test_a_variational_belief_keeps_its_class_and_intercept(rng):
    X = rng.normal(size=(8, 2))
    belief = Belief(VariationalLogistic(0.5, intercept=True).fit(X, np.arange(8) % 2))
    after = condition(belief, X[3])
    assert isinstance(after.posterior, VariationalLogistic)
    weight = expected_precision(belief.channel, belief.push(X)[3])
    row = np.append(X[3], 1.0)
    expected = conditioned_precision(belief.posterior, row, np.array([[weight]]))
    np.testing.assert_allclose(after.posterior.covariance, expected, rtol=1e-9)


@pytest.mark.parametrize("selector", [APM(FixedPower(400.0)), MaxVariance(), InformationGain()])
def test_a_batch_spreads_where_the_best_scores_are_alike(selector):
    # two directions; near copies of the best one outscore every row of the other
    belief = given_belief([0.0, 0.0], np.diag([9.0, 8.0]))
    X = np.array([[1.0, 0.0], [0.999, 0.0], [0.998, 0.0], [0.0, 0.97], [0.0, 0.5]])
    by_score = np.argsort(-selector.scores(belief, X))[:2]
    assert set(by_score) == {0, 1}
    np.testing.assert_array_equal(selector.select(belief, X, n=2), [0, 3])


@pytest.mark.parametrize("selector", [Uncertainty(), Random()])
def test_selectors_that_cannot_change_take_the_best(selector):
    belief = given_belief([1.0, 0.0], np.eye(2))
    X = np.random.default_rng(0).normal(size=(9, 2))
    scores = selector.scores(belief, X, rng=5)
    np.testing.assert_array_equal(selector.select(belief, X, n=4, rng=5), np.argsort(-scores)[:4])


def test_greedy_batch_is_the_loop_written_out():
    belief = given_belief([0.4, -0.2, 0.0], np.diag([4.0, 2.0, 1.0]))
    X = np.random.default_rng(1).normal(size=(15, 3))
    selector = APM().prepared(belief, X)
    left, current, expected = list(range(15)), belief, []
    for _ in range(5):
        scores = selector.scores(current, X)
        pick = max(left, key=lambda row: scores[row])
        expected.append(pick)
        left.remove(pick)
        current = condition(current, X[pick])
    np.testing.assert_array_equal(selector.select(belief, X, n=5), expected)
