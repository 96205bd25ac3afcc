"""Each kernel equals the same function run as Python."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from channelcode._kernels.transport import (
    cells as cells_kernels,
)
from channelcode._kernels.transport import (
    edges as edges_kernels,
)
from channelcode._kernels.transport import (
    line as line_kernels,
)
from channelcode._kernels.transport import (
    newton as newton_kernels,
)
from channelcode._kernels.transport import (
    owen as owen_kernels,
)
from channelcode._kernels.transport import (
    plane as plane_kernels,
)
from channelcode._kernels.transport import (
    quasi as quasi_kernels,
)
from channelcode._kernels.transport import (
    rare as rare_kernels,
)
from channelcode._kernels.transport import (
    ties as ties_kernels,
)
from channelcode._kernels.transport.samples import (
    assign as assign_kernels,
)
from channelcode._kernels.transport.samples import (
    centre as centre_kernels,
)
from channelcode._kernels.transport.samples import (
    flow as flow_kernels,
)
from channelcode._kernels.transport.samples import (
    judge as judge_kernels,
)
from channelcode._kernels.transport.samples import (
    semidual as semidual_kernels,
)
from channelcode._kernels.transport.samples import (
    start as start_kernels,
)
from channelcode._kernels.transport.space import (
    face_pool as face_kernels,
)
from channelcode._kernels.transport.space import (
    faces as faces_kernels,
)
from channelcode._kernels.transport.space import (
    lines as lines_kernels,
)
from channelcode._kernels.transport.space import (
    slab_solve as slab_kernels,
)
from channelcode._kernels.transport.space import (
    slabs as slabs_kernels,
)
from channelcode.transport.rules import directions_in, normal_nodes, upper_quantiles
from channelcode.transport.solvers.assignment import Assignment
from tests.kernel_checks import assert_matches_py_func


def atoms_and_weights(rng: np.random.Generator, m: int, r: int) -> tuple[np.ndarray, np.ndarray]:
    weights = rng.dirichlet(np.full(m, 3.0))
    points = rng.standard_normal((m, r))
    return points - weights @ points, weights


def test_line(rng):
    mean, variance = rng.standard_normal(5), rng.exponential(size=5)
    assert_matches_py_func(line_kernels.gaussian_line, mean, variance, 0.3, 1e-3, 0.8, 0.1)
    ordered = np.sort(rng.standard_normal((3, 9)), axis=1)
    index, column = np.array([0, 1, 2, 2, 3, 4, 5, 6, 7, 8]), np.repeat([0, 1, 2], [3, 3, 4])
    atoms, mass, out = rng.standard_normal(3), rng.random(10), np.zeros(3)
    runs = (np.array([0, 3, 6, 10]), np.array([0, 2, 5]), atoms, mass, np.zeros(10))
    assert_matches_py_func(line_kernels.shared_plan_cost, ordered, *runs, out)
    line_kernels.shared_plan_cost(ordered, *runs, out)
    expected = (ordered[:, index] - atoms[column]) ** 2 @ mass
    np.testing.assert_allclose(out, expected, rtol=1e-14)


@pytest.mark.parametrize(("h", "t"), [(0.5, 0.2), (0.5, 3.0), (0.0, -1.0), (9.0, 1.0), (1.0, 50.0)])
def test_owen(h, t):
    tail = assert_matches_py_func(owen_kernels.upper_tail, h)
    across = owen_kernels.upper_tail(abs(t))
    for fine in (True, False):
        assert_matches_py_func(owen_kernels.wedge, h, t, tail, across, fine)
        for ratio in (min(abs(t), 1.0), 0.7, 0.4, 0.2):
            assert_matches_py_func(owen_kernels.owen_near, h, ratio, fine)
            given = (h, h / ratio, tail, owen_kernels.upper_tail(h / ratio), fine)
            # two terms of the size of a tail cancel
            assert_matches_py_func(owen_kernels.corner, *given, atol=1e-16)


def test_plane(rng):
    points, weights = atoms_and_weights(rng, 5, 2)
    v = 0.2 * rng.standard_normal(5)
    room = (np.zeros(5), np.zeros((5, 2)), np.zeros((5, 5)))
    assert_matches_py_func(edges_kernels.cell_edges, points, v, *room, atol=1e-14)
    low = np.zeros((5, 5))
    for fine, radius in ((True, 0.0), (False, 1e-3)):
        given = (points, v, fine, radius, *room, low)
        assert_matches_py_func(edges_kernels.judged_edges, *given, atol=1e-14)
    mass, moment, hessian = room
    edges_kernels.cell_edges(points, v, mass, moment, hessian)
    assert_matches_py_func(cells_kernels.repair_loss, points, weights, v, mass, moment, atol=1e-14)
    for first, second in ((0, 1), (1, 0), (1, 2)):
        assert_matches_py_func(ties_kernels.untied, first, second, 0)
    for line in ((0.0, 1.0), (1.0, 1.0), (0.5, 1.0), (2.0, 1.0)):
        assert_matches_py_func(edges_kernels._shadows, *line, 0, 1, 2)
    tails, stack = upper_quantiles(weights), np.stack((points, 1.1 * points, 3 * points))
    for ordered, warm in ((False, False), (True, False), (False, True)):
        # Newton stops at rounding, where the two may differ in the last step.
        assert_matches_py_func(
            plane_kernels.plane_pool,
            stack,
            weights,
            tails,
            1e-14,
            ordered,
            warm,
            np.tile(v, (3, 1)),
            rtol=1e-9,
            atol=1e-9,
        )
    assert_matches_py_func(
        plane_kernels.plane_judge, stack, weights, np.tile(v, (3, 1)), atol=1e-13
    )


def test_newton(rng):
    assert_matches_py_func(newton_kernels.newton_arrays, 4)
    weights = rng.dirichlet(np.full(5, 3.0))
    rates = rng.exponential(size=(5, 5))
    laplacian = -np.triu(rates, 1) - np.triu(rates, 1).T
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    right = rng.standard_normal(5)
    right -= right.mean()
    solved = right.copy()
    assert_matches_py_func(
        newton_kernels.solve_laplacian, laplacian, solved, np.zeros((5, 5)), atol=1e-13
    )
    newton_kernels.solve_laplacian(laplacian, solved, np.zeros((5, 5)))
    np.testing.assert_allclose(laplacian @ solved, right, atol=1e-13)
    assert solved[-1] == 0
    for phase in (0.0, 1.0, 2.0, 3.0):
        state = np.zeros(newton_kernels.STATE)
        state[newton_kernels.PHASE] = phase
        assert_matches_py_func(
            newton_kernels.newton_move,
            weights,
            0.2 * rng.standard_normal(5),
            rng.dirichlet(np.ones(5)),
            laplacian,
            0.5,
            1e-14,
            rng.standard_normal((3, 5)),
            np.zeros((5, 5)),
            state,
            atol=1e-13,
        )


@pytest.mark.parametrize("even", [True, False])
def test_samples(rng, even):
    atoms, weights = atoms_and_weights(rng, 4, 2)
    size, bits = 90, semidual_kernels.bits_for(4)
    samples = rng.standard_normal((2, size, 2))
    scores = np.ascontiguousarray(atoms @ samples.transpose(0, 2, 1))
    mass = np.full(size, 1 / size) if even else rng.dirichlet(np.ones(size))
    v, spread, room = np.zeros(4), (atoms.T * weights) @ atoms, np.zeros((5, 2, 2))
    beside = np.zeros((2, size))
    first = (scores[0], weights, v, beside)
    assert_matches_py_func(start_kernels.first_potential, *first, atol=1e-14)
    assert_matches_py_func(start_kernels.multiply, spread, spread, room[0])
    centre, source = np.zeros(2), np.zeros((2, 2))
    given = (samples[0], centre, source)
    assert_matches_py_func(start_kernels.sample_moments, *given, atol=1e-14)
    start_kernels.sample_moments(*given)
    np.testing.assert_allclose(source, np.cov(samples[0].T, bias=True), atol=1e-14)
    moments = (source, centre, atoms, spread, room, v)
    assert_matches_py_func(start_kernels.moment_potential, *moments, atol=1e-13)
    scale = start_kernels.moment_potential(*moments)
    starts = (weights, np.zeros((2, 4)), np.zeros(2))
    assert_matches_py_func(start_kernels.start_pool, scores, *starts, beside, atol=1e-14)
    assert_matches_py_func(start_kernels.start_by_moments, samples, atoms, *starts, atol=1e-13)
    best, lead, pair = np.zeros(size), np.zeros(size), np.zeros(size, dtype=np.int64)
    assert_matches_py_func(semidual_kernels.rank_cells, scores[0], bits, v, best, lead, pair)
    semidual_kernels.rank_cells(scores[0], bits, v, best, lead, pair)
    order = np.argsort(-(scores[0] - v[:, None]), axis=0)
    np.testing.assert_array_equal(pair, (order[0] << bits) + order[1])
    for count in (1, 40, 90, 200):
        assert_matches_py_func(semidual_kernels.lead_of, best - lead, count)
        assert ((best - lead) <= semidual_kernels.lead_of(best - lead, count)).sum() >= min(
            count, size
        )
    filled, squares, rows = np.zeros(4), np.zeros((2, 4, 4)), np.zeros((5, 4))
    ranked = (best, lead, pair, filled)
    measured = (scores[0], mass, weights, rows[0], bits, v, *ranked, rows[4])
    assert_matches_py_func(semidual_kernels.measure, *measured, atol=1e-15)
    semidual_kernels.measure(*measured)
    np.testing.assert_allclose(filled, np.bincount(pair >> bits, mass, 4), atol=1e-15)
    stepped = (mass, weights, bits, scale, beside[0], lead, pair, filled, squares, rows[1])
    assert_matches_py_func(semidual_kernels.newton_step, *stepped, atol=1e-13)
    newton = (scores[0], mass, weights, rows[0], bits, 0.1, scale, np.inf, v, *ranked, squares)
    assert_matches_py_func(semidual_kernels.approach, *newton, rows[1], rows[2], atol=1e-13)
    semidual_kernels.approach(*newton, rows[1], rows[2])
    np.testing.assert_allclose(filled, weights, atol=0.2)
    solved = Assignment(2, mass, atoms, weights)
    for array in (solved.links, solved.part, solved.near, solved.cells, solved.v):
        array[...] = 0
    links, part = solved.links, solved.part
    links[:2, :size] = np.arange(size), pair >> bits
    part[:size] = mass
    prices, entry = np.ascontiguousarray(scores[0].T), np.zeros((10, 4), dtype=np.int64)
    paths = (prices, weights, solved.later, size, filled, v, links, part, squares, entry, rows)
    assert_matches_py_func(flow_kernels.settle, *paths, atol=1e-14)
    entries = flow_kernels.settle(*paths)
    solved.near[:] = np.arange(size)
    judged = (solved.cells, solved.near, size, links, part, entries, np.zeros((3, size)), rows)
    judge = (scores[0], mass, weights, v, *judged)
    assert_matches_py_func(judge_kernels.judge, *judge, atol=1e-14)
    primal, dual, rounding = judge_kernels.judge(*judge)
    assert -1e-15 <= dual - primal <= rounding
    solved.start(scores, samples)
    whole = (mass, weights, solved.later, bits, solved.scale, solved.v, solved.bounds, solved.cells)
    room = tuple(np.zeros_like(array) for array in solved.room)
    plan = (solved.near, links, part, solved.met, *room)
    assert_matches_py_func(assign_kernels.assign_pool, scores, *whole, *plan, atol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 64, 65, 1000])
def test_folds_add_up(rng, size):
    values = rng.integers(-9, 9, size).astype(float)
    total = assert_matches_py_func(judge_kernels.folded_sum, values)
    assert total == values.sum()


@pytest.mark.parametrize("n", [5, 90])
def test_points_near_the_edges(rng, n):
    """About as many as wanted, those with the least leads, and all where few are left out."""
    lead, near = rng.exponential(size=n), np.arange(n)
    for wanted in (1.0, 0.3 * n, 0.7 * n):
        given = (lead, wanted, near)
        count = assert_matches_py_func(assign_kernels.nearest_points, *given)
        kept = near.copy()
        assert assign_kernels.nearest_points(lead, wanted, kept) == count
        if wanted > 0.6 * n:
            assert count == n
        else:
            assert int(wanted) <= count
            assert set(kept[:count]) == set(np.argsort(lead)[:count])


def test_paths_between_cells(rng):
    """Dijkstra against Bellman and Ford; the prices of a cell's points."""
    m = 9
    least, v = rng.exponential(size=(m, m)), np.zeros(m)
    least[rng.random((m, m)) < 0.4] = np.inf
    excess, enough = np.zeros(m), np.full(m, 0.1)
    excess[0], excess[1], excess[7], excess[8] = 1.0, 1.0, -1.0, -1.0
    distance = np.where(excess > 0.1, 0.0, np.inf)
    nodes = (np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64), np.zeros((2, m)))
    given = (least, v, 2, excess, enough, distance, *nodes)
    assert_matches_py_func(flow_kernels.shortest_paths, *given, atol=1e-15)
    expected = distance.copy()
    for _ in range(m):
        expected = np.minimum(expected, (expected[:, None] + least).min(axis=0))
    count = flow_kernels.shortest_paths(*given)
    reached = nodes[1][:count]
    np.testing.assert_allclose(distance[reached], expected[reached])
    np.testing.assert_allclose(v, -np.minimum(expected, distance[reached[-1]]))
    links, head = np.zeros((4, 6), dtype=np.int64), np.full(m, -1)
    prices, row, entry = rng.standard_normal((6, m)), np.zeros(m), np.zeros(m, dtype=np.int64)
    for e in range(6):
        links[flow_kernels.POINT, e] = e
        assert_matches_py_func(flow_kernels.add_entry, links, head, e, e % 2)
        flow_kernels.add_entry(links, head, e, e % 2)
    for e in (4, 0):  # the first of its cell, and the last
        assert_matches_py_func(flow_kernels.remove_entry, links, head, e, 0)
        flow_kernels.remove_entry(links, head, e, 0)
    for cell, members in ((0, [2]), (1, [1, 3, 5]), (2, [])):
        entry[:] = -1  # nothing is known of the cell
        given = (prices, cell, links, head, row, entry)
        assert_matches_py_func(flow_kernels.cheapest_moves, *given)
        flow_kernels.cheapest_moves(*given)
        costs = np.full((m, m), np.inf)[: len(members) + 1]
        costs[: len(members)] = prices[members][:, [cell]] - prices[members]
        costs[:, cell] = np.inf
        np.testing.assert_array_equal(row, costs.min(axis=0))


@pytest.mark.parametrize("m", [2, 3, 5, 31, 32, 33])  # about FEW_CELLS, and less than MOST_ALONE
def test_cheapest_moves_after_points_left(rng, m):
    """What is searched anew is what a search from nothing finds, whichever point left last."""
    links, head = np.zeros((4, 12), dtype=np.int64), np.full(m, -1)
    prices, row, entry = rng.standard_normal((12, m)), np.zeros(m), np.full(m, -1)
    members = list(range(12))
    for e in members:
        links[flow_kernels.POINT, e] = e
        flow_kernels.add_entry(links, head, e, 0)
    while members:
        assert_matches_py_func(flow_kernels.cheapest_moves, prices, 0, links, head, row, entry)
        flow_kernels.cheapest_moves(prices, 0, links, head, row, entry)
        costs = prices[members][:, [0]] - prices[members]
        np.testing.assert_array_equal(row[1:], costs.min(axis=0)[1:])
        np.testing.assert_array_equal(entry[1:], np.array(members)[costs.argmin(axis=0)][1:])
        assert row[0] == np.inf
        gone = int(entry[1 + len(members) % (m - 1)])
        flow_kernels.remove_entry(links, head, gone, 0)
        flow_kernels.add_entry(links, head, gone, 1)
        members.remove(gone)
    flow_kernels.cheapest_moves(prices, 0, links, head, row, entry)
    assert (row == np.inf).all()
    assert (entry[1:] == -1).all()


@pytest.mark.parametrize("block", [1, 4, 11, 64])
def test_centre(rng, block):
    samples, centre = 100 * rng.standard_normal((3, 11, 2)), np.array([1.0, -2.0])
    mass = rng.dirichlet(np.ones(11))
    middle, rest = np.tile(centre, block), np.tile([0.0, 1e-9], block)
    away, square, unit, spread = np.zeros((3, 22)), np.zeros(22), np.zeros(3), np.zeros(3)
    rows = (samples.reshape(3, 22), middle, rest, np.repeat(mass, 2))
    farthest = centre_kernels.centre_pool(*rows, away, away.view(np.int64), square, unit, spread)
    again, others = np.zeros((3, 22)), (np.zeros(22), np.zeros(3), np.zeros(3))
    centre_kernels.centre_pool.py_func(*rows, again, again.view(np.int64), *others)
    np.testing.assert_allclose(again, away, rtol=1e-15)
    np.testing.assert_allclose(others[2], spread, rtol=1e-14)
    expected = ((samples - centre) ** 2).sum(axis=2) @ mass
    np.testing.assert_allclose(spread, expected, rtol=1e-7)
    away = away.reshape(3, 11, 2)
    np.testing.assert_allclose(away * unit[:, None, None], samples - centre, atol=1e-8)
    assert farthest == pytest.approx(np.abs(samples - centre).max(), rel=1e-9)
    assert (np.abs(away).max(axis=(1, 2)) >= 0.5).all()
    assert (np.abs(away) < 1).all()


def test_cells_in_space(rng):
    points, weights = atoms_and_weights(rng, 5, 3)
    points = points[np.argsort(points[:, 0])]
    v = 0.2 * rng.standard_normal(5)
    nodes = normal_nodes(2, 8, 2, 0)
    mass, hessian, moment = np.zeros(5), np.zeros((5, 5)), np.zeros((5, 3))
    shares = rng.random(16)
    assert_matches_py_func(
        cells_kernels.line_cells, points, v, nodes, shares, mass, hessian, moment, atol=1e-14
    )
    assert_matches_py_func(cells_kernels.first_potential, 3 * points, upper_quantiles(weights), v)
    assert_matches_py_func(cells_kernels.axis_potential, 3 * points, weights, v, atol=1e-14)
    assert_matches_py_func(lines_kernels.two_sides, points, 0, 1, 2)
    assert_matches_py_func(cells_kernels.spread_potential, v, np.arange(len(v))[::-1].copy(), 0 * v)
    assert_matches_py_func(slabs_kernels.corner_heights, points, v, np.zeros(60))
    assert_matches_py_func(slabs_kernels.crossing_heights, points, v, np.zeros(80), 0)
    for step in (0.5, 1.25):
        assert_matches_py_func(
            slabs_kernels.slab_nodes, points, v, step, np.zeros(900), np.zeros(900), atol=1e-14
        )
        assert_matches_py_func(
            slabs_kernels.slab_cells, points, v, step, mass, hessian, moment, atol=1e-13
        )
    cells = (np.zeros(5), np.zeros((5, 5)), np.zeros((5, 3)))
    assert_matches_py_func(faces_kernels.split_cells, points, weights, v, *cells, atol=1e-13)
    doubled = np.concatenate((points, points[:1]))
    assert_matches_py_func(
        cells_kernels.merge_atoms, doubled, np.full(6, 1 / 6), np.zeros(6, dtype=np.int64), 1e-26
    )


def test_quasi_and_space(rng):
    points, weights = atoms_and_weights(rng, 4, 3)
    nodes, directions = normal_nodes(2, 8, 2, 0), directions_in(3)
    order, tails = np.zeros(4, dtype=np.int64), upper_quantiles(weights)
    assert_matches_py_func(quasi_kernels.turn_apart, points, directions, atol=1e-14)
    assert_matches_py_func(quasi_kernels.sort_atoms, points, order)
    stack, v = np.stack((points, 1.2 * points)), np.zeros((2, 4))
    ordered = points[np.argsort(points[:, 0])]
    assert_matches_py_func(
        quasi_kernels.quasi_newton, ordered, weights, v[0], nodes, np.ones(16), 1e-9, atol=1e-8
    )
    rule = (nodes, np.ones(16), 1e-9)
    assert_matches_py_func(quasi_kernels.nodes_newton, ordered, weights, v[0], *rule, atol=1e-8)
    assert_matches_py_func(quasi_kernels.move_origin, points, weights)
    for own in (weights, np.array([0.6, 0.3987, 0.0008, 0.0005])):  # the second has rare cells
        tails = upper_quantiles(own)
        given = (stack, own, tails, nodes, directions, 2, 1e-9, v)
        assert_matches_py_func(quasi_kernels.quasi_pool, *given, atol=1e-8)
        rule = (stack, own, tails, v, nodes, directions, 1e-9, np.zeros((2, 2)))
        assert_matches_py_func(quasi_kernels.quasi_judge, *rule, atol=1e-8)
    assert_matches_py_func(slab_kernels.lay_slabs, points, directions, atol=1e-14)
    assert_matches_py_func(slab_kernels.slab_newton, points, weights, v[0], 1.25, 1e-7, atol=1e-9)
    slabs = (stack[0], weights, directions, 1e-12, v[0])
    assert_matches_py_func(slab_kernels.slab_solve, *slabs, atol=1e-9)
    judge = (stack[0], weights, v[0], directions, 2.0)
    assert_matches_py_func(slab_kernels.slab_judge, *judge, atol=1e-12)
    assert_matches_py_func(face_kernels.face_pool, stack, weights, 1e-13, v, atol=1e-12)
    assert_matches_py_func(face_kernels.face_judge, stack, weights, v, atol=1e-13)


@pytest.mark.parametrize("shape", [(1.0, 1.0), (1.0, 1e-3), (40.0, 1e-4)])
def test_no_cell_of_the_first_potential_is_empty(rng, shape):
    """Each holds about the product of its weights along the axes, and more."""
    for m in (3, 9, 25):
        points, weights = atoms_and_weights(rng, m, 2)
        points, v, mass = points * np.array(shape), np.empty(m), np.empty(m)
        cells_kernels.axis_potential(points, weights, v)
        edges_kernels.cell_edges(points, v, mass, np.empty((m, 2)), np.empty((m, m)))
        assert (mass >= 0.99 * weights**2).all()  # the quantiles are rough


def test_rare(rng):
    points, weights = atoms_and_weights(rng, 6, 4)
    weights = weights * np.array([1.0, 1.0, 1.0, 1e-4, 1e-5, 1e-4])
    v, point = np.empty(6), np.zeros(4)
    cells_kernels.axis_potential(points, weights, v)
    assert_matches_py_func(rare_kernels.nearest_in_cell, points, v, 4, point, atol=1e-12)
    rare_kernels.nearest_in_cell(points, v, 4, point)
    assert (points @ point - v).max() == pytest.approx(points[4] @ point - v[4], abs=2e-2)
    tails, rare = upper_quantiles(weights), np.zeros(2, dtype=np.int64)
    assert_matches_py_func(rare_kernels.rarest_cells, points, weights, tails, rare)
    assert rare_kernels.rarest_cells(points, weights, tails, rare) == 2
    given = normal_nodes(3, 64, 2, 0)
    nodes, shares = np.zeros((192, 3)), np.zeros(192)
    mixed = (points, v, rare, given, 2, 16, nodes, shares)
    assert_matches_py_func(rare_kernels.mixed_nodes, *mixed, atol=1e-12)


def test_shifted_nodes_see_a_far_half_space():
    """P(X > 5) = 2.9e-7 and E(X - 5)_+ across the exact axis: no plain node of 1024 comes near."""
    atoms = np.array([[0.0, 0.0, 0.0], [1e-3, 1.0, 0.0]])  # sorted along the exact axis
    v, rare = np.array([0.0, 5.0]), np.array([1])
    given = normal_nodes(2, 128, 8, 0)
    nodes, shares = np.zeros((8 * 144, 2)), np.zeros(8 * 144)
    assert rare_kernels.mixed_nodes(atoms, v, rare, given, 8, 16, nodes, shares) == 8 * 144
    assert shares.sum() == pytest.approx(8.0, rel=0.05)  # one for each replicate
    mass, hessian = np.zeros(2), np.zeros((2, 2))
    total = cells_kernels.line_cells(atoms, v, nodes, shares, mass, hessian, hessian[:0])
    size = np.hypot(1.0, 1e-3)
    tail = special.ndtr(-5 / size)
    assert mass[1] == pytest.approx(tail, rel=0.2)
    density = np.exp(-12.5 / size**2) / np.sqrt(2 * np.pi)
    assert total == pytest.approx(size * density - 5 * tail, rel=0.2)
