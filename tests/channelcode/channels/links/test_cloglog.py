"""The complementary log-log channel, whose log-probability leaves the range of doubles."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode import Cloglog
from tests.channelcode.channels.tails import BOTH, assert_log_probs


def _exact(l):
    none = mpmath.exp(-mpmath.exp(min(l, mpmath.mpf(750))))
    if l < -50:  # 1 - exp(-r) to 60 digits
        rate = mpmath.exp(l)
        return [none, rate * (1 - rate / 2 + rate**2 / 6)]
    return [none, 1 - none]


def test_tails():
    # ln P(Y = 1) = log1p(-exp(-r)) is zero to rounding where P(Y = 0) underflows
    assert_log_probs(Cloglog(), _exact, [l for l in BOTH if l <= 5.0 or l > 700], atol=1e-300)
    np.testing.assert_allclose(Cloglog().log_prob(7.0)[0], -np.exp(7.0), rtol=1e-15)


def test_end_of_range_is_finite_and_harmless():
    logs = Cloglog().log_prob([1e3, 1e4])
    assert np.isfinite(logs).all()
    np.testing.assert_array_equal(Cloglog().conditional_entropy([1e3, 1e4]), [0.0, 0.0])


@pytest.mark.parametrize("l", [-40.0, -20.0, -3.0, 0.0, 1.5, 4.0])
def test_derivatives(l):
    with mpmath.workdps(60):
        log_up = lambda x: mpmath.log(-mpmath.expm1(-mpmath.exp(x)))  # noqa: E731
        wanted = [float(mpmath.diff(log_up, l, k)) for k in (1, 2)]
    found = Cloglog().derivatives(l)
    np.testing.assert_allclose([found.gradient[1], found.hessian[1]], wanted, rtol=1e-9)
