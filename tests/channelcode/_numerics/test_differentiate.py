"""Numerical derivatives: each entry chooses its own step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit

from channelcode._numerics.differentiate import along_line


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("place", [-20.0, -1.5, 0.3, 5.0])
def test_scales(scale, place):
    """ln sigma(x / s), the shape of a log-probability that bends over a width s."""
    first, second = along_line(lambda t: log_expit(place + t / scale))
    assert first == pytest.approx(expit(-place) / scale, abs=1e-7 / scale)
    assert second == pytest.approx(-expit(place) * expit(-place) / scale**2, abs=1e-6 / scale**2)


def test_entries_of_different_sharpness_at_once():
    rates = np.array([1e-3, 1.0, 50.0])
    first, second = along_line(lambda t: np.exp(rates * t))
    np.testing.assert_allclose(first, rates, rtol=1e-8)
    np.testing.assert_allclose(second, rates**2, rtol=1e-6, atol=1e-11)


def test_polynomials_are_exact():
    first, second = along_line(lambda t: 1 + 2 * t + 3 * t**2)
    assert first == pytest.approx(2.0, rel=1e-13)
    assert second == pytest.approx(6.0, rel=1e-10)
