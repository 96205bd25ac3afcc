"""Rank three and more: the deterministic rule, the error bar, the simplex formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.certificate import Status
from channelcode.measures import DiscreteMeasure, Empirical, Gaussian
from channelcode.transport import (
    Plane,
    Problem,
    QuasiMonteCarlo,
    SemiDual,
    Space,
    w2,
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
    truth = w2(law, nu, solver=QuasiMonteCarlo(points=2**16, replicates=16, rng=99))
    for solver in (QuasiMonteCarlo(), Space(), None):
        result = w2(law, nu, solver=solver)
        assert result.lower <= truth.squared <= result.upper
        assert result.status is Status.BOUND_ONLY
        assert result.stats.details["error"] > 0
    # The deterministic value, to the error of the million points.
    assert abs(w2(law, nu).squared - truth.squared) <= 5 * truth.stats.details["error"]


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
    if not Space().accepts(Problem(law, nu)):
        return
    turned = w2(law.transform(turn), nu.transform(turn)).squared
    scale = np.trace(covariance) + nu.second_moment
    assert abs(w2(law, nu).squared - turned) <= 1e-9 * scale


@settings(max_examples=20)
@given(nu=targets(2, smallest=3, largest=5), covariance=covariances(2), extra=st.floats(0.1, 3))
def test_a_product_with_a_line_is_the_sum(nu, covariance, extra):
    """T = T_1 x B_t and S = S_1 + s^2: the plane and the line split, so rank three is checkable."""
    if not Plane().accepts(Problem(Gaussian([0.0, 0.0], np.eye(2)), nu)):
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


def test_three_cells_that_cross_the_slabs_at_a_slant():
    """A line where three cells meet lay almost in the planes: 1.6e-7 was lost in some rotations."""
    atoms = [[0.5, -3, 1.5], [2, -1, -1.5], [-1.5, 2, 0], [-2, -2.5, -2], [-2, 0, 0], [0, 0, 0]]
    nu = DiscreteMeasure(np.array(atoms, dtype=float), [0.2, 0.2, 0.2, 0.24, 0.08, 0.08])
    factor = np.array([[1.0, 0.0, 0.0], [-0.6, 1.5, 0.0], [-1.1, -0.9, 2.1]])
    law = Gaussian(np.zeros(3), factor @ factor.T)
    values = []
    for turn in np.linalg.qr(np.random.default_rng(8).standard_normal((24, 3, 3)))[0]:
        values.append(w2(law.transform(turn), nu.transform(turn)).squared)
    assert np.ptp(values) <= 1e-10 * (np.trace(law.covariance) + nu.second_moment)
