"""Gaussians against atoms of rank three and more: randomised quasi-Monte Carlo, smoothed."""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
from scipy.special import ndtri, stdtrit

from channelcode._validation import Array, integer
from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.reduction import Reduced, reduce_target
from channelcode.transport.result import Potentials, TransportResult, cell_plan
from channelcode.transport.solver import Solver

POINTS = 128  # in each replicate of the default rule, which pools share
REPLICATES = 8
DIRECTIONS = 64
RESIDUAL = 1e-7  # of the cell masses; its square, times the scale, is the error it leaves in rho
COVERAGE = 0.999


@cache
def normal_nodes(dim: int, points: int, replicates: int, seed: int) -> Array:
    """Scrambled Sobol points mapped to N(0, I), `(replicates * points, dim)`.

    Each replicate is an independent scramble: half of `points` (a power of two) from the engine,
    the other half their mirror images, then scaled so that the covariance is the identity. So
    polynomials up to degree three are integrated exactly, and what is left falls faster.
    """
    from scipy.stats import qmc

    streams = np.random.SeedSequence(seed).spawn(replicates)
    rules = []
    for stream in streams:
        engine = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(stream))
        uniform = engine.random(max(points // 2, 1))
        # The scramble's lattice holds zero, which is no probability.
        drawn = ndtri(np.clip(uniform, 2.0**-40, 1 - 2.0**-40))
        if len(drawn) > 2 * dim:
            spread = np.linalg.cholesky(drawn.T @ drawn / len(drawn))
            drawn = np.linalg.solve(spread, drawn.T).T
        rules.append(np.concatenate((drawn, -drawn)))
    return np.ascontiguousarray(np.concatenate(rules))


@cache
def directions_in(dim: int) -> Array:
    """Unit vectors spread over the half sphere, the axes among them, `(DIRECTIONS + dim, dim)`."""
    drawn = np.random.default_rng(20).standard_normal((DIRECTIONS, dim))
    both = np.concatenate((np.eye(dim), drawn))
    return np.ascontiguousarray(both / np.linalg.norm(both, axis=1, keepdims=True))


def factor_of(covariance: Array) -> Array:
    """F with F F' = S for each of `(n, r, r)` covariances, by eigenvectors (any rank)."""
    values, vectors = np.linalg.eigh(covariance)
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def quasi_correlations(covariance: Array, target: Reduced) -> Array:
    """rho(S) for each covariance `(n, r, r)` on the span of the target, by the default rule."""
    rho, residual, _, _ = _solve_pool(covariance, target, QuasiMonteCarlo(), details=False)
    check_residual(residual)
    return rho


def check_residual(residual: Array) -> None:
    """Raise `NotConverged` for the candidate whose cells miss their masses most, if any does."""
    worst = int(np.argmax(residual))
    if not residual[worst] <= RESIDUAL:
        raise NotConverged(
            f"candidate {worst} of the pool left {residual[worst]:.3g} of its mass unplaced",
            residual,
        )


def _solve_pool(
    covariance: Array, target: Reduced, rule: QuasiMonteCarlo, *, details: bool
) -> tuple[Array, Array, np.ndarray, Array]:
    from channelcode._kernels.transport_quasi import quasi_pool

    n, r, _ = covariance.shape
    nodes = normal_nodes(r - 1, rule.points, rule.replicates, rule.seed)
    room = n if details else 0
    potentials = np.zeros((room, len(target.weights)))
    rho, residual, steps = quasi_pool(
        factor_of(covariance),
        np.array(target.points),
        np.array(target.weights),
        nodes,
        directions_in(r),
        rule.points,
        potentials,
    )
    return rho, residual, steps, potentials


def statistical_maximum(
    covariance: Array, points: Array, v: Array, rule: QuasiMonteCarlo
) -> tuple[float, float]:
    """E max_j(<Z,y_j> - v_j) for atoms `(m, r)`, and its standard error, by replicates."""
    from channelcode._kernels.transport_quasi import replicate_values, sort_atoms, turn_apart

    m, rank = points.shape
    atoms = np.ascontiguousarray(points @ factor_of(covariance[None])[0])
    nodes = normal_nodes(rank - 1, rule.points, rule.replicates, rule.seed)
    order = np.zeros(m, dtype=np.int64)
    turn_apart(atoms, directions_in(rank))
    sort_atoms(atoms, order)
    values = np.zeros(rule.replicates)
    replicate_values(atoms, np.ascontiguousarray(v[order]), np.zeros(m), nodes, values)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(rule.replicates))


def statistical_bound(
    covariance: Array, target: Reduced, v: Array, rule: QuasiMonteCarlo
) -> tuple[float, float]:
    """E max_j(<Z,y_j> - v_j) + w'v, at least rho, and its standard error, by replicates."""
    value, error = statistical_maximum(covariance, target.points, v, rule)
    return value + float(target.weights @ v), error


def coverage_factor(replicates: int) -> float:
    """How many standard errors make a two-sided interval of probability `COVERAGE`."""
    return float(stdtrit(replicates - 1, 0.5 * (1 + COVERAGE)))


class QuasiMonteCarlo(Solver):
    """A Gaussian against atoms of any rank from two: scrambled Sobol points with an error bar.

    Only rho is estimated; means and traces are exact. One coordinate is integrated in closed form,
    which makes the cell masses smooth, so Newton's method converges; the others run over
    `replicates` independent scrambles of `points` Sobol points. The replicates' spread at the
    common potential gives a standard error (`stats.details["error"]`), and `lower`, `upper` are a
    99.9% interval (Student's t), so the status is `BOUND_ONLY`: the bounds are statistical.
    """

    def __init__(
        self, *, points: int = POINTS, replicates: int = REPLICATES, seed: int = 0
    ) -> None:
        self.points = integer("points", points, least=2)
        if self.points & (self.points - 1):
            raise InvalidArgument("points", "must be a power of two", points)
        self.replicates = integer("replicates", replicates, least=2)
        self.seed = integer("seed", seed, least=0)

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return (
            isinstance(mu, Gaussian)
            and isinstance(nu, DiscreteMeasure)
            and mu.dim > 1
            and reduce_target(nu).rank >= 2
        )

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        from channelcode.transport.plane import cost_potential

        if not isinstance(mu, Gaussian) or not isinstance(nu, DiscreteMeasure):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        started = perf_counter()
        target = reduce_target(nu)
        covariance = (target.basis.T @ mu.covariance @ target.basis)[None]
        rho, residual, steps, v = _solve_pool(covariance, target, self, details=True)
        error = 2 * statistical_bound(covariance[0], target, v[0], self)[1]
        reach = coverage_factor(self.replicates) * error
        shift = mu.mean - target.mean
        total = float(shift @ shift + np.trace(mu.covariance) + target.variance)
        squared = max(total - 2 * float(rho[0]), 0.0)
        placed = bool(residual[0] <= RESIDUAL)
        result = TransportResult(
            squared=squared,
            lower=max(squared - reach, 0.0),
            upper=squared + reach,
            plan=cell_plan(np.array(nu.weights)),
            potentials=Potentials(None, cost_potential(v[0], nu, target, shift)),
            method="Gaussian, smoothed quasi-Monte Carlo",
            status=Status.BOUND_ONLY if placed else Status.STALLED,
            stats=SolveStats(
                "QuasiMonteCarlo",
                int(steps[0]),
                perf_counter() - started,
                {
                    "error": error,
                    "coverage": COVERAGE,
                    "residual": float(residual[0]),
                    "correlation": float(rho[0]),
                },
            ),
        )
        if not placed:
            raise NotConverged(f"{residual[0]:.3g} of the mass found no cell", result)
        return result
