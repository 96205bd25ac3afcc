"""The units in which a user's density is best seen: those of its output and of its input.

Nothing is known of a user's density but its values, so both are found by looking at every binary
scale that a double has: how wide the law of the output is, and how far the input must move before
that law changes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.channels.base import Channel
from channelcode.channels.densities.range import line_log_density, searched_anywhere, spread_of
from channelcode.channels.support import Interval, as_support
from channelcode.errors import InvalidArgument

_OUTPUTS = np.array([-1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0])  # scales from the middle
_CHANGE = 0.5  # nats by which the density must differ at one of them
_AT_LEAST = 2  # of them: one alone may lie on a jump
_BLOCK = 64
SAFE = 1e300


class Units(NamedTuple):
    """Powers of two: of the input, and of the output (1 unless its support is the line)."""

    input: float
    output: float


def own_units(channel: Channel) -> Units:
    """The units of a channel with a density, seen from the input nearest to zero.

    >>> class Narrow(Channel):
    ...     support = (-np.inf, np.inf)
    ...     def log_density(self, y, l):
    ...         return -np.abs(y - l) * 2.0**80 + 79.0 * np.log(2.0)
    >>> own_units(Narrow()) == (2.0**-81, 2.0**-81)
    True
    """
    support = as_support(channel.support)
    origin = float(np.clip(0.0, *channel.domain))
    if not isinstance(support, Interval):
        spread = spread_of(channel, np.array([origin]))
        counts = np.unique(np.linspace(spread.low[0], spread.high[0], 41).round())
        return Units(_first_change(channel, counts, origin), 1.0)
    found = None
    if not all(callable(getattr(channel, name, None)) for name in ("output_range", "output_scale")):
        found = searched_anywhere(channel, origin)
    if found is None:
        spread = spread_of(channel, np.array([origin]))
        centre, scale = float(spread.centre[0]), float(spread.scale[0])
    else:
        centre, scale = found.peak, found.scale
    step = _first_change(channel, centre + scale * _OUTPUTS, origin)
    on_line = np.isinf([support.low, support.high]).all()
    return Units(step, power_of_two(scale) if on_line else 1.0)


def power_of_two(size: float) -> float:
    """The least power of two that is no smaller; 1 for what is no positive number."""
    return 2.0 ** ceil(log2(size)) if 0.0 < size < SAFE else 1.0


def _first_change(channel: Channel, outputs: Array, origin: float) -> float:
    """The least 2^k by which the input must move to change the density there; 1 if none does."""
    here = line_log_density(channel, outputs, np.asarray(origin))
    low, high = channel.domain

    def changed(exponents: Array) -> Array:
        far = np.zeros(len(exponents), dtype=bool)
        for sign in (-1.0, 1.0):
            inputs = origin + sign * np.exp2(exponents)
            inside = (inputs >= low) & (inputs <= high) & np.isfinite(inputs)
            there = line_log_density(channel, outputs, np.where(inside, inputs, origin)[:, None])
            with np.errstate(invalid="ignore"):
                differs = np.abs(there - here) >= _CHANGE  # two infinities do not differ: NaN
            far |= inside & (differs.sum(axis=1) >= _AT_LEAST)
        return far

    exponents = np.arange(-1060.0, 1000.0)
    for start in range(0, len(exponents), _BLOCK):
        block = exponents[start : start + _BLOCK]
        found = _until_refused(changed, block)
        if found.any():
            return float(np.exp2(block[int(np.argmax(found))]))
        if len(found) < len(block):
            break
    return 1.0


def _until_refused(ask: Callable[[Array], Array], values: Array) -> Array:
    """Answers, up to the first value that the channel has no number for."""
    try:
        return ask(values)
    except InvalidArgument:
        answers = np.zeros(0, dtype=bool)
        for value in values:
            try:
                answers = np.append(answers, ask(np.array([value])))
            except InvalidArgument:
                break
        return answers
