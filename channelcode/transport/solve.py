"""`w2`: pose, solve, certify, report."""

from __future__ import annotations

from math import inf
from time import perf_counter

from channelcode._validation import positive
from channelcode.certificate import Certificate, SolveStats, Status, conclude
from channelcode.errors import InvalidArgument
from channelcode.measures import Measure
from channelcode.transport.certify import Bounds, certify
from channelcode.transport.problem import Problem, Proposal, Solver
from channelcode.transport.result import TransportResult
from channelcode.transport.solvers import (
    CELL_SOLVERS,
    Bures,
    EarthMover,
    ExactFlow,
    Line,
    Median,
    SemiDual,
    Simplex,
)
from channelcode.transport.solvers.median import symmetric_radius

RTOL = 1e-9  # of |m - n|^2 and both total variances: the default tolerance
VANISHING = 1e-322  # values below are zero to double precision


class Auto:
    """Chooses by the structure of the problem; where a method falls short, the next one is tried.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> problem = Problem(Gaussian([0.0, 0.0], [[1.0, 0.0], [0.0, 2.0]]),
    ...                   DiscreteMeasure.uniform([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]]))
    >>> [type(method).__name__ for method in Auto().methods(problem)]
    ['Plane', 'QuasiMonteCarlo']
    """

    def methods(self, problem: Problem) -> tuple[Solver, ...]:
        """The methods for a problem, the most special first."""
        if problem.is_discrete:
            usual = self._for_atoms(problem)
            # What is exact leaves nothing to the methods after it.
            return (usual[0], ExactFlow()) if ExactFlow().fits(problem) else usual
        if not problem.is_semidiscrete:
            return (Bures(),)
        sketch = problem.sketch
        if sketch.dim <= 1:
            return (Line(),)
        if Simplex().accepts(problem):
            return (Simplex(),)
        return tuple(method for method in CELL_SOLVERS if method.fits(sketch.atoms.shape))

    def _for_atoms(self, problem: Problem) -> tuple[Solver, ...]:
        if problem.source.dim == 1 and symmetric_radius(problem.target) is not None:
            return (Median(), Line())
        if problem.reduced.rank <= 1:
            return (Line(),)
        few = len(problem.reduced.weights) <= SemiDual.MOST_ATOMS
        return (SemiDual(), EarthMover()) if few else (EarthMover(), SemiDual())

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        return self.methods(problem)[0].propose(problem, tol=tol)


def w2(
    mu: Measure,
    nu: Measure,
    *,
    solver: Solver | None = None,
    tol: float | None = None,
    throw: bool = True,
) -> TransportResult:
    """The squared 2-Wasserstein distance of two laws, with proof.

    `W2^2(mu, nu) = min E|X - Y|^2` over couplings of mu and nu (the paper's W_p with p = 2,
    section 3). Any pair of `DiscreteMeasure`, `Empirical` and `Gaussian` laws of one dimension, in
    either order. `solver=None` chooses by structure. Whatever the solver, `certify` recomputes the
    bounds. A gap above `tol`, in squared units (default: 1e-9 of `|m - n|^2` and both total
    variances), raises `NotConverged` with the result attached; with `throw=False` the result is
    returned and its `status` says so.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> result = w2(Gaussian(0.0, 1.0), DiscreteMeasure.symmetric(1.0))
    >>> round(result.squared, 6), result.lower <= result.squared <= result.upper
    (0.404231, True)
    """
    method = Auto() if solver is None else solver
    if not hasattr(method, "propose"):
        raise InvalidArgument("solver", "must be a transport solver or None", solver)
    tolerance = None if tol is None else positive("tol", tol)
    return solve(Problem(mu, nu), method, tol=tolerance, throw=throw)


def solve(
    problem: Problem,
    solver: Solver,
    *,
    tol: float | None,
    throw: bool,
    wanted: float = inf,
) -> TransportResult:
    """Ask the solver, or those that `Auto` names one after the other, and report the best proof.

    Where the gap is within `tol` but not `wanted`, the next method is tried all the same.
    """
    started = perf_counter()
    allowed = allowed_gap(problem.scale) + 4 * problem.grain if tol is None else tol
    methods = solver.methods(problem) if isinstance(solver, Auto) else (solver,)
    best: tuple[Proposal, Bounds] | None = None
    for method in methods:
        proposal = method.propose(problem, tol=allowed)
        bounds = certify(problem, proposal, points=getattr(method, "points", None))
        if best is None or bounds.upper - bounds.lower < best[1].upper - best[1].lower:
            best = proposal, bounds
        if bounds.upper - bounds.lower <= min(allowed, wanted) or is_interval(bounds, allowed):
            break
    if best is None:
        raise InvalidArgument("solver", "must name a method for the pair of laws", solver)
    return report(problem, *best, tol=allowed, throw=throw, started=started)


def allowed_gap(scale: float) -> float:
    """The default tolerance for a problem with `|m - n|^2` and both total variances in `scale`."""
    return RTOL * scale + VANISHING


def is_interval(bounds: Bounds, tol: float) -> bool:
    """Whether the width of the bounds is statistical, and not a shortcoming of the proposal."""
    return bounds.statistical and bounds.loss <= max(tol, bounds.upper - bounds.lower - bounds.loss)


def report(
    problem: Problem,
    proposal: Proposal,
    bounds: Bounds,
    *,
    tol: float,
    throw: bool,
    started: float,
) -> TransportResult:
    """The result that the bounds allow."""
    certificate = Certificate(bounds.lower, bounds.upper)
    details = proposal.details | bounds.details
    stats = SolveStats(proposal.method, proposal.steps, perf_counter() - started, details)
    return conclude(
        lambda status: TransportResult(
            problem, bounds.squared, certificate, status, stats, proposal
        ),
        certificate,
        tol=tol,
        throw=throw,
        exhausted=proposal.exhausted,
        best=Status.BOUND_ONLY if is_interval(bounds, tol) else Status.OPTIMAL,
        unit="squared units",
    )
