"""Operations on supports keep what they promise to keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import Logistic
from channelcode.capacity import Cost, Peak, Power, Problem
from channelcode.capacity.solvers.continuous.atoms import (
    assign,
    gather,
    merge_closest,
    within_budget,
)

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=30)
@given(seeds, st.sampled_from([1, 3]), st.floats(0.0, 2.0))
def test_gather_keeps_mass_and_mean(seed, dim, reach):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=12) if dim == 1 else rng.normal(size=(12, dim))
    weights = rng.dirichlet(np.ones(12))
    merged, masses = gather(points, weights, lambda x: np.full(len(x), reach))
    assert masses.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(masses @ merged, weights @ points, atol=1e-13)
    assert len(merged) <= 12
    if reach == 0.0:
        assert len(merged) == 12
    if dim == 1:
        assert (np.diff(merged) >= 0).all()


def test_gather_starts_with_the_heaviest():
    points, weights = np.array([0.0, 0.9, 1.0, 1.1, 5.0]), np.array([0.1, 0.1, 0.4, 0.1, 0.3])
    merged, masses = gather(points, weights, lambda x: np.full(len(x), 0.2))
    np.testing.assert_allclose(merged, [0.0, 1.0, 5.0])
    np.testing.assert_allclose(masses, [0.1, 0.6, 0.3])


@settings(max_examples=30)
@given(seeds, st.sampled_from([1, 2]))
def test_assign_moves_each_mass_to_its_nearest_centre(seed, dim):
    rng = np.random.default_rng(seed)
    shape = (8,) if dim == 1 else (8, dim)
    points, weights = rng.normal(size=shape), rng.dirichlet(np.ones(8))
    centres, reaches = rng.normal(size=(3, *shape[1:])), np.full(8, 0.7)
    moved, masses = assign(points, weights, centres, reaches)
    expected: dict[bytes, float] = {}
    for point, weight in zip(points, weights):
        distance = [np.linalg.norm(point - centre) for centre in centres]
        goal = centres[int(np.argmin(distance))] if min(distance) <= 0.7 else point
        key = np.asarray(goal).tobytes()
        expected[key] = expected.get(key, 0.0) + weight
    found = {np.asarray(p).tobytes(): w for p, w in zip(moved, masses)}
    assert found.keys() == expected.keys()
    for key, mass in expected.items():
        assert found[key] == pytest.approx(mass, abs=1e-15)


def test_merge_closest():
    points, weights = np.array([-2.0, 1.9, 2.1]), np.array([0.5, 0.2, 0.3])
    merged = merge_closest(points, weights)
    assert merged is not None
    np.testing.assert_allclose(merged[0], [-2.0, (0.2 * 1.9 + 0.3 * 2.1) / 0.5])
    np.testing.assert_allclose(merged[1], [0.5, 0.5])
    assert merge_closest(*merged) is None  # far apart on the scale of the support
    assert merge_closest(np.array([1.0]), np.array([1.0])) is None
    light = merge_closest(np.array([-2.0, 0.0, 2.0]), np.array([0.5, 1e-12, 0.5]))
    assert light is not None
    np.testing.assert_array_equal(light[0], [-2.0, 2.0])
    plane = merge_closest(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1]]), np.full(3, 1 / 3))
    assert plane is not None
    np.testing.assert_allclose(plane[0], [[1.0, 0.05], [0.0, 1.0]])


@settings(max_examples=30)
@given(seeds, st.floats(0.05, 3.0))
def test_within_budget_is_within(seed, budget):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=4), rng.dirichlet(np.ones(4))
    power = Problem(Logistic(), Power(budget))
    moved, masses, price = within_budget(power, points, weights, 0.2)
    assert masses @ moved**2 <= budget * (1 + 1e-14)
    assert price == 0.2
    if weights @ points**2 <= budget:
        np.testing.assert_array_equal(moved, points)
    else:
        assert masses @ moved**2 == pytest.approx(budget, rel=1e-13)
        np.testing.assert_allclose(moved / points, moved[0] / points[0], rtol=1e-13)
    cost = lambda l: np.abs(l) - np.abs(points).min()  # noqa: E731
    own = Problem(Logistic(), Cost(cost, 0.3 * budget))
    kept, masses, _ = within_budget(own, points, weights, 0.2)
    np.testing.assert_array_equal(kept, points)
    assert masses.sum() == pytest.approx(1.0, abs=1e-14)
    assert masses @ cost(kept) <= 0.3 * budget * (1 + 1e-13)


def test_an_idle_budget_has_no_price():
    points, weights = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    assert within_budget(Problem(Logistic(), Power(9.0)), points, weights, 1e-15)[2] == 0.0
    assert within_budget(Problem(Logistic(), Power(9.0)), points, weights, 0.1)[2] == 0.1
    assert within_budget(Problem(Logistic(), Peak(9.0)), points, weights, 0.1)[2] == 0.0


def test_rounding_beyond_a_cost_of_ones_own_is_drawn_in():
    """Two atoms of equal cost a hair above the budget: there is no cheaper atom to take mass."""
    problem = Problem(Logistic(), Cost(lambda l: l**2, 4.0))
    points, weights = np.array([-2.0, 2.0]) * (1 + 1e-13), np.array([0.5, 0.5])
    inside, kept, _ = within_budget(problem, points, weights, 0.1)
    assert weights @ inside**2 <= 4.0
    np.testing.assert_allclose(inside, points, rtol=1e-12)
    np.testing.assert_array_equal(kept, weights)
