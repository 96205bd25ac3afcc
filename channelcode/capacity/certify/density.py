"""The upper bound for channels with densities, over a range of inputs.

Between neighbouring probes F <= max(F(a), F(b)) + (b - a)^2/8 max(-F''). For Laplace noise -F'' is
bounded with proof: D'' is known at the probes and changes at a rate of 2/scale^3 at most. Elsewhere
it is taken from six divided differences around the interval, less their whole spread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.bends import QUARTERS, bend_bound
from channelcode.channels import AdditiveLaplace
from channelcode.information.laplace_mixture import LaplaceMixture
from channelcode.information.output_divergence import output_divergence
from channelcode.measures import DiscreteMeasure

_FIRST_PROBES = 801
_MOST_PROBES = 6000
_MOST_PROVED = 1_000_000  # Laplace noise: a probe takes a microsecond


class DensityBound(NamedTuple):
    """A bound in nats, the error of its integrals, the probes, and whether bends are proved."""

    nats: float
    error: float
    probes: int
    proved: bool


def density_bound(
    problem: Problem,
    law: DiscreteMeasure,
    multiplier: float,
    ends: tuple[float, float],
    *,
    tol: float,
) -> DensityBound:
    """max_l [D(f(.|l) || q) - s (b(l) - P)] over the range in nats, q the output law of `law`."""
    if type(problem.channel) is AdditiveLaplace and not (problem.has_own_cost and multiplier > 0):
        return _laplace_bound(problem, problem.channel, law, multiplier, ends, tol)
    worst = 0.0

    def height(l: Array) -> Array:
        nonlocal worst
        found = output_divergence(problem.channel, l, law)
        worst = max(worst, found.error)
        return _priced(problem, l, found.nats, multiplier)

    low, high = ends
    if low == high:
        return DensityBound(float(height(np.array([low]))[0]), worst, 1, True)
    grid = _first_probes(law, low, high)
    upper, count = _refined(height, bend_bound, grid, tol, _MOST_PROBES)
    return DensityBound(upper, worst, count, False)


def _laplace_bound(
    problem: Problem,
    channel: AdditiveLaplace,
    law: DiscreteMeasure,
    multiplier: float,
    ends: tuple[float, float],
    tol: float,
) -> DensityBound:
    mixture = LaplaceMixture(channel.scale, law.atoms, law.weights)
    curved = 2.0 * multiplier if problem.limits.cost is not None else 0.0  # s b'' of the power

    def height(l: Array) -> Array:
        return _priced(problem, l, mixture.divergence(l).value, multiplier)

    def bound(points: Array, heights: Array) -> Array:
        """-F'' is at most its value at the nearer end and what it can gain in half the width."""
        bend = mixture.divergence(points).bend - curved
        width = np.diff(points)
        down = np.maximum(-np.minimum(bend[1:], bend[:-1]) + width / channel.scale**3, 0.0)
        return np.maximum(heights[1:], heights[:-1]) + 0.125 * width**2 * down

    low, high = ends
    if low == high:
        return DensityBound(float(height(np.array([low]))[0]), 1e-14, 1, True)
    inside = law.atoms[(law.atoms > low) & (law.atoms < high)]
    grid = np.unique(np.concatenate([np.linspace(low, high, _FIRST_PROBES), inside]))
    upper, count = _refined(height, bound, grid, tol, _MOST_PROVED)
    return DensityBound(upper, 1e-15 * (4.0 + upper), count, True)


def _priced(problem: Problem, l: Array, divergence: Array, multiplier: float) -> Array:
    if multiplier == 0 or problem.limits.cost is None:
        return divergence
    return divergence - multiplier * (problem.cost(l) - problem.limits.budget)


def _first_probes(law: DiscreteMeasure, low: float, high: float) -> Array:
    steps = (high - low) * np.array([1e-4, 2e-4, 4e-4, 8e-4])
    near = (law.atoms[:, None] + np.concatenate([-steps, [0.0], steps])).ravel()
    # D may be steep at an end, as l ln l is at zero: probes at every distance from both
    close = (high - low) * np.geomspace(1e-13, 1e-2, 90)
    grid = np.concatenate([np.linspace(low, high, _FIRST_PROBES), near, low + close, high - close])
    grid = np.unique(grid[(grid >= low) & (grid <= high)])
    return grid[np.concatenate([[True], np.diff(grid) > 1e-15 * (high - low)])]


def _refined(
    height: Callable[[Array], Array],
    bounded: Callable[[Array, Array], Array],
    grid: Array,
    tol: float,
    most: int,
) -> tuple[float, int]:
    """Quarter the intervals whose bound is too high, until none is or probes run out."""
    heights = height(grid)
    span = grid[-1] - grid[0]
    while True:
        bound = bounded(grid, heights)
        top = float(heights.max())
        open_ = bound > top + 0.2 * tol
        if not open_.any() or len(grid) > most:
            return max(top, float(bound.max())), len(grid)
        left, width = grid[:-1][open_], np.diff(grid)[open_]
        if (width < 1e-7 * span).all():
            return max(top, float(bound.max())), len(grid)
        fresh = (left[:, None] + width[:, None] * QUARTERS).ravel()
        order = np.argsort(np.concatenate([grid, fresh]), kind="stable")
        grid = np.concatenate([grid, fresh])[order]
        heights = np.concatenate([heights, height(fresh)])[order]
