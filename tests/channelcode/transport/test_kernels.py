"""Each kernel equals the same function run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode._kernels import (
    transport_cells,
    transport_flow,
    transport_line,
    transport_owen,
    transport_plane,
    transport_quasi,
    transport_semidual,
    transport_slabs,
    transport_space,
    transport_table,
)
from channelcode.transport.assignment import State
from channelcode.transport.quasi import directions_in, normal_nodes
from tests.kernel_checks import assert_matches_py_func


def atoms_and_weights(rng: np.random.Generator, m: int, r: int) -> tuple[np.ndarray, np.ndarray]:
    weights = rng.dirichlet(np.full(m, 3.0))
    points = rng.standard_normal((m, r))
    return points - weights @ points, weights


def test_line(rng):
    mean, variance = rng.standard_normal(5), rng.exponential(size=5)
    assert_matches_py_func(transport_line.gaussian_line, mean, variance, 0.3, 0.8, 0.1)
    ordered = np.sort(rng.standard_normal((3, 9)), axis=1)
    index = np.array([0, 1, 2, 2, 3, 4, 5, 6, 7, 8])
    assert_matches_py_func(
        transport_line.shared_plan_cost, ordered, index, rng.standard_normal(10), np.full(10, 0.1)
    )


@pytest.mark.parametrize(("h", "t"), [(0.5, 0.2), (0.5, 3.0), (0.0, -1.0), (9.0, 1.0), (1.0, 50.0)])
def test_owen(h, t):
    tail = assert_matches_py_func(transport_owen.upper_tail, h)
    assert_matches_py_func(transport_owen.wedge, h, t, tail)
    assert_matches_py_func(transport_owen.owen_near, h, min(abs(t), 1.0))


def test_plane(rng):
    points, weights = atoms_and_weights(rng, 5, 2)
    v = 0.2 * rng.standard_normal(5)
    room = (np.zeros(5), np.zeros((5, 2)), np.zeros((5, 5)))
    assert_matches_py_func(transport_plane.cell_edges, points, v, *room, atol=1e-14)
    assert_matches_py_func(transport_plane.feed_starved, points, weights, v + 3, *room, atol=1e-12)
    mass, moment, hessian = room
    transport_plane.cell_edges(points, v, mass, moment, hessian)
    assert_matches_py_func(
        transport_plane.repair_loss, points, weights, v, mass, moment, atol=1e-14
    )
    assert_matches_py_func(transport_plane.residual_of, mass, weights)
    assert_matches_py_func(transport_plane.smallest, mass)
    assert_matches_py_func(transport_plane.voronoi_start, points, v)
    assert_matches_py_func(
        transport_plane.solve_laplacian, hessian, mass - weights, np.zeros((5, 5)), atol=1e-13
    )
    for line in ((0.0, 1.0), (1.0, 1.0), (0.5, 1.0), (2.0, 1.0)):
        assert_matches_py_func(transport_plane._shadows, *line, 0, 1, 2)
    # Newton stops at rounding, where the two may differ in the last step.
    assert_matches_py_func(transport_plane.plane_newton, points, weights, v, atol=1e-10)
    factors = rng.standard_normal((3, 2, 2))
    factors[1, :, 1] = 0.0
    for ordered in (False, True):
        assert_matches_py_func(
            transport_plane.plane_pool,
            factors @ factors.transpose(0, 2, 1),
            points,
            weights,
            np.zeros((3, 5)),
            ordered,
            rtol=1e-9,
            atol=1e-10,
        )


@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("even", [True, False])
def test_samples(rng, even, stride):
    points, weights = atoms_and_weights(rng, 4, 2)
    scores = np.ascontiguousarray(points @ rng.standard_normal((2, 90, 2)).transpose(0, 2, 1))
    mass = np.full(90, 1 / 90) if even else rng.dirichlet(np.ones(90))
    state = State.room(2, 4, 90)
    for array in state:
        array[...] = 0
    v, reach, scale = state.v, state.reach, state.scale
    assert_matches_py_func(transport_semidual.start_pool, scores, stride, v, reach, scale)
    transport_semidual.start_pool(scores, stride, v, reach, scale)
    best, second, pair = np.zeros(90), np.zeros(90), np.zeros(90, dtype=np.int64)
    assert_matches_py_func(transport_semidual.rank_cells, scores[0], 80, v[0], best, second, pair)
    transport_semidual.rank_cells(scores[0], 90, v[0], best, second, pair)
    order = np.argsort(-(scores[0] - v[0][:, None]), axis=0)
    np.testing.assert_array_equal(pair, transport_semidual.SLOTS * order[0] + order[1])
    banks = np.zeros((2, 4, transport_semidual.SLOTS * 4))
    counted = (np.zeros(4), np.zeros((4, 4)), *banks)
    ranked = (best, second, pair)
    assert_matches_py_func(transport_semidual.count_cells, 90, mass, reach[0], *ranked, *counted)
    quantile = (mass, 0.3, v[0], 1, best)
    assert_matches_py_func(transport_semidual.quantile_step, scores[0], 90, *quantile)
    given = (scores, mass, weights)
    for everywhere in (False, True):
        assert_matches_py_func(
            transport_semidual.approach_pool, *given, stride, everywhere, scale, reach, *state[:7]
        )
    transport_semidual.approach_pool(*given, stride, False, scale, reach, *state[:7])
    np.testing.assert_allclose(state.filled, weights * np.ones((2, 1)), atol=0.2)
    later = np.zeros(4) if even else np.full(4, np.nan)
    v, filled, value, *near = state[:6]
    entries, amount = np.zeros((500, 2), dtype=np.int64), np.zeros(500)
    moves = (v, filled, *near, value, entries, amount)
    for margin in (0.0, np.inf):
        assert_matches_py_func(
            transport_flow.settle_pool, *given, later, margin, *moves, atol=1e-14
        )
    assert_matches_py_func(transport_flow.semidual_pool, *given, v, state.dual, atol=1e-14)


def test_spread(rng):
    samples, centre = rng.standard_normal((3, 11, 2)), np.array([1.0, -2.0])
    spread = np.zeros(3)
    tile = np.tile(centre, 8)
    assert_matches_py_func(
        transport_semidual.spread_pool, samples.reshape(3, -1), tile, spread, atol=1e-13
    )
    transport_semidual.spread_pool(samples.reshape(3, -1), tile, spread)
    np.testing.assert_allclose(spread, ((samples - centre) ** 2).sum(axis=(1, 2)), rtol=1e-14)


def test_cells_in_space(rng):
    points, weights = atoms_and_weights(rng, 5, 3)
    points = points[np.argsort(points[:, 0])]
    v = 0.2 * rng.standard_normal(5)
    nodes = normal_nodes(2, 8, 2, 0)
    mass, hessian = np.zeros(5), np.zeros((5, 5))
    assert_matches_py_func(
        transport_cells.line_cells, points, v, nodes, 0, 16, mass, hessian, atol=1e-14
    )
    assert_matches_py_func(transport_slabs.corner_heights, points, v, np.zeros(60))
    assert_matches_py_func(transport_slabs.crossing_heights, points, v, np.zeros(80), 0)
    for step in (0.5, 1.25):
        assert_matches_py_func(
            transport_slabs.slab_nodes, points, v, step, np.zeros(900), np.zeros(900), atol=1e-14
        )
        assert_matches_py_func(
            transport_slabs.slab_cells, points, v, step, mass, hessian, atol=1e-13
        )
        assert_matches_py_func(
            transport_cells.cells, points, v, nodes, 16, step, mass, hessian, atol=1e-13
        )
    assert_matches_py_func(
        transport_cells.damped_newton, points, weights, v, nodes, 16, 1e-9, mass, 0.0, atol=1e-8
    )
    doubled = np.concatenate((points, points[:1]))
    assert_matches_py_func(
        transport_cells.merge_atoms, doubled, np.full(6, 1 / 6), np.zeros(6, dtype=np.int64)
    )


def test_quasi_and_space(rng):
    points, weights = atoms_and_weights(rng, 4, 3)
    nodes, directions = normal_nodes(2, 8, 2, 0), directions_in(3)
    order = np.zeros(4, dtype=np.int64)
    assert_matches_py_func(transport_quasi.turn_apart, points, directions, atol=1e-14)
    assert_matches_py_func(transport_quasi.sort_atoms, points, order)
    factors = rng.standard_normal((2, 3, 3))
    assert_matches_py_func(
        transport_quasi.quasi_pool,
        factors,
        points,
        weights,
        nodes,
        directions,
        8,
        np.zeros((2, 4)),
        atol=1e-8,
    )
    ordered = points[np.argsort(points[:, 0])]
    assert_matches_py_func(
        transport_quasi.replicate_values, ordered, np.zeros(4), weights, nodes, np.zeros(2)
    )
    assert_matches_py_func(transport_space.lay_slabs, points, directions, atol=1e-14)
    v = np.zeros((1, 4))
    assert_matches_py_func(
        transport_space.slab_bounds, factors[:1], points, weights, directions, v, atol=1e-12
    )
    assert_matches_py_func(
        transport_space.slab_pool, factors[:1], points, weights, directions, v, atol=1e-9
    )


def test_table(rng):
    x, y = rng.uniform(-1, 1, (2, 5))
    coefficients = rng.standard_normal((4, 3))
    values = assert_matches_py_func(
        transport_table.chebyshev_values, coefficients, x, y, atol=1e-14
    )
    np.testing.assert_allclose(values, np.polynomial.chebyshev.chebval2d(x, y, coefficients))
