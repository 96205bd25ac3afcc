"""Several labels at once: a binomial count."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from channelcode import Binomial, Cauchit, InvalidArgument, Link, Logistic, Softmax
from tests.channelcode.channels.tails import assert_log_probs


def test_tails():
    def exact(l):
        up, down = 1 / (1 + mpmath.exp(-l)), 1 / (1 + mpmath.exp(l))
        return [mpmath.binomial(5, y) * up**y * down ** (5 - y) for y in range(6)]

    # ln C(n, y) comes from gammaln, good to a few units of 1e-16
    assert_log_probs(Binomial(5), exact, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("link", [Logistic(), Cauchit()])
def test_against_scipy(link):
    l = np.array([-2.0, 0.1, 3.0])
    wanted = np.stack([binom.pmf(np.arange(9), 8, f) for f in link.prob(l)[:, 1]])
    np.testing.assert_allclose(Binomial(8, link).prob(l), wanted, rtol=1e-12)


def test_one_trial_is_the_link():
    l = np.array([-1e4, -1.0, 0.0, 1.0, 1e4])
    np.testing.assert_allclose(Binomial(1).log_prob(l), Logistic().log_prob(l), rtol=1e-15)


def test_a_certain_response_gives_a_certain_count():
    sure = Binomial(3, Link(lambda l: np.where(l > 0, 1.0, 0.0)))
    np.testing.assert_array_equal(sure.prob([-1.0, 1.0]), [[1, 0, 0, 0], [0, 0, 0, 1]])


@pytest.mark.parametrize("bad", [0, -1, 2.5, None, True])
def test_bad_trials(bad):
    with pytest.raises(InvalidArgument, match=r"^trials must be"):
        Binomial(bad)


def test_bad_link():
    with pytest.raises(InvalidArgument, match=r"^link must be"):
        Binomial(3, Softmax(2))
