"""The upper bound over the whole real line: no input between the probe points is forgotten.

Between neighbouring probes a < b the KKT function F is bounded three ways, and the least counts:

- box: D(W||q) is convex in W, so where every probability is monotone between a and b,
  D <= sum_y max over both ends of w ln(w/q) - w + q; a probability that turns is given room for
  its turn, twice what the differences around it suggest;
- bend: F <= max(F(a), F(b)) + (b-a)^2/8 max(-F''), with F'' from both ends and their difference;
- tangents: where F'' < 0 by that margin, F lies below its tangents at both ends.

Intervals whose bound is too high are split until it is not. The search radius comes from the
multiplier: beyond it s (b(l) - P) outweighs -ln min q (theory: section 2).
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.information import Information, safe_log_prob
from channelcode.capacity.kkt import curve, local
from channelcode.capacity.line import probes, reach
from channelcode.capacity.problem import Problem

MOST_ROUNDS = 48
MOST_PROBES = 400_000


def line_bound(
    problem: Problem, atoms: Array, found: Information, multiplier: float, tol: float
) -> tuple[float, str]:
    """An upper bound on the capacity in nats, and the scope over which it holds."""
    output = found.output
    radius, proved = reach(problem, output, multiplier, found.nats)
    grid = probes(problem, radius, fine=1201, wide=800)
    inside = (atoms >= grid[0]) & (atoms <= grid[-1])
    grid = np.unique(np.concatenate([grid, atoms[inside]]))
    values = _terms(problem, grid, output)
    heights = _priced(problem, grid, values.sum(axis=1), multiplier)
    top = float(heights.max())
    turning = _turns(problem, grid, output)
    box = np.maximum(values[:-1], values[1:]).sum(axis=1) + turning
    bound = _priced_interval(problem, grid[:-1], grid[1:], box, multiplier)
    goal = max(top, found.nats) + 0.2 * tol
    open_ = bound > goal
    upper = float(max(bound[~open_].max(initial=-np.inf), top))
    left, right = grid[:-1][open_], grid[1:][open_]
    used, rest = len(grid), bound[open_]
    for _ in range(MOST_ROUNDS):
        if len(left) == 0 or used > MOST_PROBES:
            break
        left, right, rest, closed, count = _split(
            problem, output, multiplier, left, right, goal, tol
        )
        upper, used = max(upper, closed), used + count
    if len(left):
        upper = max(upper, float(rest.max()))
    return upper, _scope(problem, grid, radius, proved, used)


def _scope(problem: Problem, grid: Array, radius: float, proved: bool, used: int) -> str:
    peak = problem.limits.peak
    where = f"[{-peak:.6g}, {peak:.6g}]" if peak < np.inf else "the real line"
    text = f"{where}: bounds between {used} probes on [{grid[0]:.4g}, {grid[-1]:.4g}]"
    if grid[0] > -radius or grid[-1] < radius:
        return text + ", beyond which the channel returns no numbers"
    if not proved:
        return text + ", tails taken as monotone"
    return text if peak < np.inf else text + ", tails by the multiplier"


def _terms(problem: Problem, points: Array, output: Array) -> Array:
    """w ln(w/q) - w + q for each output, `(n, Y)`: non-negative, summing to D."""
    log_prob = safe_log_prob(problem.channel, points)
    with np.errstate(all="ignore"):
        prob = np.exp(log_prob)
        terms = np.where(prob > 0, prob * (log_prob - np.log(output)), 0.0) - prob + output
    return terms


def _turns(problem: Problem, grid: Array, output: Array) -> Array:
    """Room for probabilities that turn within an interval: slope of the term times overshoot."""
    with np.errstate(all="ignore"):
        log_prob = safe_log_prob(problem.channel, grid)
        prob = np.exp(log_prob)
        change = np.diff(prob, axis=0)
        before = np.vstack([change[:1], change[:-1]])
        after = np.vstack([change[1:], change[-1:]])
        turns = (before * change < 0) | (change * after < 0)
        overshoot = 0.25 * (np.abs(before - change) + np.abs(change - after))
        slope = np.abs(log_prob - np.log(output))
        slope = np.minimum(np.maximum(slope[:-1], slope[1:]), 800.0)
        extra = np.where(turns, slope * np.maximum(overshoot, 0.0), 0.0)
    return np.nan_to_num(extra).sum(axis=1)


def _priced(problem: Problem, points: Array, values: Array, multiplier: float) -> Array:
    if multiplier <= 0 or problem.limits.cost is None:
        return values
    return values - multiplier * (problem.cost(points) - problem.limits.budget)


def _priced_interval(
    problem: Problem, left: Array, right: Array, values: Array, multiplier: float
) -> Array:
    """`values` minus the least price on each interval (the cost being monotone on each)."""
    if multiplier <= 0 or problem.limits.cost is None:
        return values
    least = np.minimum(problem.cost(left), problem.cost(right))
    if problem.limits.is_power:
        least = np.where((left < 0) & (right > 0), 0.0, least)
    return values - multiplier * (least - problem.limits.budget)


def _split(
    problem: Problem,
    output: Array,
    multiplier: float,
    left: Array,
    right: Array,
    goal: float,
    tol: float,
) -> tuple[Array, Array, Array, float, int]:
    """Quarter the open intervals; return those still open, their bounds, and the best closed one."""
    del tol
    parts = left[:, None] + (right - left)[:, None] * np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    flat = parts.ravel()
    budget = problem.limits.budget if multiplier > 0 else 0.0
    at = curve(local(problem, flat), output, multiplier, budget)
    height = at.value.reshape(parts.shape)
    slope, bend = at.gradient[:, 0].reshape(parts.shape), at.hessian[:, 0, 0].reshape(parts.shape)
    terms = _terms(problem, flat, output).reshape(*parts.shape, -1)
    box = np.maximum(terms[:, :-1], terms[:, 1:]).sum(axis=-1) + _turns_within(problem, parts, output)
    a, b = parts[:, :-1], parts[:, 1:]
    width = b - a
    bound = _priced_interval(problem, a.ravel(), b.ravel(), box.ravel(), multiplier)
    bound = bound.reshape(a.shape)
    ends = np.maximum(height[:, :-1], height[:, 1:])
    least = np.minimum(bend[:, :-1], bend[:, 1:])
    spread = np.abs(bend[:, :-1] - bend[:, 1:])
    with np.errstate(invalid="ignore", over="ignore"):
        curved = ends + 0.125 * width**2 * np.maximum(spread - least, 0.0)
        concave = np.maximum(bend[:, :-1], bend[:, 1:]) + spread < 0
        from_left = height[:, :-1] + np.maximum(slope[:, :-1], 0.0) * width
        from_right = height[:, 1:] + np.maximum(-slope[:, 1:], 0.0) * width
        tangent = np.where(concave, np.minimum(from_left, from_right), np.inf)
    bound = np.fmin(bound, np.fmin(curved, np.maximum(tangent, ends)))
    still = bound > goal
    closed = float(max(bound[~still].max(initial=-np.inf), height.max()))
    return a[still], b[still], bound[still], closed, flat.size


def _turns_within(problem: Problem, parts: Array, output: Array) -> Array:
    """`_turns` for the four quarters of each interval, `(n, 4)`."""
    with np.errstate(all="ignore"):
        log_prob = safe_log_prob(problem.channel, parts.ravel()).reshape(*parts.shape, -1)
        change = np.diff(np.exp(log_prob), axis=1)
        before = np.concatenate([change[:, :1], change[:, :-1]], axis=1)
        after = np.concatenate([change[:, 1:], change[:, -1:]], axis=1)
        turns = (before * change < 0) | (change * after < 0)
        overshoot = 0.25 * (np.abs(before - change) + np.abs(change - after))
        slope = np.abs(log_prob - np.log(output))
        slope = np.minimum(np.maximum(slope[:, :-1], slope[:, 1:]), 800.0)
        return np.nan_to_num(np.where(turns, slope * overshoot, 0.0)).sum(axis=-1)
