"""Samples in R^k to few atoms: the semi-dual by Newton's method, finished exactly."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from channelcode._validation import Array
from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.measures import DiscreteMeasure, Measure
from channelcode.transport.assignment import RUNGS, State, assign, attempt
from channelcode.transport.discrete import EarthMover, centred, squared_distances, uncentred
from channelcode.transport.reduction import Reduced, reduce_target
from channelcode.transport.result import TransportResult
from channelcode.transport.solver import Solver, both_discrete

MOST_ATOMS = 64  # a move costs m^2 and a start m^3: beyond, network simplex is as good
CHUNK = 1 << 17  # numbers handled at a time: one megabyte stays in the cache
GAP_RTOL = 1e-12  # of the second moments; the exact finish leaves about 1e-15


def samples_squared(samples: Array, target: Reduced) -> Array:
    """W2^2 of equally weighted samples `(n, s, k)` to a reduced target, exact on them, `(n,)`.

    `W2^2 = E|X - m_T|^2 + tr Cov T - 2 max E<X - m_T, T - m_T>`.
    """
    from channelcode._kernels.transport_semidual import spread_pool

    size = samples.shape[1]
    atoms = target.points @ target.basis.T
    weights = np.array(target.weights)
    rows = min(max(1, CHUNK // (size * max(samples.shape[2], len(atoms)))), len(samples))
    masses, tile = np.full(size, 1.0 / size), np.tile(target.mean, 8)
    # The same room for all: fresh memory costs as much as a solve.
    room = np.empty((rows, len(atoms), size))
    state, second = State.room(*room.shape), np.empty(rows)
    out = np.empty(len(samples))
    left = np.arange(len(samples))
    for rung in range(RUNGS):
        closed = np.zeros(len(left), dtype=bool)
        for start in range(0, len(left), rows):
            index = left[start : start + rows]
            part = samples[index] if rung else samples[start : start + rows]
            spread_pool(part.reshape(len(part), -1), tile, second)
            # The atoms are centred, so that a shift of the samples leaves the correlation as it is.
            scores = np.matmul(atoms, part.transpose(0, 2, 1), out=room[: len(part)])
            solved = attempt(scores, masses, weights, state, rung=rung)
            closed[start : start + rows] = solved.closed
            out[index] = second[: len(part)] / size + target.variance - 2 * solved.primal
        left = left[~closed]
        if not len(left):
            break
    for c in left:
        out[c] = _by_network_simplex(samples[c], target)
    return np.maximum(out, 0.0)  # a difference of larger numbers: below zero is their rounding


def _by_network_simplex(samples: Array, target: Reduced) -> float:
    atoms = target.points @ target.basis.T + target.mean
    law = DiscreteMeasure.uniform(samples)
    return EarthMover().solve(law, DiscreteMeasure(atoms, target.weights)).squared


class SemiDual(Solver):
    """Two discrete laws, one of them with few atoms: Newton on the semi-dual and an exact finish.

    The cells' masses come within a few points of the weights by Newton's method with an exact
    quantile step for starved cells; shortest paths between the cells then move the last points, so
    that the plan is optimal and primal equals dual to rounding (theory, section 3).
    """

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return (
            isinstance(mu, DiscreteMeasure)
            and isinstance(nu, DiscreteMeasure)
            and both_discrete(mu, nu)
            and mu.dim > 1
            and min(len(mu), len(nu)) <= MOST_ATOMS
        )

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        if not isinstance(mu, DiscreteMeasure) or not isinstance(nu, DiscreteMeasure):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        if len(nu) > len(mu):
            return _solve(nu, mu).swapped()
        return _solve(mu, nu)


def _solve(mu: DiscreteMeasure, nu: DiscreteMeasure) -> TransportResult:
    from scipy.sparse import coo_array, csr_array

    started = perf_counter()
    target, source = reduce_target(nu), reduce_source(mu)
    points, masses, groups = source
    atoms = target.points @ target.basis.T
    n, m = len(points), len(atoms)
    scores = np.ascontiguousarray(atoms @ (points - masses @ points).T)
    solved = assign(scores[None], masses, np.array(target.weights))
    if solved.primal[0] == -np.inf:
        return EarthMover().solve(mu, nu)
    v = solved.v[0]
    row, column, amount = solved.plan(masses)
    inner = coo_array((amount, (row, column)), shape=(n, m)).tocsr()
    # Equal atoms were solved as one: each takes its share of what they carry together.
    plan = csr_array(
        _shares(groups, mu.weights, n).T @ inner @ _shares(target.groups, nu.weights, m)
    )
    x, y, shift = centred(mu, nu)
    cost = squared_distances(x, y)
    squares = (y**2).sum(axis=1)
    inside = target.groups >= 0
    potential = np.empty(len(y))
    potential[inside] = squares[inside] - 2 * v[target.groups[inside]]
    first = (cost[:, inside] - potential[inside]).min(axis=1)
    potential[~inside] = (cost[:, ~inside] - first[:, None]).min(axis=0)
    entries = plan.tocoo()
    primal = float(entries.data @ cost[entries.row, entries.col])
    dual = float(mu.weights @ first + nu.weights @ potential)
    base = float(shift @ shift)
    scale = float(mu.weights @ (x**2).sum(axis=1) + target.variance)
    closed = primal - dual <= GAP_RTOL * scale
    result = TransportResult(
        squared=base + primal,
        lower=base + max(min(primal, dual), 0.0),
        upper=base + primal,
        plan=plan,
        potentials=uncentred(first, potential, x, y, shift),
        method="samples, semi-dual Newton and shortest paths",
        status=Status.OPTIMAL if closed else Status.STALLED,
        stats=SolveStats("SemiDual", 0, perf_counter() - started, {"splits": len(amount) - n}),
    )
    if not closed:
        raise NotConverged(f"the semi-dual stopped with a gap of {primal - dual:.3g}", result)
    return result


def reduce_source(law: DiscreteMeasure) -> tuple[Array, Array, np.ndarray]:
    """Distinct points with mass, their masses, and for each given point its row (-1: no mass)."""
    carried = law.weights > 0
    points, inverse = np.unique(law.points[carried], axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    if len(points) == carried.sum():
        # All distinct: keep the given order, which costs nothing and is easier to follow.
        points, inverse = law.points[carried], np.arange(len(points))
    groups = np.full(len(carried), -1)
    groups[carried] = inverse
    masses = np.zeros(len(points))
    np.add.at(masses, inverse, law.weights[carried])
    return np.ascontiguousarray(points), masses, groups


def _shares(groups: np.ndarray, weights: Array, size: int):
    """`(size, n)`: the part of each group's mass that each of its members carries."""
    from scipy.sparse import csr_array

    member = np.flatnonzero(groups >= 0)
    total = np.bincount(groups[member], weights=weights[member], minlength=size)
    share = weights[member] / total[groups[member]]
    return csr_array((share, (groups[member], member)), shape=(size, len(groups)))
