"""What a solver has proved: two bounds, how it ended, and what it cost.

A solver proposes, a certifier recomputes the bounds, and `conclude` makes the result: no status is
ever set anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from channelcode.errors import InvalidArgument, NotConverged

R = TypeVar("R")


class Status(Enum):
    """How a solve ended; the value is advice for the reader."""

    OPTIMAL = "the certified gap is within the tolerance"
    MAX_STEPS = "steps ran out first: raise max_steps, loosen tol, or try another solver"
    STALLED = "no further progress in double precision: loosen tol or rescale the problem"
    BOUND_ONLY = "only the bounds are proved: treat the value as an interval"
    WITHIN_SCOPE = (
        "proved for the inputs that `scope` names, not beyond: on the line, declare the tails, "
        "and of a cost where it rises"
    )

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
        for side in ("lower", "upper"):  # plain floats, whatever NumPy gave
            object.__setattr__(self, side, float(getattr(self, side)))
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


class Certified:
    """What every result with a certificate has: its bounds, in the unit of the certificate.

    Results are equal if what was asked and what came out are; seconds and steps do not count.
    """

    certificate: Certificate

    def _identity(self) -> tuple[Any, ...]:
        """What counts for equality and the hash."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    @property
    def lower(self) -> float:
        """A proved lower bound."""
        return self.certificate.lower

    @property
    def upper(self) -> float:
        """A proved upper bound, over the result's `scope` if it has one."""
        return self.certificate.upper

    @property
    def gap(self) -> float:
        """`upper - lower`, never negative."""
        return self.certificate.gap


@dataclass(frozen=True)
class SolveStats:
    """What a solve cost: the method that ran, its steps, its seconds, and details of its own."""

    method: str
    steps: int = 0
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)


def conclude(
    report: Callable[[Status], R],
    certificate: Certificate,
    *,
    tol: float,
    throw: bool,
    exhausted: bool = False,
    best: Status = Status.OPTIMAL,
    unit: str = "bits",
) -> R:
    """Make a result: the status follows from the certificate, never from the solver.

    `report(status)` builds the result. `best` is the most that this kind of proof can earn:
    `BOUND_ONLY` for an interval that is the answer itself, whatever its width; `WITHIN_SCOPE` for a
    gap within `tol` that was proved for part of the inputs only. `exhausted` says that the solver
    ran out of steps. A gap above `tol` raises `NotConverged` with the result, unless `throw` is
    False or an interval was all that was promised.

    >>> conclude(lambda status: status.name, Certificate(0.5, 0.75), tol=0.1, throw=False)
    'STALLED'
    """
    status = best
    if best is not Status.BOUND_ONLY and not certificate.gap <= tol:
        status = Status.MAX_STEPS if exhausted else Status.STALLED
    result = report(status)
    if throw and status in (Status.MAX_STEPS, Status.STALLED):
        gap = f"the certified gap is {certificate.gap:.3g} {unit}, above tol = {tol:.3g}"
        raise NotConverged(f"{gap}: {status.value}", result)
    return result
