"""Pools of samples against one target: sorted on the line, the semi-dual in R^k."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, EmpiricalPool
from channelcode.transport.monotone import monotone_plan
from channelcode.transport.pools.gaussians import Judged
from channelcode.transport.problem import LARGEST, Problem
from channelcode.transport.solve import Auto, allowed_gap, solve
from channelcode.transport.solvers.assignment import Assignment
from channelcode.transport.solvers.semidual import SemiDual
from channelcode.transport.target import EPSILON, LIGHTEST, Reduced

SORTED = 1 << 16  # numbers sorted at a time: half a megabyte stays in the cache
MOST_CUTS = 2  # quantiles that partitions find sooner than a sort
BLOCK = 64  # points that are centred at a time: few copies of the centre stay in the cache
# Of the scale of W2^2: where the bounds of a pool are wider, the candidate is a problem of its own.
# A far sample of hardly any mass costs a pool the rounding of its masses times its distance.
CLOSED = 1e-12
CHUNK = 1 << 16  # numbers handled at a time: half a megabyte; twice that is paged in anew each time


def check_samples(pool: EmpiricalPool) -> None:
    """Refuse a pool whose largest coordinate has no square."""
    largest = float(max(pool.samples.max(), -pool.samples.min()))
    if not largest <= LARGEST:
        raise InvalidArgument("pool", "must have squared distances that are finite", largest)


def samples_squared(
    pool: EmpiricalPool, law: DiscreteMeasure, target: Reduced, *, tol: float | None
) -> Judged:
    """W2^2 of sample candidates with bounds, exact on their points."""
    size = pool.samples.shape[1]
    heavy = np.flatnonzero(pool.weights > 0)
    samples = pool.samples.reshape(len(pool), size, -1)
    if len(heavy) < size:
        samples = np.ascontiguousarray(samples[:, heavy])
    masses = np.array(pool.weights[heavy])
    if pool.equally_weighted:
        masses = np.full(len(heavy), 1.0 / len(heavy))
    if min(float(masses.min()), float(target.weights.min())) < LIGHTEST:  # one by one
        results = [solve(Problem(one, law), Auto(), tol=tol, throw=True) for one in pool]
        columns = [(result.squared, result.lower, result.upper) for result in results]
        return Judged(*np.array(columns).T)
    if target.rank > 1:
        return _by_cells(pool, samples, masses, law, target, tol=tol)
    check_samples(pool)
    variance = target.variance * target.unit**2
    if target.rank == 1 and samples.shape[2] == 1:
        squared = _line(samples[:, :, 0], masses, target, target.centre[0], target.offset[0])
        squares = 2 * squared + 2 * variance  # at least E|X - m_T|^2, by the triangle inequality
    else:
        away = (samples - target.centre) - target.offset
        squared = squares = np.einsum("nsk,nsk,s->n", away, away, masses)
        if target.rank == 1:
            along = away @ target.basis[:, 0]
            off = np.maximum(squares - np.einsum("ns,ns,s->n", along, along, masses), 0.0)
            squared = off + _line(along, masses, target)
    # Of sums, and of directions in which the target hardly extends.
    slack = (32 * EPSILON + target.lost) * (squares + variance)
    return Judged(squared, np.maximum(squared - slack, 0.0), squared + slack)


def _line(
    samples: Array, masses: Array, target: Reduced, centre: float = 0.0, offset: float = 0.0
) -> Array:
    """W2^2 of samples `(n, s)` on the line, less `centre` and `offset`: sort, then sum.

    With equal masses all candidates share one plan. Few atoms need no more of the order than the
    quantiles between them (Prop. 3.2 for B_t), which partitions find in linear time.
    """
    from channelcode._kernels.transport.line import shared_plan_cost

    size = samples.shape[1]
    order = np.argsort(target.points[:, 0], kind="stable")
    atoms, weights = target.points[order, 0] * target.unit, target.weights[order]
    out = np.empty(len(samples))
    if not (masses == masses[0]).all():
        for c, given in enumerate(samples):
            row = (given - centre) - offset
            ranks = np.argsort(row, kind="stable")
            plan = monotone_plan(masses[ranks], weights)
            out[c] = plan.mass @ (row[ranks[plan.row]] - atoms[plan.column]) ** 2
        return out
    plan = monotone_plan(masses, weights)
    index = plan.row.astype(np.int64)
    changes = np.flatnonzero(np.diff(plan.column))
    breaks = np.flatnonzero((np.diff(plan.column) != 0) | (np.diff(index) != 1))
    place = np.concatenate(([0], breaks + 1, [len(index)]))
    first, atom = index[place[:-1]], atoms[plan.column[place[:-1]]]
    # The last points below the changes, or the points that are split there.
    cuts = index[changes]
    rows = min(max(1, SORTED // size), len(samples))
    room, terms = np.empty((rows, size)), np.empty(len(index))
    for start in range(0, len(samples), rows):
        given = samples[start : start + rows]
        part = np.subtract(given, centre, out=room[: len(given)])
        part -= offset
        if len(cuts) > MOST_CUTS:
            part.sort(axis=1)
        else:
            stop = size
            for cut in cuts[::-1]:
                if cut < stop:
                    part[:, :stop].partition(cut, axis=1)
                    stop = cut
        shared_plan_cost(part, place, first, atom, plan.mass, terms, out[start : start + rows])
    return out


def _by_cells(
    pool: EmpiricalPool,
    samples: Array,
    masses: Array,
    law: DiscreteMeasure,
    target: Reduced,
    *,
    tol: float | None,
) -> Judged:
    """`W2^2 = E|X - m_T|^2 + tr Cov T - 2 max E<X - m_T, T - m_T>`, judged by primal and dual."""
    from channelcode._kernels.transport.samples.centre import centre_pool

    n, size, dim = samples.shape
    atoms = np.ascontiguousarray(target.points @ target.basis.T)
    weights, unit = np.array(target.weights), target.unit
    rows = min(max(1, CHUNK // (size * max(dim, len(atoms)))), n)
    # The same room for all: fresh memory costs as much as a solve.
    tables, away = np.empty((rows, len(atoms), size)), np.empty((rows, size * dim))
    bits, square, grain = away.view(np.int64), np.empty(size * dim), np.empty(rows)
    centre, offset = np.tile(target.centre, BLOCK), np.tile(target.offset, BLOCK)
    flat, mass = samples.reshape(n, size * dim), np.repeat(masses, dim)
    solved = Assignment(rows, masses, atoms, weights)
    variance = target.variance * unit * unit
    reach = float(np.abs(target.mean).max())
    spread, primal, dual = np.zeros(n), np.zeros(n), np.full(n, np.inf)
    few = len(atoms) <= SemiDual.MOST_ATOMS
    for start in range(0, n if few else 0, rows):
        part = flat[start : start + rows]
        count = len(part)
        window = slice(start, start + count)
        farthest = centre_pool(
            part, centre, offset, mass, away, bits, square, grain, spread[window]
        )
        if not farthest <= LARGEST / 4 - reach:
            check_samples(pool)
        points = away[:count].reshape(count, size, dim)
        scores = np.matmul(atoms, points.transpose(0, 2, 1), out=tables[:count])
        solved.solve(scores, points)
        scale = grain[:count] * unit
        primal[window], dual[window] = solved.primal[:count] * scale, solved.dual[:count] * scale
    scale = spread + variance
    # Of sums, of the scores (see `judge`), and of directions in which the target hardly extends.
    rounding = ((32 + dim) * EPSILON + target.lost) * scale
    squared = np.maximum(scale - 2 * primal, 0.0)
    lower = np.maximum(scale - 2 * dual - rounding, 0.0)
    upper = squared + rounding
    for c in np.flatnonzero(~(2 * (dual - primal) <= CLOSED * scale)):
        allowed = allowed_gap(float(scale[c])) if tol is None else tol
        missed = not upper[c] - lower[c] <= allowed or not few
        problem, wanted = Problem(pool[int(c)], law), CLOSED * float(scale[c])
        result = solve(problem, Auto(), tol=tol, throw=missed, wanted=wanted)
        if missed or result.gap < upper[c] - lower[c]:
            squared[c], lower[c], upper[c] = result.squared, result.lower, result.upper
    return Judged(squared, lower, upper)
