"""Binary channels whose labeller sometimes answers at random, at a known or unknown rate."""

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


@dataclass(frozen=True)
class UnknownLapse(Channel):
    """A response with an unknown lapse rate r: P(Y = 1 | l, r) = low + (1 - low - r) f(l).

    The input is the pair (l, r) with r in [0, 1 - low]; a rate outside is refused. With
    `symmetric=True` the labeller errs alike on both sides, P(Y = 1 | l, r) = r + (1 - 2 r) f(l),
    and `low` must be zero; then r is at most one half. Learn r with theta on a `Grid` or by
    `Particles`. The two coordinates have different units, so that a power E|L|^2 and a distance W2
    between inputs mean nothing (`same_units` is False).

    >>> from channelcode import Logistic
    >>> UnknownLapse(Logistic(), low=0.5).prob([[-1e4, 0.1], [1e4, 0.1]])
    array([[0.5, 0.5],
           [0.1, 0.9]])
    """

    channel: Channel
    low: float = 0.0
    symmetric: bool = False
    dim = 2
    num_outputs = 2
    same_units = False

    def __post_init__(self) -> None:
        binary_response("channel", self.channel)
        object.__setattr__(self, "low", probability("low", self.low))
        if self.symmetric and self.low:
            raise InvalidArgument("low", "must be zero where symmetric=True", self.low)
        if self.low >= 1:
            raise InvalidArgument("low", "must be below one", self.low)

    @property
    def largest_rate(self) -> float:
        """The largest lapse rate: 1 - low, or one half if symmetric."""
        return 0.5 if self.symmetric else 1.0 - self.low

    def log_prob(self, l: Any) -> Array:
        inner, rate = self.channel.log_prob(l[..., 0]), l[..., 1]
        _require_rate(rate, self.largest_rate, "lapse")
        low = rate if self.symmetric else np.full_like(rate, self.low)
        with np.errstate(divide="ignore"):
            floors = np.log(np.stack([rate, low], axis=-1))
            span = np.log1p(-np.minimum(rate + low, 1.0))[..., None]
        return np.logaddexp(floors, span + inner)


@dataclass(frozen=True)
class UnknownGuess(Channel):
    """A response with a guess rate c in its input: P(Y = 1 | l, c) = c + (1 - c - high) f(l).

    The input is the pair (l, c) with c in [0, 1 - high]; a rate outside is refused. For test items
    that have guess rates of their own (the three-parameter model), or a rate to be learnt. The two
    coordinates have different units (`same_units` is False).

    >>> from channelcode import Logistic
    >>> UnknownGuess(Logistic()).prob([[-1e4, 0.25], [1e4, 0.25]])
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """

    channel: Channel
    high: float = 0.0
    dim = 2
    num_outputs = 2
    same_units = False

    def __post_init__(self) -> None:
        binary_response("channel", self.channel)
        object.__setattr__(self, "high", probability("high", self.high))
        if self.high >= 1:
            raise InvalidArgument("high", "must be below one", self.high)

    def log_prob(self, l: Any) -> Array:
        inner, rate = self.channel.log_prob(l[..., 0]), l[..., 1]
        _require_rate(rate, 1.0 - self.high, "guess")
        with np.errstate(divide="ignore"):
            floors = np.log(np.stack([np.full_like(rate, self.high), rate], axis=-1))
            span = np.log1p(-np.minimum(rate + self.high, 1.0))[..., None]
        return np.logaddexp(floors, span + inner)


def _require_rate(rate: Array, largest: float, kind: str) -> None:
    outside = (rate < 0) | (rate > largest)
    if outside.any():
        rule = f"must have a {kind} rate in [0, {largest:g}] as second coordinate"
        raise InvalidArgument("l", rule, float(rate[outside].ravel()[0]))
