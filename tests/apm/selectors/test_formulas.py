"""Each selector against its formula, written out again with loops or another library."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from apm.belief import Belief
from apm.encoders import Affine, FeatureMap
from apm.posteriors import Laplace, VariationalLogistic
from apm.selectors import (
    BALD,
    EPIG,
    Entropy,
    InformationGain,
    LeastConfidence,
    Margin,
    MaxVariance,
    Random,
    Uncertainty,
)
from apm.selectors.draws import drawn_inputs, inputs_at, parameter_draws, point_inputs
from channelcode.channels import Cloglog, Logistic, Probit, Softmax
from tests.apm.given import given_belief


def three_classes() -> tuple[Belief, np.ndarray]:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(12, 2))
    return Belief(Laplace(Softmax(3), 0.5).fit(X[:9], np.arange(9) % 3)), X


def entropy_bits(p: np.ndarray) -> float:
    return float(stats.entropy(p, base=2))


def test_label_selectors_read_the_label_law():
    belief, X = three_classes()
    theta = belief.posterior.map
    for row, margin, least, entropy in zip(
        X,
        Margin().scores(belief, X),
        LeastConfidence().scores(belief, X),
        Entropy().scores(belief, X),
    ):
        logits = theta @ row
        p = np.exp(logits) / np.exp(logits).sum()
        ordered = sorted(p)
        assert margin == pytest.approx(ordered[-2] - ordered[-1], abs=1e-12)
        assert least == pytest.approx(1 - ordered[-1], abs=1e-12)
        assert entropy == pytest.approx(entropy_bits(p), abs=1e-12)


def test_bayesian_label_selectors_average_over_the_posterior():
    belief, X = three_classes()
    p = belief.predict_proba(X)
    ordered = np.sort(p, axis=1)
    scores = Margin(bayesian=True).scores(belief, X)
    np.testing.assert_allclose(scores, ordered[:, -2] - ordered[:, -1], atol=1e-14)
    assert not np.allclose(scores, Margin().scores(belief, X), atol=1e-3)


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


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Cloglog()])
def test_exact_information_gain_is_the_integral(channel):
    mean, variance = [0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]]
    belief = given_belief(mean, variance, channel=channel)
    X = np.array([[1.0, 0.0], [0.5, -2.0], [3.0, 1.0]])
    for row, gain in zip(X, InformationGain().scores(belief, X)):
        mu, sigma = row @ mean, np.sqrt(row @ np.array(variance) @ row)

        def average(function, mu=mu, sigma=sigma):
            value, _ = integrate.quad(
                lambda z: function(mu + sigma * z) * stats.norm.pdf(z), -12, 12, limit=400
            )
            return value

        up = average(lambda l: float(channel.prob(l)[1]))
        inner = average(lambda l: entropy_bits(channel.prob(l)))
        expected = entropy_bits(np.array([up, 1 - up])) - inner
        assert gain == pytest.approx(expected, abs=1e-8)  # quad's own accuracy


def test_sampled_information_gain_is_the_papers_sum():
    belief = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]])
    X = np.random.default_rng(0).normal(size=(5, 2))
    theta = parameter_draws(belief, 30, np.random.default_rng(4))
    for row, gain in zip(X, InformationGain(samples=30).scores(belief, X, rng=4)):
        f = 1 / (1 + np.exp(-theta @ row))
        inner = np.mean([entropy_bits(np.array([p, 1 - p])) for p in f])
        assert gain == pytest.approx(
            entropy_bits(np.array([f.mean(), 1 - f.mean()])) - inner, abs=1e-12
        )


def test_sampled_information_gain_tends_to_the_exact_one():
    belief = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]])
    X = np.random.default_rng(0).normal(size=(6, 2))
    many = InformationGain(samples=200_000).scores(belief, X, rng=0)
    # the standard error of 200,000 draws is near 0.001
    np.testing.assert_allclose(many, InformationGain().scores(belief, X), atol=5e-3)


def test_bald_is_near_exact_information_gain():
    # Houlsby's approximation and k^2 = pi / 8 err by a few hundredths of a bit
    belief = given_belief([0.5], [[1.0]])
    X = np.linspace(-6, 6, 25)[:, None]
    close = BALD().scores(belief, X) - InformationGain().scores(belief, X)
    assert np.abs(close).max() < 0.04


def test_bald_for_the_probit_channel_uses_its_own_scale():
    X = np.linspace(-3, 3, 7)[:, None]
    wide = given_belief([0.5], [[1.0]], channel=Probit(scale=2.0))
    unit = given_belief([0.25], [[0.25]], channel=Probit())
    np.testing.assert_allclose(BALD().scores(wide, X), BALD().scores(unit, X), rtol=1e-12)


def test_bald_for_classes_is_the_sampled_information_gain():
    belief, X = three_classes()
    np.testing.assert_array_equal(
        BALD(samples=64).scores(belief, X, rng=1),
        InformationGain(samples=64).scores(belief, X, rng=1),
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_epig_is_the_mean_information_between_labels(classes):
    if classes == 3:
        belief, X = three_classes()
    else:
        belief, X = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]]), np.eye(2) * 2
    targets = np.array([[1.0, 0.5], [-0.3, 2.0]])
    scores = EPIG(samples=20, targets=targets).scores(belief, X, rng=9)
    theta = parameter_draws(belief, 20, np.random.default_rng(9))
    here = belief.channel.prob(inputs_at(belief, X, theta))
    there = belief.channel.prob(inputs_at(belief, targets, theta))
    for x in range(len(X)):
        total = 0.0
        for t in range(len(targets)):
            joint = np.mean([np.outer(here[x, s], there[t, s]) for s in range(20)], axis=0)
            first, second = joint.sum(axis=1), joint.sum(axis=0)
            total += entropy_bits(first) + entropy_bits(second) - entropy_bits(joint.ravel())
        assert scores[x] == pytest.approx(total / len(targets), abs=1e-12)


def test_epig_prefers_what_tells_about_the_targets():
    belief = given_belief([0.0, 0.0], np.eye(2))
    X = np.array([[3.0, 0.0], [0.0, 3.0]])
    scores = EPIG(samples=400, targets=[[2.0, 0.0]]).scores(belief, X, rng=0)
    assert scores[0] > 10 * scores[1]


def test_epig_in_pieces_is_epig_in_one(monkeypatch):
    belief, X = three_classes()
    selector = EPIG(samples=20, num_targets=5)
    whole = selector.scores(belief, X, rng=9)
    monkeypatch.setattr("apm.selectors.epig.CHUNK_ENTRIES", 100)
    np.testing.assert_allclose(selector.scores(belief, X, rng=9), whole, rtol=1e-12)


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


def test_max_variance_is_the_quadratic_form():
    covariance = np.array([[2.0, 0.3], [0.3, 1.0]])
    belief = given_belief([0.7, -0.4], covariance)
    X = np.random.default_rng(0).normal(size=(5, 2))
    expected = np.einsum("ni,ij,nj->n", X, covariance, X)
    np.testing.assert_allclose(MaxVariance().scores(belief, X), expected, rtol=1e-12)


def test_random_is_even():
    belief = given_belief([0.0], [[1.0]])
    X = np.zeros((4, 1))
    picks = [int(Random().select(belief, X, exclude=[2], rng=seed)[0]) for seed in range(600)]
    counts = np.bincount(picks, minlength=4)
    assert counts[2] == 0
    assert stats.chisquare(counts[[0, 1, 3]]).pvalue > 1e-4


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
