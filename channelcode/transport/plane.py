"""Gaussians and atoms in the plane: exact cells by erf and Owen's T."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from channelcode._validation import Array
from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.line import line_constant
from channelcode.transport.reduction import Reduced, reduce_target
from channelcode.transport.result import Potentials, TransportResult, cell_plan
from channelcode.transport.solver import Solver

MOST_ATOMS = 64  # a step costs m^3: beyond, the quasi-Monte Carlo rule is cheaper
GAP_RTOL = 1e-11  # of sqrt(tr S tr Cov T), the size of rho; rounding in the masses leaves 1e-13


def plane_correlations(covariance: Array, target: Reduced) -> Array:
    """rho(S) for each covariance `(n, 2, 2)` on the span of a planar target, `(n,)`."""
    if len(target.weights) > MOST_ATOMS:
        from channelcode.transport.quasi import quasi_correlations

        return quasi_correlations(covariance, target)
    return exact_correlations(covariance, target)


def exact_correlations(covariance: Array, target: Reduced, *, ordered: bool = False) -> Array:
    """rho(S) by one Newton solve for each covariance; `NotConverged` names the worst.

    `ordered` says that neighbours in the stack are alike, so that each solve may start from the
    last.
    """
    rho, gap, residual, _, _ = solve_plane(covariance, target, potentials=False, ordered=ordered)
    allowed = _allowed(covariance, target)
    worst = int(np.argmax(gap - allowed))
    if not gap[worst] <= allowed[worst]:
        raise NotConverged(
            f"candidate {worst} of the pool stopped with a gap of {gap[worst]:.3g} in rho", residual
        )
    return rho


def solve_plane(
    covariance: Array, target: Reduced, *, potentials: bool, ordered: bool = False
) -> tuple[Array, Array, Array, np.ndarray, Array]:
    """rho, gap in rho, residual of the masses, steps, and potentials of <L,T> (or none)."""
    from channelcode._kernels.transport_plane import plane_pool

    points, weights = np.array(target.points), np.array(target.weights)
    room = np.zeros((len(covariance) if potentials else 0, len(weights)))
    stack = np.ascontiguousarray(covariance)
    if not stack.flags.writeable:
        stack = stack.copy()
    rho, gap, residual, steps = plane_pool(stack, points, weights, room, ordered)
    for c in np.flatnonzero(np.isinf(gap)):
        rho[c], gap[c] = _rank_one(stack[c], target, room[c] if potentials else None)
    return rho, gap, residual, steps, room


def _rank_one(covariance: Array, target: Reduced, potential: Array | None) -> tuple[float, float]:
    """rho and its gap for a covariance of rank one (up to its rounding), by the line formula."""
    first = int(covariance[1, 1] > covariance[0, 0])
    second = 1 - first
    pivot = np.sqrt(max(covariance[first, first], 0.0))
    if pivot == 0:
        return 0.0, 0.0
    ratio = covariance[0, 1] / covariance[first, first]
    along = target.points[:, first] + ratio * target.points[:, second]
    if potential is not None:
        from channelcode.transport.line import Line

        law = DiscreteMeasure(along, target.weights)
        solved = Line().solve(Gaussian(law.mean, float(pivot**2)), law)
        if solved.potentials.target is not None:
            centred = along - law.mean
            potential[:] = 0.5 * (centred**2 - solved.potentials.target)
    return float(pivot) * line_constant(along, target.weights), 0.0


def _allowed(covariance: Array, target: Reduced) -> Array:
    total = np.maximum(np.trace(covariance, axis1=1, axis2=2), 0.0)
    return GAP_RTOL * np.sqrt(total * target.variance)


class Plane(Solver):
    """A Gaussian against atoms that span a plane, in any dimension (every three-atom target).

    `rho(S) = min_v E max_j(<Z,y_j> - v_j) + w'v` by Newton's method; the masses, moments and edges
    of the cells are exact (theory, section 3). `stats.details["residual"]` is the largest error of
    a cell's mass.
    """

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        if not isinstance(mu, Gaussian) or not isinstance(nu, DiscreteMeasure) or mu.dim == 1:
            return False
        target = reduce_target(nu)
        return target.rank == 2 and len(target.weights) <= MOST_ATOMS

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        if not isinstance(mu, Gaussian) or not isinstance(nu, DiscreteMeasure):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        started = perf_counter()
        target = reduce_target(nu)
        covariance = (target.basis.T @ mu.covariance @ target.basis)[None]
        rho, gap, residual, steps, v = solve_plane(covariance, target, potentials=True)
        shift = mu.mean - target.mean
        total = float(shift @ shift + np.trace(mu.covariance) + target.variance)
        lower = max(total - 2 * float(rho[0]), 0.0)
        upper = max(total - 2 * float(rho[0]) + 2 * float(gap[0]), lower)
        closed = bool(gap[0] <= _allowed(covariance, target)[0])
        result = TransportResult(
            squared=lower,
            lower=lower,
            upper=upper,
            plan=cell_plan(np.array(nu.weights)),
            potentials=Potentials(None, cost_potential(v[0], nu, target, shift)),
            method="plane, exact cells (erf and Owen's T)",
            status=Status.OPTIMAL if closed else Status.STALLED,
            stats=SolveStats(
                "Plane",
                int(steps[0]),
                perf_counter() - started,
                {"residual": float(residual[0]), "correlation": float(rho[0])},
            ),
        )
        if not closed:
            raise NotConverged(f"Newton stopped with a gap of {result.gap:.3g}", result)
        return result


def cost_potential(v: Array, nu: DiscreteMeasure, target: Reduced, shift: Array) -> Array:
    """Potentials of |x - y|^2 at the given atoms from those of <L,T> at the reduced ones.

    An atom without mass gets the highest potential that leaves the others' cells as they are
    outside a set of mass zero: that of the lowest one less the squared reach of the atoms.
    """
    centred = nu.points - target.mean
    squares = (centred**2).sum(axis=1)
    with_mass = target.groups >= 0
    inner = np.full(len(centred), np.max(v) + 40 * np.sqrt(squares.max()) + squares.max())
    inner[with_mass] = v[target.groups[with_mass]]
    return squares - 2 * inner - 2 * centred @ shift
