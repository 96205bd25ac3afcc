"""Rules as functions of |m| and the deviation d of l ~ N(m, d^2), with bounds over ranges of both.

For a channel that treats l and -l alike a rule sees a pair through |m_i - m_j| and |z_i - z_j|
alone (theory of encoders, 6).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt

import numpy as np

from apm.selectors.matching.target import TWO_ATOMS
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.information import mutual_information
from channelcode.measures import ScalarPool

_HALVINGS = 40
_ROUNDING = 1e-9  # bits: gains closer than this are not told apart by their bounds


class Score(ABC):
    """A rule: larger is better."""

    #: Whether the best pair has nearly equal means wherever the deviations allow it.
    wants_equal_means = False
    #: Whether a score costs more than the distances it is made from.
    dear = False

    @abstractmethod
    def values(self, m: Array, d: Array) -> Array:
        """The score of each pair."""

    @abstractmethod
    def bound(self, m: Array, low: Array, high: Array) -> Array:
        """No less than any score with |m| from `m` on and a deviation in [low, high]."""

    def limits(self, level: float, largest: float, widest: float) -> tuple[float, float]:
        """A |m| and a deviation: a pair with more of the first, or less of the second, is below
        `level`. `largest` and `widest` are the largest |m| and deviation of all pairs.
        """
        return largest, 0.0


@dataclass(frozen=True)
class Spread(Score):
    """The variance d^2."""

    def values(self, m: Array, d: Array) -> Array:
        return d * d

    def bound(self, m: Array, low: Array, high: Array) -> Array:
        return high * high


@dataclass(frozen=True)
class Transport(Score):
    """-W2^2 to the two atoms +-sqrt(P): -(m^2 + (d - c)^2) - (1 - 2/pi) P with c = sqrt(2P/pi)."""

    power: float
    wants_equal_means = True

    @property
    def centre(self) -> float:
        """The deviation that is nearest to the target."""
        return TWO_ATOMS * sqrt(self.power)

    def values(self, m: Array, d: Array) -> Array:
        return -(m * m + (d - self.centre) ** 2) - self.power + self.centre**2

    def bound(self, m: Array, low: Array, high: Array) -> Array:
        return self.values(m, np.clip(self.centre, low, high))

    def limits(self, level: float, largest: float, widest: float) -> tuple[float, float]:
        """m^2 + (d - c)^2 must be no more than at that level, with room for rounding."""
        constant = self.power - self.centre**2
        excess = max(-level - constant, 0.0) + 1e-14 * (abs(level) + constant)
        root = min(sqrt(excess), largest + widest + self.centre)
        return root, max(self.centre - root, 0.0)


@dataclass(frozen=True)
class Gain(Score):
    """I(theta; Y) in bits. It falls with |m| and rises with d, so that corners are bounds."""

    channel: Channel
    dear = True

    def values(self, m: Array, d: Array) -> Array:
        laws = ScalarPool(np.ravel(m), np.ravel(d) ** 2)
        return np.asarray(mutual_information(self.channel, laws).bits).reshape(np.shape(m))

    def bound(self, m: Array, low: Array, high: Array) -> Array:
        return self.values(m, high) + _ROUNDING

    def limits(self, level: float, largest: float, widest: float) -> tuple[float, float]:
        goal = level - _ROUNDING
        if not goal > 0.0:
            return largest, 0.0
        most, least = np.array([0.0, largest]), np.array([0.0, widest])  # brackets
        for _ in range(_HALVINGS):
            middle = np.array([most.mean(), least.mean()])
            tried = self.values(np.array([middle[0], 0.0]), np.array([widest, middle[1]]))
            most[int(tried[0] < goal)] = middle[0]
            least[int(tried[1] >= goal)] = middle[1]
        return float(most[1]), float(least[0])
