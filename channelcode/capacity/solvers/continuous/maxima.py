"""The local maxima of the KKT function on the line, to the last digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.kkt import curve, local, priced
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.line import Probes, probe

NO_GAIN = 1e-18  # nats: a Newton step that promises less is not taken
MOST = 64  # maxima that are refined, the highest ones


def maxima(
    problem: Problem, found: Probes, output: Array, multiplier: float, *, floor: float
) -> tuple[Array, Array]:
    """Local maxima of F above `floor`, refined by safeguarded Newton steps; points and values."""
    grid = found.points
    values = priced(problem, grid, found.divergence(output), multiplier)
    values = np.where(np.isnan(values), -np.inf, values)
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    top = (padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:]) & (values > floor)
    index = _one_of_each_plateau(np.flatnonzero(top), values)
    if len(index) > MOST:
        index = np.sort(index[np.argsort(-values[index], kind="stable")[:MOST]])
    if len(index) == 0:
        return np.empty(0), np.empty(0)
    left = grid[np.maximum(index - 1, 0)]
    right = grid[np.minimum(index + 1, len(grid) - 1)]
    point = grid[index].astype(np.float64)
    best, best_value = point.copy(), values[index].copy()
    budget = problem.limits.budget if multiplier > 0 else 0.0
    for _ in range(8):
        here = local(problem, point)
        at = curve(here, output, multiplier, budget)
        slope, bend = at.gradient[:, 0], at.hessian[:, 0, 0]
        wall = here.cost == np.inf  # forbidden: back to the best so far
        slope, bend = np.where(wall, best - point, slope), np.where(wall, 0.0, bend)
        better = ~wall & (at.value > best_value)
        best, best_value = np.where(better, point, best), np.where(better, at.value, best_value)
        left, right = np.where(slope > 0, point, left), np.where(slope > 0, right, point)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = point - slope / bend
        inside = (bend < 0) & (step > left) & (step < right)
        # a slope of rounding's size closes the bracket at the maximum itself: nothing is left there
        settled = (bend < 0) & (slope * slope <= -NO_GAIN * bend)
        if settled.all():
            break
        following = np.where(settled, point, np.where(inside, step, 0.5 * (left + right)))
        if np.all(np.abs(following - point) <= 1e-12 * (1.0 + np.abs(point))):
            break
        point = following
    ends = (grid[np.maximum(index - 1, 0)], grid[np.minimum(index + 1, len(grid) - 1)])
    return _around_kinks(problem, best, best_value, ends, output, multiplier)


def _one_of_each_plateau(index: Any, values: Array) -> Any:
    """The middle of each run of tops that are next to each other and equal but for rounding."""
    if len(index) < 2:
        return index
    apart = (np.diff(index) > 4) | (np.abs(np.diff(values[index])) > 1e-13)
    runs = np.split(index, np.flatnonzero(apart) + 1)
    return np.array([run[len(run) // 2] for run in runs])


def _around_kinks(
    problem: Problem,
    best: Array,
    height: Array,
    ends: tuple[Array, Array],
    output: Array,
    multiplier: float,
) -> tuple[Array, Array]:
    """Climb by values alone where a look around shows that derivatives have misled."""
    scales = 0.5 ** np.arange(1.0, 34.0, 2.0)
    for _ in range(60):
        left = best[:, None] + (ends[0] - best)[:, None] * scales
        right = best[:, None] + (ends[1] - best)[:, None] * scales
        points = np.concatenate([left, right], axis=1)
        values = probe(problem, points.ravel()).divergence(output)
        values = priced(problem, points.ravel(), values, multiplier).reshape(points.shape)
        values = np.where(np.isnan(values), -np.inf, values)
        place = values.argmax(axis=1)
        rows = np.arange(len(best))
        better = values[rows, place] > height + 1e-13
        if not better.any():
            break
        best = np.where(better, points[rows, place], best)
        height = np.where(better, values[rows, place], height)
    return best, height
