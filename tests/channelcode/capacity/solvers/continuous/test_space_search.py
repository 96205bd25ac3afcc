"""The exchange's view of R^k."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from channelcode import Channel, Features, Peak, Power, Softmax, capacity
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


class Net(Channel):
    """A small network whose best input of one class lies far out in a narrow direction."""

    dim, num_outputs = 2, 3

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.inward, self.shift = rng.normal(0, 1.5, (2, 12)), rng.normal(0, 2, 12)
        self.outward = rng.normal(0, 1.5, (12, 3))

    def log_prob(self, l):
        return log_softmax(np.tanh(l @ self.inward + self.shift) @ self.outward, axis=-1)


def test_a_second_look_finds_what_the_first_directions_miss():
    """The directions of the solver alone ended at 1.518 bits with a gap of 0.067."""
    result = capacity(Net(543669), Power(9.82), throw=False)
    assert result.gap <= 1e-9
    assert result.bits > 1.53


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
