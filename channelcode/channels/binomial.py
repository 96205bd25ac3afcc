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
from channelcode.channels.logistic import Logistic


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

    def log_prob(self, l: Any) -> Array:
        n, ones = self.trials, np.arange(self.trials + 1.0)
        choose = gammaln(n + 1.0) - gammaln(ones + 1.0) - gammaln(n - ones + 1.0)
        pair = self.link.log_prob(l)
        combined = choose + self._combined(pair)
        possible = np.isfinite(pair).all(axis=-1, keepdims=True)  # so -inf can only be overflow
        return np.where(possible, saturated(combined), combined)

    def derivatives(self, l: Any) -> Derivatives:
        inner = self.link.derivatives(l)
        return Derivatives(self._combined(inner.gradient), self._combined(inner.hessian))
