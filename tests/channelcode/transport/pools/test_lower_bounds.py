"""The bounds behind `nearest` lie below W2^2, and each stage tightens them."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.measures import (
    DiscreteMeasure,
    EmpiricalPool,
    FullPool,
)
from channelcode.transport import (
    w2_squared,
)
from channelcode.transport.pools.lower_bounds import GaussianBounds, SampleBounds
from channelcode.transport.target import reduce_target


def random_pool(rng: np.random.Generator, size: int, dim: int) -> FullPool:
    factors = rng.lognormal(size=(size, 1, 1)) * rng.standard_normal((size, dim, dim))
    return FullPool(rng.standard_normal((size, dim)), factors @ factors.transpose(0, 2, 1))


@pytest.mark.parametrize(("dim", "m"), [(2, 4), (3, 4), (3, 6), (5, 6)])
def test_every_stage_is_a_lower_bound(rng, dim, m):
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.full(m, 3.0)))
    pool = random_pool(rng, 80, dim)
    exact = w2_squared(pool, nu)
    bounds = GaussianBounds(pool, nu, reduce_target(nu, to_gaussian=True))
    everyone = np.arange(80)
    assert (bounds.lower <= exact + 1e-9 * bounds.scale).all()
    np.testing.assert_allclose(bounds.solve(everyone, None).squared, exact, rtol=1e-9)
    for refine in bounds.refinements():
        assert (refine(everyone) <= exact + 1e-9 * bounds.scale).all()


def test_the_fitted_dual_is_nearly_tight(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 3)), [0.1, 0.2, 0.3, 0.4])
    pool = random_pool(rng, 60, 3)
    bounds = GaussianBounds(pool, nu, reduce_target(nu, to_gaussian=True))
    exact = bounds.solve(np.arange(60), None).squared
    fitted = bounds.refinements()[1](np.arange(60))
    assert np.median((exact - fitted) / (exact - bounds.lower)) < 0.3


def test_samples(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 3)), [0.1, 0.2, 0.3, 0.4])
    pool = EmpiricalPool(rng.standard_normal((20, 30, 3)))
    bounds = SampleBounds(pool, nu, reduce_target(nu, to_gaussian=False))
    exact = w2_squared(pool, nu)
    assert (bounds.lower <= exact + 1e-12).all()
    np.testing.assert_allclose(bounds.solve(np.arange(20), None).squared, exact, rtol=1e-12)
