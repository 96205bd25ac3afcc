"""Information of one Gaussian law on a line, for any channel, to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from channelcode._numerics.quadrature import (
    HALF_RANGE,
    AveragedDivergence,
    averaged_divergence,
)
from channelcode._numerics.scan import scan_points, sharp_edges
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.channels.row_check import checked_log_prob

_FIRST_PANELS = 24  # each 0.8 standard deviations wide
_OFF_CENTRE = 0.0371  # the middle of a law is a likely place for a jump, and should be no edge
SEEN = 0.075  # scale, in standard deviations, that the rule sees on those panels unaided
_SCANNED = 6.5  # standard deviations: 8e-11 of the mass lies beyond
# about a place of unknown width: from 1e-6 to 16384 in units of the channel input
_SCALES = np.concatenate([4.0 ** np.arange(-10, -2), 2.0 ** np.arange(-4, 15)])
_WIDTHS = 0.5 * 4.0 ** np.arange(64)  # about a landmark, in its widths


def bends(channel: Channel, low: float, high: float) -> Array | None:
    """First edges in [low, high] where a channel declares that it bends; None for a black box.

    About each landmark they lie at half its width, two widths, eight, ... up to half-way to the
    next one. No landmark is an edge itself: a jump at an edge would look smooth from either side.
    """
    promise = channel.tails()
    if promise is None or not promise.landmarks:
        return None if promise is None else np.empty(0)
    narrowest: dict[float, float] = {}
    for centre, width in promise.landmarks:
        narrowest[centre] = min(width, narrowest.get(centre, np.inf))
    centres = np.array(sorted(narrowest))
    middles = 0.5 * (centres[1:] + centres[:-1])
    lows, highs = np.append(low, middles), np.append(middles, high)
    pieces = [middles]
    for centre, left, right in zip(centres, lows, highs, strict=True):
        with np.errstate(over="ignore"):  # widths beyond the doubles lie beyond every end
            offsets = narrowest[float(centre)] * _WIDTHS
        above, below = centre + offsets, centre - offsets
        pieces += [above[above < right], below[below > left]]
    edges = np.unique(np.concatenate(pieces))
    return edges[(edges > low) & (edges < high)]


def about_zero(centre: float = 0.0) -> Array:
    """First edges for a black box: geometric about one place, from 1e-6 to 16384."""
    return np.unique(centre + np.concatenate([-_SCALES, _SCALES])).astype(np.float64)


def partition(marks: Array, mean: float, sigma: float) -> Array:
    """First edges in z for l = mean + sigma z: even in z, and at the given marks in l."""
    places = (marks - mean) / sigma
    inside = places[np.abs(places) < HALF_RANGE]
    even = np.linspace(-HALF_RANGE, HALF_RANGE, _FIRST_PANELS + 1)
    even[1:-1] += _OFF_CENTRE
    edges = np.sort(np.concatenate([even, inside]))
    kept = np.concatenate([[True], np.diff(edges) > 1e-12])
    kept[-1] = True
    return np.asarray(edges[kept], dtype=np.float64)


def scalar_information(channel: Channel, mean: float, variance: float) -> AveragedDivergence:
    """I(L; Y) for L ~ N(mean, variance) at the input of a scalar channel, in nats.

    A channel that declares its bends is integrated between them. A black box is first looked at on
    an even grid over 6.5 standard deviations either side, whose spacing is the `resolution`.
    """
    sigma = float(np.sqrt(variance))
    if sigma == 0:
        return AveragedDivergence(0.0, 0.0, np.exp(checked_log_prob(channel, np.array(mean))))

    def log_rows(z: Array) -> Array:
        return checked_log_prob(channel, mean + sigma * z)

    marks = bends(channel, mean - HALF_RANGE * sigma, mean + HALF_RANGE * sigma)
    if marks is not None:
        return averaged_divergence(log_rows, partition(marks, mean, sigma))
    return _scanned(log_rows, channel.num_outputs, about_zero(), mean, sigma)


def directed_information(channel: Channel, mean: Array, direction: Array) -> AveragedDivergence:
    """I(L; Y) for L = mean + Z direction with Z standard normal, a Gaussian law of rank one."""
    size = float(np.linalg.norm(direction))
    # bends of the channel lie at distances of order one from the point nearest to the origin
    marks = about_zero(-float(mean @ direction) / size)

    def log_rows(z: Array) -> Array:
        return checked_log_prob(channel, mean + z[:, None] * direction)

    if channel.tails() is not None:
        return averaged_divergence(log_rows, partition(marks, 0.0, size))
    return _scanned(log_rows, channel.num_outputs, marks, 0.0, size)


def _scanned(
    log_rows: Callable[[Array], Array], outputs: int, marks: Array, mean: float, sigma: float
) -> AveragedDivergence:
    count = scan_points(outputs)
    found = sharp_edges(lambda z: np.exp(log_rows(z)), -_SCANNED, _SCANNED, seen=SEEN, count=count)
    marks = np.concatenate([marks, mean + sigma * found.edges])
    result = averaged_divergence(log_rows, partition(marks, mean, sigma))
    return result._replace(resolution=found.spacing * sigma)
