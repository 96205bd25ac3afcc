"""A binary channel whose labeller sometimes answers at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from channelcode._validation import Array, probability
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.binary import binary_response
from channelcode.channels.tails import Tails
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class Lapse(Channel):
    """A response that runs from `low` to `1 - high`: P(Y = 1 | l) = low + (1 - low - high) f(l).

    The psychometric function with guess rate `low` and lapse rate `high`
    (Wichmann and Hill, "The psychometric function: I", 2001).

    >>> from channelcode import Logistic
    >>> Lapse(Logistic(), low=0.02, high=0.02).prob([-1e4, 1e4])
    array([[0.98, 0.02],
           [0.02, 0.98]])
    """

    channel: Channel
    low: float = 0.0
    high: float = 0.0
    dim = 1
    num_outputs = 2

    def __post_init__(self) -> None:
        binary_response("channel", self.channel)
        object.__setattr__(self, "low", probability("low", self.low))
        object.__setattr__(self, "high", probability("high", self.high))
        if self.low + self.high >= 1:
            raise InvalidArgument("low + high", "must be below one", self.low + self.high)

    def _floors(self) -> Array:
        return np.array([self.high, self.low])

    def log_prob(self, l: Any) -> Array:
        span = np.log1p(-(self.low + self.high))
        with np.errstate(divide="ignore", under="ignore"):
            return np.logaddexp(np.log(self._floors()), span + self.channel.log_prob(l))

    def tails(self) -> Tails | None:
        inner = self.channel.tails()
        if inner is None or inner.limits is None:
            return inner
        share = 1.0 - self.low - self.high
        down, up = (tuple(self._floors() + share * np.array(law)) for law in inner.limits)
        return replace(inner, limits=(down, up))

    def derivatives(self, l: Any) -> Derivatives:
        inner = self.channel.derivatives(l)
        log_inner = self.channel.log_prob(l)
        span = np.log1p(-(self.low + self.high))
        with np.errstate(under="ignore"):
            share = np.exp(span + log_inner - self.log_prob(l))  # part of p(y|l) that moves with l
        gradient = share * inner.gradient
        hessian = share * (inner.hessian + inner.gradient**2) - gradient**2
        return Derivatives(gradient, hessian)
