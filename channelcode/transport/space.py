"""Gaussians against atoms of rank three: exact planes, and quadrature across them."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from channelcode._validation import Array
from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.plane import cost_potential
from channelcode.transport.quasi import (
    COVERAGE,
    RESIDUAL,
    QuasiMonteCarlo,
    check_residual,
    coverage_factor,
    directions_in,
    factor_of,
    quasi_correlations,
    statistical_bound,
)
from channelcode.transport.reduction import Reduced, reduce_target
from channelcode.transport.result import Potentials, TransportResult, cell_plan
from channelcode.transport.solver import Solver

MOST_ATOMS = 12  # a slab costs m^3, the corners m^4: beyond, quasi-Monte Carlo is cheaper


def space_correlations(covariance: Array, target: Reduced) -> Array:
    """rho(S) for each covariance `(n, r, r)` on the span of a target of rank three or more."""
    if target.rank != 3 or len(target.weights) > MOST_ATOMS:
        return quasi_correlations(covariance, target)
    rho, residual, _, _ = solve_space(covariance, target, potentials=False)
    check_residual(residual)
    return rho


def solve_space(
    covariance: Array, target: Reduced, *, potentials: bool
) -> tuple[Array, Array, np.ndarray, Array]:
    """rho, residual of the masses, steps, and potentials of <L,T> (or none), for rank three."""
    from channelcode._kernels.transport_space import slab_pool

    room = np.zeros((len(covariance) if potentials else 0, len(target.weights)))
    rho, residual, steps = slab_pool(
        factor_of(covariance),
        np.array(target.points),
        np.array(target.weights),
        directions_in(3),
        room,
    )
    return rho, residual, steps, room


class Space(Solver):
    """A Gaussian against atoms that span three dimensions.

    The value is deterministic: cells in parallel planes are exact (erf and Owen's T), and
    Gauss-Legendre panels across the planes end at the corners of the cells, where the integrand is
    not analytic, and where three cells cross the planes at a slant. The error, measured, is below
    1e-10 of the scale; it is not proved, so the bounds are those of
    `QuasiMonteCarlo` at the potential found: a 99.9% interval from independent scrambles,
    `stats.details["error"]` its standard error, and the status `BOUND_ONLY`.
    """

    def __init__(self, *, check: QuasiMonteCarlo | None = None) -> None:
        self.check = QuasiMonteCarlo() if check is None else check

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        if not isinstance(mu, Gaussian) or not isinstance(nu, DiscreteMeasure) or mu.dim < 3:
            return False
        target = reduce_target(nu)
        return target.rank == 3 and len(target.weights) <= MOST_ATOMS

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        if not isinstance(mu, Gaussian) or not isinstance(nu, DiscreteMeasure):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        started = perf_counter()
        target = reduce_target(nu)
        covariance = (target.basis.T @ mu.covariance @ target.basis)[None]
        rho, residual, steps, v = solve_space(covariance, target, potentials=True)
        bound, error = statistical_bound(covariance[0], target, v[0], self.check)
        reach = 2 * coverage_factor(self.check.replicates) * error
        shift = mu.mean - target.mean
        total = float(shift @ shift + np.trace(mu.covariance) + target.variance)
        squared = max(total - 2 * float(rho[0]), 0.0)
        middle = total - 2 * bound
        placed = bool(residual[0] <= RESIDUAL)
        result = TransportResult(
            squared=squared,
            lower=max(min(middle - reach, squared), 0.0),
            upper=max(middle + reach, squared),
            plan=cell_plan(np.array(nu.weights)),
            potentials=Potentials(None, cost_potential(v[0], nu, target, shift)),
            method="space, exact planes and panels across them",
            status=Status.BOUND_ONLY if placed else Status.STALLED,
            stats=SolveStats(
                "Space",
                int(steps[0]),
                perf_counter() - started,
                {
                    "error": 2 * error,
                    "coverage": COVERAGE,
                    "residual": float(residual[0]),
                    "correlation": float(rho[0]),
                },
            ),
        )
        if not placed:
            raise NotConverged(f"{residual[0]:.3g} of the mass found no cell", result)
        return result
