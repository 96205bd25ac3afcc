"""The channel at inputs on the real line."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.law_value import fast_divergence, quiet_log_prob
from channelcode.capacity.problem import Problem

HALO = 0.5 ** np.arange(2.0, 19.0)  # distances from an atom, down to 4e-6
CLOSEST = 1e-8  # inputs nearer to a probe than this, relatively, are left out


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


def joined(problem: Problem, grid: Probes, extra: Array) -> Probes:
    """The probes with further inputs in their places, but for those next to a probe already.

    Neighbours apart by rounding alone would spoil the divided differences of `line_bound`.
    """
    points = grid.points
    inside = np.unique(extra[(extra >= points[0]) & (extra <= points[-1])])
    places = np.searchsorted(points, inside)
    after = points.take(places, mode="clip") - inside
    before = inside - points.take(places - 1, mode="clip")
    fresh = np.minimum(np.abs(after), np.abs(before)) > CLOSEST * (1.0 + np.abs(inside))
    if not fresh.any():
        return grid
    return merged(grid, probe(problem, inside[fresh]))


def merged(grid: Probes, more: Probes) -> Probes:
    """Both sets of probes, sorted."""
    order = np.argsort(np.concatenate([grid.points, more.points]), kind="stable")
    return Probes(*(np.concatenate([a, b]).take(order, axis=0) for a, b in zip(grid, more)))
