"""Rank three and more: the deterministic rule, the error bar, the simplex formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.certificate import Status
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Empirical, FullPool, Gaussian, ScaledPool
from channelcode.transport import (
    Plane,
    QuasiMonteCarlo,
    SemiDual,
    Simplex,
    Space,
    expected_maximum,
    w2,
    w2_squared,
)
from tests.channelcode.transport.laws import covariances, rotations, targets
from tests.channelcode.transport.oracles import gaussian_points


def random_case(rng: np.random.Generator, dim: int, m: int) -> tuple[Gaussian, DiscreteMeasure]:
    factor = rng.standard_normal((dim, dim))
    law = Gaussian(rng.standard_normal(dim), factor @ factor.T)
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.full(m, 3.0)))
    return law, nu


@pytest.mark.parametrize("m", [4, 5, 8])
@pytest.mark.parametrize("seed", [0, 1])
def test_error_bar_covers_a_million_points(m, seed):
    law, nu = random_case(np.random.default_rng(seed), 3, m)
    truth = w2(law, nu, solver=QuasiMonteCarlo(points=2**16, replicates=16, seed=99))
    for solver in (QuasiMonteCarlo(), Space(), None):
        result = w2(law, nu, solver=solver)
        assert result.lower <= truth.squared <= result.upper
        assert result.status is Status.BOUND_ONLY
        assert result.stats.details["error"] > 0
    # The deterministic value, to the error of the million points.
    assert abs(w2(law, nu).squared - truth.squared) <= 5 * truth.stats.details["error"]


@pytest.mark.parametrize(("dim", "m"), [(4, 5), (5, 8), (8, 9)])
def test_error_bar_in_higher_ranks(dim, m):
    for seed in range(3):
        law, nu = random_case(np.random.default_rng(seed), dim, m)
        truth = w2(law, nu, solver=QuasiMonteCarlo(points=2**13, replicates=16, seed=99))
        result = w2(law, nu)
        assert result.method.startswith("Gaussian, smoothed")
        assert result.lower <= truth.squared <= result.upper
        assert truth.gap < result.gap


def test_against_the_exact_plan_of_plain_points():
    law, nu = random_case(np.random.default_rng(5), 3, 4)
    points = gaussian_points(law, 15)
    sampled = w2(Empirical(points), nu, solver=SemiDual()).squared
    corrected = sampled - (points**2).sum(axis=1).mean() + law.second_moment
    # 2^15 Sobol points in R^3 know the correlation to about 1e-3.
    assert w2(law, nu).squared == pytest.approx(corrected, abs=3e-3)


@settings(max_examples=30)
@given(nu=targets(3, smallest=4, largest=7), covariance=covariances(3), turn=rotations(3))
def test_the_slabs_do_not_show(nu, covariance, turn):
    """Rotating both laws turns the slabs against the cells; the value stays to 1e-9."""
    law = Gaussian(np.zeros(3), covariance)
    if not Space().accepts(law, nu):
        return
    turned = w2(law.transform(turn), nu.transform(turn)).squared
    scale = np.trace(covariance) + nu.second_moment
    assert abs(w2(law, nu).squared - turned) <= 1e-9 * scale


@settings(max_examples=20)
@given(nu=targets(2, smallest=3, largest=5), covariance=covariances(2), extra=st.floats(0.1, 3))
def test_a_product_with_a_line_is_the_sum(nu, covariance, extra):
    """T = T_1 x B_t and S = S_1 + s^2: the plane and the line split, so rank three is checkable."""
    if not Plane().accepts(Gaussian([0.0, 0.0], np.eye(2)), nu):
        return
    lifted = [np.column_stack((nu.points, np.full(len(nu), h))) for h in (-1.0, 1.0)]
    product = DiscreteMeasure(np.concatenate(lifted), np.tile(0.5 * nu.weights, 2))
    block = np.zeros((3, 3))
    block[:2, :2], block[2, 2] = covariance, extra**2
    parts = w2(Gaussian([0.0, 0.0], covariance), nu).squared
    parts += w2(Gaussian(0.0, extra**2), DiscreteMeasure.symmetric(1.0)).squared
    scale = np.trace(block) + product.second_moment
    assert abs(w2(Gaussian(np.zeros(3), block), product).squared - parts) <= 1e-9 * scale


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_singular_covariances(rng, rank):
    nu = DiscreteMeasure(rng.standard_normal((5, 3)), [0.1, 0.2, 0.3, 0.2, 0.2])
    factor = rng.standard_normal((3, 3))
    factor[:, rank:] = 0.0
    law = Gaussian(np.zeros(3), factor @ factor.T)
    squared = w2(law, nu).squared
    # A covariance of rank r sees only the atoms' projection on its range.
    if rank == 0:
        assert squared == pytest.approx(nu.second_moment, rel=1e-12)
        return
    axes = np.linalg.qr(factor[:, :rank])[0]
    inner = w2(law.transform(axes.T), nu.transform(axes.T))
    outside = nu.second_moment - nu.transform(axes.T).second_moment
    assert squared == pytest.approx(inner.squared + outside, abs=1e-6)


@pytest.mark.parametrize("size", [3, 4, 6])
def test_isotropic_simplex_formula(size):
    """W2^2 = |m|^2 + (K-1) sigma^2 + P - 2 a sigma e_K on the centred space."""
    power, sigma = 2.0, 0.7
    a = np.sqrt(power / (1 - 1 / size))
    vertices = a * (np.eye(size) - 1.0 / size)
    nu = DiscreteMeasure.uniform(vertices)
    centred = np.eye(size) - 1.0 / size
    law = Gaussian(np.zeros(size), sigma**2 * centred)
    expected = (size - 1) * sigma**2 + power - 2 * a * sigma * expected_maximum(size)
    assert w2(law, nu).squared == pytest.approx(expected, rel=1e-12)
    assert w2(law, nu, solver=Simplex()).squared == pytest.approx(expected, rel=1e-12)
    if size == 3:
        assert w2(law, nu, solver=Plane()).squared == pytest.approx(expected, rel=1e-11)
    if size == 4:
        assert w2(law, nu, solver=Space()).squared == pytest.approx(expected, rel=1e-11)
    rule = w2(law, nu, solver=QuasiMonteCarlo())
    assert rule.lower <= expected <= rule.upper
    pool = ScaledPool(np.zeros((2, size)), [sigma**2, 0.0], centred)
    np.testing.assert_allclose(w2_squared(pool, nu), [expected, power], rtol=1e-12)


@pytest.mark.parametrize(
    ("count", "value"), [(4, 1.0293753730), (5, 1.1629644736), (10, 1.5387527308)]
)
def test_expected_maximum(count, value):
    # Tabulated expected values of normal order statistics (Harter 1961), ten digits.
    assert expected_maximum(count) == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize(("dim", "m"), [(2, 3), (3, 4), (4, 5)])
def test_scaled_shape_needs_one_solve(rng, dim, m):
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.full(m, 3.0)))
    factor = rng.standard_normal((dim, dim))
    shape, scale = factor @ factor.T, rng.uniform(0, 3, 6)
    mean = rng.standard_normal((6, dim))
    scaled = w2_squared(ScaledPool(mean, scale, shape), nu)
    full = w2_squared(FullPool(mean, scale[:, None, None] * shape), nu)
    np.testing.assert_allclose(scaled, full, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("points", [3, 0, 1.5])
def test_points_must_be_a_power_of_two(points):
    with pytest.raises(InvalidArgument):
        QuasiMonteCarlo(points=points)
