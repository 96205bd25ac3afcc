"""Waiting times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammainccinv, gammaln

from channelcode._validation import Array, positive
from channelcode.channels.base import Channel
from channelcode.channels.support import Interval
from channelcode.errors import InvalidArgument

OUTSIDE = 1e-20  # mass left out at either end
_STIRLING_FROM = 200.0
LEAST_SHAPE = 0.1  # below, times under the range of doubles would carry mass


def _log_peak(k: float) -> float:
    """k ln k - k - ln Gamma(k): by Stirling's series where the terms would cancel."""
    if k < _STIRLING_FROM:
        return float(k * np.log(k) - k - gammaln(k))
    return float(0.5 * np.log(k / (2.0 * np.pi)) - 1.0 / (12.0 * k) + 1.0 / (360.0 * k**3))


@dataclass(frozen=True)
class Gamma(Channel):
    """A waiting time with mean e^l: f(y | l) = (k/m)^k y^(k-1) e^(-k y/m) / Gamma(k), m = e^l.

    k = `shape`: the time of the k-th of events at an even rate, or the sum of k stages. The input
    is the logarithm of the mean, as in a regression with a logarithmic link, so that every real
    input is allowed; ln Y is then l plus noise that does not depend on l.

    >>> round(float(Gamma(2.0).log_density(1.0, 0.0)), 6)
    -0.613706
    """

    shape: float = 1.0
    dim = 1
    support = Interval(0.0, np.inf)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", positive("shape", self.shape))
        if self.shape < LEAST_SHAPE:
            raise InvalidArgument("shape", f"must be at least {LEAST_SHAPE}", self.shape)

    def log_density(self, y: Any, l: Any) -> Array:
        k = self.shape
        with np.errstate(divide="ignore"):
            log_y = np.log(y)
        d = log_y - l  # ln(y / m): k^k e^-k / Gamma(k) and -k (e^d - 1 - d) keep digits at large k
        return _log_peak(k) - k * (np.expm1(d) - d) - log_y

    def draw(self, l: Array, rng: np.random.Generator) -> Array:
        """One time for each input."""
        return rng.gamma(self.shape, np.exp(l) / self.shape)

    def output_range(self, l: Array) -> tuple[Array, Array]:
        """Ends, as logarithms of times, between which all but 2e-20 of the output lies."""
        k = self.shape
        # below, gammainc(k, x) <= x^k / Gamma(k + 1): safe also where its inverse would be zero
        low = (np.log(OUTSIDE) + gammaln(k + 1.0)) / k
        high = np.log(gammainccinv(k, OUTSIDE))
        shift = np.asarray(l) - np.log(k)
        return shift + low, shift + high

    def output_scale(self, l: Array) -> Array:
        """The scale on which the density changes with ln y."""
        return np.full_like(np.asarray(l, dtype=np.float64), 1.0 / np.sqrt(max(self.shape, 1.0)))

    def divergence_between(self, l: Any, reference: Any) -> Array:
        """D = k (e^d - 1 - d) in nats, d = l - reference."""
        d = np.asarray(l, dtype=np.float64) - reference
        with np.errstate(over="ignore"):
            far = np.expm1(d) - d
        near = d * d * (0.5 + d / 6.0 + d * d / 24.0)
        return self.shape * np.where(np.abs(d) < 1e-3, near, far)


@dataclass(frozen=True, repr=False)
class Exponential(Gamma):
    """The waiting time until an event with mean e^l: f(y | l) = e^(-l - y e^-l), y > 0.

    >>> round(float(Exponential().log_density(2.0, 0.0)), 6)
    -2.0
    """

    shape: float = 1.0

    def __init__(self) -> None:
        object.__setattr__(self, "shape", 1.0)

    def __repr__(self) -> str:
        return "Exponential()"
