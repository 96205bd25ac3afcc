"""Isotropic Gaussians and a simplex target: a formula with e_K."""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
from scipy.special import log_ndtr

from channelcode._validation import Array, integer
from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.reduction import Reduced, reduce_target
from channelcode.transport.result import Potentials, TransportResult, cell_plan
from channelcode.transport.solver import Solver

SHAPE_RTOL = 1e-12  # deviations from a regular simplex or an isotropic covariance that are rounding


@cache
def expected_maximum(count: int) -> float:
    """e_K, the expected maximum of K independent standard normal variables.

    `e_K = int z K Phi(z)^(K-1) phi(z) dz`; the trapezoid rule converges geometrically for it.

    >>> round(expected_maximum(2) ** 2 * np.pi, 12), round(expected_maximum(3), 6)
    (1.0, 0.846284)
    """
    number = integer("count", count, least=1)
    z, step = np.linspace(-40.0, 40.0, 3201, retstep=True)
    log_density = (number - 1) * log_ndtr(z) - 0.5 * z**2
    return float(step * number / np.sqrt(2 * np.pi) * (z @ np.exp(log_density)))


def simplex_radius(target: Reduced) -> float | None:
    """a, if the atoms are `a (e_k - 1/K)` up to a rigid motion, equally weighted; else None."""
    size = len(target.weights)
    if target.rank != size - 1 or np.ptp(target.weights) > SHAPE_RTOL:
        return None
    gram = target.points @ target.points.T
    a_squared = np.trace(gram) / (size - 1)
    regular = a_squared * (np.eye(size) - 1.0 / size)
    return a_squared**0.5 if np.abs(gram - regular).max() <= SHAPE_RTOL * a_squared else None


def simplex_correlation(shape: Array, target: Reduced) -> float | None:
    """rho = a sigma e_K for an isotropic `shape` and a simplex target; None for any other pair.

    Theory, section 3, "Isotropic, simplex target".
    """
    variance = np.trace(shape) / len(shape)
    if np.abs(shape - variance * np.eye(len(shape))).max() > SHAPE_RTOL * variance:
        return None
    radius = simplex_radius(target)
    if radius is None:
        return None
    return radius * float(np.sqrt(variance)) * expected_maximum(len(target.weights))


class Simplex(Solver):
    """The closed form for a Gaussian that is isotropic on the span of a regular simplex."""

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return self._correlation(mu, nu) is not None

    def _correlation(self, mu: Measure, nu: Measure) -> float | None:
        if not isinstance(mu, Gaussian) or not isinstance(nu, DiscreteMeasure) or mu.dim == 1:
            return None
        target = reduce_target(nu)
        if target.rank < 2:
            return None
        return simplex_correlation(target.basis.T @ mu.covariance @ target.basis, target)

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        started = perf_counter()
        rho = self._correlation(mu, nu)
        if rho is None or not isinstance(nu, DiscreteMeasure):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        target = reduce_target(nu)
        shift = mu.mean - target.mean
        squared = shift @ shift + np.trace(mu.covariance) + target.variance - 2 * rho
        squared = max(float(squared), 0.0)
        centred = nu.points - target.mean
        # All cells are congruent: the potential of <L,T> is constant on the atoms.
        potential = (centred**2).sum(axis=1) - 2 * centred @ shift
        return TransportResult(
            squared=squared,
            lower=squared,
            upper=squared,
            plan=cell_plan(np.array(nu.weights)),
            potentials=Potentials(None, potential),
            method="simplex, isotropic closed form",
            status=Status.OPTIMAL,
            stats=SolveStats("Simplex", 1, perf_counter() - started, {"correlation": rho}),
        )
