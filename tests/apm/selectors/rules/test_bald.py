"""Houlsby's approximation against mpmath, the exact gain, and its own limits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from apm.belief import Belief
from apm.posteriors import Sampled
from apm.selectors import BALD, InformationGain
from apm.selectors.rules.bald import closed_gain
from channelcode.channels import Cloglog, Probit
from channelcode.measures import ScalarPool
from tests.apm.given import given_belief, three_classes


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


@pytest.mark.parametrize("mean, variance", [(0.0, 0.0), (0.3, 2.0), (-4.0, 1.0), (9.0, 30.0)])
def test_closed_form_to_all_digits(mean, variance):
    """Eq. (BALDfinal) of the paper in thirty digits, k^2 = pi / 8."""
    with mpmath.workdps(30):
        mu, s = mpmath.mpf(mean), mpmath.mpf(variance)
        k2, d2 = mpmath.pi / 8, mpmath.pi * mpmath.log(2) / 2
        p = mpmath.ncdf(mpmath.sqrt(k2) * mu / mpmath.sqrt(k2 * s + 1))
        entropy = -(p * mpmath.log(p, 2) + (1 - p) * mpmath.log(1 - p, 2))
        noise = mpmath.sqrt(d2 / (k2 * s + d2)) * mpmath.exp(-k2 * mu**2 / (2 * (k2 * s + d2)))
        expected = float(entropy - noise)
    found = BALD().scores(given_belief([mean], [[variance]]), [[1.0]])[0]
    assert found == pytest.approx(expected, abs=1e-14)


def test_far_inputs_underflow_to_nothing():
    laws = ScalarPool([1e3, -1e6], [1.0, 4.0])
    np.testing.assert_array_equal(closed_gain(laws, 1.0), [0.0, 0.0])


def test_channels_and_laws_without_a_closed_form_are_sampled():
    X = np.linspace(-2, 2, 5)[:, None]
    other = given_belief([0.5], [[1.0]], channel=Cloglog())
    expected = InformationGain(samples=50).scores(other, X, rng=2)
    np.testing.assert_array_equal(BALD(samples=50).scores(other, X, rng=2), expected)
    pytest.importorskip("polyagamma")
    draws = Belief(Sampled(samples=60, burn_in=10).fit(X, [0, 0, 1, 1, 1]))
    exact = InformationGain().scores(draws, X)  # the mean over those draws, exactly
    np.testing.assert_allclose(BALD().scores(draws, X), exact, atol=1e-12)
