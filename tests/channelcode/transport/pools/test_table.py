"""The table for large planar pools: within its error, exact at the minimum."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.measures import DiscreteMeasure, FullPool
from channelcode.transport import nearest, w2_squared
from channelcode.transport.pools.gaussians import correlations
from channelcode.transport.pools.table import (
    TABLE_SIZE,
    chebyshev_rule,
    covariances_of,
    shapes_of,
    table_correlations,
)
from channelcode.transport.target import reduce_target


def random_covariances(rng: np.random.Generator, size: int) -> np.ndarray:
    factors = rng.standard_normal((size, 2, 2)) * 10 ** rng.uniform(-2, 0, (size, 1, 2))
    return factors @ factors.transpose(0, 2, 1)


@pytest.mark.parametrize("m", [3, 5])
def test_values_lie_within_the_error(rng, m):
    nu = DiscreteMeasure(rng.standard_normal((m, 2)), rng.dirichlet(np.full(m, 3.0)))
    target = reduce_target(nu, to_gaussian=True)
    covariance = random_covariances(rng, 3 * TABLE_SIZE)
    rho, error, alone = table_correlations(covariance, target)
    known = np.setdiff1d(np.arange(len(rho)), alone)
    assert len(known) > 0.1 * len(rho)  # the table did something
    rho, error, covariance = rho[known], error[known], covariance[known]
    exact = correlations(covariance, target).value / target.unit
    size = np.sqrt(np.trace(covariance, axis1=1, axis2=2) * target.variance)
    assert (np.abs(rho - exact) <= 1e-7 * size).all()
    assert (np.abs(rho - exact) <= error + 1e-12 * size).all()


def test_the_minimum_is_exact(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 2)), [0.1, 0.2, 0.3, 0.4])
    pool = FullPool(rng.standard_normal((TABLE_SIZE, 2)), random_covariances(rng, TABLE_SIZE))
    squared = w2_squared(pool, nu)
    best = int(np.argmin(squared))
    assert best == int(nearest(pool, nu).index[0])
    assert squared[best] == pytest.approx(w2_squared(pool[[best]], nu)[0], rel=1e-13)
    some = rng.integers(0, TABLE_SIZE, 200)
    # The one number that the manual and the docstring give.
    scale = pool.total_variance[some] + np.trace(nu.covariance)
    assert (np.abs(squared[some] - w2_squared(pool[some], nu)) <= 1e-7 * scale).all()


def test_shape_variables_invert(rng):
    covariance = random_covariances(rng, 100)
    shapes = shapes_of(covariance)
    again = covariances_of(shapes.spread, shapes.angle) * shapes.size[:, None, None] ** 2
    np.testing.assert_allclose(again, covariance, rtol=1e-10, atol=1e-13)
    assert shapes_of(np.zeros((1, 2, 2))).size[0] == 0


def test_chebyshev_rule_is_exact_for_polynomials():
    points, to_coefficients = chebyshev_rule(6)
    values = np.polynomial.chebyshev.chebval(points, [1.0, -2.0, 0.5, 0.0, 3.0])
    np.testing.assert_allclose(to_coefficients @ values, [1, -2, 0.5, 0, 3, 0, 0], atol=1e-14)
