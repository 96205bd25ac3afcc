"""The points and directions that the quasi-Monte Carlo rules share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from channelcode.transport.rules import WIDENED, coverage_factor, directions_in, upper_quantiles


def test_coverage_is_students():
    assert coverage_factor(8) == pytest.approx(WIDENED * stats.t.ppf(0.9995, 7), rel=1e-10)


def test_directions_are_unit_vectors_with_the_axes_first():
    directions = directions_in(4)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(directions[:4], np.eye(4))


def test_quantiles_of_weights():
    weights = np.array([1e-30, 0.1, 0.5, 0.9])
    expected = [stats.norm.isf(1e-30), stats.norm.isf(0.1), 0.0, 0.0]
    np.testing.assert_allclose(upper_quantiles(weights), expected, rtol=1e-12)
