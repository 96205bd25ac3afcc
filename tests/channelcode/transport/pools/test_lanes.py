"""Candidates side by side: the same cells as one by one, within the errors that are counted."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode._kernels.transport.edges import judged_edges
from channelcode._kernels.transport.table import guess as guess_kernels
from channelcode._kernels.transport.table import lanes as lane_kernels
from channelcode._kernels.transport.table import pool as pool_kernels
from channelcode._kernels.transport.table import quick as quick_kernels
from channelcode._kernels.transport.table import single as single_kernels
from channelcode.measures import DiscreteMeasure
from channelcode.transport.pools.gaussians import correlations
from channelcode.transport.pools.table import potential_table
from channelcode.transport.target import reduce_target
from tests.kernel_checks import assert_matches_py_func

LANES = guess_kernels.LANES


def lane_rooms(m: int) -> tuple[np.ndarray, ...]:
    """Room, masses and both kinds of rates of a block."""
    square = np.zeros((m, m, LANES))
    return np.zeros(lane_kernels.ROOM), np.zeros((m, LANES)), square, square.copy()


def test_exponential_and_tail():
    """Against 30 digits, from the bulk to where nothing is left."""
    with mpmath.workdps(30):
        for x in np.concatenate((np.linspace(-64.0, 0.0, 400), [-1e-9, -0.3])):
            error = abs(quick_kernels.quick_exp(x) - mpmath.exp(x))
            assert error <= quick_kernels.EXP_ERROR
        for t in np.linspace(0.0, quick_kernels.FARTHEST, 400):
            density = quick_kernels.quick_exp(-0.5 * t * t)
            exact = mpmath.erfc(mpmath.mpf(t) / mpmath.sqrt(2)) / 2
            error = abs(quick_kernels.quick_tail(t, density) - exact)
            assert error <= quick_kernels.TAIL_ERROR
    assert_matches_py_func(quick_kernels.quick_exp, -3.7)
    assert_matches_py_func(quick_kernels.quick_tail, 1.3, 0.4)
    assert_matches_py_func(quick_kernels.clamped, -np.inf)


def test_wedges(rng):
    """T(h, t/h) against 30 digits, with h and t equal, one of them zero, far or tiny."""
    some = np.concatenate(([0.0, 1e-8, 0.5, 1.0, 2.0, 5.0, 7.9], rng.uniform(0, 5, 9)))
    pairs = [(h, t) for h in some for t in some if h + t > 0]
    pairs += [(0.9, 1.8), (1.8, 0.9), (1.2, 1.2)] + [(h, 30.0) for h in some]
    for start in range(0, len(pairs), LANES):
        h, t = np.array(pairs[start : start + LANES]).T
        s = np.zeros(lane_kernels.ROOM)
        s[lane_kernels.HEIGHT : lane_kernels.HEIGHT + len(h)] = h
        s[lane_kernels.LEFT : lane_kernels.LEFT + len(t)] = t
        lane_kernels.edge_tails(s)
        lane_kernels.edge_wedge(s, lane_kernels.LEFT, lane_kernels.TAIL_LEFT)
        for i, (height, end) in enumerate(zip(h, t, strict=True)):
            with mpmath.workdps(30):
                angle = mpmath.atan2(end, height)
                exact = (
                    mpmath.quad(
                        lambda x, height=height: mpmath.exp(-0.5 * (height / mpmath.cos(x)) ** 2),
                        [0, angle / 2, angle],
                    )
                    / (2 * mpmath.pi)
                    if height > 0
                    else mpmath.mpf(0.25)
                )
            assert abs(s[lane_kernels.WEDGE + i] - exact) <= lane_kernels.WEDGE_ERROR


@pytest.mark.parametrize("kind", ["plain", "grid", "light", "far"])
def test_cells_like_one_by_one(rng, kind):
    """Masses, rates and value agree with `judged_edges` within what is counted."""
    for m in (3, 5, 8):
        x, y = rng.standard_normal((2, m, LANES))
        if kind == "grid":
            x, y = np.round(x), np.round(y) + 1e-3 * rng.standard_normal(LANES)
        v = (
            0.5 * (x**2 + y**2) * rng.uniform(0.3, 1.2, LANES)
            + 0.1 * rng.standard_normal(m)[:, None]
        )
        if kind == "far":
            x[0], v[0] = 40.0 * x[0], 80.0 * abs(x[0])
        if kind == "light":
            v[0] += 2.0
        s, mass, rates, low = lane_rooms(m)
        lane_kernels.lane_cells(x, y, v, 1e-3, s, mass, rates, low)
        one, moment, hessian = np.empty(m), np.empty((m, 2)), np.empty((m, m))
        least = np.empty((m, m))
        above = np.triu_indices(m, 1)
        easy = 0
        for i in range(LANES):
            if s[lane_kernels.HARD + i]:
                continue
            easy += 1
            atoms, own = np.stack((x[:, i], y[:, i]), axis=-1), v[:, i].copy()
            total, rounding = judged_edges(atoms, own, True, 1e-3, one, moment, hessian, least)
            held = mass[:, i].copy()
            held[np.argmin(own)] += 1.0
            np.testing.assert_allclose(held, one, atol=1e-11)
            np.testing.assert_allclose(rates[:, :, i][above], -hessian[above], atol=1e-10)
            assert (low[:, :, i][above] <= -least[above] + 1e-15).all()
            error = s[lane_kernels.ERROR + i] + rounding + 1e-13
            dual = s[lane_kernels.TOTAL + i] - own @ held
            assert abs(dual - (total - own @ one)) <= error
        assert easy > LANES // 4 or kind == "grid"


def test_lanes_are_solved_like_laplacians(rng):
    for m in (3, 6):
        rates = rng.exponential(size=(m, m, LANES))
        right = rng.standard_normal((m, LANES))
        right -= right.mean(axis=0)
        found, resistance = right.copy(), np.empty(LANES)
        lane_kernels.lane_solve(rates.copy(), found, resistance)
        for i in range(LANES):
            upper = np.triu(rates[:, :, i], 1)
            laplacian = np.diag((upper + upper.T).sum(axis=0)) - upper - upper.T
            np.testing.assert_allclose(laplacian @ found[:, i], right[:, i], atol=1e-12)
            inverse = np.linalg.inv(laplacian[:-1, :-1])
            assert inverse.diagonal().max() <= resistance[i] * (1 + 1e-12)


def test_places_in_the_table():
    """A place is read off by polynomials, to 1e-6 of what the table was made for."""
    spread = np.linspace(guess_kernels.LEAST, np.sqrt(0.5), 200)
    exact = np.log((spread + guess_kernels.BEND) / (guess_kernels.LEAST + guess_kernels.BEND))
    found = [guess_kernels.row_place(u) for u in spread]
    np.testing.assert_allclose(found, exact / exact[-1], atol=1e-6)
    for angle in np.linspace(-np.pi, np.pi, 400)[1:-1]:
        turn = guess_kernels.turn_of(0.7 * np.cos(angle), 0.7 * np.sin(angle))
        assert turn == pytest.approx(0.5 + angle / (2 * np.pi), abs=1e-6)


def test_py_funcs(rng):
    m = 4
    points, weights = rng.standard_normal((m, 2)), rng.dirichlet(np.ones(m))
    for place in (0.0, 0.3, 1.0):
        shares = np.array(assert_matches_py_func(guess_kernels.cubic_weights, place, atol=1e-15))
        for power in range(4):
            assert shares @ np.arange(-1.0, 3.0) ** power == pytest.approx(place**power, abs=1e-15)
    table, v = rng.standard_normal((6, 9, m)), np.zeros(m)
    for along, around in ((0.0, 0.0), (2.4, 5.9), (5.0, 6.0)):
        assert_matches_py_func(guess_kernels.table_guess, table, along, around, v, atol=1e-13)
    low, step, work = -rng.exponential(size=(m, m)), np.zeros(m), np.zeros((m, m))
    mass = weights + 1e-6 * np.array([1.0, -1.0, 2.0, -2.0])
    given = (weights, mass, low, 1e-3, int(np.argmax(weights)), step, work)
    assert_matches_py_func(single_kernels.second_order_loss, *given, atol=1e-20)
    factors = rng.standard_normal((5, 2, 2))
    stack = factors @ factors.transpose(0, 2, 1)
    stack[0] = 0.0
    rest = (points, weights, 0, np.zeros((6, 9, m)), 0.0, np.zeros((5, 3)))
    assert_matches_py_func(single_kernels.table_pool, stack, np.arange(5), *rest, atol=1e-12)
    assert_matches_py_func(pool_kernels.lane_pool, stack, *rest, atol=1e-12)


@pytest.mark.parametrize("size", [1, LANES - 1, LANES, LANES + 1, 3 * LANES])
def test_any_number_of_candidates(rng, size):
    """Blocks that are not full, and candidates of every kind in one: none is left unwritten."""
    target = reduce_target(
        DiscreteMeasure(rng.standard_normal((5, 2)), rng.dirichlet(np.full(5, 2.0))),
        to_gaussian=True,
    )
    factors = rng.standard_normal((size, 2, 2))
    covariance = factors @ factors.transpose(0, 2, 1)
    covariance[0] = 0.0
    covariance[size // 2] = np.ones((2, 2))
    table = potential_table(target, 1000)
    heaviest = int(np.argmax(target.weights))
    bounds = np.full((size, 3), -7.0)
    rest = (target.points, target.weights, heaviest, table, target.lost)
    pool_kernels.lane_pool(covariance, *rest, bounds)
    assert (bounds != -7.0).all()
    assert np.isnan(bounds[[0, size // 2]]).all()
    known = np.isfinite(bounds[:, 0])
    assert known.sum() >= 0.8 * size - 2
    if not known.any():
        return
    exact = correlations(covariance[known], target)
    value, below, above = bounds[known].T * target.unit
    assert (value - below <= exact.value + exact.above).all()
    assert (value + above >= exact.value - exact.below).all()
