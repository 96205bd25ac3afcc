"""The upper bound over the whole real line: no input between the probe points is forgotten.

Between neighbouring probes a < b the KKT function F is bounded in two ways, and the lesser counts:

- box: D(W||q) is convex in W, so where every probability is monotone between a and b,
  D <= sum_y max over both ends of w ln(w/q) - w + q; a probability that turns is given room for
  its turn, twice what the differences around it suggest;
- bend: F <= max(F(a), F(b)) + (b-a)^2/8 max(-F''), where F'' is taken from six divided differences
  around the interval, less their whole spread.

Intervals whose bound is too high are split until it is not, or until no double lies inside. Beyond
the probes there is a reason or none: the peak, the multiplier (s (b(l) - P) outweighs -ln min q),
what the channel declares of its tails, or the scope says that the inputs within an interval are all
that was looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.kkt import priced
from channelcode.capacity.law_value import LawValue
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.bends import bend_bound, inside, quartered
from channelcode.capacity.search.grid import (
    BLACK_FINE,
    BLACK_WIDE,
    inner_radius,
    is_even,
    probes,
    spacing,
)
from channelcode.capacity.search.line import Probes, halo, joined, merged, probe
from channelcode.capacity.search.reach import End, Reach, filled, reach

FINE, WIDE = 601, 400
MOST_ROUNDS = 60
MOST_PROBES = 50_000


class UpperBound(NamedTuple):
    """A bound in nats, what it was proved over, and whether that is every input allowed."""

    nats: float
    scope: str
    complete: bool = True


def line_bound(
    problem: Problem, atoms: Array, found: LawValue, multiplier: float, tol: float
) -> UpperBound:
    """An upper bound on the capacity in nats, and the scope over which it holds."""
    output = filled(found.output, tol)
    far = reach(problem, output, multiplier, found.nats)
    fine, wide = (BLACK_FINE, BLACK_WIDE) if problem.has_black_box else (FINE, WIDE)
    grid = probes(problem, far.radius, fine=fine, wide=wide, throughout=True)
    near = joined(problem, grid, halo(problem, atoms))
    upper, top, used = _within(problem, near, output, multiplier, found.nats, tol)
    ends = (float(near.points[0]), float(near.points[-1]))
    enough = found.nats + 0.5 * tol
    if problem.tails is None and upper > enough >= top:
        # no probe breaks KKT, but far out a black box cannot be bounded between them
        inner = max(inner_radius(problem, far.radius), float(np.abs(atoms).max()))
        part = near.take(np.abs(near.points) <= inner * (1.0 + 1e-12))
        within, _, more = _within(problem, part, output, multiplier, found.nats, tol)
        if within <= enough:
            ends = (float(part.points[0]), float(part.points[-1]))
            text = "further out it changes too fast to be bounded"
            return UpperBound(within, _scope(problem, ends, far, text, False, used + more), False)
    whole = ends[0] <= -far.radius and ends[1] >= far.radius
    tails = ""
    if not whole:
        tails = "beyond, the channel returns no numbers"
    elif far.end is not End.NONE:
        tails = far.end.value
    elif problem.tails is not None:
        beyond = _tails_bound(problem, grid, output, multiplier)
        if beyond <= max(upper, enough):
            tails, upper = "tails as the channel declares them", max(upper, beyond)
    complete = whole and (far.end is not End.NONE or tails != "")
    if not is_even(problem, far.radius):
        complete = False  # a narrow response of a black box may lie between wide steps, or beyond
    return UpperBound(upper, _scope(problem, ends, far, tails, complete, used), complete)


def _within(
    problem: Problem, known: Probes, output: Array, multiplier: float, value: float, tol: float
) -> tuple[float, float, int]:
    """The bound from the first to the last probe, the highest probe, and how many there were."""
    height = _heights(problem, known, output, multiplier)
    top, used = float(height.max()), len(height)
    upper, goal = top, max(top, value) + 0.2 * tol
    bound = _bounds(problem, known, height, output, multiplier, goal)
    for _ in range(MOST_ROUNDS):
        open_ = bound > goal
        if not open_.any() or used > MOST_PROBES:
            break
        upper = max(upper, float(bound[~open_].max(initial=-np.inf)))
        keep, points = quartered(known.points, open_)
        if len(points) == 0:
            break
        fresh = probe(problem, points)
        heights = np.append(height[keep], _heights(problem, fresh, output, multiplier))
        finer = merged(known.take(keep), fresh)
        height = heights[np.argsort(np.append(known.points[keep], points), kind="stable")]
        alive = inside(finer.points, known.points, open_)
        known, used = finer, used + len(points)
        top = max(top, float(height.max()))
        goal = max(goal, top + 0.2 * tol)
        bound = _bounds(problem, known, height, output, multiplier, goal)
        bound[~alive] = -np.inf  # settled in an earlier round
    return max(upper, top, float(bound.max(initial=-np.inf))), top, used


def _tails_bound(problem: Problem, grid: Probes, output: Array, multiplier: float) -> float:
    """A bound on F beyond both ends of the probes, from what the channel declares.

    Where a probability turns no more it stays between its last value and its limit, or one of 0
    and 1 if the limit is not known; D is convex, so that the corners of this box bound it.
    """
    tails = problem.tails
    if tails is None or not (tails.turns_once or tails.radius <= grid.points[-1]):
        return np.inf
    highest = -np.inf
    for side, law in zip((0, -1), tails.limits or (None, None)):
        last = grid.prob[side]
        if law is None:
            inward = grid.prob if side == 0 else grid.prob[::-1]
            change = np.diff(inward, axis=0)
            moves = np.abs(change) > 0
            first = np.where(moves.any(axis=0), moves.argmax(axis=0), 0)
            outward = -change[first, np.arange(change.shape[1])]
            limit = np.where(outward > 0, 1.0, np.where(outward < 0, 0.0, last))
        else:
            limit = np.asarray(law)
        corners = np.stack([last, limit])
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(corners > 0, corners * np.log(corners / output), 0.0)
        highest = max(highest, float((terms - corners + output).max(axis=0).sum()))
    if multiplier > 0 and problem.limits.is_power:
        highest += multiplier * (problem.limits.budget - float(grid.points[-1]) ** 2)
    return highest


def _scope(
    problem: Problem,
    ends: tuple[float, float],
    far: Reach,
    tails: str,
    complete: bool,
    used: int,
) -> str:
    peak = problem.limits.peak
    where = f"[{-peak:.6g}, {peak:.6g}]" if peak < np.inf else "the real line"
    if not complete:
        where = f"inputs within [{ends[0]:.4g}, {ends[1]:.4g}]"
        even = inner_radius(problem, far.radius)
        if problem.has_black_box and max(-ends[0], ends[1]) > even:  # wide steps leave gaps
            low, high = max(ends[0], -even), min(ends[1], even)
            where = f"inputs within [{low:.4g}, {high:.4g}], and only those looked at further out"
            where += f" up to {max(-ends[0], ends[1]):.4g}"
    text = f"{where}: bounds between {used} probes"
    if complete:
        text += f" on [{ends[0]:.4g}, {ends[1]:.4g}]"
    if problem.has_black_box:
        even = inner_radius(problem, far.radius)
        inner = min(even, far.radius)
        text += f", every {spacing(problem, even, BLACK_FINE):.2g} up to {inner:.4g}"
        if ends[1] > inner and inner < far.radius:
            steps = np.arcsinh(far.radius / 1e-3) / (BLACK_WIDE // 2)
            text += f" and every {steps:.1%} of |l| further out"
    return text + (f", {tails}" if tails else "")


def _heights(problem: Problem, known: Probes, output: Array, multiplier: float) -> Array:
    height = priced(problem, known.points, known.divergence(output), multiplier)
    height[np.isnan(height)] = -np.inf
    return height


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
    left, right = known.points[index], known.points[index + 1]
    solid = index[np.nextafter(left, right) >= right]  # a jump: no double in between
    bound[solid] = np.maximum(height[solid], height[solid + 1])
    index = index[bound[index] > goal]
    if len(index) == 0:
        return bound
    box = _box(known, output, index)
    if problem.has_own_cost or (multiplier > 0 and problem.limits.is_power):
        left, right = known.points[index], known.points[index + 1]
        least = np.minimum(problem.cost(left), problem.cost(right))
        if problem.limits.is_power:
            least = np.where((left < 0) & (right > 0), 0.0, least)
        else:
            least = least - _dips(problem, known, index)
        if multiplier > 0:
            box = box - multiplier * (least - problem.limits.budget)
        else:
            box = np.where(least == np.inf, -np.inf, box)  # forbidden at both ends
    bound[index] = np.fmin(box, bound[index])
    return bound


def _dips(problem: Problem, known: Probes, index: Any) -> Array:
    """Room below both ends of some intervals for a cost of one's own that turns there."""
    places = np.clip(index[:, None] + np.arange(-1, 3), 0, len(known.points) - 1)
    with np.errstate(invalid="ignore"):
        cost = problem.cost(known.points[places].ravel()).reshape(places.shape)
        change = np.diff(cost, axis=1)
        before, here, after = change[:, 0], change[:, 1], change[:, 2]
        turns = (before < 0) & (here > 0) | (here < 0) & (after > 0)
        overshoot = 0.25 * (np.abs(before - here) + np.abs(here - after))
    return np.where(turns & np.isfinite(overshoot), overshoot, 0.0)


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
