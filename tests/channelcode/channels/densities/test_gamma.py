"""Gamma outputs: the divergence where its series takes over, and the scale of ln y."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode.channels import Gamma


@pytest.mark.parametrize("d", [1e-9, -3e-5, 9.9e-4, -9.9e-4, 1.1e-3, 0.7, -5.0])
def test_divergence_on_both_sides_of_the_series(d):
    """D = k (e^d - 1 - d): near zero the difference cancels, and a series stands in for it."""
    with mpmath.workdps(40):
        expected = 2.5 * float(mpmath.expm1(mpmath.mpf(d)) - mpmath.mpf(d))
    found = float(Gamma(2.5).divergence_between(d, 0.0))
    # of the difference e^d - 1 - d, about d^2 / 2, rounding leaves 1e-16 / d: 1e-9 at d = 1e-3
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_scale_of_the_logarithm():
    """ln y spreads like 1 / sqrt(k) for large k, and by one or more below k = 1."""
    for shape, scale in ((0.3, 1.0), (1.0, 1.0), (25.0, 0.2)):
        np.testing.assert_allclose(Gamma(shape).output_scale(np.array([-2.0, 3.0])), scale)
