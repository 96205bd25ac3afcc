"""What a solver has proved: two bounds, how it ended, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from channelcode.errors import InvalidArgument


class Status(Enum):
    """How a solve ended; the value is advice for the reader."""

    OPTIMAL = "the certified gap is within the tolerance"
    MAX_STEPS = "steps ran out first: raise max_steps, loosen tol, or try another solver"
    STALLED = "no further progress in double precision: loosen tol or rescale the problem"
    BOUND_ONLY = "only the bounds are proved: treat the value as an interval"

    @property
    def ok(self) -> bool:
        """True when the result may be used as a plain number."""
        return self is Status.OPTIMAL


@dataclass(frozen=True)
class Certificate:
    """A proved interval: the true value lies in [lower, upper].

    >>> Certificate(0.25, 0.5).gap
    0.25
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:  # also catches NaN
            raise InvalidArgument(
                "lower", "must not exceed upper (a negative gap is a bug)", (self.lower, self.upper)
            )

    @property
    def gap(self) -> float:
        """The width of the interval, never negative."""
        return self.upper - self.lower

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


@dataclass(frozen=True)
class SolveStats:
    """What a solve cost: the method that ran, its steps, its seconds, and details of its own."""

    method: str
    steps: int = 0
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)
