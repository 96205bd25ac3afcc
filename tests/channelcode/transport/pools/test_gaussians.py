"""Pools of Gaussians: bounds that hold, and the next method where a batch falls short."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import DiscreteMeasure, FullPool, w2, w2_squared
from channelcode.transport.pool import judged_pool
from channelcode.transport.pools.gaussians import Terms, correlations
from channelcode.transport.target import reduce_target


@pytest.mark.parametrize(("dim", "m"), [(2, 5), (3, 5), (4, 6)])
def test_a_pool_is_judged_like_its_members(rng, dim, m):
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.full(m, 2.0)))
    factors = rng.standard_normal((5, dim, dim))
    pool = FullPool(rng.standard_normal((5, dim)), factors @ factors.transpose(0, 2, 1))
    found = judged_pool(pool, nu)
    assert (found.lower <= found.squared).all()
    assert (found.squared <= found.upper).all()
    single = [w2(law, nu) for law in pool]
    np.testing.assert_allclose(found.squared, [one.squared for one in single], rtol=1e-9)
    for lower, upper, one in zip(found.lower, found.upper, single, strict=True):
        assert max(lower, one.lower) <= min(upper, one.upper)


def test_terms_add_up(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 3)) + 5, [0.1, 0.2, 0.3, 0.4])
    pool = FullPool(rng.standard_normal((3, 3)), [np.eye(3), 2 * np.eye(3), np.diag([1, 2, 0.0])])
    target = reduce_target(nu, to_gaussian=True)
    terms = Terms.of(pool, target)
    rho = correlations(pool.covariance, target).value
    np.testing.assert_allclose(terms.squared(rho), terms.scale - 2 * rho, rtol=1e-12)


def test_candidates_of_every_rank_in_one_pool(rng):
    nu = DiscreteMeasure(rng.integers(-2, 3, (6, 2)).astype(float), np.full(6, 1 / 6))
    covariance = [np.zeros((2, 2)), np.diag([1.0, 0.0]), np.ones((2, 2)), np.eye(2)]
    pool = FullPool(np.zeros((4, 2)), covariance)
    expected = [w2(law, nu).squared for law in pool]
    np.testing.assert_allclose(w2_squared(pool, nu), expected, rtol=1e-12)


@pytest.mark.parametrize("distance", [100.0, 1000.0])
def test_one_atom_far_from_all_others(distance):
    """21 and 31 of 60 such problems used to raise `NotConverged`."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        atoms = np.concatenate((rng.standard_normal((24, 2)), [[distance, 0.0]]))
        nu = DiscreteMeasure(atoms, rng.dirichlet(np.ones(25)))
        factor = rng.standard_normal((2, 2))
        pool = FullPool(np.zeros((1, 2)), (factor @ factor.T)[None])
        assert w2_squared(pool, nu)[0] == pytest.approx(w2(pool[0], nu).squared, rel=1e-12)


@pytest.mark.parametrize("exponent", [-30, 30])
def test_bounds_are_in_the_units_of_the_laws(rng, exponent):
    """Everything in units of 2^k: value and both bounds in units of 4^k, to the last bits."""
    factors = rng.standard_normal((6, 3, 3))
    covariance, unit = factors @ factors.transpose(0, 2, 1), 2.0**exponent
    atoms, weights = rng.standard_normal((6, 3)), rng.dirichlet(np.full(6, 2.0))
    means = rng.standard_normal((6, 3))
    one = judged_pool(FullPool(means, covariance), DiscreteMeasure(atoms, weights))
    other = judged_pool(
        FullPool(unit * means, unit**2 * covariance), DiscreteMeasure(unit * atoms, weights)
    )
    np.testing.assert_allclose(np.asarray(other.lower) / unit**2, one.lower, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(other.upper) / unit**2, one.upper, rtol=1e-13)
    gap, wide = one.upper - one.lower, (other.upper - other.lower) / unit**2
    np.testing.assert_allclose(wide, gap, rtol=1e-3, atol=1e-14 * one.upper.max())
