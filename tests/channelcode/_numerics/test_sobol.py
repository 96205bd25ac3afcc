"""Scrambled nets: unbiased, and more even than independent draws."""

import numpy as np
import pytest

from channelcode._numerics.sobol import DIMENSIONS, scrambled_normals


@pytest.mark.parametrize("count", [1, 2, 3, 100, 128])
@pytest.mark.parametrize("dim", [1, 3])
def test_as_many_points_as_asked_for(count, dim):
    points = scrambled_normals(count, dim, np.random.default_rng(0))
    assert points.shape == (count, dim)
    assert np.isfinite(points).all()


def test_averages_are_unbiased_and_err_less_than_draws():
    """E cos Z = exp(-1/2), over 400 nets of 64 points."""
    nets = [scrambled_normals(64, 1, np.random.default_rng(seed)) for seed in range(400)]
    averages = np.cos(np.array(nets)).mean(axis=(1, 2))
    error = averages.std() / np.sqrt(len(averages))
    assert abs(averages.mean() - np.exp(-0.5)) < 5 * error
    plain = np.sqrt((0.5 * (1 + np.exp(-2.0)) - np.exp(-1.0)) / 64)  # of 64 independent draws
    assert averages.std() < plain / 4


def test_a_generator_decides_the_points():
    first, again = (scrambled_normals(10, 2, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_beyond_the_table_of_directions_points_are_plainly_random():
    points = scrambled_normals(2, DIMENSIONS + 1, np.random.default_rng(1))
    assert abs(points.mean()) < 5 / np.sqrt(points.size)
