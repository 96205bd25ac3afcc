"""Where a cost of one's own is small in R^k: probes of a ball, and descents from the lowest."""

from __future__ import annotations

import numpy as np

from channelcode._numerics.sobol import scrambled_normals
from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.ball import DIMENSIONS, balls

INNER, OUTER = 1024.0, 1e6  # a lattice within the first, rays as far as the second
PROBES = 40_000  # of one layer, or in all beyond R^4
LOWEST = 16  # probes of each layer that a descent begins at
STEPS = 200


def look_in_space(problem: Problem) -> tuple[Array, Array, Array]:
    """Inputs `(n, k)` within the peak, their costs, and the lowest points found by descent.

    Lattices on balls around zero, ever closer towards it; beyond R^4 random directions at radii of
    all sizes.
    """
    dim, limit = problem.channel.dim, problem.limits
    rng = np.random.default_rng(0)
    rays = scrambled_normals(512, dim, rng)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    radii = np.geomspace(1e-3, min(OUTER, limit.peak), 64)
    cheap = [place for place in limit.cheap if np.shape(place) == (dim,)]
    named = np.array(cheap).reshape(-1, dim)
    pieces = [np.zeros((1, dim)), named, (radii[:, None, None] * rays).reshape(-1, dim)]
    first = np.vstack(pieces)
    first = first[problem.norm(first) <= limit.peak]
    cost = problem.cost(first)
    points, costs = [first], [cost]
    starts = [first[np.argsort(cost, kind="stable")[: 4 * LOWEST]], named]
    widths = [0.1 * (1e-3 + problem.norm(starts[0])), np.full(len(named), 1e-3)]
    if dim <= DIMENSIONS:
        for ball in balls(dim, min(INNER, limit.peak), PROBES):
            height = -problem.cost(ball.points)
            lowest = ball.peaks(height)[:LOWEST]
            starts.append(ball.points[lowest])
            widths.append(np.full(len(lowest), ball.spacing))
            points.append(ball.points)
            costs.append(-height)
    found, value = descend(problem, np.vstack(starts), np.concatenate(widths))
    order = np.argsort(value, kind="stable")
    return (
        np.vstack([*points, found]),
        np.concatenate([*costs, value]),
        found[order],
    )


def descend(problem: Problem, starts: Array, widths: Array) -> tuple[Array, Array]:
    """Lower points of the cost, and their costs, by trying steps of falling length in turn.

    Along the axes, along random directions and along the last step that helped.
    """
    dim = starts.shape[1]
    rng = np.random.default_rng(1)
    place, value = starts.copy(), problem.cost(starts)
    width, last = widths.copy(), np.zeros_like(starts)
    axes = np.vstack([np.eye(dim), -np.eye(dim)])
    for _ in range(STEPS):
        free = rng.standard_normal((2 * dim, dim))
        free /= np.linalg.norm(free, axis=1, keepdims=True)
        moves = np.concatenate([axes, free])[None] * width[:, None, None]
        moves = np.concatenate([moves, 2.0 * last[:, None], 0.5 * last[:, None]], axis=1)
        trial = place[:, None] + moves
        flat = trial.reshape(-1, dim)
        cost = np.where(problem.norm(flat) <= problem.limits.peak, problem.cost(flat), np.inf)
        cost = cost.reshape(len(place), -1)
        best = cost.argmin(axis=1)
        rows = np.arange(len(place))
        better = cost[rows, best] < value
        last = np.where(better[:, None], moves[rows, best], 0.0)
        place = np.where(better[:, None], trial[rows, best], place)
        value = np.where(better, cost[rows, best], value)
        width = np.where(better, 1.2 * width, 0.5 * width)
        if (width < 1e-14 * (1e-6 + problem.norm(place))).all():
            break
    return place, value
