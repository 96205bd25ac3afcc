"""The probes on the real line that solver and certificate share: how finely, and where.

A channel that declares its tails is probed at its landmarks, at their own scale. One that does not
is a black box: it is probed every 0.1 or closer out to eight times the root of the power, for a
certificate as far as an input can matter if that is below 512, and in steps proportional to the
input further out. Costs of one's own are black boxes too, and add their valleys.
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.cheap import INNER, near_valleys
from channelcode.capacity.search.line import CLOSEST, Probes, merged, probe
from channelcode.channels.densities.view import FiniteView
from channelcode.channels.row_check import ROW_SUM_ATOL, check_rows, is_builtin

SPACING = 0.1  # a bump of width 0.05 cannot hide between two probes of a black box
BLACK_FINE, BLACK_WIDE = 1201, 800  # probes of a certificate: no landmarks to go by
WIDEST = 512.0  # a range up to this can be probed evenly throughout
MOST = 4_000_000  # numbers in one table of probabilities
LEAST_SEEN = 1e-12  # a probability below this at a lone probe is no sign of a response
LAWS_WITHIN = 1e4  # a user's formula need not sum to one, to nine digits, far beyond
MOST_ROUNDS, MOST_FRESH = 24, 4000  # in looking closer at responses that one probe has seen


def probes(
    problem: Problem, radius: float, *, fine: int, wide: int, throughout: bool = False
) -> Probes:
    """Sorted inputs in [-radius, radius]: `fine` of them or more evenly where the channel bends,
    `wide` ones spread geometrically over the rest, landmarks, zero and both ends.

    A radius below the peak is rounded up to a power of the root of two, so that neighbouring
    problems share their probes. `throughout` probes a black box evenly as far as it can be.
    """
    inner = inner_radius(problem, radius) if throughout else inner_radius(problem)
    if radius < problem.limits.peak:
        radius = min(rounded_up(radius), problem.limits.peak)
    key = (fine, wide, radius, inner, problem.limits.cost if problem.has_own_cost else None)
    if key not in problem.cache:
        points = _inputs(problem, radius, min(inner, radius), fine, wide)
        found = _numbers_around_zero(probe(problem, points))
        _check_laws(problem, found, max(inner, LAWS_WITHIN))
        problem.cache[key] = resolved(problem, found) if problem.tails is None else found
    return problem.cache[key]


def inner_radius(problem: Problem, radius: float = np.inf) -> float:
    """How far out the channel is probed evenly; a black box up to `radius`, if that can be done."""
    limit, black_box = problem.limits, problem.has_black_box
    if limit.is_power:
        root = rounded_up(float(np.sqrt(min(limit.budget, 1e12))))
        inner = max(8.0, (8.0 if black_box else 4.0) * min(root, 1e6 if black_box else 1e3))
    else:
        inner = 64.0 if black_box else 8.0
    if black_box and min(limit.peak, radius) <= WIDEST:
        inner = max(inner, min(limit.peak, rounded_up(radius)))
    return min(inner, limit.peak)


def is_even(problem: Problem, radius: float) -> bool:
    """Whether all that is a user's was looked at evenly within `radius`, and beyond it is known."""
    even = inner_radius(problem, radius)
    if problem.tails is None and even < radius:
        return False
    return is_cost_even(problem, radius)


def is_cost_even(problem: Problem, radius: float) -> bool:
    """The same for a cost of one's own, whatever the channel is."""
    limit, even = problem.limits, inner_radius(problem, radius)
    if not problem.has_own_cost or limit.peak <= WIDEST:
        return True
    return limit.rises <= min(even, max(radius, INNER))


def cost_probes(problem: Problem, low: float, high: float) -> Array:
    """Inputs in [low, high] that see a cost of one's own: at its valleys, and evenly.

    Where it declares to rise the valleys are enough.
    """
    radius = max(-low, high, 0.0)
    even = min(inner_radius(problem, radius), radius, problem.limits.rises)
    count = int(np.ceil(2.0 * even / SPACING)) + 1
    found = np.append(near_valleys(problem), np.linspace(-even, even, count))
    return found[(found >= low) & (found <= high)]


def spacing(problem: Problem, inner: float, fine: int) -> float:
    """The distance between even probes."""
    return 2.0 * inner / (_even_count(problem, inner, fine) - 1)


def landmarks(problem: Problem, *, step: float | None = None) -> Array:
    """Inputs that see every bend the channel declares, and the valleys of a cost of one's own."""
    pieces = [np.empty(0)]
    tails = problem.tails
    if tails is not None and tails.landmarks:
        points = tails.resolving_inputs() if step is None else tails.resolving_inputs(step=step)
        pieces.append(points)
    if problem.has_own_cost:
        pieces.append(near_valleys(problem))
    return np.concatenate(pieces)


def _even_count(problem: Problem, inner: float, fine: int) -> int:
    count = fine
    if problem.has_black_box:
        count = max(fine, int(np.ceil(2.0 * inner / SPACING)) + 1)
        count = min(count, MOST // problem.channel.num_outputs)
    return count | 1


def _inputs(problem: Problem, radius: float, inner: float, fine: int, wide: int) -> Array:
    count = _even_count(problem, inner, fine)
    even = np.linspace(-inner, inner, count)
    if problem.has_black_box and 2.0 * inner > 1.01 * SPACING * (count - 1):
        near = min(WIDEST, inner)  # a huge power takes nothing away from what a small one sees
        closer = np.linspace(-near, near, _even_count(problem, near, fine))
        even = np.append(even[np.abs(even) > near], closer)
    unit = max(1e-3 * min(inner, 1.0), 1e-300)
    far = unit * np.sinh(np.linspace(0.0, np.arcsinh(radius / unit), wide // 2 + 1)[1:])
    far[-1] = radius
    points = np.unique(np.concatenate([even, far, -far]))
    marks = landmarks(problem)
    marks = np.unique(marks[np.abs(marks) < radius])
    if len(marks) == 0:
        return points
    # neighbours apart by rounding alone would spoil divided differences; a landmark stays
    places = np.searchsorted(marks, points)
    after = np.abs(marks.take(places, mode="clip") - points)
    before = np.abs(points - marks.take(places - 1, mode="clip"))
    apart = np.minimum(after, before) > CLOSEST * (1.0 + np.abs(points))
    apart[[0, -1]] = True
    return np.unique(np.concatenate([points[apart], marks]))


def resolved(problem: Problem, found: Probes) -> Probes:
    """The probes of a black box with closer ones around tops that a single probe has seen.

    Where a probability falls by half or more from one probe to both of its neighbours the response
    is narrower than their distance, and its height is unknown; halves of both intervals are tried
    until neighbours see it too.
    """
    room = MOST_FRESH
    for _ in range(MOST_ROUNDS):
        if len(found.points) < 3:
            break
        sides = 2.0 * np.maximum(found.prob[:-2], found.prob[2:])
        alone = (found.prob[1:-1] > np.maximum(sides, LEAST_SEEN)).any(axis=1)
        index = 1 + np.flatnonzero(alone)
        points = found.points
        fresh = np.append(points[index - 1], points[index + 1]) / 2.0
        fresh = np.unique(fresh + np.append(points[index], points[index]) / 2.0)
        fresh = np.setdiff1d(fresh, points)
        if len(fresh) == 0 or len(fresh) > room:
            break
        room -= len(fresh)
        seen = probe(problem, fresh)
        keep = ~(np.isnan(seen.log_prob) | (seen.log_prob == np.inf)).any(axis=1)
        if not keep.any():
            break
        found = merged(found, seen.take(keep))
    return found


def _check_laws(problem: Problem, found: Probes, radius: float) -> None:
    """Refuse rows of a user's channel that are no laws, within the radius."""
    if is_builtin(problem.channel) or isinstance(problem.channel, FiniteView):
        return  # the rows of a density are those of a quadrature
    wrong = np.abs(found.prob.sum(axis=1) - 1.0) > ROW_SUM_ATOL
    near = found.take(wrong & (np.abs(found.points) <= radius))
    check_rows(problem.channel, near.points, near.log_prob)


def _numbers_around_zero(found: Probes) -> Probes:
    """A user's exp may overflow far out: the run of inputs around zero that give numbers."""
    keep = ~(np.isnan(found.log_prob) | (found.log_prob == np.inf)).any(axis=1)
    if keep.all():
        return found
    centre = int(np.argmin(np.where(keep, np.abs(found.points), np.inf)))
    bad = np.flatnonzero(~keep)
    left = bad[bad < centre].max() + 1 if (bad < centre).any() else 0
    right = bad[bad > centre].min() if (bad > centre).any() else len(keep)
    return found.take(slice(left, right))


def rounded_up(value: float) -> float:
    """The next power of the root of two, or the value itself where that is below by rounding."""
    power = float(2.0 ** (np.ceil(2.0 * np.log2(max(value, 1e-300)) - 1e-9) / 2.0))
    return max(power, value)
