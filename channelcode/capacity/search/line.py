"""Where to look on the real line: how far out, how finely, and for which maxima."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.law_value import fast_divergence, quiet_log_prob
from channelcode.capacity.problem import Problem

HALO = 0.5 ** np.arange(2.0, 19.0)  # distances from an atom, down to 4e-6
CLOSEST = 1e-8  # inputs nearer to a probe than this, relatively, are left out
FARTHEST = 1e18  # stands for infinity where neither peak nor multiplier ends the line


def reach(problem: Problem, output: Array, multiplier: float, value: float) -> tuple[float, bool]:
    """A radius beyond which no input can break KKT, and whether that is proved.

    As D(W||q) <= -ln min q, inputs with s (b(l) - P) above -ln min q - I cannot. The peak ends the
    line too. Otherwise the radius is FARTHEST, and what lies beyond is taken as at the end.
    """
    peak = problem.limits.peak
    positive = output[output > 0]
    room = max(float(-np.log(positive.min())) - value, 0.0) + 1e-12
    if multiplier <= 0 or problem.limits.cost is None:
        return min(peak, FARTHEST), peak <= FARTHEST
    if problem.limits.is_power:
        radius = np.sqrt(problem.limits.budget + room / multiplier)
        return float(min(peak, radius, FARTHEST)), min(peak, radius) <= FARTHEST
    radius = 1.0
    while radius < min(peak, FARTHEST):
        ring = radius * np.array([-4.0, -2.0, -1.5, -1.0, 1.0, 1.5, 2.0, 4.0])
        with np.errstate(all="ignore"):
            cost = problem.cost(ring)
        if (multiplier * (cost - problem.limits.budget) > room).all():
            return min(radius, peak), False
        radius *= 2.0
    return min(peak, FARTHEST), peak <= FARTHEST


class Probes(NamedTuple):
    """Sorted inputs `(n,)`, the channel's log-probabilities and probabilities there, `(n, Y)`, and
    sum_y w ln w, `(n,)`."""

    points: Array
    log_prob: Array
    prob: Array
    order: Array

    def take(self, index: Any) -> Probes:
        """Some of the probes."""
        return Probes(*(part[index] for part in self))

    def divergence(self, output: Array) -> Array:
        """D(W || q) at every probe, in nats."""
        return np.maximum(fast_divergence(self.order, self.prob, output), 0.0)


def probe(problem: Problem, points: Array) -> Probes:
    """The channel at the given inputs."""
    log_prob = quiet_log_prob(problem.channel, points)
    with np.errstate(under="ignore", invalid="ignore"):
        prob = np.exp(log_prob)
        order = np.where(prob > 0, prob * log_prob, 0.0).sum(axis=1)
    return Probes(points, log_prob, prob, order)


def halo(problem: Problem, atoms: Array) -> Array:
    """The atoms and, around each, inputs at distances 1/4, 1/8, ... on both sides."""
    offsets = np.concatenate([[0.0], HALO, -HALO])
    points = (atoms[:, None] + offsets).ravel()
    return points[np.abs(points) <= problem.limits.peak]


def probes(problem: Problem, radius: float, *, fine: int, wide: int) -> Probes:
    """Sorted inputs in [-radius, radius]: `fine` of them evenly where the channel bends, `wide`
    ones spread geometrically over the rest, zero and both ends.

    A radius below the peak is rounded up to a power of the root of two, so that neighbouring
    problems share their probes.
    """
    budget = problem.limits.budget if problem.limits.is_power else 1.0
    inner = max(8.0, 4.0 * _rounded_up(np.sqrt(min(budget, 1e6))))
    if radius < problem.limits.peak:
        radius = min(_rounded_up(radius), problem.limits.peak)
    key = (fine, wide, radius, inner)
    if key not in problem.cache:
        problem.cache[key] = _probes(problem, radius, min(inner, radius), fine, wide)
    return problem.cache[key]


def _probes(problem: Problem, radius: float, inner: float, fine: int, wide: int) -> Probes:
    even = np.linspace(-inner, inner, fine | 1)
    unit = 1e-3 * min(inner, 1.0)
    far = unit * np.sinh(np.linspace(0.0, np.arcsinh(radius / unit), wide // 2 + 1)[1:])
    far[-1] = radius
    found = probe(problem, np.unique(np.concatenate([even, far, -far])))
    keep = ~(np.isnan(found.log_prob) | (found.log_prob == np.inf)).any(axis=1)
    if keep.all():
        return found
    # a user's exp may overflow far out: keep the run of numbers around zero
    centre = int(np.argmin(np.where(keep, np.abs(found.points), np.inf)))
    bad = np.flatnonzero(~keep)
    left = bad[bad < centre].max() + 1 if (bad < centre).any() else 0
    right = bad[bad > centre].min() if (bad > centre).any() else len(keep)
    return found.take(slice(left, right))


def joined(problem: Problem, grid: Probes, extra: Array) -> Probes:
    """The probes with further inputs in their places, but for those next to a probe already.

    Neighbours apart by rounding alone would spoil the divided differences of `line_bound`.
    """
    inside = np.unique(extra[(extra >= grid.points[0]) & (extra <= grid.points[-1])])
    places = np.searchsorted(grid.points, inside)
    after = grid.points.take(places, mode="clip") - inside
    before = inside - grid.points.take(places - 1, mode="clip")
    fresh = np.minimum(np.abs(after), np.abs(before)) > CLOSEST * (1.0 + np.abs(inside))
    if not fresh.any():
        return grid
    return merged(grid, probe(problem, inside[fresh]))


def merged(grid: Probes, more: Probes) -> Probes:
    """Both sets of probes, sorted."""
    order = np.argsort(np.concatenate([grid.points, more.points]), kind="stable")
    return Probes(*(np.concatenate([a, b]).take(order, axis=0) for a, b in zip(grid, more)))


def _rounded_up(value: float) -> float:
    """The next power of the root of two."""
    return float(2.0 ** (np.ceil(2.0 * np.log2(max(value, 1e-12)) - 1e-9) / 2.0))
