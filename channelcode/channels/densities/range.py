"""Where the output law of each input sits, for channels of the library and of users."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels.base import Channel
from channelcode.channels.support import Counts, Interval, as_support
from channelcode.errors import InvalidArgument

DROP = 50.0  # nats below the peak: a tail from here on that falls exponentially holds 1e-21
_OFFSETS = np.concatenate([[0.0], np.geomspace(1e-9, 1e12, 1500)])
_MOST_COUNTS = 10_000_000


def has_density(channel: Any) -> bool:
    """True for a channel with outputs without end: it has a support and a log_density."""
    return getattr(channel, "support", None) is not None


def line_log_density(channel: Channel, t: Array, l: Array) -> Array:
    """ln of the density in the coordinate t of the support (`Interval.from_line`)."""
    support = as_support(channel.support)
    if isinstance(support, Counts):
        return channel.log_density(t, l)
    y, log_slope = support.from_line(np.asarray(t, dtype=np.float64))
    edge = (y <= support.low) | (y >= support.high)  # rounded onto an end: nothing is left there
    inside = np.where(edge, _middle(support), y)
    values = channel.log_density(inside, l) + log_slope
    return np.where(edge, -np.inf, values)


def output_range(channel: Channel, l: Array) -> tuple[Array, Array]:
    """Ends in t, `(m,)` each, between which all but about 1e-18 of each output law lies."""
    inputs = np.atleast_1d(np.asarray(l, dtype=np.float64))
    own = getattr(channel, "output_range", None)
    if own is not None:
        low, high = own(inputs)
        return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if isinstance(as_support(channel.support), Counts):
        last = np.array([_last_count(channel, float(x)) for x in inputs])
        return np.zeros_like(inputs), last
    ends = np.array([_searched(channel, float(x)) for x in inputs])
    return ends[:, 0], ends[:, 1]


def graded_edges(channel: Channel, l: float, count: int) -> Array:
    """Edges over the range of one output law, fine at its peak and ever wider outwards."""
    low, high = (float(end[0]) for end in output_range(channel, np.array([l])))
    if getattr(channel, "output_range", None) is None:
        centre, scale = _searched(channel, l)[2:]
    else:
        centre, scale = 0.5 * (low + high), float(output_scale(channel, np.array([l]))[0])
    first, last = np.arcsinh((np.array([low, high]) - centre) / scale)
    steps = np.linspace(float(first), float(last), count + 1)
    return np.asarray(centre + scale * np.sinh(steps), dtype=np.float64)


def output_scale(channel: Channel, l: Array) -> Array:
    """The scale in t on which each output density changes, `(m,)`."""
    inputs = np.atleast_1d(np.asarray(l, dtype=np.float64))
    own = getattr(channel, "output_scale", None)
    if own is not None:
        return np.asarray(own(inputs), dtype=np.float64)
    if isinstance(as_support(channel.support), Counts):
        return np.maximum(output_range(channel, inputs)[1], 20.0) / 20.0
    return np.array([_searched(channel, float(x))[3] for x in inputs])


def kinks(channel: Channel, l: Array) -> Array:
    """Where densities have corners, in t; none unless the channel names them."""
    own = getattr(channel, "kinks", None)
    return np.empty(0) if own is None else np.asarray(own(np.atleast_1d(l)), dtype=np.float64)


def _middle(support: Interval) -> float:
    if np.isfinite(support.low) and np.isfinite(support.high):
        return 0.5 * (support.low + support.high)
    if np.isfinite(support.low):
        return support.low + 1.0
    return support.high - 1.0 if np.isfinite(support.high) else 0.0


def _searched(channel: Channel, l: float) -> tuple[float, float, float, float]:
    """Ends, peak and scale for one input of a user's density: climb, then walk out."""

    def height(t: Array) -> Array:
        return line_log_density(channel, np.asarray(t, dtype=np.float64), np.asarray(l))

    centres = {0.0, l}
    if l > 0:
        centres.add(float(np.log(l)))
    offsets = np.concatenate([-_OFFSETS[::-1], _OFFSETS])
    grid = np.unique(np.concatenate([centre + offsets for centre in centres]))
    values = height(grid)
    if not np.isfinite(values).any():
        name = f"{type(channel).__name__}.log_density"
        raise InvalidArgument(name, "must be finite somewhere in the support", f"l = {l}")
    for _ in range(60):  # zoom in on the highest point
        top = int(np.argmax(values))
        left, right = grid[max(top - 1, 0)], grid[min(top + 1, len(grid) - 1)]
        if right - left <= 1e-9 * max(abs(left), abs(right), 1e-9):
            break
        grid = np.linspace(left, right, 17)
        values = height(grid)
        if values.max() - values.min() < 0.5:
            break
    top = int(np.argmax(values))
    peak, floor = float(grid[top]), float(values[top]) - DROP
    steps = np.geomspace(1e-12, 1e12, 481)
    ends, scale = [], np.inf
    for sign in (-1.0, 1.0):
        outward = height(peak + sign * steps)
        scale = min(scale, float(steps[int(np.argmax(outward < floor + DROP - 1.0))]))
        above = np.flatnonzero(outward > floor)
        last = int(above[-1]) if len(above) else 0
        ends.append(peak + sign * steps[min(last + 1, len(steps) - 1)])
    return float(ends[0]), float(ends[1]), peak, scale


def _last_count(channel: Channel, l: float) -> float:
    """The count after which what is left of a user's law is below rounding."""
    total, start, size = 0.0, 0, 64
    while start < _MOST_COUNTS:
        counts = np.arange(start, start + size, dtype=np.float64)
        total += float(np.exp(line_log_density(channel, counts, np.asarray(l))).sum())
        start, size = start + size, min(2 * size, 1 << 20)
        if total >= 1.0 - 1e-14:
            return float(start - 1)
    name = f"{type(channel).__name__}.log_density"
    rule = "must give probabilities that sum to one"
    raise InvalidArgument(name, rule, f"a sum of {total!r} over {start} counts at l = {l}")
