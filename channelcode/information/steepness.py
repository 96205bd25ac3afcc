"""How fast a channel's law, its entropy and its divergences move with the input."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._numerics.lipschitz import steepest_in_space, steepest_on_line
from channelcode._numerics.logspace import plogp
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.measures import DiscreteMeasure, Gaussian


class Steepness(NamedTuple):
    """Lipschitz constants in nats of D(W(.|l) || q), of W(.|l) in l1, and of H(Y | L = l)."""

    divergence: float
    output: float
    entropy: float


def steepness(
    channel: Channel, law: Array, measure: Gaussian | DiscreteMeasure, target: DiscreteMeasure
) -> Steepness:
    """The Lipschitz constants of a channel against an output law, searched over its whole input."""
    with np.errstate(divide="ignore"):
        log_law = np.log(law)

    def divergence(l: Array) -> Array:
        log_rows = channel.log_prob(l)
        rows = np.exp(log_rows)
        with np.errstate(invalid="ignore", over="ignore"):
            terms = np.where(rows > 0, rows * (log_rows - log_law), 0.0)
        return terms.sum(axis=-1)

    if channel.dim == 1:
        grid = _search_grid(channel, measure, target)
        steep = steepest_on_line(divergence, grid)
        # total absolute value: the sum over outputs of |W(y|b) - W(y|a)|, a path length
        output = steepest_on_line(_ArcLength(channel), grid)
        entropy = steepest_on_line(lambda l: -plogp(channel.log_prob(l)).sum(axis=-1), grid)
        return Steepness(steep, output, entropy)
    centres = np.concatenate([target.points, 0.5 * target.points, np.zeros((1, channel.dim))])

    def slopes(points: Array) -> tuple[Array, Array, Array]:
        log_rows = channel.log_prob(points)
        rows = np.exp(log_rows)
        gradient = channel.derivatives(points).gradient
        moving = np.where((rows > 0)[..., None], rows[..., None] * gradient, 0.0)
        return rows, log_rows, moving

    def divergence_size(points: Array) -> Array:
        _, log_rows, moving = slopes(points)
        return np.linalg.norm(np.einsum("...yk,...y->...k", moving, log_rows - log_law), axis=-1)

    def entropy_size(points: Array) -> Array:
        _, log_rows, moving = slopes(points)
        return np.linalg.norm(np.einsum("...yk,...y->...k", moving, log_rows), axis=-1)

    def output_size(points: Array) -> Array:
        return np.linalg.norm(slopes(points)[2], axis=-1).sum(axis=-1)

    steep = steepest_in_space(divergence_size, channel.dim, centres)
    output = steepest_in_space(output_size, channel.dim, centres)
    entropy = steepest_in_space(entropy_size, channel.dim, centres)
    return Steepness(steep, output, entropy)


class _ArcLength:
    """Pairs (a, b) to (0, sum_y |W(y|b) - W(y|a)|), so that secants measure total variation."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def __call__(self, pairs: Array) -> Array:
        rows = self.channel.prob(pairs)
        moved = np.abs(rows[..., 1, :] - rows[..., 0, :]).sum(axis=-1)
        return np.stack([np.zeros_like(moved), moved], axis=-1)


def _search_grid(
    channel: Channel, measure: Gaussian | DiscreteMeasure, target: DiscreteMeasure
) -> Array:
    promise = channel.tails()
    scales = np.geomspace(1e-4, 1e4, 400)
    around = np.concatenate([-scales, [0.0], scales])
    if promise is not None:
        around = np.concatenate([around, promise.resolving_inputs(1e6)])
    sigma = float(np.sqrt(measure.covariance))
    span = measure.mean + sigma * np.linspace(-10.0, 10.0, 2001)
    return np.concatenate([np.linspace(-60.0, 60.0, 12001), around, span, target.atoms])
