"""The curvature of the Fisher information at its peak."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode.channels import (
    Cauchit,
    Channel,
    Cloglog,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Probit,
    Softmax,
)
from channelcode.errors import InvalidArgument
from channelcode.information.fisher import fisher_curvature, fisher_information
from tests.naming import plain

CHANCES = {
    Probit(): mpmath.ncdf,
    Cloglog(): lambda l: 1 - mpmath.exp(-mpmath.exp(l)),
    Cauchit(): lambda l: mpmath.mpf(1) / 2 + mpmath.atan(l) / mpmath.pi,
    Lapse(Logistic(), low=0.2): lambda l: (
        mpmath.mpf("0.2") + mpmath.mpf("0.8") / (1 + mpmath.exp(-l))
    ),
}


@pytest.mark.parametrize("channel", CHANCES, ids=plain)
def test_curvature_by_derivatives_of_many_digits(channel):
    chance = CHANCES[channel]

    def information(l):
        p = chance(l)
        return mpmath.diff(chance, l) ** 2 / (p * (1 - p))

    with mpmath.workdps(40):
        start = {Cloglog(): 0.5}.get(channel, 0.1)
        peak = mpmath.findroot(lambda l: mpmath.diff(information, l), start)
        exact = -mpmath.diff(information, peak, 2) / information(peak)
    # a polynomial of degree 12 over the peak
    assert fisher_curvature(channel) == pytest.approx(float(exact), rel=1e-6)


def test_the_logistic_channel_is_known():
    assert fisher_curvature(Logistic()) == 0.5
    # nobody told that this one is logistic, and its derivatives are numerical
    unknown = Link(lambda l: 1 / (1 + np.exp(-l)))
    assert fisher_curvature(unknown) == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_curvature_has_the_units_of_one_over_the_square_of_the_input(scale):
    assert fisher_curvature(Probit(scale)) == pytest.approx((2 - 4 / np.pi) / scale**2, rel=1e-6)


def test_far_thresholds_are_found():
    assert fisher_curvature(Ordinal((-30.0, 30.0))) == pytest.approx(0.5, rel=1e-3)


def test_information_is_the_logistic_variance():
    l = np.linspace(-800, 800, 9)
    e = np.exp(-np.abs(l))
    np.testing.assert_allclose(fisher_information(Logistic(), l), e / (1 + e) ** 2, atol=1e-300)


class Deaf(Channel):
    """It answers without listening."""

    dim, num_outputs = 1, 2

    def log_prob(self, l):
        return np.full((*np.shape(l), 2), np.log(0.5))


@pytest.mark.parametrize("channel", [Softmax(3), Deaf()], ids=plain)
def test_a_channel_without_a_peak_is_refused(channel):
    with pytest.raises(InvalidArgument, match="channel"):
        fisher_curvature(channel)
