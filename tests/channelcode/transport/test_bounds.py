"""Lower bounds without a solve."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.errors import InvalidArgument
from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
    FullPool,
    Gaussian,
    Measure,
    ScaledPool,
)
from channelcode.transport import (
    dual_bound,
    gelbrich_bound,
    projection_bound,
    w2,
)
from channelcode.transport.pool import judged_pool
from tests.channelcode.transport.laws import (
    gaussians,
    samples,
    targets,
)
from tests.channelcode.transport.oracles import exact_cost


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Measure, DiscreteMeasure]:
    dim = draw(st.integers(1, 3))
    source = draw(st.one_of(gaussians(dim), samples(dim, largest=12)))
    return source, draw(targets(dim, largest=5))


def scale_of(mu: Measure, nu: Measure) -> float:
    return 1 + mu.second_moment + nu.second_moment


TOLERANCE = 2e-9  # rank three is quadrature


@settings(max_examples=60)
@given(pair=pairs(), seed=st.integers(0, 2**32 - 1))
def test_any_dual_vector_is_a_lower_bound(pair, seed):
    mu, nu = pair
    result = w2(mu, nu)
    # The quasi-Monte Carlo expectation of rank three errs by its own standard error.
    slack = 10 * result.stats.details.get("error", 0.0) + TOLERANCE * scale_of(mu, nu)
    vector = np.random.default_rng(seed).standard_normal(len(nu)) * 2
    assert dual_bound(mu, nu, vector).squared <= result.squared + slack
    if result.potentials.target is not None:
        best = dual_bound(mu, nu, result.potentials.target).squared
        assert abs(best - result.squared) <= slack


def test_gelbrich_is_tight_for_gaussians_and_loose_for_atoms():
    law = Gaussian([0.0, 0.0], [[2.0, 0.5], [0.5, 1.0]])
    other = Gaussian([1.0, 0.0], np.eye(2))
    assert gelbrich_bound(law, other).squared == pytest.approx(w2(law, other).squared)
    nu = DiscreteMeasure.uniform([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])
    assert 0 < gelbrich_bound(law, nu).squared < w2(law, nu).squared


def test_projection_is_exact_for_products():
    square = DiscreteMeasure.uniform([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    law = Gaussian([0.3, 0.1], np.diag([1.0, 4.0]))
    exact = w2(law, square).squared
    assert projection_bound(law, square, basis=np.eye(2)).squared == pytest.approx(exact, rel=1e-11)
    assert projection_bound(square, law, basis=np.eye(2)).squared == pytest.approx(exact, rel=1e-11)


def nearly_singular(rng: np.random.Generator, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """A turned covariance with a variance of 1e-13 to 1e-16, and about that direction."""
    turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    variance = 10.0 ** rng.uniform(-3, 0, dim)
    variance[:2] = 1.0, 10.0 ** rng.integers(-16, -12)
    spread = turn @ np.diag(variance) @ turn.T
    return 0.5 * (spread + spread.T), turn[:, 1]


def two_atoms_exactly(spread: np.ndarray, atom: np.ndarray) -> Any:
    """W2^2 of N(0, S) and half the mass at each of y and -y, to fifty digits."""
    with mpmath.workdps(50):
        matrix, column = mpmath.matrix(spread.tolist()), mpmath.matrix(atom.tolist())
        along = max((column.T * matrix * column)[0], mpmath.mpf(0))
        square = (column.T * column)[0]
        trace = sum(matrix[i, i] for i in range(len(spread)))
        return trace + square - 2 * mpmath.sqrt(along * 2 / mpmath.pi)


def test_bounds_along_a_nearly_singular_direction():
    """Projections lay above the truth by 2e-8 of the scale, pools of such Gaussians by 4e-9."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        dim = int(rng.integers(2, 5))
        spread, thin = nearly_singular(rng, dim)
        law, nu = Gaussian(np.zeros(dim), spread), DiscreteMeasure.uniform([thin, -thin])
        truth = two_atoms_exactly(spread, thin)
        assert projection_bound(law, nu).squared <= truth + 1e-15
        assert gelbrich_bound(law, nu).squared <= truth + 1e-15
        for pool in (
            FullPool(np.zeros((1, dim)), spread[None]),
            ScaledPool(np.zeros((1, dim)), [1.0], spread),
        ):
            found = judged_pool(pool, nu)
            assert found.lower[0] <= truth + 1e-15
            assert found.upper[0] >= truth - 1e-15
            assert found.upper[0] - found.lower[0] <= 1e-12


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
def test_bounds_of_laws_far_from_zero(far):
    """Both lay above W2^2 = k by up to 7e-7: means and lines were rounded beside the distance."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        dim, size = int(rng.integers(1, 4)), int(rng.integers(2, 20))
        atoms = far + np.round(8 * rng.standard_normal((size, dim))) / 8
        weights = rng.dirichlet(np.ones(size))
        mu, nu = DiscreteMeasure(atoms, weights), DiscreteMeasure(atoms + 1.0, weights)
        turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
        bounds = (
            gelbrich_bound(mu, nu),
            projection_bound(mu, nu),
            projection_bound(nu, mu, basis=turn),
        )
        for bound in bounds:  # a shift is W2^2, and neither bound loses anything to it
            assert dim - 1e-11 * (1 + dim) <= bound.squared <= dim


def test_moments_of_atoms_near_a_plane():
    """A covariance has rounding for a variance of 1e-15, whose root counts: 2e-9 above W2^2."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        atoms = rng.standard_normal((9, 3))
        flat = atoms @ (turn @ np.diag([1.0, 0.5, 3e-8]) @ turn.T)
        mu, nu = DiscreteMeasure.uniform(atoms), DiscreteMeasure.uniform(flat)
        spread = mu.second_moment + nu.second_moment
        # A positive map is the best plan, and Gelbrich's bound loses nothing.
        truth = exact_cost(mu, nu, (np.arange(9), np.arange(9), np.full(9, 1 / 9)))
        for bound in (gelbrich_bound(mu, nu), gelbrich_bound(nu, mu)):
            assert float(truth) - 1e-12 * spread <= bound.squared <= truth


@pytest.mark.parametrize("exponent", [-400, 0, 400])
def test_bases_that_are_not_quite_orthonormal(exponent):
    """Columns too long by 4e-11 lift the sum by 8e-11 of it; the bound is divided by as much."""
    unit = 2.0**exponent
    law = Gaussian(unit * np.array([3.0, 0.0]), unit**2 * np.eye(2))
    nu = DiscreteMeasure.uniform(
        unit * np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    )
    exact = w2(law, nu)
    bound = projection_bound(law, nu, basis=(1 + 4e-11) * np.eye(2))
    assert exact.squared * (1 - 1e-9) <= bound.squared <= exact.upper
    with pytest.raises(InvalidArgument, match="orthonormal"):
        projection_bound(law, nu, basis=(1 + 1e-10) * np.eye(2))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e301, 1.7e308])
def test_dual_vectors_beyond_range_are_refused_in_words(size):
    """They overflowed on the way, to a bound that was no number."""
    corners = DiscreteMeasure.uniform([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    two = Empirical([[0.0, 0.0], [1.0, 1.0]])
    five = Empirical(np.arange(10.0).reshape(5, 2))
    for law in (Gaussian([0.0, 0.0], np.eye(2)), two, five):
        with pytest.raises(InvalidArgument, match="potential must be within range"):
            dual_bound(law, corners, [size, -size, 0.0])
    assert dual_bound(two, corners, [1e299, 0.0, 0.0]).squared <= w2(two, corners).upper
