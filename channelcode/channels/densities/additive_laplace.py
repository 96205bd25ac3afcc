"""Laplace noise on the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array, positive
from channelcode.channels.base import Channel
from channelcode.channels.support import Interval

REACH = 46.0  # scales: exp(-46) = 1e-20 of the mass lies beyond


@dataclass(frozen=True)
class AdditiveLaplace(Channel):
    """Y = l + Laplace noise: f(y | l) = exp(-|y - l| / scale) / (2 scale).

    The noise of differential privacy; its variance is 2 scale^2.

    >>> round(float(AdditiveLaplace(2.0).log_density(1.0, 0.0)), 6)
    -1.886294
    """

    scale: float = 1.0
    dim = 1
    support = Interval()

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))

    def log_density(self, y: Any, l: Any) -> Array:
        return -np.abs(y - l) / self.scale - np.log(2.0 * self.scale)

    def draw(self, l: Array, rng: np.random.Generator) -> Array:
        """One output for each input."""
        return l + rng.laplace(0.0, self.scale, l.shape)

    def output_range(self, l: Array) -> tuple[Array, Array]:
        """Ends between which all but 2e-20 of the output lies, for each input."""
        return l - REACH * self.scale, l + REACH * self.scale

    def output_scale(self, l: Array) -> Array:
        """The scale on which the density changes with y."""
        return np.full_like(l, self.scale)

    def kinks(self, l: Array) -> Array:
        """Where the density of each input has a corner: at the input itself."""
        return l

    def divergence_between(self, l: Any, reference: Any) -> Array:
        """D(f(.|l) || f(.|reference)) = d + exp(-d) - 1, d = |l - reference| / scale, in nats."""
        d = np.abs((np.asarray(l) - reference) / self.scale)
        # the series keeps the digits of a small difference
        return np.where(d < 1e-3, d * d * (0.5 - d / 6.0 + d * d / 24.0), d + np.expm1(-d))
