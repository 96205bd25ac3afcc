"""Photon counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from channelcode._validation import Array, non_negative
from channelcode.channels.base import Channel
from channelcode.channels.support import Counts


@dataclass(frozen=True)
class Poisson(Channel):
    """A count with mean l + dark: P(Y = y | l) = e^-(l + dark) (l + dark)^y / y!, l >= 0.

    The direct-detection optical channel: l is the energy sent in one use, `dark` the mean number of
    counts when nothing is sent (Shamai 1990). Counts have no largest value; sums over them stop
    where the rest is proved to be below 1e-18.

    >>> np.exp(Poisson(0.5).log_density([0, 1], 1.5)).round(6)
    array([0.135335, 0.270671])
    """

    dark: float = 0.0
    dim = 1
    support = Counts()
    domain = (0.0, np.inf)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dark", non_negative("dark", self.dark))

    def log_density(self, y: Any, l: Any) -> Array:
        rate = l + self.dark
        return xlogy(y, rate) - rate - gammaln(y + 1.0)

    def draw(self, l: Array, rng: np.random.Generator) -> Array:
        """One count for each input."""
        return rng.poisson(l + self.dark).astype(np.float64)

    def output_range(self, l: Array) -> tuple[Array, Array]:
        """First and last count: the tails beyond are below 1e-18, by Chernoff's bound.

        P(Y >= r + x) <= exp(-x^2 / (2 (r + x/3))) for the mean r; the exponent 42 needs
        x = 14 + sqrt(196 + 84 r). Below, P(Y <= r - x) <= exp(-x^2 / (2 r)).
        """
        rate = np.asarray(l) + self.dark
        last = np.ceil(rate + 14.0 + np.sqrt(196.0 + 84.0 * rate))
        first = np.maximum(0.0, np.floor(rate - np.sqrt(84.0 * rate)))
        return first, last

    def output_scale(self, l: Array) -> Array:
        """The scale on which the probabilities change with y."""
        return np.sqrt(np.asarray(l) + self.dark + 1.0)

    def divergence_between(self, l: Any, reference: Any) -> Array:
        """D = r ln(r / s) - r + s for means r and s in nats; infinite for s = 0 < r."""
        r, s = np.broadcast_arrays(np.asarray(l) + self.dark, np.asarray(reference) + self.dark)
        from channelcode._numerics.divergence import excess

        with np.errstate(divide="ignore", invalid="ignore"):
            value = s * excess(np.where(s > 0, r / np.where(s > 0, s, 1.0) - 1.0, 0.0))
        return np.where((s == 0) & (r > 0), np.inf, value)
