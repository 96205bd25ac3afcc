"""The complementary log-log channel: an asymmetric binary response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._numerics.logspace import LARGEST, log1mexp, saturated
from channelcode._validation import Array
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.tails import Tails, links

_SERIES_BELOW = -30.0  # there exp(l)^2 is below rounding, so ln(1 - exp(-exp l)) = l - exp(l)/2


def _rate(l: Array) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(np.exp(l), LARGEST)


@dataclass(frozen=True)
class Cloglog(Channel):
    """At least one event of a Poisson law of rate exp(l): P(Y = 1 | l) = 1 - exp(-exp(l)).

    ln P(Y = 0 | l) = -exp(l) leaves the range of doubles above l = 709.78; there it stays at the
    end of that range. Source: McCullagh and Nelder, "Generalized Linear Models", section 4.3.

    >>> Cloglog().prob(0.0).round(4)
    array([0.3679, 0.6321])
    """

    dim = 1
    num_outputs = 2

    def log_prob(self, l: Any) -> Array:
        rate = _rate(l)
        event = np.where(l < _SERIES_BELOW, l - 0.5 * rate, log1mexp(-rate))
        return np.stack([saturated(-rate), event], axis=-1)

    def tails(self) -> Tails:
        return links(0.0, 1.0)

    def derivatives(self, l: Any) -> Derivatives:
        rate = _rate(l)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            # d/dl ln(1 - exp(-r)) = r / (exp(r) - 1), r = exp(l); 1 - r/2 for tiny r
            ratio = np.where(
                rate < 1e-8, 1.0 - 0.5 * rate, rate / np.expm1(np.minimum(rate, 745.0))
            )
            ratio = np.where(rate > 745.0, 0.0, ratio)
            bend = np.where(rate < 1e-8, -0.5 * rate, ratio * (1.0 - rate - ratio))
            bend = np.where(rate > 745.0, 0.0, bend)
        return Derivatives(np.stack([-rate, ratio], axis=-1), np.stack([-rate, bend], axis=-1))
