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
    transport_space,
    transport_table,
)
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


@pytest.mark.parametrize("even", [True, False])
def test_samples(rng, even):
    points, weights = atoms_and_weights(rng, 4, 2)
    samples = rng.standard_normal((40, 2))
    scores = np.ascontiguousarray(points @ samples.T)
    mass = np.full(40, 1 / 40) if even else rng.dirichlet(np.ones(40))
    v = 0.1 * rng.standard_normal(4)
    best, second = np.zeros(40), np.zeros(40)
    cell, rival = np.zeros(40, dtype=np.int64), np.zeros(40, dtype=np.int64)
    ranks = (best, second, cell, rival)
    assert_matches_py_func(transport_semidual.rank_cells, scores, v, *ranks)
    assert_matches_py_func(transport_semidual.semidual_value, scores, mass, weights, v, best)
    assert_matches_py_func(transport_semidual.quantile_step, scores, mass, 0.3, v, 1, best)
    reach = np.full((4, 4), 2.0)
    assert_matches_py_func(
        transport_semidual.approach, scores, mass, weights, reach, v, *ranks, np.zeros(4), 1 / 40
    )
    room = 400
    owner, place = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    entries = (owner, place, np.zeros(room))
    count, value, _ = assert_matches_py_func(
        transport_semidual.solve_scores,
        scores,
        mass,
        weights,
        v,
        *entries,
        even,
        atol=1e-14,
    )
    assert count >= 40
    transport_semidual.solve_scores(scores, mass, weights, v, *entries, even)
    again = assert_matches_py_func(transport_flow.plan_value, scores, *entries, count)
    assert again == pytest.approx(value, rel=1e-13)
    assert_matches_py_func(transport_semidual.samples_pool, scores[None], weights, atol=1e-14)
    assert_matches_py_func(transport_semidual.spread_about, samples[None, :39], np.ones(2))
    room_for_start = (v, np.zeros((4, 4)), np.zeros((4, 4)), np.zeros(4))
    assert_matches_py_func(transport_semidual.start_from, scores, *room_for_start)
    counters = (np.zeros(4), np.zeros((4, 4)), np.zeros((4, 4, 5)))
    assert_matches_py_func(transport_semidual.count_cells, mass, reach, *ranks, *counters)


def test_flow(rng):
    scores = rng.standard_normal((3, 12))
    v = np.zeros(3)
    best, second = np.sort(scores, axis=0)[2], np.sort(scores, axis=0)[1]
    cell = scores.argmax(axis=0)
    mass, weights = np.full(12, 1 / 12), np.array([0.2, 0.3, 0.5])
    filled = np.bincount(cell, weights=mass, minlength=3)
    room = 60
    owner, place = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    amount, live = np.zeros(room), np.zeros(room, dtype=np.int64)
    for even in (True, False):
        count = assert_matches_py_func(
            transport_flow.settle,
            scores,
            mass,
            weights,
            np.inf,
            v,
            best,
            second,
            cell,
            filled,
            owner,
            place,
            amount,
            live,
            even,
            atol=1e-15,
        )
        assert count >= 12
    owner[:12], place[:12], amount[:12], live[:12] = np.arange(12), cell, mass, np.arange(12)
    assert_matches_py_func(
        transport_flow.scan_cell,
        scores,
        0,
        owner,
        place,
        live,
        12,
        np.zeros((3, 3)),
        np.zeros((3, 3), dtype=np.int64),
    )
    assert_matches_py_func(
        transport_flow.finish,
        scores,
        filled - weights,
        np.zeros(3),
        v,
        owner,
        place,
        amount,
        live,
        np.array([12, 12]),
        500,
        atol=1e-15,
    )


def test_cells_in_space(rng):
    points, weights = atoms_and_weights(rng, 5, 3)
    points = points[np.argsort(points[:, 0])]
    v = 0.2 * rng.standard_normal(5)
    nodes = normal_nodes(2, 8, 2, 0)
    mass, hessian = np.zeros(5), np.zeros((5, 5))
    assert_matches_py_func(
        transport_cells.line_cells, points, v, nodes, 0, 16, mass, hessian, atol=1e-14
    )
    assert_matches_py_func(transport_cells.corner_heights, points, v, np.zeros(60))
    for step in (0.5, 1.25):
        assert_matches_py_func(
            transport_cells.slab_nodes, points, v, step, np.zeros(900), np.zeros(900), atol=1e-14
        )
        assert_matches_py_func(
            transport_cells.slab_cells, points, v, step, mass, hessian, atol=1e-13
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
