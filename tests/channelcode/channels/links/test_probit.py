"""The probit channel against the normal law in 60 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode import InvalidArgument, Probit
from tests.channelcode.channels.tails import assert_log_probs


def _cdf(z):
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize("scale", [1.0, 0.5, 3.0])
def test_tails(scale):
    # log_ndtr is good to a few rounding errors
    assert_log_probs(Probit(scale), lambda l: [_cdf(-l / scale), _cdf(l / scale)], rtol=1e-12)


@pytest.mark.parametrize("z", [-300.0, -30.0, -2.0, 0.0, 0.7, 5.0, 1e4])
def test_derivatives_in_the_tails(z):
    with mpmath.workdps(60):
        hazard = [
            mpmath.exp(-(mpmath.mpf(z) ** 2) / 2) / mpmath.sqrt(2 * mpmath.pi) / _cdf(s * z)
            for s in (-1, 1)
        ]
        gradient = [float(-hazard[0]), float(hazard[1])]
        bend = [float(-hazard[0] * (hazard[0] - z)), float(-hazard[1] * (hazard[1] + z))]
    found = Probit().derivatives(z)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-12, atol=1e-300)
    # (ln Phi)'' = -h (h + z) cancels: h + z is 1/|z| of two numbers of size |z|
    np.testing.assert_allclose(found.hessian, bend, rtol=1e-15 * (10 + z * z), atol=1e-300)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, "wide", [1.0, 2.0]])
def test_bad_scale(scale):
    with pytest.raises(InvalidArgument, match=r"^scale must"):
        Probit(scale)
