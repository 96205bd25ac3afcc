"""Outputs as the exchange of letters sees them: panels for Laplace noise, nodes for counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, gammaln, logsumexp, xlogy

from channelcode._validation import Array
from channelcode.channels import AdditiveLaplace, Poisson
from channelcode.information.mixtures.laplace import LaplaceMixture, laplace_rows

_STEP = 0.3  # deviations of the count between nodes far out
_SINGLE, _BLEND = 400.0, 15.0  # counts up to about here are nodes themselves
_FINE = 64  # steps between nodes, to place them
_CHUNK = 2_000_000


@dataclass(frozen=True)
class LaplaceOutputs:
    """Laplace noise for the exchange: corners at the letters are the ends of panels."""

    channel: AdditiveLaplace

    def rows(self, letters: Array) -> Array:
        """Panels between the letters, and either tail as one output."""
        return laplace_rows(self.channel.scale, letters)

    def divergence(self, inputs: Array, points: Array, weights: Array) -> Array:
        """To rounding; the shift does not matter to additive noise."""
        return LaplaceMixture(self.channel.scale, points, weights).divergence(inputs).value


@dataclass(frozen=True)
class CountedOutputs:
    """Poisson counts up to `last` for the exchange, at inputs u = l - shift.

    Sums over the counts by the trapezoid rule in k on nodes y(k): y = k up to about 380, where few
    counts matter to an input, then `_STEP` deviations apart. For a law so wide the sum is an
    integral to far below rounding, and y(k) changes its pace slowly. A judge sums over all counts.
    """

    channel: Poisson
    shift: float
    last: float

    @cached_property
    def nodes(self) -> tuple[Array, Array]:
        """Places of the nodes, and ln dy/dk at them."""
        fine = np.linspace(0.0, np.sqrt(self.last), int(8 * np.sqrt(self.last)) * _FINE + 1) ** 2
        pace = 1.0 / _apart(fine)
        k = np.append(0.0, np.cumsum(0.5 * (pace[1:] + pace[:-1]) * np.diff(fine)))
        y = np.interp(np.arange(np.floor(k[-1]) + 1.0), k, fine)
        single = y < _SINGLE - 24.0 * _BLEND
        y[single] = np.round(y[single])
        return y, np.log(_apart(y))

    @property
    def num_outputs(self) -> int:
        """How many nodes there are."""
        return len(self.nodes[0])

    def rows(self, letters: Array) -> Array:
        """The laws at letters as a matrix, each with a sum of one."""
        logs = self._logs(letters)
        return np.exp(logs - np.asarray(logsumexp(logs, axis=1, keepdims=True)))

    def divergence(self, inputs: Array, points: Array, weights: Array) -> Array:
        """D(f(.|u) || q) at inputs u."""
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights / weights.sum())[:, None]
        log_q = np.asarray(logsumexp(self._logs(points) + log_weights, axis=0))
        found = np.empty(len(inputs))
        step = max(1, _CHUNK // self.num_outputs)
        for start in range(0, len(inputs), step):
            part = slice(start, start + step)
            logs = self._logs(inputs[part])
            with np.errstate(under="ignore", invalid="ignore"):
                rows = np.exp(logs)
                terms = np.where(rows > 0.0, rows * (logs - log_q), 0.0)
            found[part] = terms.sum(axis=1)
        return found

    def letters(self) -> Array:
        """One deviation of the count apart: evenly in its root."""
        dark, highest = self.channel.dark, 2.0 * self.shift
        first, last = float(np.sqrt(dark)), float(np.sqrt(dark + highest))
        count = max(int(np.ceil(2.0 * (last - first))), 32)
        places = np.linspace(first, last, count + 1) ** 2 - dark
        return np.maximum(places, 0.0) - self.shift

    def _logs(self, inputs: Array) -> Array:
        # no light is the least input; rounding may be below
        rates = np.maximum(inputs + self.shift, 0.0)[:, None] + self.channel.dark
        y, log_share = self.nodes
        return xlogy(y, rates) - rates - gammaln(y + 1.0) + log_share


def _apart(y: Array) -> Array:
    """How far apart nodes are at a count y."""
    wide = np.maximum(_STEP * np.sqrt(y), 1.0)
    return 1.0 + (wide - 1.0) * expit((y - _SINGLE) / _BLEND)
