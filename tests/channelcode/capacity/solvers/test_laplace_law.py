"""Atoms in place of a density: from outside their cells they look the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from channelcode.capacity.solvers.laplace_law import Shape, cells, matched
from channelcode.information.mixtures.laplace import LaplaceMixture


@pytest.mark.parametrize("price", [0.0, 0.03, 0.2])
def test_the_output_beyond_a_cell_is_that_of_the_density(price):
    half, count = 1.5, 6
    points, weights = Shape(half, 0.3, 0.0, price).law(np.inf, count)

    def density(y):
        return np.exp(-price * y * y) * (1.0 + 2.0 * price - 4.0 * price**2 * y * y)

    edges = np.linspace(-half, half, count + 1)
    scale = 0.3 / weights[0]
    assert points[0] == -half
    for at in edges:  # at an edge every cell lies to one side
        smooth = quad(lambda y, at=at: density(y) * np.exp(-abs(y - at)), -half, half, points=[at])[
            0
        ]
        smooth += 0.3 * (np.exp(-abs(at - half)) + np.exp(-abs(at + half)))
        atoms = scale * float(weights @ np.exp(-np.abs(points - at)))
        assert atoms == pytest.approx(smooth, rel=1e-10)  # quad's accuracy


def test_the_smooth_part_alone_and_atoms_at_the_peak():
    points, weights = Shape(30.0, 0.1, 0.0, 0.02).law(np.inf, 50, cut=10.0)
    assert len(points) == 50
    assert np.abs(points).max() < 10.0
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    points, _ = Shape(2.0, 0.1, 0.4, 0.02).law(4.0, 50)
    assert len(points) == 54
    assert points[[0, 1, -2, -1]].tolist() == [-4.0, -2.0, 2.0, 4.0]


def test_cells_grow_as_the_fourth_root_of_the_tolerance():
    assert cells(1.6, 7e-10) == 200
    assert cells(1.6, 7e-10 / 16) == 400
    assert cells(1e-9, 1e-9) == 4


def test_matching_meets_kkt_and_spends_the_power():
    start = Shape(2.0, 0.4, 1.0, 0.1)
    shape, steps = matched(start, 3.0, 3.0, 375)
    points, weights = shape.law(3.0, 375)
    assert steps < 24
    assert float(weights @ points**2) == pytest.approx(3.0, rel=1e-12)
    found = LaplaceMixture(1.0, points, weights).divergence(points)
    level = found.value - shape.multiplier(375) * points**2
    assert np.ptp(level) < 1e-9  # of the order of the width to the fourth
