"""The upper bound over the whole real line: no input between the probe points is forgotten.

Between neighbouring probes a < b the KKT function F is bounded in two ways, and the lesser counts:

- box: D(W||q) is convex in W, so where every probability is monotone between a and b,
  D <= sum_y max over both ends of w ln(w/q) - w + q; a probability that turns is given room for
  its turn, twice what the differences around it suggest;
- bend: F <= max(F(a), F(b)) + (b-a)^2/8 max(-F''), where F'' is taken from six divided differences
  around the interval, less their whole spread.

Intervals whose bound is too high are split until it is not. The search radius comes from the
multiplier: beyond it s (b(l) - P) outweighs -ln min q (theory: section 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.kkt import priced
from channelcode.capacity.law_value import LawValue
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.line import Probes, halo, joined, merged, probe, probes, reach

MOST_ROUNDS = 40
MOST_PROBES = 100_000


def line_bound(
    problem: Problem, atoms: Array, found: LawValue, multiplier: float, tol: float
) -> tuple[float, str]:
    """An upper bound on the capacity in nats, and the scope over which it holds."""
    radius, proved = reach(problem, found.output, multiplier, found.nats)
    known = joined(problem, probes(problem, radius, fine=1201, wide=800), halo(problem, atoms))
    ends = (float(known.points[0]), float(known.points[-1]))
    height = _heights(problem, known, found.output, multiplier)
    top = float(height.max())
    goal = max(top, found.nats) + 0.2 * tol
    bound = _bounds(problem, known, height, found.output, multiplier, goal)
    upper, used = top, len(height)
    for _ in range(MOST_ROUNDS):
        open_ = bound > goal
        if not open_.any() or used > MOST_PROBES:
            break
        upper = max(upper, float(bound[~open_].max(initial=-np.inf)))
        known, height, fresh = _refined(problem, known, height, open_, found.output, multiplier)
        used += fresh
        goal = max(goal, float(height.max()) + 0.2 * tol)
        bound = _bounds(problem, known, height, found.output, multiplier, goal)
    upper = max(upper, float(height.max()), float(bound.max(initial=-np.inf)))
    return upper, _scope(problem, ends, radius, proved, used)


def _refined(
    problem: Problem, known: Probes, height: Array, open_: Any, output: Array, multiplier: float
) -> tuple[Probes, Array, int]:
    """Quarter the open intervals; of the others keep what their neighbours' differences need."""
    near = open_.copy()
    for shift in (1, 2, 3):
        near[shift:] |= open_[:-shift]
        near[:-shift] |= open_[shift:]
    keep = np.zeros(len(height), dtype=bool)
    keep[:-1] |= near
    keep[1:] |= near
    left = known.points[:-1][open_]
    width = known.points[1:][open_] - left
    points = (left[:, None] + width[:, None] * np.array([0.25, 0.5, 0.75])).ravel()
    kept, fresh = known.take(keep), probe(problem, points)
    heights = _heights(problem, fresh, output, multiplier)
    order = np.argsort(np.concatenate([kept.points, points]), kind="stable")
    heights = np.concatenate([height[keep], heights])[order]
    return merged(kept, fresh), heights, len(points)


def _scope(
    problem: Problem, ends: tuple[float, float], radius: float, proved: bool, used: int
) -> str:
    peak = problem.limits.peak
    where = f"[{-peak:.6g}, {peak:.6g}]" if peak < np.inf else "the real line"
    text = f"{where}: bounds between {used} probes on [{ends[0]:.4g}, {ends[1]:.4g}]"
    if ends[0] > -radius or ends[1] < radius:
        return text + ", beyond which the channel returns no numbers"
    if not proved:
        return text + ", tails taken as monotone"
    return text if peak < np.inf else text + ", tails by the multiplier"


def _heights(problem: Problem, known: Probes, output: Array, multiplier: float) -> Array:
    height = priced(problem, known.points, known.divergence(output), multiplier)
    return np.where(np.isnan(height), -np.inf, height)


def _bounds(
    problem: Problem,
    known: Probes,
    height: Array,
    output: Array,
    multiplier: float,
    goal: float,
) -> Array:
    """A bound on F for each interval between probes, `(n - 1,)`; boxes only where bends fail."""
    bound = bend_bound(known.points, height)
    index = np.flatnonzero(bound > goal)
    if len(index) == 0:
        return bound
    box = _box(known, output, index)
    if multiplier > 0 and problem.limits.cost is not None:
        left, right = known.points[index], known.points[index + 1]
        least = np.minimum(problem.cost(left), problem.cost(right))
        if problem.limits.is_power:
            least = np.where((left < 0) & (right > 0), 0.0, least)
        box = box - multiplier * (least - problem.limits.budget)
    bound[index] = np.fmin(box, bound[index])
    return bound


def _box(known: Probes, output: Array, index: Any) -> Array:
    """The box bound on D(W||q) in some intervals, with room for probabilities that turn."""
    last = len(known.points) - 1
    places = np.clip(index[:, None] + np.arange(-1, 3), 0, last)
    with np.errstate(all="ignore"):
        prob = known.prob[places]
        ratio = np.where(prob > 0, known.log_prob[places] - np.log(output), 0.0)[:, 1:3]
        terms = prob[:, 1:3] * (ratio - 1.0) + output
        change = np.diff(prob, axis=1)
        before, here, after = change[:, 0], change[:, 1], change[:, 2]
        turns = (before * here < 0) | (here * after < 0)
        overshoot = 0.25 * (np.abs(before - here) + np.abs(here - after))
        room = np.where(turns, np.abs(ratio).max(axis=1) * overshoot, 0.0)
        return np.nan_to_num(terms.max(axis=1) + room, nan=np.inf).sum(axis=1)


def bend_bound(grid: Array, height: Array) -> Array:
    """The bound from divided differences, along the last axis; infinite where F is."""
    with np.errstate(all="ignore"):
        width = np.diff(grid, axis=-1)
        slope = np.diff(height, axis=-1) / width
        second = 2.0 * np.diff(slope, axis=-1) / (width[..., 1:] + width[..., :-1])
        first, last = second[..., :1], second[..., -1:]
        padded = np.concatenate([first, first, first, second, last, last, last], axis=-1)
        count = width.shape[-1]
        least = padded[..., :count]
        most = least
        for k in range(1, 6):
            least = np.minimum(least, padded[..., k : k + count])
            most = np.maximum(most, padded[..., k : k + count])
        bend = np.maximum(-least, 0.0) + (most - least)
        ends = np.maximum(height[..., :-1], height[..., 1:])
        bound = ends + 0.125 * width**2 * bend
    return np.where(np.isnan(bound), np.inf, bound)
