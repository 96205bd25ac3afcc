"""`w2`: the pair in, the solver by structure, the proved value out."""

from __future__ import annotations

from typing import Any

from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.discrete import EarthMover
from channelcode.transport.gaussian import Bures
from channelcode.transport.line import Line
from channelcode.transport.median import Median
from channelcode.transport.plane import Plane
from channelcode.transport.projection import Projection
from channelcode.transport.quasi import QuasiMonteCarlo
from channelcode.transport.result import TransportResult
from channelcode.transport.semidual import SemiDual
from channelcode.transport.simplex import Simplex
from channelcode.transport.solver import Solver
from channelcode.transport.space import Space


class Auto(Solver):
    """Chooses by structure: the first method of `methods` that accepts the pair."""

    def __init__(self) -> None:
        # From the most special to the most general.
        self.methods: tuple[Solver, ...] = (
            Bures(),
            Median(),
            Line(),
            Projection(),
            Plane(),
            Simplex(),
            Space(),
            QuasiMonteCarlo(),
            SemiDual(),
            EarthMover(),
        )

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return any(method.accepts(mu, nu) for method in self.methods)

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        for method in self.methods:
            if method.accepts(mu, nu):
                return method.solve(mu, nu)
        raise InvalidArgument("mu", "must form a pair with nu that some solver takes", (mu, nu))


def w2(mu: Measure, nu: Measure, *, solver: Solver | None = None) -> TransportResult:
    """The squared 2-Wasserstein distance of two laws, with proof.

    `W2^2(mu, nu) = min E|X - Y|^2` over couplings of mu and nu (the paper's W_p with p = 2,
    section 3). Any pair of `DiscreteMeasure`, `Empirical` and `Gaussian` laws of one dimension, in
    either order. `solver=None` chooses by structure. A solve that does not reach its tolerance
    raises `NotConverged` with the result attached.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> result = w2(Gaussian(0.0, 1.0), DiscreteMeasure.symmetric(1.0))
    >>> round(result.squared, 6), result.lower <= result.squared <= result.upper
    (0.404231, True)
    """
    check_law("mu", mu)
    check_law("nu", nu)
    check_dimension("nu", nu, mu.dim)
    method = Auto() if solver is None else solver
    if not isinstance(method, Solver):
        raise InvalidArgument("solver", "must be a transport solver or None", solver)
    turned = isinstance(nu, Gaussian) and not isinstance(mu, Gaussian)
    first, second = (nu, mu) if turned else (mu, nu)
    if method.accepts(first, second):
        result = method.solve(first, second)
        return result.swapped() if turned else result
    if method.accepts(second, first):
        result = method.solve(second, first)
        return result if turned else result.swapped()
    raise InvalidArgument("solver", "must accept the pair of laws", type(method).__name__)


def check_law(argument: str, law: Any) -> None:
    """Refuse anything but the laws that transport knows."""
    if not isinstance(law, DiscreteMeasure | Gaussian):
        raise InvalidArgument(argument, "must be a discrete, empirical or Gaussian law", law)


def check_dimension(argument: str, law: Any, dim: int) -> None:
    """Refuse a law of another dimension."""
    if law.dim != dim:
        raise InvalidArgument(argument, f"must have dimension {dim}", f"dimension {law.dim}")
