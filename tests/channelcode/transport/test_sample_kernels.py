"""Each kernel for samples equals the same function run as Python."""

from __future__ import annotations

import numpy as np
import pytest

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
from channelcode.transport.solvers.assignment import Assignment
from tests.channelcode.transport.laws import atoms_and_weights
from tests.kernel_checks import assert_matches_py_func


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
