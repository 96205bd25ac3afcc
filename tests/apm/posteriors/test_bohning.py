"""Bohning's bound: it dominates every softmax Hessian, and the labels do not enter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.posteriors import Bohning, Laplace
from channelcode.channels import Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import ScaledPool


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=6))
def test_bound_dominates_the_hessian(logits: list[float]) -> None:
    k = len(logits)
    hessian = -Softmax(k).derivatives(np.array(logits)).hessian[0]
    bound = (np.eye(k) - 1.0 / k) / 2
    assert np.linalg.eigvalsh(bound - hessian).min() >= -1e-12


@given(st.integers(2, 5), st.integers(1, 15), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_never_wider_than_laplace_and_same_mean(k: int, n: int, d: int, seed: int) -> None:
    """More curvature, less covariance: Bohning's is below Laplace's in every direction."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.integers(0, k, n)
    bound = Bohning(k, 0.5).fit(X, y)
    laplace = Laplace(Softmax(k), 0.5).fit(X, y)
    np.testing.assert_allclose(bound.mean, laplace.mean, atol=1e-8)
    difference = np.asarray(laplace.covariance) - np.asarray(bound.covariance)
    assert np.linalg.eigvalsh(difference).min() >= -1e-9


def test_formula_and_independence_of_labels(rng: np.random.Generator) -> None:
    X, weights = rng.standard_normal((12, 4)), rng.random(12)
    one = Bohning(3, 0.2, classes=range(3)).fit(X, rng.integers(0, 3, 12), weights)  # type: ignore
    other = Bohning(3, 0.2, classes=range(3)).fit(X, rng.integers(0, 3, 12), weights)  # type: ignore
    inner = np.linalg.inv(0.2 * np.eye(4) + 0.5 * (X.T * weights) @ X)
    for posterior in (one, other):
        np.testing.assert_allclose(posterior.covariance.inner, inner, rtol=1e-10)
        np.testing.assert_allclose(posterior.covariance.outer, np.eye(3) - 1 / 3, atol=1e-15)
    assert not np.allclose(one.mean, other.mean)


def test_push_keeps_the_structure(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((12, 4)), rng.integers(0, 3, 12)
    posterior = Bohning(3, 0.2, intercept=True).fit(X, y)
    pool = posterior.pool(posterior.project(X))
    assert isinstance(pool, ScaledPool)
    constant = np.hstack([X, np.ones((12, 1))])
    inner = posterior.covariance.inner
    np.testing.assert_allclose(pool.scale, np.einsum("ni,ij,nj->n", constant, inner, constant))
    np.testing.assert_allclose(pool.mean, constant @ posterior.mean.T)
    np.testing.assert_allclose(pool.mean.sum(axis=1), 0, atol=1e-12)


def test_two_classes_are_the_logistic_bound(rng: np.random.Generator) -> None:
    """K = 2: the difference of logits has precision lambda/2 I + X'X/4, the bound 1/4 on sigma'."""
    X, y = rng.standard_normal((9, 3)), rng.integers(0, 2, 9)
    posterior = Bohning(2, 0.4).fit(X, y)
    laws: Any = posterior.pool(posterior.project(X))
    variance = laws.project([-1.0, 1.0]).variance
    precision = 0.2 * np.eye(3) + 0.25 * X.T @ X
    np.testing.assert_allclose(variance, np.einsum("ni,ij,nj->n", X, np.linalg.inv(precision), X))


def test_refused() -> None:
    for bad in (1, 2.0, True):
        with pytest.raises(InvalidArgument, match="num_classes"):
            Bohning(bad)  # type: ignore[arg-type]
