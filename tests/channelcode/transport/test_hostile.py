"""Hostile input on purpose: every solver in any unit, and against independent answers."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    FullPool,
    Gaussian,
    NotConverged,
    dual_bound,
    gelbrich_bound,
    projection_bound,
    w2,
    w2_squared,
)
from channelcode._kernels.transport.plane import plane_judge
from channelcode.transport import EarthMover, Problem, Proposal, certify
from channelcode.transport.pool import judged_pool
from tests.channelcode.transport.hostile import discrete_laws, gaussian_laws
from tests.channelcode.transport.oracles import (
    emd_squared,
    exact_cost,
    line_squared_exactly,
    plane_correlation,
)


@settings(max_examples=60)
@given(data=st.data(), dim=st.integers(2, 3))
def test_hostile_discrete_laws(data, dim):
    """Bounds hold; where masses of 1e-14 and less decide, a solve may say that it gave up."""
    mu, nu = data.draw(discrete_laws(dim)), data.draw(discrete_laws(dim))
    result = w2(mu, nu, throw=False)
    shift = mu.mean - nu.mean
    scale = shift @ shift + np.trace(mu.covariance) + np.trace(nu.covariance)
    assert result.lower <= result.upper
    if result.status.ok:
        # POT itself moves masses below 1e-15 only roughly: atoms lighter than that are left out.
        light = min(w for law in (mu, nu) for w in law.weights if w > 0) < 1e-8
        assert light or result.squared == pytest.approx(emd_squared(mu, nu), abs=1e-9 * scale)


@settings(max_examples=60)
@given(law=gaussian_laws(2), nu=discrete_laws(2))
def test_hostile_planes(law, nu):
    """Bounds hold for any shape and any atoms; in rare cases they stay an interval."""
    result = w2(law, nu, throw=False)
    shift = law.mean - nu.mean
    scale = shift @ shift + np.trace(law.covariance) + np.trace(nu.covariance)
    assert 0 <= result.lower <= result.squared <= result.upper
    assert result.potentials.target is not None
    # Any dual vector, this one too, stays below the truth: far light atoms used to lift it.
    assert dual_bound(law, nu, result.potentials.target).squared <= result.upper + 1e-15 * scale


@pytest.mark.parametrize("gap", [1e-4, 1e-8, 1e-10, 1e-11, 1e-12, 1e-14])
def test_two_atoms_that_nearly_coincide(gap):
    """Errors over scale used to be 1.4e-9 at 1e-8, 2.7e-7 at 1e-10, 2.5e-6 at 1e-12."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        atoms, weights = rng.standard_normal((4, 2)), rng.dirichlet(np.ones(5))
        step = rng.standard_normal(2) * gap
        nu = DiscreteMeasure(np.concatenate((atoms, [atoms[0] + step])), weights)
        merged = DiscreteMeasure(atoms, [weights[0] + weights[4], *weights[1:4]])
        law = Gaussian([0.2, -0.1], [[1.0, 0.3], [0.3, 0.5]])
        result = w2(law, nu)
        assert result.gap <= 1e-12
        # Moving a mass w over the distance g changes W2^2 by at most 2 sqrt(w) g W2 + w g^2.
        moved = 2 * np.linalg.norm(step) * (1 + result.distance)
        assert abs(result.squared - w2(law, merged).squared) <= moved + 1e-13


def test_weights_decide_the_rank():
    """Three atoms of a triangle and one of weight 1e-30 at 1e14 were solved on the line."""
    triangle = np.array([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
    law = Gaussian([0.0, 0.0], [[1.0, 0.2], [0.2, 0.6]])
    far = DiscreteMeasure(np.concatenate((triangle, [[1e14, 0.0]])), [0.3, 0.3, 0.4, 1e-30])
    plain = DiscreteMeasure(triangle, [0.3, 0.3, 0.4])
    # The far atom adds its own second moment, 1e-30 * 1e28, and a correlation of 1e-15.
    assert w2(law, far).squared == pytest.approx(w2(law, plain).squared + 0.01, abs=1e-12)


def test_tiny_atoms_are_numbers():
    triangle = np.array([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
    law = Gaussian([0.0, 0.0], np.eye(2))
    assert w2(law, DiscreteMeasure.uniform(1e-170 * triangle)).squared == pytest.approx(2.0)
    still = Gaussian([0.0, 0.0], np.zeros((2, 2)))
    vanishing = w2(still, DiscreteMeasure.uniform(1e-170 * triangle))
    assert vanishing.squared == 0.0  # 1e-340 is no number
    assert vanishing.upper > 0


def test_median_far_from_zero():
    """The formula of Prop. 3.2 cancelled to 0 here."""
    mu = Empirical([-1e6, 1e6 + 1e-3])
    squared = w2(mu, DiscreteMeasure.symmetric(1e6)).squared
    assert squared == pytest.approx(0.5 * ((1e6 + 1e-3) - 1e6) ** 2, rel=1e-12)


def test_dual_bounds_with_far_light_atoms():
    """Used to lie above the truth by 7e-7 of the scale."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        atoms = np.concatenate((rng.standard_normal((4, 2)), 1e6 * rng.standard_normal((2, 2))))
        nu = DiscreteMeasure(atoms, [0.2, 0.3, 0.3, 0.2 - 2e-12, 1e-12, 1e-12])
        for mu in (Gaussian([0.3, 0.0], np.eye(2)), Empirical(rng.standard_normal((30, 2)))):
            result = w2(mu, nu)
            assert result.potentials.target is not None
            for noise in (0.0, 1e-6, 1e-2):
                p = result.potentials.target * (1 + noise * rng.standard_normal(6))
                assert dual_bound(mu, nu, p).squared <= result.upper


def test_one_light_atom_far_away_in_the_plane():
    """Its potential multiplies the rounding of the masses: 16 of 400 such were not solved."""
    for seed in range(130):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(3, 9))
        atoms = rng.standard_normal((m, 2))
        atoms[-1] *= 10 ** rng.uniform(2, 6)
        weights = rng.dirichlet(np.ones(m))
        weights[-1] = 10 ** rng.uniform(-16, -6)
        factor = rng.standard_normal((2, 2))
        law = Gaussian([0.0, 0.0], factor @ factor.T)
        assert w2(law, DiscreteMeasure(atoms, weights / weights.sum())).status.ok


def test_edges_that_are_nearly_parallel_are_judged_honestly():
    """One evaluation of the cells was off by 7e-13: a dual value above the truth."""
    atoms = np.array([[-1.0, 0.0], [-2.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    nu = DiscreteMeasure(atoms, np.array([1e-8, 10.0, 1.0, 1e-13]) / (11.0 + 1e-8 + 1e-13))
    law = Gaussian([0.0, 0.0], np.diag([1.0, 1e-16]))
    result = w2(law, nu)
    potential = result.potentials.target
    assert potential is not None
    truth = 3.745630976562080  # on the line, 40 digits; the second coordinate adds 9e-15
    assert result.lower <= truth + 1e-15
    assert truth - 1e-15 <= result.upper
    rng = np.random.default_rng(0)
    for _ in range(40):
        near = potential * (1 + 4e-16 * rng.standard_normal(4))
        assert dual_bound(law, nu, near).squared <= truth + 1e-15


@pytest.mark.parametrize("deviations", [(1.0, 1e-3, 1e-6), (1.0, 1e-5, 1e-5), (30.0, 1.0, 1e-2)])
def test_products_in_space_split(deviations):
    """R^3 products with such deviations raised `NotConverged` in 7 of 20."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        share = rng.uniform(0.2, 0.8, 3)
        sides = [DiscreteMeasure(rng.standard_normal(2), [w, 1 - w]) for w in share]
        grid = np.stack(np.meshgrid(*(s.atoms for s in sides), indexing="ij"), -1).reshape(-1, 3)
        mass = np.einsum("i,j,k->ijk", *(s.weights for s in sides)).ravel()
        law = Gaussian(np.zeros(3), np.diag(np.square(deviations)))
        lines = zip(deviations, sides, strict=True)
        exact = sum(w2(Gaussian(0.0, d**2), side).squared for d, side in lines)
        result = w2(law, DiscreteMeasure(grid, mass))
        assert result.squared == pytest.approx(exact, rel=1e-9)
        assert result.lower <= exact <= result.upper


@pytest.mark.parametrize("far", [100.0, 1000.0, 1e6])
def test_planes_with_one_far_atom_among_many(far):
    """One atom at 100 or 1000 among 25: half of them raised `NotConverged`."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        atoms, weights = rng.standard_normal((25, 2)), rng.dirichlet(np.ones(25))
        atoms[0] *= far
        factor = rng.standard_normal((2, 2))
        result = w2(Gaussian([0.0, 0.0], factor @ factor.T), DiscreteMeasure(atoms, weights))
        assert result.status.ok
        assert result.method.startswith("plane")


def test_products_in_the_plane_split():
    """Grids up to 8 by 8, sides of very different lengths: no cell may start empty."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        deviations, sides = 10.0 ** rng.uniform(-3, 1, 2), []
        for size in rng.integers(2, 9, 2):
            weights = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 5.0])))
            sides.append(DiscreteMeasure(rng.standard_normal(size), weights))
        grid = np.stack(np.meshgrid(*(s.atoms for s in sides), indexing="ij"), -1).reshape(-1, 2)
        mass = np.outer(*(s.weights for s in sides)).ravel()
        lines = zip(deviations, sides, strict=True)
        exact = sum(w2(Gaussian(0.0, d**2), side).squared for d, side in lines)
        result = w2(Gaussian(np.zeros(2), np.diag(deviations**2)), DiscreteMeasure(grid, mass))
        scale = (deviations**2).sum() + sum(side.second_moment for side in sides)
        assert result.status.ok
        assert result.squared == pytest.approx(exact, abs=1e-9 * scale)


@pytest.mark.parametrize("m", [12, pytest.param(20, marks=pytest.mark.slow)])
def test_large_planar_pools_with_many_atoms(m):
    """One in five raised `NotConverged` for a node of the table, which is no candidate."""
    rng = np.random.default_rng(m)
    nu = DiscreteMeasure(rng.standard_normal((m, 2)), rng.dirichlet(np.full(m, 0.5)))
    factors = rng.standard_normal((10_000, 2, 2))
    pool = FullPool(np.zeros((10_000, 2)), factors @ factors.transpose(0, 2, 1))
    squared = w2_squared(pool, nu)
    for c in rng.integers(0, len(pool), 5):
        assert squared[c] == pytest.approx(w2(pool[int(c)], nu).squared, rel=1e-6)


@settings(max_examples=4)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(3, 5))
def test_the_plane_against_a_dense_quadrature(seed, m):
    rng = np.random.default_rng(seed)
    nu = DiscreteMeasure(rng.standard_normal((m, 2)), rng.dirichlet(np.full(m, 2.0)))
    factor = rng.standard_normal((2, 2))
    law = Gaussian([0.0, 0.0], factor @ factor.T)
    rho = plane_correlation(factor, nu)
    total = np.trace(law.covariance) + nu.second_moment
    # The oracle's rule errs by its step to the fourth, 1e-8, where three cells meet.
    scale = np.sqrt(np.trace(law.covariance) * nu.second_moment)
    assert w2(law, nu).squared == pytest.approx(total - 2 * rho, abs=1e-7 * scale)


def test_giving_up_says_so():
    """A solver that cannot, on laws it takes, is `NotConverged` and not a number."""
    rng = np.random.default_rng(0)
    mu, nu = Empirical(rng.standard_normal((80, 2))), Empirical(rng.standard_normal((70, 2)))
    with pytest.raises(NotConverged):
        w2(mu, nu, solver=EarthMover(max_steps=2))


def test_cells_that_all_meet_at_the_mean():
    """Masses were (1/2, 0, 1/2) for a triangle whose cells meet there, and the bound false."""
    atoms = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    law = Gaussian([0.0, 0.0], np.eye(2))
    for weights in ([0.5, 0.0001, 0.4999], [0.3, 0.3, 0.4]):
        nu = DiscreteMeasure(atoms - np.array(weights) @ atoms, weights)
        problem = Problem(law, nu)
        guess = certify(problem, Proposal("level", potential=np.zeros(3)))
        found = w2(law, nu)
        assert guess.lower <= found.upper
        assert found.lower <= guess.upper
    square = DiscreteMeasure.uniform([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    level = certify(Problem(law, square), Proposal("level", potential=np.zeros(4)))
    assert level.upper - level.lower <= 1e-12


def far_dual(far: float, slope: float, v: np.ndarray, weights: np.ndarray) -> Any:
    """E max(0, s_1, s_2) + w'v for atoms 0, (far, slope), (far, -slope), to 30 digits."""
    mpmath.mp.dps = 40
    far, slope, first, second = (mpmath.mpf(float(x)) for x in (far, slope, v[1], v[2]))

    def expected(y: Any) -> Any:
        t = min(first - slope * y, second + slope * y) / far
        return mpmath.npdf(y) * far * (mpmath.npdf(t) - t * mpmath.ncdf(-t))

    marks = sorted([-12, -4, -2, 0, 2, 4, 12, (first - second) / (2 * slope)])
    constant = sum(mpmath.mpf(float(w)) * mpmath.mpf(float(x)) for w, x in zip(weights, v))
    integral: Any = mpmath.quad(expected, marks)
    return integral + constant


@pytest.mark.parametrize("seed", [2, 4, 5, 7])
def test_a_far_potential_times_the_rounding_of_a_mass(seed):
    """Dual values lay below the truth, by up to 3e-11 of the scale, for atoms 1e5 to 1e7 away."""
    rng = np.random.default_rng(seed)
    far = 10 ** rng.uniform(5, 7)
    slope = far * rng.uniform(0.1, 0.5)
    height = rng.uniform(6.5, 7.5) * far
    v = np.array([0.0, height, height + rng.uniform(-1, 1) * 1.6 * slope])
    weights = np.array([1 - 2e-13, 1e-13, 1e-13])
    atoms = np.array([[0.0, 0.0], [far, slope], [far, -slope]])
    dual, _ = plane_judge(atoms[None], weights, v[None])
    excess = mpmath.mpf(float(dual[0])) - far_dual(far, slope, v, weights)
    assert 0 <= excess <= 1e-10


@pytest.mark.parametrize("light", [1e-30, 1e-60, 1e-200])
@pytest.mark.parametrize("dim", [1, 2])
def test_laws_that_differ_in_a_light_atom_only(light, dim):
    """What they have in common lost its last digits beside the mean: `lower` above `upper`."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        axis, bulk = np.array([1.0, 0.5])[:dim], rng.uniform(-1e3, 1e3)
        shares = rng.dirichlet(np.ones(9)) * (1 - light)
        mu = DiscreteMeasure(np.outer([bulk] * 9 + [200.0], axis), [*shares, light])
        nu = DiscreteMeasure(np.outer([bulk, 150.0], axis), [1 - light / 3, light / 3])
        on_line = (DiscreteMeasure(law.points[:, 0], law.weights) for law in (mu, nu))
        truth = float(line_squared_exactly(*on_line)) * float(axis @ axis)
        result = w2(mu, nu)
        assert result.lower <= truth <= result.upper
        assert result.gap <= 1e-12 * truth


def test_laws_that_are_one_point():
    """Rounding of the mean was taken for a distance: `lower` above `upper`, a raw error."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        dim, scale = int(rng.integers(1, 4)), 10.0 ** rng.integers(-50, 51)
        point = scale * rng.standard_normal(dim)
        first, second = rng.dirichlet(np.full(3, 0.3)), rng.dirichlet(np.full(5, 0.05))
        mu = Empirical(np.tile(point, (3, 1)), first)
        nu = DiscreteMeasure(np.tile(point, (5, 1)), second)
        for result in (w2(mu, nu), w2(nu, mu)):
            assert result.status.ok
            assert result.lower == 0.0
        assert gelbrich_bound(mu, nu).squared == 0.0
        assert projection_bound(mu, nu).squared == 0.0
        found = judged_pool(EmpiricalPool(np.tile(point, (2, 3, 1)), weights=first), nu)
        assert (found.lower == 0.0).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("light", [5e-324, 1e-322, 1e-310, 1e-300])
def test_masses_below_the_normal_numbers(light):
    """A deviation of 1e-161 overflowed as a unit, its square was one digit; bounds were 9 % off."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        dim = int(rng.integers(1, 4))
        near = np.round(4 * rng.standard_normal(dim))
        far = 10.0 ** rng.integers(0, 8) * np.round(4 * rng.standard_normal((2, dim)))
        mu = DiscreteMeasure(np.concatenate((near[None], far)), [1.0, light, 2 * light])
        nu = DiscreteMeasure(np.concatenate((near[None], far[:1])), [1.0, light])
        for one, other in ((mu, nu), (nu, mu)):
            result = w2(one, other)
            plan = result.plan.tocoo()
            cost = exact_cost(one, other, (plan.row, plan.col, plan.data))
            assert result.lower <= cost
            assert result.potentials.target is not None
            assert projection_bound(one, other).squared <= cost
            assert dual_bound(one, other, result.potentials.target).squared <= cost
        draws = np.stack([mu.points, mu.points + 1.0])
        found = judged_pool(EmpiricalPool(draws, weights=mu.weights), nu)
        assert found.lower[0] <= cost
        assert found.upper[1] >= found.squared[1] >= found.lower[1] > 0
