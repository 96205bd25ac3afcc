"""The channel at inputs on the line."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Logistic, Peak
from channelcode.capacity import Problem
from channelcode.capacity.search.line import HALO, halo, joined, probe


def test_halo_and_joined():
    problem = Problem(Logistic(), Peak(1.0))
    near = halo(problem, np.array([0.0, 0.9]))
    assert np.abs(near).max() <= 1.0
    assert {0.0, 0.9, 0.25, -0.25}.issubset(near.tolist())
    assert np.abs(near - 0.9)[near != 0.9].min() == pytest.approx(HALO[-1], rel=1e-6)
    grid = probe(problem, np.linspace(-1.0, 1.0, 5))
    both = joined(problem, grid, np.array([0.5, 0.3, 7.0, 0.3]))
    np.testing.assert_allclose(both.points, [-1.0, -0.5, 0.0, 0.3, 0.5, 1.0])
    np.testing.assert_allclose(both.prob, Logistic().prob(both.points), atol=1e-15)
    assert joined(problem, grid, np.array([0.5])) is grid
    rounded = np.array([np.nextafter(0.5, 0.0), 0.5 + 1e-12, -1.0, 1.0])
    assert joined(problem, grid, rounded) is grid  # apart by rounding alone
