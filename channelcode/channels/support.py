"""Where the outputs of a channel without a finite list of them lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class Interval:
    """Outputs in (low, high), either end perhaps infinite.

    Integrals run over a coordinate t on the whole line: y itself, ln(y - low) or -ln(high - y)
    where one end is finite, the logit where both are. Information does not change with it.

    >>> Interval(0.0, np.inf).to_line(np.array([1.0]))
    array([0.])
    """

    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        low, high = float(self.low), float(self.high)
        if not low < high:
            raise InvalidArgument("support", "must have low below high", (self.low, self.high))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def contains(self, y: Array) -> Any:
        """Whether each y is a possible output."""
        return (y >= self.low) & (y <= self.high)

    def from_line(self, t: Array) -> tuple[Array, Array]:
        """The output y at the coordinate t, and ln(dy/dt)."""
        with np.errstate(over="ignore", under="ignore"):
            if np.isinf(self.low) and np.isinf(self.high):
                return t, np.zeros_like(t)
            if np.isinf(self.high):
                return self.low + np.exp(t), t
            if np.isinf(self.low):
                return self.high - np.exp(-t), -t
            share = 1.0 / (1.0 + np.exp(-t))
            width = self.high - self.low
            slope = -np.abs(t) - 2.0 * np.log1p(np.exp(-np.abs(t)))
            return self.low + width * share, np.log(width) + slope

    def to_line(self, y: Array) -> Array:
        """The coordinate t of the output y."""
        with np.errstate(divide="ignore"):
            if np.isinf(self.low) and np.isinf(self.high):
                return y
            if np.isinf(self.high):
                return np.log(y - self.low)
            if np.isinf(self.low):
                return -np.log(self.high - y)
            return np.log(y - self.low) - np.log(self.high - y)


@dataclass(frozen=True)
class Counts:
    """Outputs 0, 1, 2, ... without end."""

    def contains(self, y: Array) -> Any:
        """Whether each y is a possible output."""
        return (y >= 0) & (y == np.floor(y))


Support = Interval | Counts


def as_support(value: Any) -> Support:
    """Return a support: an `Interval`, `Counts()`, or a pair (low, high)."""
    if isinstance(value, Interval | Counts):
        return value
    try:
        low, high = value
        return Interval(low, high)
    except (TypeError, ValueError):
        rule = "must be an Interval, Counts() or a pair (low, high)"
        raise InvalidArgument("support", rule, value) from None
