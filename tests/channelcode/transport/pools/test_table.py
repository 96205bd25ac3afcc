"""Large planar pools: every value within bounds that are proved, whatever the table says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode._kernels.transport.edges import judged_edges
from channelcode._kernels.transport.table.pool import lane_pool
from channelcode._kernels.transport.table.single import second_order_loss, table_pool
from channelcode.measures import DiscreteMeasure, FullPool
from channelcode.transport import nearest, w2_squared
from channelcode.transport.pool import judged_pool
from channelcode.transport.pools.gaussians import correlations
from channelcode.transport.pools.table import (
    TABLE_SIZE,
    covariances_of,
    potential_table,
    table_correlations,
)
from channelcode.transport.solve import RTOL
from channelcode.transport.solvers import Plane
from channelcode.transport.target import reduce_target


def random_covariances(rng: np.random.Generator, size: int) -> np.ndarray:
    factors = rng.standard_normal((size, 2, 2)) * 10 ** rng.uniform(-2, 0, (size, 1, 2))
    return factors @ factors.transpose(0, 2, 1)


def random_target(rng: np.random.Generator, m: int, kind: str) -> DiscreteMeasure:
    atoms, weights = rng.standard_normal((m, 2)), rng.dirichlet(np.full(m, 3.0))
    if kind == "light":
        weights = rng.dirichlet(np.full(m, 0.1)) + 1e-9
    elif kind == "far":
        atoms[0] *= 1e3
        weights[0] = 1e-5
    elif kind == "near":
        atoms[1] = atoms[0] + 1e-7
    elif kind == "flat":
        atoms[:, 1] *= 1e-4
    elif kind == "grid":
        atoms = np.round(atoms)
        atoms[:3] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    return DiscreteMeasure(atoms, weights / weights.sum())


@pytest.mark.parametrize("kind", ["plain", "light", "far", "near", "flat", "grid"])
@pytest.mark.parametrize("m", [3, 5])
def test_bounds_hold(rng, m, kind):
    target = reduce_target(random_target(rng, m, kind), to_gaussian=True)
    covariance = random_covariances(rng, 3_000)
    value, below, above = table_correlations(covariance, target).T
    known = ~np.isnan(value)
    assert known.mean() > (0.5 if kind in ("plain", "grid", "near") else 0.0)
    value, below, above, covariance = value[known], below[known], above[known], covariance[known]
    exact = correlations(covariance, target)
    size = np.sqrt(np.trace(covariance, axis1=1, axis2=2) * target.variance)
    assert (below + above <= RTOL * size).all()
    assert (value - below <= (exact.value + exact.above) / target.unit).all()
    assert (value + above >= (exact.value - exact.below) / target.unit).all()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(3, 9),
    error=st.floats(-9.0, 0.0),
    radius=st.floats(-8.0, -1.0),
    light=st.booleans(),
)
def test_second_order_bounds_hold_for_any_potential(seed, m, error, radius, light):
    """`value - loss <= rho <= value`, however wrong the potential is; infinite where unproved."""
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((m, 2))
    weights = rng.dirichlet(np.full(m, 0.3 if light else 3.0)) + 1e-6
    weights /= weights.sum()
    atoms -= weights @ atoms
    atoms /= np.sqrt(weights @ (atoms**2).sum(axis=1))
    v = Plane().potentials(atoms[None], weights)[0][0]
    mass, moment = np.empty(m), np.empty((m, 2))
    hessian, low, work, step = np.empty((m, m)), np.empty((m, m)), np.empty((m, m)), np.empty(m)

    def dual(vector: np.ndarray, within: float) -> tuple[float, float]:
        total, rounding = judged_edges(atoms, vector, True, within, mass, moment, hessian, low)
        return float(total + vector @ (weights - mass)), rounding

    least, rounding = dual(v, 0.0)
    wrong = v + 10**error * rng.standard_normal(m)
    value, other = dual(wrong, 10**radius)
    assert (-low <= -hessian + 1e-15)[np.triu_indices(m, 1)].all()
    loss = second_order_loss(weights, mass, low, 10**radius, seed % m, step, work)
    # both values are rounded, and the least is that of a potential good to 1e-14
    assert value - loss <= least + rounding + other + 1e-14
    assert least <= value + rounding + other + 1e-14


def test_rates_hold_around_a_potential(rng):
    """`low` is below the rate at every potential within the radius."""
    for m in (3, 4, 6):
        atoms, v = rng.standard_normal((m, 2)), 0.3 * rng.standard_normal(m)
        mass, moment, hessian, low = (
            np.empty(m),
            np.empty((m, 2)),
            np.empty((m, m)),
            np.empty((m, m)),
        )
        for radius in (1e-1, 1e-2, 1e-4):
            judged_edges(atoms, v, True, radius, mass, moment, hessian, low)
            bound = low.copy()
            for _ in range(200):
                near = v + radius * rng.choice([-1.0, 1.0], m)
                judged_edges(atoms, near, True, 0.0, mass, moment, hessian, low)
                assert (bound >= hessian - 1e-14)[np.triu_indices(m, 1)].all()


def test_rates_of_a_thin_cell_between_parallel_edges():
    """Potentials within the radius may close the cell of the second atom, and with it its edges."""
    atoms = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.5, 4.0]])
    v = np.array([0.0, 0.5, 1.001, 9.0])
    mass, moment, hessian, low = np.empty(4), np.empty((4, 2)), np.empty((4, 4)), np.empty((4, 4))
    judged_edges(atoms, v, True, 1e-2, mass, moment, hessian, low)
    assert -hessian[0, 1] > 0.1
    assert low[0, 1] == 0
    judged_edges(atoms, v, True, 1e-4, mass, moment, hessian, low)
    assert -low[0, 1] > 0.1


def test_a_wrong_table_costs_time_and_no_digits(rng):
    target = reduce_target(random_target(rng, 4, "plain"), to_gaussian=True)
    covariance = random_covariances(rng, 300)
    right = correlations(covariance, target)
    table = potential_table(target, 300)
    for noise in (0.0, 1e-3, 1.0, 1e3):
        given = table + noise * rng.standard_normal(table.shape)
        rest = (target.points, target.weights, 0, given, 0.0)
        for single in (False, True):
            bounds = np.empty((300, 3))
            if single:
                table_pool(covariance, np.arange(300), *rest, bounds)
            else:
                lane_pool(covariance, *rest, bounds)
            known = np.isfinite(bounds[:, 0])
            value, below, above = bounds[known].T * target.unit
            assert (value - below <= right.value[known] + right.above[known]).all()
            assert (value + above >= right.value[known] - right.below[known]).all()
            assert known.mean() > 0.5 or noise >= 1


def test_targets_of_many_atoms_go_one_by_one(rng, monkeypatch):
    target = reduce_target(random_target(rng, 5, "plain"), to_gaussian=True)
    covariance = random_covariances(rng, 300)
    fast = table_correlations(covariance, target)
    monkeypatch.setattr("channelcode.transport.pools.table.MOST_LANES", 4)
    slow = table_correlations(covariance, target)
    known = ~np.isnan(fast[:, 0]) & ~np.isnan(slow[:, 0])
    assert known.mean() > 0.9
    np.testing.assert_allclose(fast[known, 0], slow[known, 0], rtol=1e-8)
    assert (fast[known, 0] != slow[known, 0]).any()


@pytest.mark.parametrize("kind", ["plain", "far", "flat"])
def test_large_pools_are_proved_like_single_pairs(rng, kind):
    """The one number that the manual and the docstring give: RTOL, as everywhere."""
    nu = random_target(rng, 4, kind)
    pool = FullPool(rng.standard_normal((TABLE_SIZE, 2)), random_covariances(rng, TABLE_SIZE))
    found = judged_pool(pool, nu)
    shift = pool.mean - nu.mean
    scale = (shift**2).sum(axis=1) + pool.total_variance + np.trace(nu.covariance)
    assert (found.upper - found.lower <= RTOL * scale).all()
    some = rng.integers(0, TABLE_SIZE, 300)
    alone = judged_pool(pool[some], nu)
    assert (found.lower[some] <= alone.upper).all()
    assert (found.upper[some] >= alone.lower).all()
    best = int(np.argmin(found.squared))
    assert best == int(nearest(pool, nu).index[0])


def test_a_large_pool_in_any_unit(rng):
    nu = random_target(rng, 4, "plain")
    pool = FullPool(rng.standard_normal((TABLE_SIZE, 2)), random_covariances(rng, TABLE_SIZE))
    plain = w2_squared(pool, nu)
    for power in (-300, 200):
        unit = 2.0**power
        scaled = FullPool(unit * pool.mean, unit**2 * pool.covariance)
        again = w2_squared(scaled, DiscreteMeasure(unit * nu.points, nu.weights))
        np.testing.assert_array_equal(again / unit / unit, plain)


def test_shape_variables():
    spread, angle = np.array([0.1, 0.5, np.sqrt(0.5)]), np.array([0.3, -2.0, 1.0])
    covariance = covariances_of(spread, angle)
    np.testing.assert_allclose(np.trace(covariance, axis1=1, axis2=2), 1.0)
    np.testing.assert_allclose(np.linalg.eigvalsh(covariance)[:, 0], spread**2, atol=1e-15)
