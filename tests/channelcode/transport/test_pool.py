"""`w2_squared`: every kind of pool equals its candidates one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode.errors import InvalidArgument
from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    FullPool,
    Gaussian,
    ScalarPool,
    ScaledPool,
)
from channelcode.transport import (
    QuasiMonteCarlo,
    bures_squared,
    w2,
    w2_squared,
)
from tests.channelcode.transport.laws import (
    targets,
)

means = st.floats(-5, 5)


@pytest.mark.parametrize(("dim", "m"), [(2, 3), (3, 4), (4, 5)])
def test_scaled_shape_needs_one_solve(rng, dim, m):
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.full(m, 3.0)))
    factor = rng.standard_normal((dim, dim))
    shape, scale = factor @ factor.T, rng.uniform(0, 3, 6)
    mean = rng.standard_normal((6, dim))
    scaled = w2_squared(ScaledPool(mean, scale, shape), nu)
    full = w2_squared(FullPool(mean, scale[:, None, None] * shape), nu)
    np.testing.assert_allclose(scaled, full, rtol=1e-9, atol=1e-9)


def test_planar_pool_equals_single(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 2)), [0.1, 0.2, 0.3, 0.4])
    factors = rng.standard_normal((20, 2, 2))
    factors[3, :, 1] = 0.0
    factors[4] = 0.0
    pool = FullPool(rng.standard_normal((20, 2)), factors @ factors.transpose(0, 2, 1))
    np.testing.assert_allclose(
        w2_squared(pool, nu), [w2(law, nu).squared for law in pool], rtol=0, atol=1e-11
    )


@given(nu=targets(1), mean=means, deviation=st.floats(0, 20))
def test_line_pool_equals_single(nu, mean, deviation):
    pool = ScalarPool([mean, 0.0], [deviation**2, 1.0])
    single = [w2(law, nu).squared for law in pool]
    np.testing.assert_allclose(w2_squared(pool, nu), single, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("atoms", [[-1.0, 1.0], [0.5], [-2.0, 0.3, 0.3, 4.0, 5.0]])
def test_pools_of_samples_equal_pot_one_by_one(rng, size, atoms):
    draws = rng.standard_normal((6, size)) * 3
    nu = DiscreteMeasure.uniform(atoms)
    looped: Any = [ot.emd2_1d(x, nu.atoms, None, np.array(nu.weights)) for x in draws]
    np.testing.assert_allclose(w2_squared(EmpiricalPool(draws), nu), looped, rtol=0, atol=1e-12)


def test_sequences_of_laws(rng):
    nu = DiscreteMeasure(rng.standard_normal((3, 2)), [0.2, 0.3, 0.5])
    laws = [Gaussian([0.0, 1.0], np.eye(2)), Empirical(rng.standard_normal((9, 2))), nu]
    np.testing.assert_allclose(
        w2_squared(laws, nu), [w2(law, nu).squared for law in laws], rtol=1e-12, atol=1e-14
    )
    gaussian = Gaussian([0.5, 0.0], 2 * np.eye(2))
    np.testing.assert_allclose(
        w2_squared(laws[:1], gaussian), [bures_squared(gaussian, Gaussian([0.0, 1.0], np.eye(2)))]
    )


def test_pool_in_space_equals_single(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 3)), [0.1, 0.2, 0.3, 0.4])
    factors = rng.standard_normal((5, 3, 3))
    pool = FullPool(rng.standard_normal((5, 3)), factors @ factors.transpose(0, 2, 1))
    np.testing.assert_allclose(
        w2_squared(pool, nu), [w2(law, nu).squared for law in pool], rtol=1e-9
    )


def test_line_as_a_pool_of_another_kind():
    nu = DiscreteMeasure([-1.0, 0.0, 3.0], [0.2, 0.3, 0.5])
    scaled = ScaledPool([[0.5], [1.0]], [1.0, 2.0], [[2.0]])
    scalar = ScalarPool([0.5, 1.0], [2.0, 4.0])
    np.testing.assert_allclose(w2_squared(scaled, nu), w2_squared(scalar, nu), rtol=1e-14)


@pytest.mark.parametrize("far", [1e200, -1e200])
def test_means_whose_squares_overflow_are_refused_on_both_sides(far):
    for pool in (ScalarPool([0.0, far], [1.0, 1.0]), EmpiricalPool([[0.0, far], [1.0, 2.0]])):
        with pytest.raises(InvalidArgument, match="squared distances that are finite"):
            w2_squared(pool, DiscreteMeasure.symmetric(1.0))


def test_a_solver_is_asked_for_each_candidate(rng):
    """A coarse rule has another answer than the exact one, and it is the one that is given."""
    nu = DiscreteMeasure(rng.standard_normal((5, 2)), [0.1, 0.2, 0.3, 0.2, 0.2])
    laws = [Gaussian([0.1, 0.2], np.eye(2)), Gaussian([1.0, 0.0], [[2.0, 0.5], [0.5, 1.0]])]
    coarse = QuasiMonteCarlo(points=4, replicates=2)
    found = w2_squared(laws, nu, solver=coarse, tol=1.0)
    expected = [w2(law, nu, solver=coarse, tol=1.0).squared for law in laws]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.abs(found - w2_squared(laws, nu)).max() > 1e-6


def test_targets_of_rank_three_need_no_table(monkeypatch):
    """A large pool in R^3 gets what its laws get one by one: the table is for the plane."""
    monkeypatch.setattr("channelcode.transport.pool.TABLE_SIZE", 4)
    rng = np.random.default_rng(8)
    factors = rng.standard_normal((5, 3, 3))
    pool = FullPool(rng.standard_normal((5, 3)), factors @ factors.transpose(0, 2, 1))
    nu = DiscreteMeasure(rng.standard_normal((5, 3)), rng.dirichlet(np.full(5, 2.0)))
    one_by_one = [w2(law, nu).squared for law in pool]
    np.testing.assert_allclose(w2_squared(pool, nu), one_by_one, rtol=1e-7)
