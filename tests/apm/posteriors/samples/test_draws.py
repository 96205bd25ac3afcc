"""The user's own draws of the parameters."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

from apm import (
    Belief,
    CollapsedWeights,
    Draws,
    InformationGain,
    Inputs,
    Learner,
    Margin,
    NonLinear,
    Uncertainty,
)
from apm.testing import check_posterior
from channelcode import Logistic, Probit, Softmax
from channelcode.errors import InvalidArgument
from tests.naming import plain

RNG = np.random.default_rng(5)
THETA = RNG.normal(size=(40, 3))
SPACE = RNG.normal(size=(40, 4, 3))
X = RNG.normal(size=(15, 3))
WEIGHTS = RNG.random(40)


def bump(theta, X):
    """A bump at theta_0 of height theta_1 over theta_2."""
    return theta[:, 1] * np.exp(-np.square(X[:, :1] - theta[:, 0])) + theta[:, 2]


MEMBERS = [
    Draws(THETA),
    Draws(THETA, WEIGHTS, channel=Probit()),
    Draws(SPACE, WEIGHTS, channel=Softmax(4)),
    Draws(THETA, WEIGHTS, encoder=NonLinear(bump, 3)),
]


@pytest.mark.parametrize("posterior", MEMBERS, ids=plain)
def test_contract(posterior):
    check_posterior(posterior)
    told = posterior.update(X[:2], [0, 1])
    for again in (
        pickle.loads(pickle.dumps(told)),
        copy.deepcopy(told),
        told.restored(told.state()),
    ):
        np.testing.assert_array_equal(again.weights, told.weights)
        np.testing.assert_array_equal(again.theta, told.theta)
        assert again.log_evidence == told.log_evidence
        np.testing.assert_array_equal(again.update(X[3], 1).weights, told.update(X[3], 1).weights)


@pytest.mark.parametrize("posterior", MEMBERS, ids=plain)
def test_equals_the_inputs_of_its_draws(posterior):
    """The same samples, given as channel inputs: same weights, evidence, laws and gains."""
    l = posterior.inputs(posterior.theta, X)
    weights = None if posterior is MEMBERS[0] else WEIGHTS
    other = Inputs(l, posterior.channel, weights)
    rows, labels = [0, 4, 7], [1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedWeights)
        told, also = posterior.update(X[rows], labels), other.update(rows, labels)
    np.testing.assert_allclose(told.weights, also.weights, rtol=1e-10)
    assert told.ess == pytest.approx(also.ess)
    assert told.log_evidence == pytest.approx(also.log_evidence, abs=1e-12)
    left, right = Belief(told), Belief(also)
    np.testing.assert_allclose(
        left.information_gain(X), right.information_gain(range(15)), atol=1e-12
    )
    np.testing.assert_allclose(left.predict_proba(X), right.predict_proba(range(15)), atol=1e-12)


def test_moments_and_rules_at_the_likeliest_draw():
    posterior = Draws(THETA, WEIGHTS).update(X[:3], [1, 0, 1])
    mass = WEIGHTS * np.prod(
        [Logistic().prob(THETA @ x)[:, y] for x, y in zip(X[:3], [1, 0, 1], strict=True)], axis=0
    )
    mass /= mass.sum()
    np.testing.assert_allclose(posterior.weights, mass, rtol=1e-12)
    np.testing.assert_allclose(posterior.mean, mass @ THETA, rtol=1e-12)
    expected = np.cov(THETA.T, aweights=mass, ddof=0)
    np.testing.assert_allclose(posterior.covariance, expected, atol=1e-12)
    best = THETA[np.argmax(mass)]
    np.testing.assert_array_equal(posterior.map, best)
    belief = Belief(posterior)
    np.testing.assert_allclose(Uncertainty().scores(belief, X), -np.abs(X @ best), atol=1e-12)
    assert np.isfinite(Margin().scores(belief, X)).all()


@pytest.mark.parametrize("posterior", MEMBERS, ids=plain)
def test_learner(posterior, tmp_path):
    learner = Learner(X, posterior, seed=0)
    assert isinstance(learner.selector, InformationGain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedWeights)
        for label in (0, 1, 0):
            learner.tell(learner.ask(), label)
        batch = learner.ask(6).tolist()
        assert len(set(batch) - set(learner.labelled.tolist())) == 6
        learner.save(tmp_path / "learner.npz")
        again = Learner.load(tmp_path / "learner.npz", model=posterior)
        assert again.ask(6).tolist() == batch
        held = learner.belief.posterior.weights  # type: ignore[attr-defined]
        learner.tell(learner.ask(), 1)
        learner.undo()
        np.testing.assert_array_equal(learner.belief.posterior.weights, held)  # type: ignore[attr-defined]


def test_impossible_labels_leave_the_state():
    class Sure(Logistic):
        def log_prob(self, l):
            with np.errstate(divide="ignore"):
                return np.log(np.stack([l <= 0, l > 0], axis=-1).astype(float))

    posterior = Draws([[1.0], [2.0]], channel=Sure())
    with pytest.raises(InvalidArgument, match=r"y must be possible .*, got 0"):
        posterior.update([1.0], 0)
    np.testing.assert_array_equal(posterior.weights, [0.5, 0.5])
    with pytest.raises(InvalidArgument, match="y must be possible"):
        posterior.update([[1.0], [-1.0], [-1.0]], [1, 1, 0])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.ones(3),), {}, "theta must have 2 or 3 axes"),
        ((SPACE,), {}, r"theta must have shape \(s, q\)"),
        ((SPACE,), {"channel": Softmax(3)}, r"theta must have shape \(s, q\)"),
        ((THETA,), {"channel": Softmax(2)}, "multiple of 2"),
        ((THETA,), {"encoder": NonLinear(bump, 2)}, "must have 2 entries"),
        ((THETA, [1.0]), {}, "one entry for each of 40"),
        ((THETA, np.zeros(40)), {}, "must not all be zero"),
        ((np.full((2, 2), np.nan),), {}, "theta must be finite"),
        ((THETA,), {"channel": 3}, "channel must be"),
        ((THETA,), {"encoder": bump}, "encoder must be an encoder"),
    ],
    ids=plain,
)
def test_bad_arguments(arguments, options, message):
    with pytest.raises(InvalidArgument, match=message):
        Draws(*arguments, **options)
