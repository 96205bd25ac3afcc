"""Predictions as the message: the effective channel against plain loops, limits and oracles."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from apm.belief import Belief
from apm.learner import Learner
from apm.posteriors import Bohning, Laplace, Sampled, VariationalLogistic
from apm.power import FixedPower, PoolMaxPower
from apm.selectors import APM, AllClasses, ContestedPair, Predictions
from apm.selectors.matching.explained_variance import explained_share
from channelcode.channels import Cauchit, Link, Probit, Softmax
from channelcode.errors import InvalidArgument
from tests.apm.given import Given

SEEDS = st.integers(0, 2**32 - 1)


def data(seed: int, classes: int, rows: int = 14, features: int = 3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    y = np.concatenate((np.arange(classes), rng.integers(0, classes, size=5)))
    return X, y


def loops(mean, variance, share, weights, power: float) -> np.ndarray:
    """The formula of the theory, one candidate and one target at a time."""
    score = np.zeros(len(mean))
    for x in range(len(mean)):
        for t in range(share.shape[1]):
            k = 1 / np.sqrt(1 + pi * variance[x] * (1 - share[x, t]) / 8)
            spread = k * np.sqrt(variance[x] * share[x, t])
            distance = (k * mean[x]) ** 2 + (spread - np.sqrt(2 * power / pi)) ** 2
            score[x] -= weights[t] * (distance + (1 - 2 / pi) * power)
    return score


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from([1.0, 64.0]))
def test_logistic_scores_are_the_theorys_formula(seed: int, power: float) -> None:
    X, y = data(seed, 2)
    belief = Belief(VariationalLogistic(0.3).fit(X[:7], y))
    message = Predictions(X[:5], weighted=False, pooled=False)
    scores = APM(FixedPower(power), message=message).scores(belief, X)
    laws = belief.push(X)
    covariance = np.asarray(belief.posterior.covariance)
    cross = X @ covariance @ X[:5].T
    own = np.einsum("ij,jk,ik->i", X, covariance, X)
    share = np.minimum(cross**2 / np.outer(own, own[:5]), 1.0)
    expected = loops(laws.mean, laws.total_variance, share, np.full(5, 0.2), power)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    pooled = APM(FixedPower(power), message=Predictions(X[:5], weighted=False)).scores(belief, X)
    share = share.mean(axis=1, keepdims=True)
    expected = loops(laws.mean, laws.total_variance, share, np.ones(1), power)
    np.testing.assert_allclose(pooled, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("channel", [AllClasses(), ContestedPair()], ids=repr)
def test_a_candidate_that_is_the_only_target_has_the_papers_score(channel, pooled, exact) -> None:
    """rho = 1: nothing is noise, and the message is as good as the parameters."""
    X, y = data(3, 3)
    belief = Belief(Bohning(3, 0.4).fit(X[: len(y)], y))
    for x in X[:3]:
        message = Predictions(x[None], pooled=pooled, exact=exact)
        ours = APM(FixedPower(5.0), channel=channel, message=message).scores(belief, x[None])
        paper = APM(FixedPower(5.0), channel=channel).scores(belief, x[None])
        np.testing.assert_allclose(ours, paper, rtol=1e-8)


def test_a_candidate_orthogonal_to_the_targets_has_no_spread() -> None:
    belief = Belief(VariationalLogistic(1.0))
    X = np.array([[0.0, 2.0], [2.0, 0.0]])
    message = Predictions([[1.0, 0.0]])
    scores = APM(FixedPower(3.0), message=message).scores(belief, X)
    assert scores[0] == pytest.approx(-3.0)  # W2^2 of a point at zero to B_sqrt(3)
    assert scores[1] > scores[0]


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_shares_of_any_covariance_by_conditioning(seed: int) -> None:
    """1 - rho^2 = Var(L | F) / Var(L), by a Schur complement on the joint covariance."""
    X, y = data(seed, 3)
    belief = Belief(Laplace(Softmax(3), 0.5).fit(X[: len(y)], y))
    view = ContestedPair().view(belief, belief.push(X))
    targets = X[:2]
    share = explained_share(belief, X, targets, view)
    covariance = np.asarray(belief.posterior.covariance)
    assert view.pairs is not None
    for row, (first, second) in enumerate(view.pairs):
        direction = np.kron(np.eye(3)[first] - np.eye(3)[second], X[row])
        for place, target in enumerate(targets):
            logits = np.kron(np.eye(3), target)
            joint = logits @ covariance @ logits.T
            cross = logits @ covariance @ direction
            explained = cross @ np.linalg.pinv(joint, rcond=1e-9) @ cross
            expected = explained / (direction @ covariance @ direction)
            assert share[row, place] == pytest.approx(expected, rel=1e-6)


def test_kronecker_shares_agree_with_the_general_route() -> None:
    from apm.selectors.matching.explained_variance import _pair_share

    X, y = data(5, 4)
    belief = Belief(Bohning(4, 0.5).fit(X[: len(y)], y))
    view = ContestedPair().view(belief, belief.push(X))
    fast = explained_share(belief, X, X[:6], view)
    general = _pair_share(belief.posterior, X, X[:6], view)
    np.testing.assert_allclose(fast, general, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(np.diag(fast[:6]), 1.0, rtol=1e-12)


def test_intercept_is_part_of_the_features() -> None:
    X, y = data(6, 2)
    constant = np.hstack((X, np.ones((len(X), 1))))
    own = Belief(VariationalLogistic(0.5, intercept=True).fit(X[:7], y))
    column = Belief(VariationalLogistic(0.5).fit(constant[:7], y))
    first = APM(PoolMaxPower(), message=Predictions(X[:4])).scores(own, X)
    second = APM(PoolMaxPower(), message=Predictions(constant[:4])).scores(column, constant)
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_settled_targets_have_no_weight() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])
    belief = Belief(VariationalLogistic(1e-4).fit(np.array([[9.0, 0], [-9.0, 0]] * 9), [1, 0] * 9))
    both = np.array([[30.0, 0.0], [0.0, 1.0]])
    weighted = APM(FixedPower(4.0), message=Predictions(both)).scores(belief, X)
    only = APM(FixedPower(4.0), message=Predictions(both[1:], weighted=False)).scores(belief, X)
    np.testing.assert_allclose(weighted, only, rtol=1e-3)
    alike = APM(FixedPower(4.0), message=Predictions(both, weighted=False)).scores(belief, X)
    assert np.abs(alike - only).max() > 1e-2


@pytest.mark.parametrize("pooled", [False, True])
def test_probit_needs_no_approximation(pooled: bool) -> None:
    """A blurred probit is a probit: slope and exact routes are one."""
    X, y = data(7, 2)
    belief = Belief(Laplace(Probit(), 0.4).fit(X[:7], y))
    slope = APM(PoolMaxPower(), message=Predictions(X[:5], pooled=pooled)).scores(belief, X)
    message = Predictions(X[:5], pooled=pooled, exact=True)
    exact = APM(PoolMaxPower(), message=message).scores(belief, X)
    # a table of 33 noise levels between which we interpolate
    np.testing.assert_allclose(slope, exact, rtol=5e-3)


def test_exact_logistic_is_near_the_slope_approximation() -> None:
    X, y = data(8, 2)
    belief = Belief(VariationalLogistic(0.05).fit(X[:7], y))
    slope = APM(FixedPower(20.0), message=Predictions(X[:5])).scores(belief, X)
    exact = APM(FixedPower(20.0), message=Predictions(X[:5], exact=True)).scores(belief, X)
    assert 1e-6 < np.abs(slope / exact - 1).max() < 0.05  # the slope is good to 2 %, W2^2 to twice


def test_a_users_channel_takes_the_general_route() -> None:
    """A logistic written by a user is solved at every noise level, and gives the same scores."""
    X, y = data(9, 2, rows=8)
    belief = Belief(VariationalLogistic(0.3).fit(X[:7], y))
    own = Link(expit, lambda l: expit(-l))
    message = Predictions(X[:4], exact=True)
    theirs = APM(FixedPower(4.0), channel=own, message=message).scores(belief, X)
    ours = APM(FixedPower(4.0), message=message).scores(belief, X)
    # linear interpolation between nine targets
    np.testing.assert_allclose(theirs, ours, rtol=5e-3)


def test_a_channel_without_a_slope_formula() -> None:
    X, y = data(10, 2, rows=8)
    belief = Belief(VariationalLogistic(0.3).fit(X[:7], y), channel=Cauchit())
    scores = APM(FixedPower(2.0), message=Predictions(X[:4])).scores(belief, X)
    assert np.isfinite(scores).all()
    assert (scores <= 0).all()


def test_learner_keeps_its_targets(tmp_path) -> None:
    X, _ = data(12, 3, rows=40)
    labels = np.arange(40) % 3
    message = Predictions(num_targets=9)
    selector = APM(PoolMaxPower(), channel=ContestedPair(), message=message)
    learner = Learner(X, Bohning(3, 1.0), selector, seed=0)
    for row in (0, 1, 2):
        learner.tell(row, int(labels[row]))
    fixed = learner.selector
    assert isinstance(fixed, APM)
    assert isinstance(fixed.message, Predictions)
    assert len(fixed.message.targets) == 9
    learner.save(tmp_path / "learner.npz")
    again = Learner.load(tmp_path / "learner.npz")
    for _ in range(3):
        row, other = int(learner.ask()[0]), int(again.ask()[0])
        assert row == other
        learner.tell(row, int(labels[row]))
        again.tell(row, int(labels[row]))


def test_batches_and_exclusion() -> None:
    X, y = data(13, 3, rows=20)
    belief = Belief(Bohning(3, 0.5).fit(X[: len(y)], y))
    selector = APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions())
    picks = selector.select(belief, X, n=3, exclude=np.arange(8))
    assert len(set(picks.tolist())) == 3
    assert picks.min() >= 8


def test_a_sampled_posterior_enters_by_its_moments() -> None:
    pytest.importorskip("polyagamma")
    X, y = data(14, 2)
    sampled = Belief(Sampled(prior_precision=0.5, samples=4000).fit(X[:7], y))
    draws = belief_draws(sampled, X)
    gaussian = Belief(Given(draws.mean(axis=0), np.cov(draws.T, ddof=0)))
    selector = APM(FixedPower(4.0), message=Predictions(X[:5], weighted=False))
    np.testing.assert_allclose(selector.scores(sampled, X), selector.scores(gaussian, X), rtol=1e-6)


def belief_draws(belief: Belief, X: np.ndarray) -> np.ndarray:
    """The draws of theta behind a sampled belief, from its logits at a basis."""
    return np.asarray(belief.push(np.eye(X.shape[1])).samples).T  # type: ignore[attr-defined]


def test_bad_input() -> None:
    with pytest.raises(InvalidArgument, match="num_targets"):
        Predictions(num_targets=0)
    with pytest.raises(InvalidArgument, match="targets"):
        Predictions(np.empty((0, 3)))
    X, y = data(0, 3)
    belief = Belief(Laplace(Softmax(3), 1.0).fit(X[: len(y)], y))
    with pytest.raises(InvalidArgument, match="ContestedPair"):
        APM(message=Predictions()).scores(belief, X)
