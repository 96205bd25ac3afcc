"""The law of the label that the K-class selectors read: at the MAP, or averaged."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from apm.selectors import Entropy, LeastConfidence, Margin
from apm.selectors.draws import inputs_at, parameter_draws
from channelcode.channels import Probit
from channelcode.errors import InvalidArgument
from tests.apm.given import entropy_bits, given_belief, three_classes


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
    p = belief.output_proba(X)
    ordered = np.sort(p, axis=1)
    scores = Margin(bayesian=True).scores(belief, X)
    np.testing.assert_allclose(scores, ordered[:, -2] - ordered[:, -1], atol=1e-14)
    assert not np.allclose(scores, Margin().scores(belief, X), atol=1e-3)


@pytest.mark.parametrize("kind", [Margin, LeastConfidence, Entropy])
def test_two_labels_at_the_most_probable_weights_and_on_average(kind):
    """On the line the average is an integral; the mean and the MAP are chosen to differ."""
    belief = given_belief([0.7], [[4.0]], map=[-0.2], channel=Probit())
    X = np.array([[1.0], [-2.0]])
    plain, averaged = kind().probabilities(belief, X), kind(bayesian=True).probabilities(belief, X)
    for place, x in enumerate(X[:, 0]):
        assert plain[place, 1] == pytest.approx(stats.norm.cdf(-0.2 * x), abs=1e-12)
        mean, _ = integrate.quad(
            lambda l, x=x: stats.norm.cdf(l) * stats.norm.pdf(l, 0.7 * x, 2.0 * abs(x)), -40, 40,
            points=[0.0],
        )  # fmt: skip
        assert averaged[place, 1] == pytest.approx(mean, abs=1e-8)  # quad's own accuracy
    np.testing.assert_allclose(plain.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_draws_are_averaged_and_shared_by_all_rows(classes, monkeypatch):
    if classes == 3:
        belief, X = three_classes()
    else:
        belief = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]])
        X = np.array([[1.0, 0.0], [0.5, -2.0], [3.0, 1.0]])
    selector = Margin(bayesian=True, samples=40)
    theta = parameter_draws(belief, 40, np.random.default_rng(9))
    expected = belief.channel.prob(inputs_at(belief, X, theta)).mean(axis=1)
    found = selector.probabilities(belief, X, rng=9)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    monkeypatch.setattr("apm.selectors.rules.label_probabilities.PIECE", 130)  # a row at a time
    np.testing.assert_allclose(selector.probabilities(belief, X, rng=9), expected, atol=1e-14)
    many = Margin(bayesian=True, samples=20_000).probabilities(belief, X, rng=0)
    # five deviations of a mean of 20,000 numbers within [0, 1]
    np.testing.assert_allclose(many, belief.output_proba(X), atol=5 * 0.5 / np.sqrt(20_000))


def test_samples_need_an_average():
    with pytest.raises(InvalidArgument, match="samples"):
        Margin(samples=100)
    with pytest.raises(InvalidArgument, match="samples"):
        Entropy(bayesian=True, samples=1)
