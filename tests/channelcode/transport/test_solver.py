"""The family of solvers: each says what it takes, and agrees with the others on it."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.errors import InvalidArgument
from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
    Gaussian,
    Measure,
)
from channelcode.transport import (
    Bures,
    EarthMover,
    Line,
    Median,
    Plane,
    Projection,
    QuasiMonteCarlo,
    SemiDual,
    Simplex,
    Solver,
    Space,
    w2,
)

SOLVERS = [
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
]


def cases() -> list[tuple[Measure, Measure]]:
    rng = np.random.default_rng(0)
    found: list[tuple[Measure, Measure]] = [(Gaussian(0.0, 1.0), Gaussian(1.0, 2.0))]
    for dim in (1, 2, 3, 4):
        nu = DiscreteMeasure(rng.standard_normal((dim + 2, dim)), rng.dirichlet(np.ones(dim + 2)))
        found.append((Gaussian(np.zeros(dim), np.eye(dim) + 0.2), nu))
        found.append((Empirical(rng.standard_normal((20, dim))), nu))
    found.append((Empirical(rng.standard_normal(9)), DiscreteMeasure.symmetric(1.0)))
    found.append((Gaussian(np.zeros(3), np.eye(3)), DiscreteMeasure.uniform(np.eye(3)[:2])))
    found.append((Gaussian(np.zeros(4), np.eye(4)), DiscreteMeasure.uniform(np.eye(4))))
    return found


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_whatever_a_solver_accepts_it_solves_like_the_others(solver):
    taken = 0
    for mu, nu in cases():
        if solver.accepts(mu, nu):
            taken += 1
            result, other = w2(mu, nu, solver=solver), w2(mu, nu)
            error = result.stats.details.get("error", 0) + other.stats.details.get("error", 0)
            assert abs(result.squared - other.squared) <= 6 * error + 1e-9
            assert result.lower <= result.squared <= result.upper
    assert taken > 0


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_a_refused_pair_is_an_error_also_when_asked_directly(solver):
    for mu, nu in ((Gaussian(0.0, 1.0), Gaussian([0, 0], np.eye(2))),):
        if not solver.accepts(mu, nu):
            with pytest.raises(InvalidArgument):
                solver.solve(mu, nu)


def test_the_parent_is_abstract():
    with pytest.raises(TypeError):
        Solver()  # pyright: ignore[reportAbstractUsage]
