"""Walls in R^k: where a cost of one's own is infinite, and climbs that slide along them."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.kkt import kkt_function
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.cheap import priced_probes, valleys

HALVINGS = 52  # to the last double between an allowed input and the wall
TRIALS = 4  # random directions for each dimension in one round of sliding
ROUNDS = 400
MOST = 48  # climbs that slide, the highest ones
TOUCH = 1e-3  # of their distance: how near the wall climbs have to be to slide
LEAST_GAIN = 1e-15  # nats


def has_wall(problem: Problem) -> bool:
    """Whether the cost is infinite at some input that was looked at within the peak."""
    if not problem.has_own_cost:
        return False
    return bool(np.isinf(priced_probes(problem)[1]).any())


def anchors(problem: Problem, points: Array) -> Array:
    """For every point the nearest of the cheapest valleys, from which it can be drawn back."""
    lowest = valleys(problem)
    lowest = lowest[np.isfinite(problem.cost(lowest))][:MOST]
    if len(lowest) == 0:
        return points
    distance = np.linalg.norm(points[:, None] - lowest[None], axis=2)
    return lowest[distance.argmin(axis=1)]


def within_wall(problem: Problem, points: Array, towards: Array) -> Array:
    """Forbidden points drawn back to the wall, on a straight line to allowed ones, `(n, k)`."""
    outside = np.isinf(problem.cost(points))
    if not outside.any():
        return points
    start, end = towards[outside], points[outside]
    low, high = np.zeros(len(end)), np.ones(len(end))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        allowed = problem.cost(start + middle[:, None] * (end - start)) < np.inf
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    drawn = points.copy()
    drawn[outside] = start + low[:, None] * (end - start)
    return drawn


def slide(
    problem: Problem, points: Array, output: Array, multiplier: float, towards: Array
) -> tuple[Array, Array]:
    """Climb by values alone, steps beyond the wall drawn back to it; points and heights.

    Random directions and the last step that helped, by lengths that halve where none helps.
    """
    rng = np.random.default_rng(2)
    count, dim = points.shape
    place = points.copy()
    height = _allowed_heights(problem, place, output, multiplier)
    width, last = 0.1 * (0.1 + problem.norm(place)), np.zeros_like(place)
    rows = np.arange(count)
    for _ in range(ROUNDS):
        free = rng.standard_normal((TRIALS * dim, dim))
        free /= np.linalg.norm(free, axis=1, keepdims=True)
        moves = np.concatenate([free, -free])[None] * width[:, None, None]
        moves = np.concatenate([moves, last[:, None], 2.0 * last[:, None]], axis=1)
        flat = (place[:, None] + moves).reshape(-1, dim)
        trial = within_wall(problem, flat, np.repeat(towards, moves.shape[1], axis=0))
        trial = trial.reshape(moves.shape)
        heights = _allowed_heights(problem, trial.reshape(-1, dim), output, multiplier)
        heights = heights.reshape(count, -1)
        best = heights.argmax(axis=1)
        better = heights[rows, best] > height + LEAST_GAIN
        last = np.where(better[:, None], trial[rows, best] - place, 0.0)
        place = np.where(better[:, None], trial[rows, best], place)
        height = np.where(better, heights[rows, best], height)
        width = np.where(better, width, 0.5 * width)
        if (width < 1e-9 * (1e-3 + problem.norm(place))).all():
            break
    return place, height


def touching(problem: Problem, points: Array, towards: Array) -> Any:
    """Which points are next to a wall, seen along the line from the allowed ones, `(n,)` bools."""
    outward = points - towards
    beyond = points + TOUCH * (outward + (1e-3 + problem.norm(points))[:, None] * np.sign(outward))
    return np.isinf(problem.cost(beyond))


def _allowed_heights(problem: Problem, points: Array, output: Array, multiplier: float) -> Array:
    inside = problem.norm(points) <= problem.limits.peak * (1.0 + 1e-15)
    height = kkt_function(problem, points, output, multiplier)
    return np.where(inside & ~np.isnan(height), height, -np.inf)
