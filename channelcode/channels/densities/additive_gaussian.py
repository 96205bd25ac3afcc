"""Gaussian noise on the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._numerics.logspace import HALF_LOG_TWO_PI
from channelcode._validation import Array, positive
from channelcode.channels.base import Channel
from channelcode.channels.support import Interval

REACH = 9.3  # standard deviations: 1.4e-20 of the mass lies beyond


@dataclass(frozen=True)
class AdditiveGaussian(Channel):
    """Y = l + N(0, noise^2): f(y | l) = exp(-(y - l)^2 / (2 noise^2)) / (noise sqrt(2 pi)).

    The AWGN channel. Under E L^2 <= P its capacity is 1/2 log2(1 + P / noise^2) bits, with
    L ~ N(0, P) (Shannon 1948); under |L| <= A the best law has finitely many atoms (Smith 1971).

    >>> round(float(AdditiveGaussian(2.0).log_density(1.0, 0.0)), 6)
    -1.737086
    """

    noise: float = 1.0
    dim = 1
    support = Interval()

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", positive("noise", self.noise))

    def log_density(self, y: Any, l: Any) -> Array:
        z = (y - l) / self.noise
        return -0.5 * z * z - HALF_LOG_TWO_PI - np.log(self.noise)

    def draw(self, l: Array, rng: np.random.Generator) -> Array:
        """One output for each input."""
        return l + self.noise * rng.standard_normal(l.shape)

    def output_range(self, l: Array) -> tuple[Array, Array]:
        """Ends between which all but 2e-20 of the output lies, for each input."""
        return l - REACH * self.noise, l + REACH * self.noise

    def output_scale(self, l: Array) -> Array:
        """The scale on which the density changes with y."""
        return np.full_like(l, self.noise)

    def divergence_between(self, l: Any, reference: Any) -> Array:
        """D(f(.|l) || f(.|reference)) = (l - reference)^2 / (2 noise^2) in nats."""
        return 0.5 * np.square((np.asarray(l) - reference) / self.noise)
