"""The search in R^k: directions, climbs, and how far out it looks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from channelcode import Features, Logistic, Softmax
from channelcode.capacity import Cost, Peak, Power, Problem, Unconstrained
from channelcode.capacity.search.reach import End
from channelcode.capacity.search.space import climb, reach_in_space, spread_directions
from tests.channelcode.capacity.oracles import kkt

HEAD = Features(Softmax(3), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
PROBLEM = Problem(HEAD, Power(4.0))
OUTPUT, PRICE = np.array([0.2, 0.3, 0.5]), 0.1


def height(points, channel=HEAD, output=OUTPUT, price=PRICE, power=4.0):
    return kkt(channel.prob(points), output, (points**2).sum(axis=-1) - power, price)


@pytest.mark.parametrize("dim", [2, 3, 5, 10])
def test_directions(dim):
    found = spread_directions(dim, 3)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-14)
    closeness = found @ found.T - 2 * np.eye(len(found))
    assert closeness.max() < 1 - 1e-15  # no direction twice
    axes = np.vstack([np.eye(dim), -np.eye(dim)])
    centred = np.eye(dim) - 1 / dim
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    for wanted in (axes, centred, -centred):
        assert (found @ wanted.T).max(axis=0).min() == pytest.approx(1.0, abs=1e-14)
    assert not np.array_equal(found, spread_directions(dim, 4))


def test_climbs_end_at_maxima():
    rng = np.random.default_rng(0)
    starts = rng.normal(0.0, 3.0, (40, 2))
    points, heights = climb(PROBLEM, starts, OUTPUT, PRICE)
    assert (heights >= height(starts) - 1e-14).all()
    np.testing.assert_allclose(heights, height(points), atol=1e-12)
    for start, reached in zip(points, heights):
        further = minimize(lambda x: -height(x[None])[0], start, method="BFGS", tol=1e-10)
        assert -further.fun <= reached + 1e-10
    side = np.linspace(-8.0, 8.0, 641)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert heights.max() >= height(grid).max() - 1e-12


def test_climbs_stay_within_the_peak():
    problem = Problem(HEAD, Peak(1.5))
    starts = np.random.default_rng(1).normal(size=(30, 2))
    starts /= np.maximum(np.linalg.norm(starts, axis=1, keepdims=True) / 1.5, 1.0)
    points, heights = climb(problem, starts, OUTPUT, 0.0)
    assert np.linalg.norm(points, axis=1).max() <= 1.5 * (1 + 1e-12)
    angles = np.linspace(0.0, 2 * np.pi, 20_001)
    circle = 1.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # D is convex enough here that its maximum over the disc is on the rim
    assert heights.max() >= height(circle, price=0.0).max() - 1e-6


def test_reach():
    directions = spread_directions(2, 0)
    radius, end = reach_in_space(PROBLEM, OUTPUT, PRICE, 0.1)
    assert end is End.MULTIPLIER
    beyond = radius * directions * np.array([1.0, 1.5, 4.0])[:, None, None]
    assert height(beyond.reshape(-1, 2)).max() <= 0.1 + 1e-11
    assert reach_in_space(Problem(HEAD, Unconstrained()), OUTPUT, 0.0, 0.1) == (
        1e3,
        End.NONE,
    )
    assert reach_in_space(Problem(HEAD, Peak(2.0)), OUTPUT, 0.0, 0.1) == (
        2.0,
        End.PEAK,
    )
    own = Problem(HEAD, Cost(lambda x: np.abs(x).sum(axis=1), 1.0))
    radius, end = reach_in_space(own, OUTPUT, PRICE, 0.1)
    assert end is End.NONE
    cost = np.abs(radius * directions).sum(axis=1)
    assert (PRICE * (cost - 1.0) > -np.log(0.2) - 0.1).all()


def test_one_feature_is_the_line():
    """A head of one direction in the plane: the best input lies along it."""
    single = Features(Logistic(), np.array([3.0, 4.0]))
    problem = Problem(single, Power(1.0))
    points, heights = climb(
        problem, np.random.default_rng(2).normal(size=(20, 2)), np.array([0.5, 0.5]), 0.3
    )
    line = np.linspace(0.0, 20.0, 200_001)
    best = kkt(Logistic().prob(line), np.array([0.5, 0.5]), (line / 5.0) ** 2 - 1.0, 0.3).max()
    assert heights.max() == pytest.approx(best, abs=1e-8)
    top = points[heights.argmax()]
    assert abs(top @ [-0.8, 0.6]) <= 1e-5
