"""A channel with outputs without end, seen as one with finitely many."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from channelcode._validation import Array, read_only
from channelcode.channels.base import Channel
from channelcode.channels.densities.range import kinks, line_log_density, spaced, spread_of
from channelcode.channels.support import Counts, as_support
from channelcode.errors import InvalidArgument

STEP = 0.25  # scales between nodes: the trapezoid rule is spectral for an analytic density
STEP_AT_KINKS = 0.1
MOST_NODES = 2000
MOST_COUNTS = 1_000_000  # outputs of a count that are looked at one by one
WIDEST = 1e7  # range of outputs, in widths of the noise, that is looked at


class FiniteView(Channel):
    """The outputs of a density at nodes, weighted: W(j | u) = w_j f(t_j | shift + u), normalised.

    Inputs u = l - shift run from -reach to reach. Counts keep their own probabilities, up to a
    last one beyond which less than 1e-18 lies; a density is taken at nodes in the coordinate of its
    support, even ones but for long tails, `finer` times as many if asked for. A solver may work on
    this view; what it finds is judged by integrals over the density itself.
    """

    dim = 1

    def __init__(self, channel: Channel, low: float, high: float, *, finer: int = 1) -> None:
        self.channel = channel
        self.shift = 0.5 * (low + high)
        self.reach = 0.5 * (high - low)
        inputs = np.linspace(low, high, 65)
        spread = spread_of(channel, inputs)
        start, stop = float(spread.low.min()), float(spread.high.max())
        if isinstance(as_support(channel.support), Counts):
            if not stop - start < MOST_COUNTS:
                rule = f"must keep the counts below about {MOST_COUNTS:,}"
                raise InvalidArgument("constraint", rule, stop - start)
            nodes = np.arange(start, stop + 1.0)
            shares = np.ones_like(nodes)
        else:
            step = STEP_AT_KINKS if len(kinks(channel, inputs[:1])) else STEP
            scale = float(spread.scale.min())
            if not np.ptp(spread.centre) <= WIDEST * scale:
                rule = f"must keep the outputs within {WIDEST:g} widths of the noise"
                raise InvalidArgument("constraint", rule, float(np.ptp(spread.centre)) / scale)
            step = step * scale / finer
            nodes, shares = spaced(spread, step, least=8, most=MOST_NODES * finer)
        needed = _needed(channel, nodes, inputs)
        self.nodes, self._log_shares = read_only(nodes[needed]), np.log(shares[needed])
        self.num_outputs = len(self.nodes)

    def log_prob(self, l: Any) -> Array:
        # a search may look a little beyond the ends of the range; the law there is that of the end
        inputs = self.shift + np.clip(l, -self.reach, self.reach)
        logs = line_log_density(self.channel, self.nodes, inputs[..., None]) + self._log_shares
        return logs - np.asarray(logsumexp(logs, axis=-1, keepdims=True))

    def __repr__(self) -> str:
        return f"FiniteView({self.channel!r}, {self.num_outputs} nodes)"


def _needed(channel: Channel, nodes: Array, inputs: Array) -> Any:
    """Which nodes some input reaches with more than 1e-17 of its peak."""
    logs = line_log_density(channel, nodes, inputs[:, None])
    return (logs > logs.max(axis=1, keepdims=True) - 39.0).any(axis=0)
