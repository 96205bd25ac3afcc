"""Where the output law of each input sits, for channels of the library and of users."""

from __future__ import annotations

from math import frexp
from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.channels.base import Channel
from channelcode.channels.mapped.rescaled_density import as_given
from channelcode.channels.support import Counts, Interval, as_support
from channelcode.errors import InvalidArgument

DROP = 50.0  # nats below the peak: a tail from here on that falls exponentially holds 1e-21
_OFFSETS = np.concatenate([[0.0], np.geomspace(1e-9, 1e12, 1500)])
_STEPS = np.geomspace(1e-12, 1e24, 721)
_FAR = 16.0  # a law so many times narrower or wider than the unit is looked for at every scale
_EXPONENTS = (1020.0, 500.0, 200.0, 60.0)  # of two: where a search at every scale ends
_ENDLESS = 1e290  # a law so wide nowhere falls
_MOST_COUNTS = 1_000_000
_CORE = 5.0  # scales on either side of the peak; what lies beyond is a tail
_LONG = 3.0  # times the core: a range from which on points are spread ever wider in the tails
_LEAST_SIDE = 0.05  # of the other: what a side that drops at once, as a jump does, counts for


class Spread(NamedTuple):
    """For each of m inputs: the ends of its output law in t, those of its core, and its scale."""

    low: Array
    high: Array
    first: Array
    last: Array
    scale: Array

    @property
    def centre(self) -> Array:
        """The middle of each core."""
        return 0.5 * (self.first + self.last)


class Found(NamedTuple):
    """Ends of one output law in t, its peak and its scale."""

    low: float
    high: float
    peak: float
    scale: float


class Points(NamedTuple):
    """Points in t and the length that each stands for, up to a common factor."""

    places: Array
    shares: Array


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


def spread_of(channel: Channel, l: Array) -> Spread:
    """Where the output laws lie: all but about 1e-18 of each between its ends.

    Beyond them the density times the distance is 50 nats below its value at the peak.
    """
    inputs = np.atleast_1d(np.asarray(l, dtype=np.float64))
    ends, size = getattr(channel, "output_range", None), getattr(channel, "output_scale", None)
    if isinstance(as_support(channel.support), Counts):
        if ends is None:
            low = np.zeros_like(inputs)
            high = np.array([_last_count(channel, float(x)) for x in inputs])
        else:
            low, high = ends(inputs)
        scale = np.maximum(high, 20.0) / 20.0 if size is None else size(inputs)
        return Spread(*map(_floats, (low, high, low, high, scale)))
    if ends is not None and size is not None:
        low, high = ends(inputs)
        return Spread(*map(_floats, (low, high, low, high, size(inputs))))
    each, unit = [], 1.0
    for x in inputs:
        each.append(_searched(channel, float(x), unit))
        far = not 1.0 / _FAR <= each[-1].scale <= _FAR
        unit = 2.0 ** (frexp(each[-1].scale)[1] - 1) if far else 1.0
    found = np.array(each).reshape(-1, 4).T
    scale = _floats(found[3] if size is None else size(inputs))
    if ends is not None:
        low, high = ends(inputs)
        return Spread(*map(_floats, (low, high, low, high, scale)))
    low, high, peak, _ = found
    core = _CORE * scale
    return Spread(low, high, np.maximum(peak - core, low), np.minimum(peak + core, high), scale)


def _floats(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


def output_range(channel: Channel, l: Array) -> tuple[Array, Array]:
    """Ends in t, `(m,)` each, between which all but about 1e-18 of each output law lies."""
    return spread_of(channel, l)[:2]


def output_scale(channel: Channel, l: Array) -> Array:
    """The scale in t on which each output density changes, `(m,)`."""
    return spread_of(channel, l).scale


def spaced(spread: Spread, step: float, *, least: int, most: int) -> Points:
    """Points over the whole range, `step` apart at the peaks and ever wider in long tails."""
    low, high = float(spread.low.min()), float(spread.high.max())
    first, last = float(spread.first.min()), float(spread.last.max())
    half, centre = 0.5 * (last - first), 0.5 * (first + last)
    if not high - low > _LONG * (last - first) > 0.0:
        count = int(np.clip(np.ceil((high - low) / step), least, most))
        return Points(np.linspace(low, high, count + 1), np.ones(count + 1))
    start, stop = np.arcsinh((np.array([low, high]) - centre) / half)
    # t = centre + half sinh(s): at the ends of the core the points are sqrt(2) wider
    count = int(np.clip(np.ceil(1.5 * half * (stop - start) / step), least, most))
    s = np.linspace(start, stop, count + 1)
    places = centre + half * np.sinh(s)
    places[0], places[-1] = low, high
    return Points(places, np.cosh(s))


def graded_edges(channel: Channel, l: float, count: int) -> Array:
    """Edges over the range of one output law, fine at its peak and ever wider outwards."""
    spread = spread_of(channel, np.array([l]))
    low, high, scale = float(spread.low[0]), float(spread.high[0]), float(spread.scale[0])
    centre = float(spread.centre[0])
    first, last = np.arcsinh((np.array([low, high]) - centre) / scale)
    steps = np.linspace(float(first), float(last), count + 1)
    return np.asarray(centre + scale * np.sinh(steps), dtype=np.float64)


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


def _searched(channel: Channel, l: float, unit: float) -> Found:
    """Ends, peak and scale for one input of a user's density: climb, then walk out.

    Where the law turns out to be of another order than the `unit`, every scale is looked at.
    """
    found = _climbed(channel, l, unit * _OFFSETS, unit * _STEPS)
    if found is not None and unit / _FAR <= found.scale <= unit * _FAR:
        return found
    found = searched_anywhere(channel, l) or found
    if found is None:
        given, at = as_given(channel, l)
        name = f"{type(given).__name__}.log_density"
        rule = "must be finite somewhere in the support, where the search looks (output_range(l) "
        rule += "and output_scale(l) tell it where the output lies and how wide its peaks are)"
        raise InvalidArgument(name, rule, f"-inf wherever it was tried, at l = {at}")
    if found.scale > _ENDLESS:
        given, at = as_given(channel, l)
        name = f"{type(given).__name__}.log_density"
        rule = "must fall on either side of its peak: it is the logarithm of a density"
        raise InvalidArgument(name, rule, f"a law without end at l = {at}")
    return found


def searched_anywhere(channel: Channel, l: float) -> Found | None:
    """The same by looking at every scale that a double has; None where nothing is found.

    What is found in a unit of 2^k is 2^k times what is found in a unit of one.
    """
    for largest in _EXPONENTS:
        exponents = np.arange(-min(largest, 1060.0), largest, 0.0625)
        offsets = np.concatenate([[0.0], np.exp2(exponents)])
        try:
            return _climbed(channel, l, offsets, offsets[1::4])
        except InvalidArgument:  # no number so far out
            continue
    return None


def _climbed(channel: Channel, l: float, offsets: Array, steps: Array) -> Found | None:
    """The highest peak near 0 or l, at these offsets from either, and how its sides fall."""

    def height(t: Array) -> Array:
        return line_log_density(channel, np.asarray(t, dtype=np.float64), np.asarray(l))

    centres = {0.0, l}
    if l > 0:
        centres.add(float(np.log(l)))
    both = np.concatenate([-offsets[::-1], offsets])
    grid = np.unique(np.concatenate([centre + both for centre in centres]))
    grid = grid[np.isfinite(grid)]
    values = height(grid)
    if not np.isfinite(values).any():
        return None
    for _ in range(60):  # zoom in on the highest point
        top = int(np.argmax(values))
        left, right = grid[max(top - 1, 0)], grid[min(top + 1, len(grid) - 1)]
        if right - left <= 1e-9 * max(abs(left), abs(right), steps[0]):
            break
        grid = left + (right - left) * np.linspace(0.0, 1.0, 17)
        values = height(grid)
        if values.min() > values.max() - 0.5:
            break
    top = int(np.argmax(values))
    peak, floor = float(grid[top]), float(values[top]) - DROP
    outward, sides = [], []
    for sign in (-1.0, 1.0):
        places = peak + sign * steps
        places = places[np.isfinite(places)]
        outward.append((places, height(places)))
        fallen = outward[-1][1] < floor + DROP - 0.5  # of a Gaussian: at one deviation
        side = max(int(np.argmax(fallen)) - 1, 0) if fallen.any() else len(places) - 1
        sides.append(float(steps[side]))
    narrow, wide = sorted(sides)
    scale = max(narrow, _LEAST_SIDE * wide)
    ends = []
    for places, heights in outward:
        # the mass beyond a distance d is about d f, for tails that fall like a power of it
        farther = np.maximum(np.log(steps[: len(places)]) - np.log(scale), 0.0)
        above = np.flatnonzero(heights + farther > floor)
        last = int(above[-1]) if len(above) else 0
        ends.append(places[min(last + 1, len(places) - 1)])
    scale = float(min(scale, max(ends[1] - ends[0], steps[0])))
    return Found(float(ends[0]), float(ends[1]), peak, scale)


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
