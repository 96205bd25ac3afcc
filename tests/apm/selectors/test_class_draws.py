"""Label probabilities under draws, class by class, against the channel and direct sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from apm.belief import Belief
from apm.posteriors import Bohning, Laplace
from apm.selectors import EPIG
from apm.selectors.class_draws import (
    class_inputs,
    class_major,
    class_probabilities,
    entropies,
    softmax_gain,
)
from apm.selectors.draws import gives_samples, inputs_at, parameter_draws
from channelcode.channels import Ordinal, Softmax
from channelcode.measures import EmpiricalPool
from tests.apm.given import entropy_bits


def belief(*, intercept: bool = False) -> tuple[Belief, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    posterior = Bohning(4, 0.1, intercept=intercept, classes=np.arange(4))
    return Belief(posterior.fit(X[:15], np.arange(15) % 4)), X


@pytest.mark.parametrize("intercept", [False, True])
def test_inputs_are_those_of_the_draws(intercept):
    held, X = belief(intercept=intercept)
    theta = parameter_draws(held, 7, np.random.default_rng(1))
    expected = inputs_at(held, X, theta)  # (n, s, k)
    found = class_inputs(held, X, class_major(theta))
    np.testing.assert_allclose(np.moveaxis(found, 0, 2), expected, rtol=1e-12, atol=1e-12)
    prob = class_probabilities(held, X, class_major(theta))
    np.testing.assert_allclose(np.moveaxis(prob, 0, 2), softmax(expected, axis=2), atol=1e-14)


def test_any_channel_has_its_own_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    channel = Ordinal((-1.0, 1.0))
    held = Belief(Laplace(channel, 1.0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5])))
    theta = parameter_draws(held, 6, np.random.default_rng(2))
    prob = class_probabilities(held, X, class_major(theta[:, None, :]))
    np.testing.assert_allclose(np.moveaxis(prob, 0, 2), channel.prob(X @ theta.T), atol=1e-14)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 30.0, 1e4])
def test_gain_is_the_mutual_information_of_the_draws(scale):
    logits = scale * np.random.default_rng(3).normal(size=(5, 8, 40))
    found = softmax_gain(logits.copy()) / np.log(2)
    for row in range(8):
        prob = softmax(logits[:, row], axis=0)
        within = np.mean([entropy_bits(prob[:, s]) for s in range(40)])
        # two entropies of at most log2(5) bits are subtracted
        assert found[row] == pytest.approx(entropy_bits(prob.mean(axis=1)) - within, abs=1e-14)
    assert (found >= 0).all()
    assert (found <= np.log2(5) + 1e-12).all()


def test_entropies_count_draws_by_weight():
    prob = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 2)).transpose(2, 0, 1)
    twice = np.concatenate([prob, prob[:, :, :1]], axis=2)
    np.testing.assert_allclose(entropies(prob, np.array([2, 1]) / 3), entropies(twice), rtol=1e-12)


def test_certain_labels_have_no_entropy_and_no_gain():
    prob = np.zeros((3, 2, 4))
    prob[1] = 1.0
    assert entropies(prob).tolist() == [0.0, 0.0]
    assert softmax_gain(
        np.full((3, 2, 4), 1e300) * np.array([1.0, -1.0, -1.0])[:, None, None]
    ).tolist() == [0.0, 0.0]


class Weighted(Belief):
    """A belief whose laws are samples with weights, whatever its posterior."""

    draws = np.random.default_rng(5).normal(size=(6, 4))
    weights = np.array([3.0, 1.0, 0.0, 2.0])

    def push(self, X):
        rows = np.asarray(X)[:, 0].astype(int)
        return EmpiricalPool(np.stack([self.draws[rows], -self.draws[rows]], axis=2), self.weights)


def test_epig_honours_the_weights_of_a_pool(monkeypatch):
    monkeypatch.setattr("apm.selectors.rules.epig.gives_samples", lambda *_: True)
    held = Weighted(Bohning(2, 1.0).sized(1))
    X = np.arange(6.0)[:, None]
    scores = EPIG(targets=X[:2]).scores(held, X)
    masses = held.weights / held.weights.sum()
    prob = softmax(np.stack([held.draws, -held.draws], axis=2), axis=2)  # (n, s, k)
    for row in range(6):
        total = 0.0
        for target in range(2):
            joint = np.einsum("s,sa,sb->ab", masses, prob[row], prob[target])
            total += entropy_bits(joint.sum(axis=1)) + entropy_bits(joint.sum(axis=0))
            total -= entropy_bits(joint.ravel())
        assert scores[row] == pytest.approx(total / 2, abs=1e-12)


def test_gaussian_posteriors_give_no_samples():
    held, X = belief()
    assert not gives_samples(held, X)
    assert not gives_samples(Belief(Laplace(Softmax(3)).sized(3)), X)
