"""The channel at even probes of a ball in R^k, and where F peaks among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.kkt import priced
from channelcode.capacity.law_value import fast_divergence
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.ball import DIMENSIONS, Ball, balls
from channelcode.capacity.search.grid import rounded_up
from channelcode.capacity.search.line import probe
from channelcode.channels.row_check import check_rows

MOST = 500_000  # numbers in the table of one layer


class Layer(NamedTuple):
    """A ball and the channel at its points: `prob` is `(n, Y)`, `order`, sum_y w ln w, `(n,)`."""

    ball: Ball
    prob: Array
    order: Array

    def heights(self, problem: Problem, output: Array, multiplier: float) -> Array:
        """F at every point, `(n,)`, in nats; -inf where it is not a number."""
        values = np.maximum(fast_divergence(self.order, self.prob, output), 0.0)
        values = priced(problem, self.ball.points, values, multiplier)
        return np.where(np.isnan(values), -np.inf, values)

    def peaks(self, problem: Problem, output: Array, multiplier: float) -> Array:
        """Points where F may have a top, `(m, k)`."""
        heights = self.heights(problem, output, multiplier)
        return self.ball.points[self.ball.peaks(heights)]


def layers(problem: Problem, radius: float) -> list[Layer]:
    """Lattices on balls of `radius`, half of it and so on, until one is fine enough.

    None beyond R^4. The channel's rows are checked to be laws at every point.
    """
    if problem.channel.dim > DIMENSIONS or not 0.0 < radius < np.inf:
        return []
    radius = min(rounded_up(radius), problem.limits.peak)
    key = ("lattice", radius)
    if key not in problem.cache:
        most = MOST // problem.channel.num_outputs
        problem.cache[key] = [_layer(problem, b) for b in balls(problem.channel.dim, radius, most)]
    return problem.cache[key]


def described(found: list[Layer]) -> str:
    """How many probes there are and how far apart, in words."""
    count = sum(len(layer.prob) for layer in found)
    outer, inner = found[0].ball, found[-1].ball
    text = f"{count} probes, {outer.spacing:.2g} apart"
    if inner is not outer:
        text += f" far out and {inner.spacing:.2g} within {inner.radius:.3g} of zero"
    return text


def _layer(problem: Problem, ball: Ball) -> Layer:
    seen = probe(problem, ball.points)
    check_rows(problem.channel, ball.points, seen.log_prob)
    return Layer(ball, seen.prob, seen.order)
