"""Several labels of the same example at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from channelcode._numerics.logspace import saturated
from channelcode._validation import Array, integer
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.binary import binary_response
from channelcode.channels.links.logistic import Logistic
from channelcode.channels.tails import Landmark, Tails


@dataclass(frozen=True)
class Binomial(Channel):
    """The number of ones among independent labels: P(Y = y | l) = C(n, y) f^y (1 - f)^(n - y).

    f is the response of `link` at l and n = `trials`; there are n + 1 outputs.

    >>> Binomial(2).prob(0.0)
    array([0.25, 0.5 , 0.25])
    """

    trials: int
    link: Channel = Logistic()
    dim = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", integer("trials", self.trials, least=1))
        binary_response("link", self.link)

    @property
    def num_outputs(self) -> int:
        return self.trials + 1

    def _combined(self, pair: Array) -> Array:
        """y * pair[1] + (n - y) * pair[0] for y = 0 .. n, with 0 * -inf = 0."""
        ones = np.arange(self.trials + 1.0)
        with np.errstate(invalid="ignore", over="ignore"):
            up = np.where(ones == 0, 0.0, ones * pair[..., 1:])
            down = np.where(ones == self.trials, 0.0, (self.trials - ones) * pair[..., :1])
        return up + down

    def _log_law(self, pair: Array) -> Array:
        """ln C(n, y) f^y (1 - f)^(n - y) from ln(1 - f), ln f on the last axis."""
        n, ones = self.trials, np.arange(self.trials + 1.0)
        choose = gammaln(n + 1.0) - gammaln(ones + 1.0) - gammaln(n - ones + 1.0)
        return choose + self._combined(pair)

    def log_prob(self, l: Any) -> Array:
        pair = self.link.log_prob(l)
        combined = self._log_law(pair)
        possible = np.isfinite(pair).all(axis=-1, keepdims=True)  # so -inf can only be overflow
        return np.where(possible, saturated(combined), combined)

    def tails(self) -> Tails | None:
        link = self.link.tails()
        if link is None:
            return None
        # f^y (1 - f)^(n - y) rises up to f = y/n, then falls, within 1/sqrt(n) of f's own width
        monotone = link.radius == 0.0
        places = [Landmark(c, w / np.sqrt(self.trials)) for c, w in link.landmarks]
        radius = 0.0 if monotone and self.trials == 1 else np.inf
        limits = None
        if link.limits is not None:
            with np.errstate(divide="ignore"):
                left, right = (np.exp(self._log_law(np.log(law))) for law in link.limits)
            limits = (tuple(left.tolist()), tuple(right.tolist()))
        return Tails(tuple(places), radius, limits, monotone)

    def derivatives(self, l: Any) -> Derivatives:
        inner = self.link.derivatives(l)
        return Derivatives(self._combined(inner.gradient), self._combined(inner.hessian))
