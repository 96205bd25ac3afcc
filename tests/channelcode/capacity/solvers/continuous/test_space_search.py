"""The exchange's view of R^k."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Features, Peak, Power, Softmax
from channelcode.capacity import Problem
from channelcode.capacity.solvers.continuous.space_search import SpaceSearch
from tests.channelcode.capacity.oracles import kkt

HEAD = Features(Softmax(3), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
PROBLEM = Problem(HEAD, Power(4.0))
OUTPUT, PRICE = np.array([0.2, 0.3, 0.5]), 0.1


def height(points):
    return kkt(HEAD.prob(points), OUTPUT, (points**2).sum(axis=-1) - 4.0, PRICE)


def test_violations_are_those_of_a_dense_grid():
    search = SpaceSearch(PROBLEM, 0)
    atoms = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    value = 0.2
    points, violation = search.violations(OUTPUT, PRICE, value, atoms)
    side = np.linspace(-8.0, 8.0, 1601)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    heights = height(grid)
    # the grid of step 0.01 misses F'' step^2 / 4 of a top
    assert violation == pytest.approx(heights.max() - value, abs=1e-4)
    assert violation >= heights.max() - value - 1e-13
    assert np.linalg.norm(points[0] - grid[heights.argmax()]) <= 0.02
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert (distance + np.eye(len(points))).min() > 1e-4  # each maximum once


def test_inputs_stay_within_the_peak():
    search = SpaceSearch(Problem(HEAD, Power(4.0) & Peak(2.5)), 0)
    first = search.first_inputs()
    radii = np.linalg.norm(first, axis=1)
    assert radii.min() == 0.0
    assert radii.max() == pytest.approx(2.5, rel=1e-12)
    atoms = np.array([[2.5, 0.0], [0.0, 1.0]])
    wide = search.spacing(atoms)
    following = search.next_inputs(first, atoms, np.array([[0.0, 2.5]]))
    assert np.linalg.norm(following, axis=1).max() <= 2.5 * (1 + 1e-12)
    for centre in ([2.5, 0.0], [0.0, 1.0], [0.0, 2.5]):
        assert np.linalg.norm(following - centre, axis=1).min() == 0.0
    assert (search.spacing(atoms) < wide).all()
