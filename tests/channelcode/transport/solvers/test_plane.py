"""The plane: exact cells by erf and Owen's T, Newton's method, degenerate covariances."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import owens_t

from channelcode._kernels.transport.edges import cell_edges
from channelcode._kernels.transport.owen import owen_near, upper_tail, wedge
from channelcode.certificate import Status
from channelcode.measures import DiscreteMeasure, Empirical, Gaussian
from channelcode.transport import Plane, Problem, QuasiMonteCarlo, SemiDual, dual_bound, w2
from tests.channelcode.transport.laws import covariances, targets
from tests.channelcode.transport.oracles import gaussian_points


def planar(nu: DiscreteMeasure) -> bool:
    return Plane().accepts(Problem(Gaussian([0.0, 0.0], np.eye(2)), nu))


@given(h=st.floats(0, 9), ratio=st.floats(0, 1))
def test_owens_function_near(h, ratio):
    assert abs(owen_near(h, ratio, True) - owens_t(h, ratio)) <= 3e-16
    assert abs(owen_near(h, ratio, False) - owens_t(h, ratio)) <= 7e-12


@given(h=st.floats(0, 9), t=st.floats(-60, 60))
def test_owens_function_everywhere(h, t):
    if h == 0:
        expected = 0.25 * np.sign(t)
    else:
        expected = owens_t(h, t / h)
    assert abs(wedge(h, t, upper_tail(h), upper_tail(abs(t)), True) - expected) <= 4e-16


def test_owens_function_against_many_digits():
    mpmath.mp.dps = 30
    for h, a in ((0.3, 0.9), (1.7, 0.4), (4.0, 1.0)):
        exact = mpmath.quad(
            lambda x, h=h: mpmath.exp(-(h**2) * (1 + x**2) / 2) / (1 + x**2), [0, a]
        ) / (2 * mpmath.pi)
        assert abs(owen_near(h, a, True) - float(exact)) <= 1e-16
        assert abs(owen_near(h, a, False) - float(exact)) <= 7e-12


@pytest.mark.parametrize("m", [3, 4, 6, 9])
def test_cells_against_a_dense_sum(rng, m):
    atoms, v = rng.standard_normal((m, 2)), 0.3 * rng.standard_normal(m)
    mass, moment, hessian = np.zeros(m), np.zeros((m, 2)), np.zeros((m, m))
    total = cell_edges(atoms, v, mass, moment, hessian)
    grid = np.linspace(-7, 7, 401)
    x, y = np.meshgrid(grid, grid)
    density = np.exp(-(x**2 + y**2) / 2) / (2 * np.pi) * (grid[1] - grid[0]) ** 2
    scores = x[..., None] * atoms[:, 0] + y[..., None] * atoms[:, 1] - v
    cell = scores.argmax(axis=2)
    # The grid assigns whole squares of side 0.035: edges blur by about 3e-3 at worst.
    counted = np.bincount(cell.ravel(), weights=density.ravel(), minlength=m)
    np.testing.assert_allclose(mass, counted, atol=5e-3)
    assert mass.sum() == pytest.approx(1.0, abs=1e-14)
    best = (density * (scores.max(axis=2))).sum()
    assert total - mass @ v == pytest.approx(best, abs=2e-3)
    assert (moment * atoms).sum() == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("m", [3, 5])
def test_mass_derivatives(rng, m):
    atoms, v = rng.standard_normal((m, 2)), 0.2 * rng.standard_normal(m)
    mass, moment, hessian = np.zeros(m), np.zeros((m, 2)), np.zeros((m, m))
    cell_edges(atoms, v, mass, moment, hessian)
    other, scratch = np.zeros(m), np.zeros((m, m))
    step = 1e-6
    for j in range(m):
        ahead, behind = v.copy(), v.copy()
        ahead[j] += step
        behind[j] -= step
        cell_edges(atoms, ahead, other, moment, scratch)
        first = other.copy()
        cell_edges(atoms, behind, other, moment, scratch)
        # Central differences: rounding 1e-16 / 1e-6 and a third derivative times 1e-12.
        np.testing.assert_allclose((first - other) / (2 * step), -hessian[:, j], atol=1e-8)


@settings(max_examples=60)
@given(nu=targets(2, smallest=3, largest=7), covariance=covariances(2))
def test_masses_and_gap(nu, covariance):
    if not planar(nu):
        return
    result = w2(Gaussian([0.3, -0.2], covariance), nu, solver=Plane())
    assert result.status is Status.OPTIMAL
    scale = np.trace(covariance) + nu.second_moment + 1
    assert result.gap <= 1e-11 * scale
    assert result.potentials.target is not None
    bound = dual_bound(Gaussian([0.3, -0.2], covariance), nu, result.potentials.target).squared
    assert bound == pytest.approx(result.squared, abs=1e-11 * scale)


@pytest.mark.parametrize("m", [3, 4, 5, 8])
def test_agreement_with_quasi_monte_carlo_points(rng, m):
    nu = DiscreteMeasure(rng.standard_normal((m, 2)), rng.dirichlet(np.full(m, 2.0)))
    factor = rng.standard_normal((2, 2))
    law = Gaussian(rng.standard_normal(2), factor @ factor.T)
    points = gaussian_points(law, 16)
    sampled = w2(Empirical(points), nu, solver=SemiDual()).squared
    # The exact W2^2 of 2^16 Sobol points: their own second moment errs by about 1e-4.
    corrected = sampled - (points**2).sum(axis=1).mean() + law.second_moment
    assert w2(law, nu).squared == pytest.approx(corrected, abs=2e-4)


@settings(max_examples=40)
@given(nu=targets(2, smallest=3, largest=5), covariance=covariances(2), c=st.floats(0.01, 100))
def test_correlation_is_homogeneous(nu, covariance, c):
    if not planar(nu):
        return

    def rho(matrix: np.ndarray) -> float:
        squared = w2(Gaussian(nu.mean, matrix), nu, solver=Plane()).squared
        return 0.5 * (np.trace(matrix) + np.trace(nu.covariance) - squared)

    scale = (1 + c**2) * (np.trace(covariance) + nu.second_moment)
    assert abs(rho(c**2 * covariance) - c * rho(covariance)) <= 1e-12 * scale


@settings(max_examples=40)
@given(nu=targets(2, smallest=3, largest=5), covariance=covariances(2, rank=1))
def test_rank_one_is_the_line(nu, covariance):
    """S = s u u': rho(S) is that of the atoms' projections, ties included."""
    if not planar(nu):
        return
    values, vectors = np.linalg.eigh(covariance)
    deviation, axis = np.sqrt(values[1]), vectors[:, 1]
    line = w2(Gaussian(0.0, deviation**2), nu.project(axis))
    expected = nu.second_moment + deviation**2
    correlation = 0.5 * (deviation**2 + nu.project(axis).second_moment - line.squared)
    expected -= 2 * correlation
    solved = w2(Gaussian([0.0, 0.0], covariance), nu).squared
    # Rounding in S leaves a second deviation of 1e-8 of the first, against the atoms' spread.
    tolerance = 1e-7 * deviation * np.sqrt(nu.second_moment) + 1e-12
    assert solved == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("ratio", [1e-1, 1e-3, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 2])
def test_near_singular_covariances(ratio, angle):
    """Atoms that tie along the long axis, and a short axis that only just separates them."""
    nu = DiscreteMeasure([[-1, 1], [-1, -1], [1, 1], [1, -1.0]], [0.1, 0.2, 0.3, 0.4])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    covariance = turn @ np.diag([1.0, ratio**2]) @ turn.T
    result = w2(Gaussian([0.0, 0.0], covariance), nu)
    assert result.gap <= 1e-11
    line = w2(Gaussian([0.0, 0.0], turn @ np.diag([1.0, 0.0]) @ turn.T), nu)
    # rho moves by at most the short deviation times the atoms' spread.
    assert abs(result.squared - ratio**2 - line.squared) <= 2 * ratio * np.sqrt(2) + 1e-7


@pytest.mark.parametrize("weight", [1e-3, 1e-6, 1e-9, 1e-12])
def test_vanishing_weights(weight):
    """b_j -> 0: the solve goes to that without the atom."""
    atoms = np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0], [3.0, 3.0]])
    base = np.array([0.3, 0.3, 0.4, 0.0])
    nu = DiscreteMeasure(atoms, base * (1 - weight) + [0, 0, 0, weight])
    law = Gaussian([0.0, 0.0], [[1.0, 0.3], [0.3, 0.5]])
    result = w2(law, nu)
    without = w2(law, DiscreteMeasure(atoms, base)).squared
    assert abs(result.squared - without) <= 60 * weight + 1e-12


def test_atoms_inside_the_hull(rng):
    atoms = np.array([[2, 0], [-1, 2], [-1, -2], [0.1, 0], [0, 0.2], [0.0, -0.1]])
    nu = DiscreteMeasure(atoms, [0.1, 0.1, 0.1, 0.3, 0.2, 0.2])
    law = Gaussian([0.0, 0.0], [[1.0, 0.2], [0.2, 0.8]])
    exact = w2(law, nu)
    rule = w2(law, nu, solver=QuasiMonteCarlo(points=4096))
    assert exact.gap <= 1e-12
    assert rule.lower <= exact.squared <= rule.upper


@pytest.mark.parametrize("far", [1e2, 1e5, 1e7, 1e9])
@pytest.mark.parametrize("light", [1e-6, 1e-12, 1e-17, 1e-21])
def test_light_atoms_far_away(rng, far, light):
    """Products of two lines, turned, with a far pair in every place: the sum of two closed forms.

    A far atom's potential is as large as its distance, and its mass may be below the rounding of
    the others': neither may cost the others their digits.
    """
    mpmath.mp.dps = 40
    turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    near = np.array([[0.0, -1.0], [0.0, 0.5]])
    atoms = np.concatenate((near, near + [far, 0.0])) @ turn.T
    sides = np.array([0.3, 0.7])
    weights = np.concatenate((sides * (1 - light), sides * light))
    deviations = (0.8, 1.3)
    spread = turn @ np.diag(np.square(deviations)) @ turn.T

    def line(deviation: float, length: float, mass: float):
        share = mpmath.mpf(mass)
        z = mpmath.findroot(
            lambda t: mpmath.log(mpmath.erfc(t / mpmath.sqrt(2)) / 2) - mpmath.log(share),
            mpmath.sqrt(-2 * mpmath.log(share)),
        )
        rho = deviation * length * mpmath.npdf(z)
        return deviation**2 + length**2 * share * (1 - share) - 2 * rho

    exact = line(deviations[0], far, light) + line(deviations[1], 1.5, 0.3)
    law = Gaussian(turn @ [far * light, 0.05], 0.5 * (spread + spread.T))
    for _ in range(4):
        order = rng.permutation(4)
        result = w2(law, DiscreteMeasure(atoms[order], weights[order]))
        assert result.status is Status.OPTIMAL
        # what turning and the means are rounded by is not part of the bounds
        slack = 1e-13 * result.problem.scale
        assert result.lower - slack <= exact <= result.upper + slack
        assert result.gap <= 1e-9 * result.problem.scale


def test_far_light_atoms_anywhere(rng):
    """Random targets with up to three far light atoms: each is solved by its cells."""
    for _ in range(60):
        m = int(rng.integers(3, 12))
        atoms, weights = rng.standard_normal((m, 2)), rng.dirichlet(np.ones(m)) + 1e-12
        for k in rng.choice(m, min(3, m - 2), replace=False):
            weights[k] = min(weights[k], 10.0 ** -rng.integers(3, 25))
            atoms[k] *= 10.0 ** rng.integers(1, 10)
        factor = rng.standard_normal((2, 2))
        nu = DiscreteMeasure(atoms, weights / weights.sum())
        result = w2(Gaussian([0.0, 0.0], factor @ factor.T), nu)
        assert result.status is Status.OPTIMAL


def test_atoms_in_clusters_within_clusters_keep_the_best_start():
    """A start that came to 1e-13 of the value was given up for one that ended 1e-3 away."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(12, 36))
        atoms, weights = rng.standard_normal((m, 2)), rng.dirichlet(np.ones(m))
        for i in range(1, m - 6):
            atoms[i] = atoms[i - 1] + 10.0 ** rng.uniform(-15, -3) * atoms[i]
        factor = rng.standard_normal((2, 2))
        law, nu = Gaussian([0.0, 0.0], factor @ factor.T), DiscreteMeasure(atoms, weights)
        result = w2(law, nu, throw=False)
        assert result.status is Status.OPTIMAL, (seed, result)
