"""The family of solvers: what one takes it solves like the others, and none grades itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from channelcode import (
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    FullPool,
    Gaussian,
    InvalidArgument,
    Measure,
    NotConverged,
    ScalarPool,
    nearest,
    w2,
    w2_squared,
)
from channelcode.certificate import Certificate, SolveStats, Status
from channelcode.transport import (
    Auto,
    Bures,
    EarthMover,
    ExactFlow,
    Line,
    Median,
    Plane,
    Problem,
    Proposal,
    QuasiMonteCarlo,
    SemiDual,
    Simplex,
    Solver,
    Space,
    TransportResult,
)

SOLVERS = [
    Bures(),
    Median(),
    Line(),
    Plane(),
    Simplex(),
    Space(),
    QuasiMonteCarlo(),
    SemiDual(),
    EarthMover(),
    ExactFlow(),
]


def cases() -> list[tuple[Measure, Measure]]:
    rng = np.random.default_rng(0)
    found: list[tuple[Measure, Measure]] = [
        (Gaussian(0.0, 1.0), Gaussian(1.0, 2.0)),
        (Gaussian([0.0, 1.0], np.eye(2)), Gaussian([0.5, 0.0], [[2.0, 0.4], [0.4, 1.0]])),
    ]
    for dim in (1, 2, 3, 4):
        nu = DiscreteMeasure(rng.standard_normal((dim + 2, dim)), rng.dirichlet(np.ones(dim + 2)))
        found.append((Gaussian(np.zeros(dim), np.eye(dim) + 0.2), nu))
        found.append((Empirical(rng.standard_normal((20, dim))), nu))
    found.append((Empirical(rng.standard_normal(9)), DiscreteMeasure.symmetric(1.0)))
    found.append((Gaussian(np.zeros(3), np.eye(3)), DiscreteMeasure.uniform(np.eye(3)[:2])))
    found.append((Gaussian(np.zeros(4), np.eye(4)), DiscreteMeasure.uniform(np.eye(4))))
    return found


def takes(solver: Solver, mu: Measure, nu: Measure) -> bool:
    try:
        solver.propose(Problem(mu, nu), tol=1e-9)
    except InvalidArgument:
        return False
    return True


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_whatever_a_solver_takes_it_solves_like_the_others(solver):
    taken = [pair for pair in cases() if takes(solver, *pair)]
    assert taken
    for mu, nu in taken:
        result, other = w2(mu, nu, solver=solver), w2(mu, nu)
        error = result.stats.details.get("error", 0) + other.stats.details.get("error", 0)
        assert abs(result.squared - other.squared) <= 6 * error + 1e-9
        assert result.lower <= result.squared <= result.upper
        assert result.problem.first is mu
    assert len(taken) < len(cases())
    refused = next(pair for pair in cases() if not takes(solver, *pair))
    with pytest.raises(InvalidArgument, match="solver must accept"):
        w2(*refused, solver=solver)


# --- no solver grades itself ----------------------------------------------------------------------


class Forger:
    """Takes an honest proposal and spoils it."""

    def __init__(self, spoil: Any) -> None:
        self.spoil = spoil

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        return self.spoil(problem, Auto().propose(problem, tol=tol))


def too_high(problem: Problem, honest: Proposal) -> Proposal:
    """A coupling or potential that is far from the best, called the best."""
    if honest.rotation is not None:
        return replace(honest, rotation=-honest.rotation)
    tilted = np.arange(len(honest.potential)) * 5.0  # type: ignore[arg-type]
    if honest.plan is None:
        return replace(honest, potential=tilted)
    points = problem.points
    row = np.repeat(np.arange(len(points.masses)), len(points.weights))
    column = np.tile(np.arange(len(points.weights)), len(points.masses))
    mass = np.outer(points.masses, points.weights).ravel()
    return replace(honest, potential=tilted, plan=(row, column, mass))


def too_low(problem: Problem, honest: Proposal) -> Proposal:
    """All mass to the nearest atom: cheaper than any coupling with the right marginals."""
    if honest.rotation is not None:
        return replace(honest, rotation=2 * honest.rotation)
    if honest.plan is None:
        return replace(honest, potential=100 * np.arange(len(honest.potential)) ** 2.0)  # type: ignore[arg-type]
    points = problem.points
    cost = ((points.source[:, None] + points.shift - points.atoms) ** 2).sum(axis=2)
    return replace(honest, plan=(np.arange(len(cost)), cost.argmin(axis=1), points.masses))


def infeasible(problem: Problem, honest: Proposal) -> Proposal:
    """Half of the mass is never moved."""
    if honest.rotation is not None:
        return replace(honest, rotation=np.zeros_like(honest.rotation))
    if honest.plan is None:
        return replace(honest, potential=None)
    row, column, mass = honest.plan
    return replace(honest, plan=(row, column, 0.5 * mass))


def not_numbers(problem: Problem, honest: Proposal) -> Proposal:
    if honest.rotation is not None:
        return replace(honest, rotation=np.full_like(honest.rotation, np.nan))
    return replace(honest, potential=np.full(len(honest.potential), np.nan))  # type: ignore[arg-type]


def wrong_shape(problem: Problem, honest: Proposal) -> Proposal:
    if honest.rotation is not None:
        return replace(honest, rotation=honest.rotation[0])
    return replace(honest, potential=np.append(honest.potential, 0.0))  # type: ignore[arg-type]


def boast(problem: Problem, honest: Proposal) -> Any:
    """What used to be believed: a finished result of zero."""
    return TransportResult(
        problem, 0.0, Certificate(0.0, 0.0), Status.OPTIMAL, SolveStats("liar"), honest
    )


LIES = [too_high, too_low, infeasible, not_numbers, wrong_shape, boast, lambda *_: None]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_no_lie_is_believed(lie):
    for mu, nu in [*cases(), (Gaussian(5.0, 1.0), DiscreteMeasure.symmetric(1.0))]:
        if lie is too_low and isinstance(mu, Gaussian) and isinstance(nu, Gaussian) and mu.dim == 1:
            continue  # covered in the plane
        with pytest.raises((NotConverged, InvalidArgument)):
            w2(mu, nu, solver=Forger(lie))


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_pools_and_nearest_believe_no_lie(lie, rng):
    pools = [
        (ScalarPool([5.0, 0.0], [1.0, 2.0]), DiscreteMeasure.symmetric(1.0)),
        (
            FullPool(rng.standard_normal((2, 3)), [np.eye(3)] * 2),
            DiscreteMeasure.uniform(rng.standard_normal((4, 3))),
        ),
        (
            EmpiricalPool(rng.standard_normal((2, 30, 2))),
            DiscreteMeasure.uniform(rng.standard_normal((4, 2))),
        ),
    ]
    for pool, target in pools:
        for call in (w2_squared, nearest):
            with pytest.raises((NotConverged, InvalidArgument)):
                call(pool, target, solver=Forger(lie))


def test_a_liar_that_only_knows_the_old_way():
    class Liar(Solver):
        def solve(self, *_: Any) -> float:
            return 0.0

    with pytest.raises((NotConverged, InvalidArgument)):
        w2(Gaussian(5.0, 1.0), DiscreteMeasure.symmetric(1.0), solver=Liar())  # type: ignore[abstract]
    with pytest.raises(InvalidArgument, match="solver must be"):
        w2(Gaussian(5.0, 1.0), DiscreteMeasure.symmetric(1.0), solver=object())  # type: ignore[arg-type]


def test_a_poor_proposal_is_reported_with_honest_bounds(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 2)), [0.1, 0.2, 0.3, 0.4])
    mu = Gaussian([0.0, 0.0], np.eye(2))
    truth = w2(mu, nu).squared
    poor = w2(mu, nu, solver=Forger(too_high), throw=False)
    assert not poor.status.ok
    assert poor.lower <= truth <= poor.upper
    assert w2(mu, nu, solver=Forger(too_high), throw=False, tol=1e3).status is Status.OPTIMAL
