"""Channel inputs at given parameters: of draws, at the MAP, in pieces."""

from __future__ import annotations

import numpy as np
import pytest

from apm.belief import Belief
from apm.encoders import Affine, FeatureMap
from apm.posteriors import Bohning, Sampled, VariationalLogistic
from apm.selectors import InformationGain, Margin, Uncertainty
from apm.selectors.draws import (
    drawn_inputs,
    gives_samples,
    inputs_at,
    parameter_draws,
    point_inputs,
)
from apm.selectors.rules.information_gain import empirical_gain
from channelcode.errors import InvalidArgument
from tests.apm.given import given_belief, three_classes


def test_draws_in_pieces_are_draws_in_one(monkeypatch):
    belief, X = three_classes()
    whole = np.concatenate(list(drawn_inputs(belief, X, 7, np.random.default_rng(1))))
    point = point_inputs(belief, X)
    monkeypatch.setattr("apm.selectors.draws.CHUNK_ENTRIES", 30)
    pieces = list(drawn_inputs(belief, X, 7, np.random.default_rng(1)))
    assert len(pieces) > 3
    np.testing.assert_allclose(np.concatenate(pieces), whole, rtol=1e-12)
    np.testing.assert_allclose(point_inputs(belief, X), point, rtol=1e-12)


@pytest.mark.parametrize("place", range(2))
def test_draws_have_the_moments_of_the_belief(place):
    belief, X = [
        (given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]]), np.eye(2)),
        three_classes(),
    ][place]
    draws = np.concatenate(list(drawn_inputs(belief, X, 100_000, np.random.default_rng(2))))
    laws = belief.push(X)
    if belief.channel.dim > 1:
        draws = draws - draws.mean(axis=2, keepdims=True)  # the shift that a softmax does not see
    # 100,000 draws: standard errors near 0.01
    np.testing.assert_allclose(draws.mean(axis=1), laws.mean, atol=0.05)
    spread = draws.var(axis=1) if place == 0 else draws.var(axis=1).sum(axis=1)
    np.testing.assert_allclose(spread, laws.total_variance, rtol=0.05)


def test_intercept_and_encoders_enter_the_channel_input():
    X = np.array([[1.0], [2.0], [-1.0], [0.5]])
    own = Belief(VariationalLogistic(0.1, intercept=True, intercept_precision=0.1))
    affine = Belief(VariationalLogistic(0.1), Affine())
    mapped = Belief(VariationalLogistic(0.1), FeatureMap(lambda Z: np.hstack([Z, np.ones_like(Z)])))
    fitted = [belief.fit(X, [0, 1, 0, 1]) for belief in (own, affine, mapped)]
    for selector in (Uncertainty(), InformationGain(), InformationGain(samples=20), Margin()):
        first, second, third = (selector.scores(belief, X, rng=1) for belief in fitted)
        np.testing.assert_allclose(first, second, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(third, second, rtol=1e-12)


def test_inputs_are_inner_products_of_every_shape(rng):
    X = rng.normal(size=(4, 2))
    line = Belief(VariationalLogistic(1.0, intercept=True).sized(2))
    constant = np.hstack([X, np.ones((4, 1))])
    one, draws = rng.normal(size=3), rng.normal(size=(5, 3))
    np.testing.assert_allclose(inputs_at(line, X, one), constant @ one)
    np.testing.assert_allclose(inputs_at(line, X, draws), constant @ draws.T)
    classes = Belief(Bohning(3, 1.0, intercept=True).sized(2))
    one, draws = rng.normal(size=(3, 3)), rng.normal(size=(5, 3, 3))
    np.testing.assert_allclose(inputs_at(classes, X, one), constant @ one.T)
    expected = np.einsum("nq,skq->nsk", constant, draws)
    np.testing.assert_allclose(inputs_at(classes, X, draws), expected)


@pytest.mark.parametrize("place", range(2))
def test_parameters_have_the_posteriors_covariance(place, rng):
    X = rng.normal(size=(9, 2))
    posterior = [
        VariationalLogistic(0.5, intercept=True).fit(X, np.arange(9) % 2),
        Bohning(3, 0.5).fit(X, np.arange(9) % 3),
    ][place]
    draws = parameter_draws(Belief(posterior), 100_000, rng).reshape(100_000, -1)
    covariance = np.asarray(posterior.covariance)
    scale = np.sqrt(np.diag(covariance))
    # 100,000 draws: a standard error near 0.003 deviations, 0.0045 of a correlation
    np.testing.assert_allclose((draws.mean(axis=0) - posterior.mean.ravel()) / scale, 0, atol=0.02)
    np.testing.assert_allclose(
        np.cov(draws.T) / np.outer(scale, scale), covariance / np.outer(scale, scale), atol=0.03
    )


def test_a_sampled_posterior_gives_its_own_draws_all_of_them(rng):
    pytest.importorskip("polyagamma")
    X = rng.normal(size=(6, 2))
    belief = Belief(Sampled(samples=40, burn_in=5).fit(X, np.arange(6) % 2))
    assert gives_samples(belief, X)
    theta = belief.posterior.samples  # type: ignore[attr-defined]
    expected = empirical_gain(belief.channel, X @ theta.T)
    found = InformationGain(samples=7).scores(belief, X, rng=rng)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_points_are_at_the_most_probable_weights_not_the_mean():
    belief = given_belief([1.0, 2.0], np.eye(2), map=[-1.0, 0.5])
    np.testing.assert_allclose(point_inputs(belief, [[2.0, 4.0]]), [0.0], atol=1e-15)
    with pytest.raises(InvalidArgument, match="row 0, column 1"):
        point_inputs(belief, [[2.0, np.nan]])
    with pytest.raises(InvalidArgument, match="at least one row"):
        point_inputs(belief, np.empty((0, 2)))
