"""The family of transport solvers: one abstract parent, one file for each method."""

from __future__ import annotations

from abc import ABC, abstractmethod

from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.result import TransportResult


class Solver(ABC):
    """A method for W2 between two laws of the same dimension.

    Subclasses say which pairs they take and solve those; they are final. The pair comes with a
    Gaussian first if exactly one of the two is Gaussian.
    """

    @abstractmethod
    def accepts(self, mu: Measure, nu: Measure) -> bool:
        """True if this method solves the pair."""

    @abstractmethod
    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        """Solve a pair that `accepts` has taken."""


def is_semidiscrete(mu: Measure, nu: Measure) -> bool:
    """True for a Gaussian source and a discrete target."""
    return isinstance(mu, Gaussian) and isinstance(nu, DiscreteMeasure)


def both_discrete(mu: Measure, nu: Measure) -> bool:
    """True for two laws with finitely many atoms."""
    return isinstance(mu, DiscreteMeasure) and isinstance(nu, DiscreteMeasure)
