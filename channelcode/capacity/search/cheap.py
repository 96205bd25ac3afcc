"""Where a cost of one's own is small: its least value and its valleys, by search and refinement."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.channels.tails import FARTHEST
from channelcode.errors import InvalidArgument

INNER, SPACING = 64.0, 0.1  # a black box is looked at this finely around zero
WIDEST = 512.0  # and so within a peak up to this
MOST_VALLEYS = 32  # that are looked at closely
MOST_LOWS = 1024  # local minima that are known
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


def priced_probes(problem: Problem) -> tuple[Array, Array]:
    """Inputs out to FARTHEST or the peak, valleys included, and their costs; sorted on the line."""
    points, cost, _ = _looked(problem)
    return points, cost


def valleys(problem: Problem) -> Array:
    """The cheapest local minima of the cost, cheapest first."""
    found = _looked(problem)[2]
    return found[:MOST_VALLEYS] if problem.channel.dim == 1 else found


def _looked(problem: Problem) -> tuple[Array, Array, Array]:
    key = "priced probes"
    if key not in problem.cache:
        from channelcode.capacity.search.cheap_space import look_in_space

        problem.cache[key] = _look(problem) if problem.channel.dim == 1 else look_in_space(problem)
    return problem.cache[key]


def _look(problem: Problem) -> tuple[Array, Array, Array]:
    points = _first_look(problem)
    lowest = _valleys(problem, points, problem.cost(points))
    points = np.unique(np.concatenate([points, lowest]))
    return points, problem.cost(points), lowest


def check_budget(problem: Problem) -> None:
    """Refuse a budget below the least cost that was found."""
    if problem.limits.cost is None or problem.limits.is_power:
        return
    _, cost = priced_probes(problem)
    if cost.min() > problem.limits.budget:
        rule = f"must be at least the least cost found, {cost.min()}"
        raise InvalidArgument("budget", rule, problem.limits.budget)


def near_valleys(problem: Problem) -> Array:
    """Every local minimum, and inputs around the valleys at 1e-9 to 10 of their own scale."""
    centres = valleys(problem)
    scale = 1.0 + np.abs(centres)
    offsets = np.concatenate([[0.0], np.geomspace(1e-9, 10.0, 67)])
    offsets = np.concatenate([-offsets[:0:-1], offsets])
    around = (centres[:, None] + scale[:, None] * offsets).ravel()
    points = np.unique(np.append(around, _looked(problem)[2]))
    return points[np.abs(points) <= problem.limits.peak]


def _first_look(problem: Problem) -> Array:
    even = np.arange(-INNER, INNER + 0.5 * SPACING, SPACING)
    far = np.geomspace(1e-6, FARTHEST, 2400)
    pieces = [even, far, -far, [0.0]]
    for place in problem.limits.cheap:
        offsets = (1.0 + abs(float(place))) * np.geomspace(1e-12, 1.0, 73)
        pieces += [place + offsets, place - offsets, [place]]
    tails = problem.tails
    if tails is not None:
        pieces.append(tails.resolving_inputs())
    points = np.unique(np.concatenate(pieces))
    peak = problem.limits.peak
    if peak < FARTHEST:
        count = max(2001, int(2.0 * min(peak, WIDEST) / SPACING) + 1)
        even = np.linspace(-peak, peak, count)
        points = np.unique(np.concatenate([points[np.abs(points) < peak], even]))
    first, last = problem.channel.domain  # elsewhere a cost need not be a number
    inside = points[(points >= first) & (points <= last)]
    ends = np.array([first, last])
    return np.union1d(inside, ends[np.abs(ends) <= min(peak, FARTHEST)])


def _valleys(problem: Problem, points: Array, cost: Array) -> Array:
    """Local minima of the cost, one of each plateau, refined by golden sections."""
    padded = np.concatenate([[np.inf], cost, [np.inf]])
    low = (cost <= padded[:-2]) & (cost <= padded[2:]) & np.isfinite(cost)
    index = np.flatnonzero(low)
    if len(index) > 1:
        apart = np.flatnonzero((np.diff(index) > 1) | (np.diff(cost[index]) != 0.0))
        first, last = np.append(0, apart + 1), np.append(apart, len(index) - 1)
        index = index[(first + last) // 2]
    index = index[np.argsort(cost[index], kind="stable")[:MOST_LOWS]]
    if len(index) == 0:
        return np.empty(0)
    left = points[np.maximum(index - 1, 0)]
    right = points[np.minimum(index + 1, len(points) - 1)]
    best, value = points[index], cost[index]
    for _ in range(70):
        width = right - left
        a, b = right - GOLDEN * width, left + GOLDEN * width
        at_a, at_b = problem.cost(a), problem.cost(b)
        lower = at_a < at_b
        for trial, height in ((a, at_a), (b, at_b)):
            better = height < value
            best, value = np.where(better, trial, best), np.where(better, height, value)
        left, right = np.where(lower, left, a), np.where(lower, b, right)
    return best[np.argsort(value, kind="stable")]
