"""Densities at inputs of every size: a coarse look at all, and a fine one where it is doubtful."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from channelcode._numerics.quadrature import gauss_kronrod
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.channels.densities.range import Spread, kinks, line_log_density, spread_of
from channelcode.channels.support import Counts, as_support
from channelcode.errors import InvalidArgument
from channelcode.testing.inputs import LARGEST
from channelcode.testing.verdict import attempt

_LOOKED_AT = 1000  # inputs whose totals are compared with those of others
_PANELS = 24  # over one law, for the coarse look
_DOUBTFUL = 1e-7  # how far a coarse total may be from one
_MOST_COUNTS = 400
_FINE_LOOKS = 24  # at doubtful inputs, from the least coarse total to the greatest
_FAR_LOOKS = 8  # at inputs from 40 to 1e5, on either side
_RESOLVED = 1e5  # scales from zero: a law farther out has few numbers under it
_MANY_COUNTS = 1e6
_LONGEST_LOG = 600.0  # of an output that is positive: e^700 leaves the doubles
_NEAREST_END = 20.0  # the logit of an output between two ends: beyond 36 it is rounded onto one


def check_everywhere(
    channel: Channel,
    inputs: Array,
    spread: Spread,
    exact: Callable[[float], None],
    rng: np.random.Generator,
    *,
    unit: float = 1.0,
) -> None:
    """Ask for numbers at inputs of every size up to 1e30, and for totals between the `inputs`.

    `spread` says where the laws of the sorted `inputs` lie; in between, the range of a law is taken
    in proportion. That may be wrong, so a total that is not one proves nothing: `exact(l)` does.
    `unit` is the width of the noise.
    """
    low, high = channel.domain
    sizes = 10.0 ** rng.uniform(-300.0, 30.0, _LOOKED_AT)
    wide = np.concatenate([-sizes, [-LARGEST, 0.0, LARGEST], sizes])
    wide = np.concatenate([inputs, wide[(wide >= low) & (wide <= high)]])
    outputs = spread.centre
    if isinstance(as_support(channel.support), Counts):
        outputs = np.unique(np.round(outputs))
    attempt(
        channel,
        "log_density at inputs of every size",
        lambda: line_log_density(channel, outputs, wide[:, None]),
    )
    between = rng.uniform(float(inputs[0]), float(inputs[-1]), _LOOKED_AT)
    near = np.clip(unit * rng.uniform(-5.0, 5.0, _LOOKED_AT), inputs[0], inputs[-1])
    places = np.sort(np.concatenate([between, near]))
    totals = attempt(
        channel, "log_density between inputs", lambda: _totals(channel, places, inputs, spread)
    )
    doubtful = np.flatnonzero(~(np.abs(totals - 1.0) <= _DOUBTFUL))
    order = doubtful[np.argsort(totals[doubtful], kind="stable")]
    ranks = np.unique(np.linspace(0, len(order) - 1, _FINE_LOOKS).astype(int)) if len(order) else []
    for place in order[ranks]:
        exact(float(places[place]))
    distant = unit * 10.0 ** rng.uniform(1.6, 5.0, (2, _FAR_LOOKS)) * np.array([[-1.0], [1.0]])
    for l in distant.ravel():
        if low <= l <= high and _resolved(channel, float(l)):
            exact(float(l))


def _resolved(channel: Channel, l: float) -> bool:
    """Whether the law of a far input is within the doubles and wide beside their spacing."""
    try:
        found = spread_of(channel, np.array([l]))
    except InvalidArgument:
        return False
    reach = float(max(abs(found.low[0]), abs(found.high[0])))
    support = as_support(channel.support)
    if isinstance(support, Counts):
        return reach <= _MANY_COUNTS
    if np.isinf([support.low, support.high]).all():
        return reach <= _RESOLVED * float(found.scale[0])
    plain = support.low == 0.0 and np.isinf(support.high)
    return reach <= (_LONGEST_LOG if plain else _NEAREST_END)


def _totals(channel: Channel, places: Array, inputs: Array, spread: Spread) -> Array:
    """The mass of each law in the range that its neighbours among the inputs suggest."""
    low, high, scale, centre = (
        np.interp(places, inputs, part)[:, None]
        for part in (spread.low, spread.high, spread.scale, spread.centre)
    )
    if isinstance(as_support(channel.support), Counts):
        first = np.maximum(np.floor(low), 0.0)
        last = np.minimum(np.ceil(high).max(), first.min() + _MOST_COUNTS)
        counts: Any = np.arange(float(first.min()), float(last) + 1.0)
        return np.exp(line_log_density(channel, counts, places[:, None])).sum(axis=1)
    rule = gauss_kronrod()
    ends = np.arcsinh((low - centre) / scale), np.arcsinh((high - centre) / scale)
    edges = centre + scale * np.sinh(
        ends[0] + (ends[1] - ends[0]) * np.linspace(0.0, 1.0, _PANELS + 1)
    )
    if len(kinks(channel, inputs[:1])):
        edges = np.sort(np.concatenate([edges, _corners(channel, places)], axis=1), axis=1)
    half = 0.5 * np.diff(edges, axis=1)[..., None]
    nodes = edges[:, :-1, None] + half * (1.0 + rule.nodes)
    logs = line_log_density(channel, nodes, places[:, None, None])
    with np.errstate(under="ignore"):
        return (half * rule.fine * np.exp(logs)).sum(axis=(1, 2))


def _corners(channel: Channel, places: Array) -> Array:
    """Corners of each law, as many for one input as for another; else none."""
    found = kinks(channel, places)
    return found.reshape(len(places), -1) if found.size % len(places) == 0 else places[:, None]
