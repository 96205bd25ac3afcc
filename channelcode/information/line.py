"""Information of one Gaussian law on a line, for any channel, to rounding."""

from __future__ import annotations

import numpy as np

from channelcode._numerics.quadrature import (
    HALF_RANGE,
    AveragedDivergence,
    averaged_divergence,
)
from channelcode._validation import Array
from channelcode.channels import Channel

_FIRST_PANELS = 24  # each 0.8 standard deviations wide
_OFF_CENTRE = 0.0371  # the middle of a law is a likely place for a jump, and should be no edge
# from 1e-6 to 16384 in units of the channel input
_SCALES = np.concatenate([4.0 ** np.arange(-10, -2), 2.0 ** np.arange(-4, 15)])


def landmarks(channel: Channel) -> Array:
    """Places on the input axis where a channel may bend: zero, its thresholds, their inner ones.

    Around the outermost ones the first partition is geometric (see `bends`), so that a bend of any
    width from 1e-6 up is seen even when the input law is very wide; adaptivity does the rest.
    """
    found = [0.0]
    for name in ("channel", "link"):
        inner = getattr(channel, name, None)
        if isinstance(inner, Channel) and inner.dim == 1 and channel.dim == 1:
            found.extend(landmarks(inner))
    cuts = getattr(channel, "thresholds", None)
    if cuts is not None:
        found.extend(np.ravel(np.asarray(cuts, dtype=np.float64)))
    matrix = getattr(channel, "_matrix", None)
    if isinstance(matrix, np.ndarray) and matrix.size == 1 and matrix.flat[0] != 0:
        found.extend(np.array(found) / matrix.flat[0])  # a scalar feature map
    return np.unique(found)


def bends(centres: Array) -> Array:
    """First edges on the input axis: geometric about the outer landmarks, between all others.

    No landmark is an edge itself: a jump at an edge would look smooth from either side.
    """
    outer = np.unique([centres[0], centres[-1], centres[np.argmin(np.abs(centres))]])
    geometric = (outer[:, None] + np.concatenate([-_SCALES, _SCALES])).ravel()
    between = 0.5 * (centres[1:] + centres[:-1])
    return np.unique(np.concatenate([geometric, between]).astype(np.float64))


def partition(marks: Array, mean: float, sigma: float) -> Array:
    """First edges in z for l = mean + sigma z: even in z, and at the given marks in l."""
    places = (marks - mean) / sigma
    inside = places[np.abs(places) < HALF_RANGE]
    even = np.linspace(-HALF_RANGE, HALF_RANGE, _FIRST_PANELS + 1)
    even[1:-1] += _OFF_CENTRE
    edges = np.sort(np.concatenate([even, inside]))
    kept = np.concatenate([[True], np.diff(edges) > 1e-9])
    kept[-1] = True
    return np.asarray(edges[kept], dtype=np.float64)


def scalar_information(channel: Channel, mean: float, variance: float) -> AveragedDivergence:
    """I(L; Y) for L ~ N(mean, variance) at the input of a scalar channel, in nats."""
    sigma = float(np.sqrt(variance))
    if sigma == 0:
        return AveragedDivergence(0.0, 0.0, channel.prob(mean))
    edges = partition(bends(landmarks(channel)), mean, sigma)
    return averaged_divergence(lambda z: channel.log_prob(mean + sigma * z), edges)


def directed_information(channel: Channel, mean: Array, direction: Array) -> AveragedDivergence:
    """I(L; Y) for L = mean + Z direction with Z standard normal, a Gaussian law of rank one."""
    size = float(np.linalg.norm(direction))
    # bends of the channel lie at distances of order one from the point nearest to the origin
    nearest = -float(mean @ direction) / size
    edges = partition(bends(np.array([nearest])), 0.0, size)
    return averaged_divergence(lambda z: channel.log_prob(mean + z[:, None] * direction), edges)
