"""The judge: bounds from a proposal alone, with its own rounding counted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    Gaussian,
    InvalidArgument,
    w2,
)
from channelcode.certificate import Status
from channelcode.transport import Problem, Proposal, SemiDual, certify
from channelcode.transport.pool import judged_pool
from tests.channelcode.transport.laws import gaussians, samples, targets
from tests.channelcode.transport.oracles import emd_squared, exact_cost


@settings(max_examples=40)
@given(data=st.data(), dim=st.integers(1, 2), seed=st.integers(0, 2**32 - 1))
def test_any_potential_gives_true_bounds(data, dim, seed):
    mu, nu = data.draw(gaussians(dim)), data.draw(targets(dim, smallest=2, largest=5))
    problem = Problem(mu, nu)
    v = np.random.default_rng(seed).standard_normal(len(problem.sketch.weights))
    bounds = certify(problem, Proposal("a guess", potential=v))
    truth = w2(mu, nu)
    assert bounds.lower <= truth.upper
    assert truth.lower <= bounds.upper
    assert bounds.lower <= bounds.squared <= bounds.upper


@settings(max_examples=40)
@given(data=st.data(), dim=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_any_plan_gives_true_bounds(data, dim, seed):
    """Also one whose marginals are wrong: it is repaired, and the repair is paid for."""
    mu, nu = data.draw(samples(dim, largest=12)), data.draw(targets(dim, largest=5))
    problem = Problem(mu, nu)
    points, rng = problem.points, np.random.default_rng(seed)
    count = int(rng.integers(1, 20))
    row = rng.integers(0, len(points.masses), count)
    column = rng.integers(0, len(points.weights), count)
    plan = (row, column, rng.exponential(size=count) / count)
    v = rng.standard_normal(len(points.weights))
    bounds = certify(problem, Proposal("a guess", potential=v, plan=plan))
    truth = emd_squared(mu, nu)
    slack = 1e-12 * (1 + mu.second_moment + nu.second_moment)
    assert bounds.lower <= truth + slack
    assert bounds.upper >= truth - slack


def test_near_singular_covariances_keep_their_digits():
    """The change of basis used to lose 3.6e-8, with a gap of zero."""
    square = DiscreteMeasure.uniform([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    root = np.sqrt(2 / np.pi)
    for small in (1e-16, 1e-12, 1e-4):
        result = w2(Gaussian([0, 0], np.diag([1.0, small])), square)
        exact = (2 - 2 * root) + (1 + small - 2 * root * np.sqrt(small))
        assert abs(result.squared - exact) <= 1e-14
        assert result.lower <= exact <= result.upper
    # On the diagonal (1, 1) and its normal the square is a cross of four atoms.
    for power in (20, 40, 50):
        off = 1 - 2.0**-power
        result = w2(Gaussian([0, 0], [[1.0, off], [off, 1.0]]), square)
        turned = DiscreteMeasure.uniform(np.sqrt(2) * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]))
        exact = w2(Gaussian([0, 0], np.diag([1 + off, 2.0**-power])), turned)
        assert result.squared == pytest.approx(exact.squared, abs=2e-14)
        assert result.gap <= 1e-12


def test_a_plane_in_space_keeps_its_digits_too(rng):
    """The same law and target in R^5, where the atoms' plane is no coordinate plane."""
    square = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1.0]])
    frame = np.linalg.qr(rng.standard_normal((5, 5)))[0][:, :2]
    small = 2.0**-40
    flat = w2(Gaussian([0, 0], np.diag([1.0, small])), DiscreteMeasure.uniform(square))
    covariance = frame @ np.diag([1.0, small]) @ frame.T
    law = Gaussian(np.zeros(5), 0.5 * (covariance + covariance.T))
    lifted = w2(law, DiscreteMeasure.uniform(square @ frame.T))
    # Forming the covariance in R^5 itself costs 1e-16 of a variance of 1e-12: 1e-10 of its root.
    assert lifted.squared == pytest.approx(flat.squared, abs=1e-9)
    assert lifted.gap <= 1e-12


def test_what_is_not_a_proposal():
    problem = Problem(Empirical([0.0, 1.0]), DiscreteMeasure.symmetric(1.0))
    good = (np.array([0, 1]), np.array([0, 1]), np.array([0.5, 0.5]))
    for plan in (None, 3, good[:2], (good[0] + 5, *good[1:]), (good[0], good[1], -good[2])):
        with pytest.raises(InvalidArgument):
            certify(problem, Proposal("wrong", potential=np.zeros(2), plan=plan))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="proposal must be"):
        certify(problem, None)  # type: ignore[arg-type]
    rows, columns, masses = good
    for plan in (
        (rows, columns[:1], masses),
        (rows[:0], columns[:0], masses[:0]),
        (rows[None], columns[None], masses[None]),
    ):
        with pytest.raises(InvalidArgument, match="as many rows as columns and masses"):
            certify(problem, Proposal("wrong", potential=np.zeros(2), plan=plan))


def test_the_closed_form_of_a_simplex_is_for_its_own_potential_only():
    """The judge vouches for the potential it was given, not for a better one that it knows."""
    angles = 2 * np.pi * np.arange(3) / 3
    triangle = DiscreteMeasure.uniform(np.column_stack([np.cos(angles), np.sin(angles)]))
    problem = Problem(Gaussian([0, 0], np.eye(2)), triangle)
    best = certify(problem, Proposal("constant", potential=np.zeros(3)))
    assert best.upper - best.lower <= 1e-9
    wrong = certify(problem, Proposal("a guess", potential=np.array([0.0, 1.0, -1.0])))
    assert wrong.lower < best.lower - 0.1
    assert wrong.upper >= best.lower


def test_bounds_of_far_gaussians_allow_for_the_rounding_of_their_distance():
    """The squared distance of the means alone is rounded by 1e-16 of itself."""
    covariance = np.array([[2.0, 0.3], [0.3, 1.0]])
    for away in (1.0, 1e3 / 3, 1e6 / 3, 1e8 / 3):
        found = w2(Gaussian([0.0, 0.0], covariance), Gaussian([away, away / 7], covariance / 3))
        assert found.upper - found.lower >= 2.0**-52 * found.squared
        assert found.upper - found.lower <= 1e-12 * max(found.squared, 1.0)


def test_four_atoms_in_the_plane_are_proved():
    """No sampling, no loss: a full-rank target of a Gaussian in the plane."""
    nu = DiscreteMeasure([[1.0, 0.2], [-0.5, 1.0], [-1.0, -0.7], [0.8, -1.1]], [0.1, 0.2, 0.3, 0.4])
    found = w2(Gaussian([0.3, -0.2], [[1.5, 0.4], [0.4, 0.7]]), nu)
    assert found.status is Status.OPTIMAL
    assert found.upper - found.lower <= 1e-8 * found.squared
    assert found.problem.reduced.lost <= 1e-12


@pytest.mark.parametrize("share", [0.0, 1e-310, 1e-200, 0.5, 1.0, 10.0, 1e4])
def test_a_plan_that_gives_a_light_far_atom_another_mass(share):
    """Its weight is a rounding of the others, which a solver may move to it or away from it."""
    far, light = 1e9, 1e-20
    nu = DiscreteMeasure([0.0, 1.0, far], [0.5, 0.5, light])
    problem = Problem(Empirical([0.0, 0.0, 1.0, 1.0]), nu)
    mass = np.array([0.25, 0.25, 0.25, 0.25, share * light])
    plan = (np.array([0, 1, 2, 3, 3]), np.array([0, 0, 1, 1, 2]), mass)
    bounds = certify(problem, Proposal("a guess", potential=np.zeros(3), plan=plan))
    truth = light * (far - 1) ** 2
    assert truth <= bounds.upper
    assert bounds.lower <= bounds.squared <= bounds.upper
    if share >= 1e-200:
        assert bounds.upper <= truth * (1 + 1e-9)


def test_directions_that_are_left_out_are_counted():
    """Targets hardly extend along the axis on which all samples lie: `lower` was above the truth.

    Rank one and two; what is left out correlates with none of the rest.
    """
    narrow = DiscreteMeasure.uniform([[1.0, 1e-14], [-1.0, 1e-14], [0.0, -2e-14]])
    flat = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    thin = DiscreteMeasure.uniform(np.column_stack((flat, [2e-14, 2e-14, -2e-14, -2e-14])))
    split = ([0, 1, 1, 2, 2, 3], [0, 0, 1, 1, 2, 2], [1 / 4, 1 / 12, 1 / 6, 1 / 6, 1 / 12, 1 / 4])
    for nu, plan in ((narrow, split), (thin, ([0, 1, 2, 3], [0, 1, 2, 3], [0.25] * 4))):
        draws = np.zeros((4, nu.dim))
        draws[:, -1] = [1.0, 1.0, -1.0, -1.0]
        mu = Empirical(draws)
        assert Problem(mu, nu).reduced.rank == nu.dim - 1
        cost = exact_cost(mu, nu, plan)
        one, pool = w2(mu, nu), judged_pool(EmpiricalPool(draws[None]), nu)
        for lower, upper in ((one.lower, one.upper), (pool.lower[0], pool.upper[0])):
            assert Fraction(float(lower)) <= cost
            assert upper - lower <= 1e-12


def test_the_value_of_a_plan_that_lacks_a_little_mass_lies_within_its_bounds():
    """Its own cost was below the proved lower bound, by 1e-13 of the scale."""
    rng = np.random.default_rng(0)
    mu, nu = Empirical(rng.standard_normal((9, 2))), DiscreteMeasure.uniform(np.eye(2) + 100.0)
    problem = Problem(mu, nu)
    found = SemiDual().propose(problem, tol=1e-9)
    assert found.plan is not None
    row, column, mass = found.plan
    for lack in (0.0, 1e-15, 1e-14, 1e-13, 3e-13, 1e-12, 1e-9):
        given = replace(found, plan=(row, column, mass * (1 - lack)))
        bounds = certify(problem, given)
        assert bounds.lower <= bounds.squared <= bounds.upper, lack
