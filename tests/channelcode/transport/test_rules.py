"""The points and directions that the quasi-Monte Carlo rules share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from channelcode.transport.rules import (
    WIDENED,
    coverage_factor,
    directions_in,
    normal_nodes,
    upper_quantiles,
)


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


@pytest.mark.parametrize("dim", [2, 3])
def test_nodes_are_standard_normal_and_symmetric(dim):
    """Mirrored, and whitened together: moments up to the third are exact."""
    nodes = normal_nodes(dim, 64, 3, 0)
    assert nodes.shape == (3 * 64, dim)
    np.testing.assert_allclose(nodes.T @ nodes / len(nodes), np.eye(dim), atol=1e-12)
    for part in nodes.reshape(3, 64, dim):
        np.testing.assert_array_equal(part[:32], -part[32:])
        np.testing.assert_allclose(part.T @ part / len(part), np.eye(dim), atol=0.3)
    # the fourth moment, 3 for a normal law, is right to the rule's error
    assert np.mean(normal_nodes(dim, 4096, 1, 0) ** 4) == pytest.approx(3.0, rel=0.02)


def test_nodes_in_many_dimensions_are_whitened_from_twice_as_many_points_on():
    """512 draws in 220 dimensions: the covariance of the rule is still exactly the identity."""
    nodes = normal_nodes(220, 128, 8, 0)
    np.testing.assert_allclose(nodes.T @ nodes / len(nodes), np.eye(220), atol=1e-10)
