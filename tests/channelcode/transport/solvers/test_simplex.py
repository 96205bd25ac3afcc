"""Isotropic Gaussians and a regular simplex: the formula with e_K."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.measures import (
    DiscreteMeasure,
    Gaussian,
    ScaledPool,
)
from channelcode.transport import (
    Plane,
    QuasiMonteCarlo,
    Simplex,
    Space,
    expected_maximum,
    w2,
    w2_squared,
)


@pytest.mark.parametrize("size", [3, 4, 6])
def test_isotropic_simplex_formula(size):
    """W2^2 = |m|^2 + (K-1) sigma^2 + P - 2 a sigma e_K on the centred space."""
    power, sigma = 2.0, 0.7
    a = np.sqrt(power / (1 - 1 / size))
    vertices = a * (np.eye(size) - 1.0 / size)
    nu = DiscreteMeasure.uniform(vertices)
    centred = np.eye(size) - 1.0 / size
    law = Gaussian(np.zeros(size), sigma**2 * centred)
    expected = (size - 1) * sigma**2 + power - 2 * a * sigma * expected_maximum(size)
    assert w2(law, nu).squared == pytest.approx(expected, rel=1e-12)
    assert w2(law, nu, solver=Simplex()).squared == pytest.approx(expected, rel=1e-12)
    if size == 3:
        assert w2(law, nu, solver=Plane()).squared == pytest.approx(expected, rel=1e-11)
    if size == 4:
        assert w2(law, nu, solver=Space()).squared == pytest.approx(expected, rel=1e-11)
    rule = w2(law, nu, solver=QuasiMonteCarlo())
    assert rule.lower <= expected <= rule.upper
    pool = ScaledPool(np.zeros((2, size)), [sigma**2, 0.0], centred)
    np.testing.assert_allclose(w2_squared(pool, nu), [expected, power], rtol=1e-12)


@pytest.mark.parametrize(
    ("count", "value"), [(4, 1.0293753730), (5, 1.1629644736), (10, 1.5387527308)]
)
def test_expected_maximum(count, value):
    # Tabulated expected values of normal order statistics (Harter 1961), ten digits.
    assert expected_maximum(count) == pytest.approx(value, abs=1e-10)
