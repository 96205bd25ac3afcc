"""Many points for a normal law: ranking, steps, couplings, and when they are left to others."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channelcode import DiscreteMeasure, FullPool, Gaussian, w2
from channelcode._kernels.transport.points import approach, coupling, pool, rank
from channelcode._kernels.transport.samples.semidual import bits_for
from channelcode.transport import QuasiMonteCarlo, certify, w2_squared
from channelcode.transport.certify import sampled_bounds
from channelcode.transport.problem import Problem, Proposal
from channelcode.transport.rules import (
    JUDGE_POINTS,
    POINTS,
    POINTS_PER_ATOM,
    REPLICATES,
    normal_columns,
    suits_points,
)
from tests.kernel_checks import assert_matches_py_func

seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int, m: int, r: int, n: int) -> tuple[np.ndarray, ...]:
    """Points in columns, atoms of mean zero, their weights and a start."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(m, 3.0))
    atoms = rng.standard_normal((m, r))
    atoms -= weights @ atoms
    return rng.standard_normal((r, n)), atoms, weights, 0.5 * (atoms**2).sum(axis=1)


def ranked(nodes: np.ndarray, atoms: np.ndarray, v: np.ndarray) -> tuple[rank.Room, int]:
    bits = bits_for(len(atoms))
    room = rank.make_room(nodes.shape[1], len(atoms), len(nodes))
    rank.rank_points(nodes, atoms, v, bits, room.best, room.lead, room.pair)
    return room, bits


def brute(nodes: np.ndarray, atoms: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    scores = nodes.T @ atoms.T - v
    order = np.argsort(-scores, axis=1)
    high = np.take_along_axis(scores, order[:, :2], axis=1)
    return high[:, 0], high[:, 0] - high[:, 1], order[:, 0], order[:, 1]


def least_value(nodes: np.ndarray, atoms: np.ndarray, weights: np.ndarray) -> float:
    """The least dual value over the points, that of the best coupling, by POT."""
    n = nodes.shape[1]
    uniform = np.full(n, 1.0 / n)
    return -float(ot.emd2(uniform, weights, -(nodes.T @ atoms.T), numItermax=10**6))  # type: ignore[arg-type]


@given(seed=seeds, m=st.integers(2, 40), r=st.integers(2, 7), n=st.sampled_from([1, 37, 256, 300]))
def test_points_are_ranked(seed, m, r, n):
    nodes, atoms, _, v = drawn(seed, m, r, n)
    room, bits = ranked(nodes, atoms, v)
    best, lead, first, second = brute(nodes, atoms, v)
    np.testing.assert_allclose(room.best, best, atol=1e-12)
    np.testing.assert_allclose(room.lead, lead, atol=1e-12)
    sure = lead > 1e-9  # else two cells may change places by rounding
    np.testing.assert_array_equal((room.pair >> bits)[sure], first[sure])
    if m == 2:
        np.testing.assert_array_equal((room.pair & (1 << bits) - 1)[sure], second[sure])


@given(seed=seeds, m=st.integers(2, 30), size=st.sampled_from([0.0, 1e-3, 0.03, 0.5]))
def test_after_a_change_what_matters_is_right(seed, m, size):
    nodes, atoms, _, v = drawn(seed, m, 4, 300)
    room, bits = ranked(nodes, atoms, v)
    change = size * np.random.default_rng(seed).uniform(-1, 1, m)
    margin = float(np.quantile(room.lead, 0.2))
    rank.rank_again(nodes, atoms, v + change, bits, change, margin, room)
    best, lead, first, _ = brute(nodes, atoms, v + change)
    np.testing.assert_allclose(room.best, best, atol=1e-12)
    sure = lead > 1e-9
    np.testing.assert_array_equal((room.pair >> bits)[sure], first[sure])
    near = room.lead <= margin
    np.testing.assert_allclose(room.lead[near], lead[near], atol=1e-12)
    assert (room.lead <= lead + 1e-12).all()


def test_rough_solution(rng):
    rates = rng.exponential(size=(12, 12))
    rates = rates + rates.T
    np.fill_diagonal(rates, 0.0)
    laplacian = np.diag(rates.sum(axis=1)) - rates
    right = rng.standard_normal(12)
    right -= right.mean()
    found = right.copy()
    approach.rough_solve(rates, found, np.empty((4, 12)))
    # the residual that it stops at is a twentieth, in another norm
    assert np.linalg.norm(laplacian @ found - right) < 0.2 * np.linalg.norm(right)


@example(seed=5, m=21, wrong=10.0)  # a cell passed on mass that it had only received
@given(seed=seeds, m=st.integers(2, 25), wrong=st.sampled_from([0.0, 0.1, 1.0, 10.0]))
def test_no_coupling_is_above_the_best(seed, m, wrong):
    """Whatever the potential: dual value less loss is what some coupling attains."""
    nodes, atoms, weights, v = drawn(seed, m, 3, 200)
    v = v + wrong * np.random.default_rng(seed).standard_normal(m)
    room, bits = ranked(nodes, atoms, v)
    approach.fill_cells(weights, room.pair, bits, room.filled)
    loss = coupling.coupling_loss(nodes, atoms, weights, v, bits, room)
    value = approach.dual_value(weights, v, room.best)
    least = least_value(nodes, atoms, weights)
    assert value >= least - 1e-9
    assert value - loss <= least + 1e-9
    assert loss < np.inf


@given(seed=seeds, m=st.integers(10, 40), light=st.floats(-12.0, -2.0))
def test_couplings_with_light_atoms(seed, m, light):
    """Half the atoms are light: mass is only sent to cells that lack it, or can send on as much."""
    nodes, atoms, weights, v = drawn(seed, m, 4, 200)
    weights[: m // 2] = 10.0**light
    weights /= weights.sum()
    room, bits = ranked(nodes, atoms, v)
    approach.newton_points(nodes, atoms, weights, bits, 0.0, 3, 0.1, v, room)
    value = approach.dual_value(weights, v, room.best)
    loss = coupling.coupling_loss(nodes, atoms, weights, v, bits, room)
    assert value - loss <= least_value(nodes, atoms, weights) + 1e-9
    assert loss < np.inf


@pytest.mark.parametrize("m", [5, 20, 60])
def test_steps_end_near_the_least_value(m):
    """On 2,048 points: a few times the number of points that rounding of the masses moves."""
    nodes, atoms, weights, v = drawn(7, m, 5, 2048)
    room, bits = ranked(nodes, atoms, v)
    error, steps = approach.newton_points(nodes, atoms, weights, bits, m / 2048, 20, 0.3, v, room)
    assert error < 4 * m / 2048
    assert 0 < steps <= 20
    loss = coupling.coupling_loss(nodes, atoms, weights, v, bits, room)
    value = approach.dual_value(weights, v, room.best)
    assert abs(value - least_value(nodes, atoms, weights)) < 2e-3
    assert loss < 5e-3


def test_kernels_match_python(rng):
    nodes, atoms, weights, v = drawn(3, 6, 5, 64)
    bits = bits_for(6)
    columns, few = normal_columns(5, 16, 4, 0), normal_columns(5, 16, 2, 0)
    stack = np.stack((atoms, 1.3 * atoms))
    best, lead, pair = np.empty(64), np.empty(64), np.empty(64, dtype=np.int64)
    assert_matches_py_func(rank.rank_points, nodes, atoms, v, bits, best, lead, pair, atol=1e-12)
    assert_matches_py_func(
        approach.rough_solve, np.ones((3, 3)), np.array([1.0, 0.0, -1.0]), np.empty((4, 3))
    )
    room, _ = ranked(nodes, atoms, v)
    room.filled[:] = 0.0
    args = nodes, atoms, weights, v, room
    assert_matches_py_func(approach.feed_starved, *args, atol=1e-12)
    assert_matches_py_func(pool.start_points, atoms, weights, 1.0, v, atol=1e-12)
    assert_matches_py_func(
        pool.points_pool, stack, weights, few, columns, bits, np.zeros((2, 6)), atol=1e-9
    )
    assert_matches_py_func(
        pool.points_judge, stack, weights, np.stack((v, v)), columns, bits, 6.0, np.zeros((2, 4)),
        atol=1e-9,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("weight", "length", "fair"),
    [
        (0.1, 1.0, True),
        (0.02, 6.0, True),
        (1e-4, 1.0, True),  # light, but not far
        (1e-12, 100.0, True),  # far, but of no weight
        (4e-3, 20.0, False),
        (1e-4, 200.0, False),
    ],
)
def test_light_and_far_atoms_are_not_for_points(rng, weight, length, fair):
    weights = np.full(6, (1 - weight) / 5)
    weights[0] = weight
    atoms = rng.standard_normal((6, 4))
    atoms[0] *= length / np.linalg.norm(atoms[0])
    assert pool.is_fair(atoms, weights) == fair
    v = np.zeros((1, 6))
    columns = normal_columns(4, 64, 4, 0)
    steps = pool.points_pool(atoms[None], weights, columns, columns, bits_for(6), v)
    assert (steps[0] != pool.UNFIT) == fair
    # the solver and the judge then have their other way
    law = Gaussian(np.zeros(4), np.eye(4))
    assert w2(law, DiscreteMeasure(atoms, weights)).status.name == "BOUND_ONLY"


def test_nan_is_not_for_points():
    assert not pool.is_fair(np.full((3, 4), np.nan), np.full(3, 1 / 3))


def test_an_empty_cell_is_given_its_share():
    """One atom of a hundredth, its potential far too high: no point has it for its second best."""
    nodes, atoms, weights, v = drawn(4, 6, 5, 500)
    weights[0] = 0.01
    weights[1:] *= 0.99 / weights[1:].sum()
    v[0] = 50.0
    room, bits = ranked(nodes, atoms, v)
    approach.fill_cells(weights, room.pair, bits, room.filled)
    before = approach.dual_value(weights, v, room.best)
    assert approach.feed_starved(nodes, atoms, weights, v, room) == 1
    after = approach.dual_value(weights, v, room.best)
    assert after < before - 0.3
    best, lead, first, _ = brute(nodes, atoms, v)
    np.testing.assert_allclose(room.best, best, atol=1e-12)
    # five of 500, and one at the edge of the cell
    assert ((first == 0) & (lead > 1e-9)).sum() == 5
    assert (lead < 1e-9).sum() == 1


def test_cells_of_no_weight_are_not_fed():
    nodes, atoms, weights, v = drawn(4, 6, 5, 500)
    weights[0], v[0] = 1e-12, 50.0
    room, bits = ranked(nodes, atoms, v)
    approach.fill_cells(weights, room.pair, bits, room.filled)
    assert approach.feed_starved(nodes, atoms, weights, v, room) == 0
    assert v[0] == 50.0


@pytest.mark.parametrize(("dim", "m", "seed"), [(4, 20, 0), (5, 100, 1), (8, 100, 2)])
def test_random_weights_are_for_points(dim, m, seed):
    """Dirichlet(1) weights have light atoms: solved and judged on points, with a small loss."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(m))
    weights[0] = 1e-4
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), weights / weights.sum())
    factor = rng.standard_normal((dim, dim))
    sketch = Problem(Gaussian(np.zeros(dim), factor @ factor.T), nu).sketch
    atoms, bits = sketch.atoms[None], bits_for(m)
    v, steps = QuasiMonteCarlo().potentials(atoms, sketch.weights)
    columns, values = normal_columns(dim, 512, REPLICATES, 99), np.zeros((1, REPLICATES))
    loss = pool.points_judge(atoms, sketch.weights, v, columns, bits, 6.0, values)
    assert steps[0] > 0
    assert loss[0] < 8 * values.std(ddof=1) / np.sqrt(REPLICATES)


def test_what_points_do_not_solve_the_next_method_does(rng, monkeypatch):
    """A solve on points that ends anywhere: its potentials prove nothing, others are asked for."""
    nu = DiscreteMeasure(rng.standard_normal((10, 4)), rng.dirichlet(np.full(10, 3.0)))
    law = Gaussian(np.zeros(4), np.eye(4))
    good = w2(law, nu)

    def astray(self, atoms, weights):
        steps = np.full(len(atoms), -1 if self.smooth else 7)
        return 10.0 * np.arange(atoms.shape[0] * len(weights), dtype=float).reshape(-1, 10), steps

    monkeypatch.setattr(QuasiMonteCarlo, "_by_points", astray)
    result = w2(law, nu)
    assert result.status.name == "BOUND_ONLY"
    assert result.gap < 3 * good.gap
    assert result.lower <= good.upper
    assert good.lower <= result.upper


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_at_the_largest_number_of_atoms(rng, more):
    """One atom for sixteen points is the limit; both ways give intervals that meet."""
    m = 8 + more
    rule = QuasiMonteCarlo(points=8)
    assert suits_points(m, 4, 2 * 8 * REPLICATES) == (more <= 0)
    nu = DiscreteMeasure(rng.standard_normal((m, 4)), rng.dirichlet(np.full(m, 5.0)))
    law = Gaussian(np.zeros(4), np.eye(4))
    problem = Problem(law, nu)
    coarse = certify(problem, rule.propose(problem, tol=1.0), points=64)
    fine = w2(law, nu)
    assert coarse.lower <= fine.upper
    assert fine.lower <= coarse.upper


def test_a_bad_potential_is_judged_by_the_other_rule(rng):
    """Far from the optimum no coupling is near: the loss is then found by solving."""
    nu = DiscreteMeasure(rng.standard_normal((10, 4)), rng.dirichlet(np.full(10, 3.0)))
    problem = Problem(Gaussian(np.zeros(4), np.eye(4)), nu)
    good = w2(Gaussian(np.zeros(4), np.eye(4)), nu)
    bad = certify(problem, Proposal("a guess", potential=10 * rng.standard_normal(10)))
    assert bad.lower <= good.upper
    assert good.lower <= bad.upper
    assert bad.loss > 1.0


@pytest.mark.parametrize(("dim", "m"), [(4, 12), (5, 50), (9, 30)])
def test_the_loss_is_small_beside_the_interval(rng, dim, m):
    """Each candidate of a pool is solved well enough: sampling decides how wide its interval is."""
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.full(m, 3.0)))
    for _ in range(3):
        factor = rng.standard_normal((dim, dim))
        sketch = Problem(Gaussian(np.zeros(dim), factor @ factor.T), nu).sketch
        v, steps = QuasiMonteCarlo().potentials(sketch.atoms[None], sketch.weights)
        assert steps[0] > 0
        _, loss, error = sampled_bounds(sketch.atoms[None], sketch.weights, v, POINTS)
        assert loss[0] < 6 * error[0]


def test_judge_has_more_points_than_the_limit_needs():
    assert JUDGE_POINTS * POINTS * REPLICATES == 256 * POINTS_PER_ATOM


def test_pools_and_single_pairs_agree(rng):
    """The same points for every candidate, alone or among others."""
    nu = DiscreteMeasure(rng.standard_normal((20, 5)), rng.dirichlet(np.full(20, 3.0)))
    factor = rng.standard_normal((4, 5, 5))
    candidates = FullPool(rng.standard_normal((4, 5)), factor @ factor.transpose(0, 2, 1))
    single = [w2(law, nu).squared for law in candidates]
    np.testing.assert_allclose(w2_squared(candidates, nu), single, rtol=1e-9)
