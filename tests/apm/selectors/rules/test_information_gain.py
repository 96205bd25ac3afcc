"""Information gain: the integral, the paper's sum, and any channel's samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from apm.selectors import InformationGain
from apm.selectors.draws import parameter_draws
from apm.selectors.rules.information_gain import empirical_gain, plogp_sum
from channelcode.channels import Cloglog, Logistic, Probit, Softmax
from tests.apm.given import entropy_bits, given_belief, three_classes


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


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Softmax(3)])
def test_gain_of_samples_is_the_difference_of_entropies(channel, rng):
    inputs = rng.normal(size=(4, 9) if channel.dim == 1 else (4, 9, channel.dim))
    for found, row in zip(empirical_gain(channel, inputs), inputs, strict=True):
        p = channel.prob(row)
        expected = entropy_bits(p.mean(axis=0)) - np.mean([entropy_bits(q) for q in p])
        assert found == pytest.approx(expected, abs=1e-13)


def test_gain_of_samples_at_the_edges():
    same = np.full((1, 5), 1.3)
    assert empirical_gain(Probit(), same)[0] == pytest.approx(0.0, abs=1e-15)
    far = np.array([[-1e4, 1e4]])  # probabilities are zeros and ones: one bit, and no NaN
    for channel in (Logistic(), Probit()):
        assert empirical_gain(channel, far)[0] == pytest.approx(1.0, rel=1e-12)


def test_zero_times_its_logarithm_is_zero():
    p = np.array([[0.0, 1.0], [0.25, 0.75]])
    with np.errstate(divide="ignore"):
        found = plogp_sum(p, np.log(p))
    np.testing.assert_allclose(found, [0.0, 0.25 * np.log(0.25) + 0.75 * np.log(0.75)])


def test_classes_are_integrated_by_points_that_do_not_move():
    """In R^k the exact form is quasi-Monte Carlo: the same twice, near many draws."""
    belief, X = three_classes()
    exact = InformationGain().scores(belief, X)
    np.testing.assert_array_equal(exact, InformationGain().scores(belief, X, rng=99))
    many = InformationGain(samples=20_000).scores(belief, X, rng=0)
    np.testing.assert_allclose(many, exact, atol=0.02)  # 20,000 draws: 0.005 each way
