"""Ordered categories: cells of a cumulative link."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest

from channelcode import Cauchit, Cloglog, InvalidArgument, Logistic, Ordinal, Probit, Softmax
from tests.channelcode.channels.tails import BOTH, assert_log_probs

CUTS = (-1.0, -0.5, 2.0)


def _cells(cdf, survival):
    def exact(l):
        edges = [mpmath.mpf(t) - l for t in CUTS]
        inner = [
            cdf(b) - cdf(a) if a + b < 0 else survival(a) - survival(b) for a, b in pairwise(edges)
        ]
        return [cdf(edges[0]), *inner, survival(edges[-1])]

    return exact


def test_logistic_tails():
    exact = _cells(lambda x: 1 / (1 + mpmath.exp(-x)), lambda x: 1 / (1 + mpmath.exp(x)))
    assert_log_probs(Ordinal(CUTS), exact, rtol=1e-12)


def test_cauchit_tails():
    def survival(x):
        return mpmath.mpf(1) / 2 - mpmath.atan(x) / mpmath.pi

    exact = _cells(lambda x: survival(-x), survival)
    # a cell is a difference of two tails that agree to 1e-4 at l = 1e4
    assert_log_probs(Ordinal(CUTS, Cauchit()), exact, rtol=1e-11)


@pytest.mark.parametrize("link", [Logistic(), Probit(), Cauchit(), Cloglog()])
def test_cumulative_sums_are_the_link(link):
    l = np.linspace(-4, 4, 33)
    below = np.cumsum(Ordinal(CUTS, link).prob(l), axis=-1)[:, :-1]
    np.testing.assert_allclose(below, link.prob(np.asarray(CUTS) - l[:, None])[..., 1], atol=1e-14)


def test_all_finite_in_the_tails():
    for link in (Logistic(), Probit(), Cauchit(), Cloglog()):
        assert np.isfinite(Ordinal(CUTS, link).log_prob(BOTH)).all()


def test_one_threshold_is_the_link_reversed():
    l = np.array([-3.0, 0.0, 800.0])
    np.testing.assert_allclose(Ordinal(0.0).log_prob(l), Logistic().log_prob(-l)[:, ::-1])


@pytest.mark.parametrize("bad", [[1.0, 0.0], [0.0, 0.0], [], [np.nan], [0.0, np.inf], [[0.0]], "a"])
def test_bad_thresholds(bad):
    with pytest.raises(InvalidArgument, match=r"^thresholds must"):
        Ordinal(bad)


def test_thresholds_out_of_order_are_shown():
    with pytest.raises(InvalidArgument, match=r"strictly increasing, got '?3\.0 before 1\.0"):
        Ordinal([0.0, 3.0, 1.0])


@pytest.mark.parametrize("bad", [Softmax(3), Logistic, 0])
def test_bad_link(bad):
    with pytest.raises(InvalidArgument, match=r"^link must be"):
        Ordinal([0.0], bad)
