"""Whole numbers: the plan and the potentials prove each other without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from channelcode import DiscreteMeasure, Empirical, EmpiricalPool, InvalidArgument, w2
from channelcode.transport import Auto, EarthMover, ExactFlow, Problem, SemiDual
from channelcode.transport.pool import judged_pool
from channelcode.transport.solvers.exact_flow import whole_numbers
from tests.channelcode.transport.hostile import discrete_laws
from tests.channelcode.transport.oracles import emd_squared, exact_cost, exact_dual


def test_whole_numbers_are_the_doubles():
    given = np.array([[0.1, -3.0], [5e-324, 2.0**70]])
    found, unit = whole_numbers(given)
    assert unit == 2**1074
    for whole, value in zip(found.ravel(), given.ravel(), strict=True):
        assert Fraction(whole, unit) == Fraction(value)


def test_agrees_with_a_network_simplex(rng):
    for n, m, dim in ((1, 5, 2), (7, 3, 2), (40, 12, 3), (64, 5, 5)):
        mu = Empirical(rng.standard_normal((n, dim)))
        nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.ones(m)))
        result = w2(mu, nu, solver=ExactFlow())
        assert result.squared == pytest.approx(emd_squared(mu, nu), rel=1e-12)
        assert result.gap <= 1e-13 * result.problem.scale


@settings(max_examples=60, deadline=None)
@given(mu=discrete_laws(2, largest=12), nu=discrete_laws(2))
def test_no_path_is_better_on_hostile_laws(mu, nu):
    problem = Problem(mu, nu)
    proposal = ExactFlow().propose(problem, tol=1e-9)
    points = problem.points
    laws = (
        DiscreteMeasure(points.source + points.shift, points.masses),
        DiscreteMeasure(points.atoms, points.weights),
    )
    cost = exact_cost(*laws, proposal.plan)
    level = np.asarray(proposal.potential) + points.atoms @ points.shift
    dual = exact_dual(*laws, level)
    # The potential of a far atom is rounded to a double, and so are the masses of the plan.
    size = float(np.abs(laws[0].points).max() * np.abs(points.atoms).max())
    assert float(cost - dual) <= 1e-14 * (problem.scale / points.unit**2 + size)


def test_too_many_scores_are_refused():
    rng = np.random.default_rng(0)
    problem = Problem(Empirical(rng.standard_normal((2**14, 2))), Empirical(rng.random((33, 2))))
    assert not ExactFlow().fits(problem)
    with pytest.raises(InvalidArgument, match="ExactFlow"):
        ExactFlow().propose(problem, tol=1e-9)
    assert [type(method) for method in Auto().methods(problem)] == [SemiDual, EarthMover]


@pytest.mark.parametrize(
    ("seed", "m", "n", "far", "light"),
    [
        (14, 4, 17, 1e10, 1e-30),
        (25, 4, 17, 1e8, 1e-20),
        (8, 5, 64, 1e8, 1e-20),
        (33, 5, 64, 1e10, 1e-30),
        (14, 12, 64, 1e8, 1e-20),
        (1, 4, 128, 1e10, 1e-30),
    ],
)
def test_a_light_atom_far_away_takes_part_of_a_weighted_point(seed, m, n, far, light):
    """All ended in `NotConverged`: rounding decided which way mass took past the light cell."""
    rng = np.random.default_rng(seed)
    atoms, masses = rng.standard_normal((m, 2)), rng.dirichlet(np.ones(m))
    atoms[0] *= far
    masses[0] = light
    nu = DiscreteMeasure(atoms, masses / masses.sum())
    pool = EmpiricalPool(rng.standard_normal((2, n, 2)), rng.dirichlet(np.ones(n)))
    found = judged_pool(pool, nu)
    for law, lower, value, upper in zip(pool, found.lower, found.squared, found.upper, strict=True):
        single = w2(law, nu)
        assert single.status.ok
        rows, columns = single.plan.nonzero()
        plan = rows, columns, np.asarray(single.plan[rows, columns]).ravel()
        cost = exact_cost(law, nu, plan)
        assert Fraction(lower) <= cost
        assert upper - lower <= 1e-12 * single.problem.scale
        assert value == pytest.approx(float(cost), rel=1e-8)
