"""Gaussian posteriors on the line: projections of a pool."""

from __future__ import annotations

import numpy as np
import pytest

from apm.posteriors import Laplace, VariationalLogistic
from apm.posteriors.gaussian import ScalarGaussian
from channelcode.channels import Probit
from channelcode.errors import InvalidArgument
from channelcode.measures import ScalarPool
from tests.apm.given import Given

MEAN = np.array([0.5, -2.0])
COVARIANCE = np.array([[2.0, 0.6], [0.6, 1.0]])
X = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, -1.0], [0.0, 0.0]])


def test_moments_of_the_input_are_inner_products_and_quadratic_forms() -> None:
    mean, variance = Given(MEAN, COVARIANCE).project(X)
    np.testing.assert_allclose(mean, [0.5, -2.0, 3.5, 0.0], atol=1e-15)
    np.testing.assert_allclose(variance, [2.0, 1.0, 9 * 2.0 - 6 * 0.6 + 1.0, 0.0], atol=1e-14)
    pool = Given(MEAN, COVARIANCE).pool((mean, variance))
    assert isinstance(pool, ScalarPool)
    np.testing.assert_array_equal(pool.variance, variance)


def test_covariance_is_made_of_the_factor_and_cannot_be_written() -> None:
    posterior = Given(MEAN, COVARIANCE)
    np.testing.assert_allclose(posterior.factor @ posterior.factor.T, COVARIANCE, atol=1e-14)
    np.testing.assert_allclose(posterior.covariance, COVARIANCE, atol=1e-14)
    np.testing.assert_array_equal(posterior.summed_covariance, posterior.covariance)
    assert posterior.top_eigenvalue == pytest.approx(np.linalg.eigvalsh(COVARIANCE)[-1])
    with pytest.raises(ValueError, match="read-only"):
        posterior.covariance[0, 0] = 9.0


@pytest.mark.parametrize("posterior", [VariationalLogistic(0.5), Laplace(Probit(), 0.5)])
def test_an_intercept_enters_both_moments(posterior: ScalarGaussian) -> None:
    own = type(posterior).from_state(
        posterior.state() | {"intercept": np.array(True)}, posterior.channel
    ).fit(X, [1, 0, 1, 0])  # fmt: skip
    mean, variance = own.project(X)
    rows = np.hstack([X, np.ones((4, 1))])
    np.testing.assert_allclose(mean, rows @ own.mean, rtol=1e-12, atol=1e-14)
    expected = np.einsum("ni,ij,nj->n", rows, own.covariance, rows)
    np.testing.assert_allclose(variance, expected, rtol=1e-12)
    assert variance[3] > 0  # the zero row still has the variance of the intercept


def test_variance_cannot_turn_negative_where_the_covariance_is_nearly_singular() -> None:
    narrow = Given([0.0, 0.0], [[1e12, 1e12], [1e12, 1e12 + 1e-3]])
    _, variance = narrow.project(np.array([[1.0, -1.0], [1e3, -1e3]]))
    assert np.all(variance >= 0)


def test_single_precision_is_computed_in_single_precision() -> None:
    posterior = Given(MEAN, COVARIANCE)
    mean, variance = posterior.project(X.astype(np.float32))
    assert mean.dtype == variance.dtype == np.float32
    np.testing.assert_allclose(variance, posterior.project(X)[1], rtol=1e-6)


def test_a_pool_of_another_width_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="2 features"):
        Given(MEAN, COVARIANCE).project(np.ones((3, 5)))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("columns", [31, 32, 70])
def test_variances_in_single_precision_by_a_triangle(columns: int, intercept: bool) -> None:
    rng = np.random.default_rng(columns)
    rows = rng.normal(size=(50, columns))
    posterior = VariationalLogistic(0.1, intercept=intercept).fit(
        rows[:30], rng.integers(2, size=30)
    )
    exact = posterior.leverage(rows)
    design = np.hstack((rows, np.ones((50, 1)))) if intercept else rows
    quadratic = np.einsum("ni,ij,nj->n", design, posterior.covariance, design)
    np.testing.assert_allclose(exact, quadratic, rtol=1e-10)
    for single in (rows.astype(np.float32), np.asfortranarray(rows, dtype=np.float32)):
        found = posterior.leverage(single)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, exact, rtol=1e-5)  # sums of 70 squares, rounded at 6e-8
