"""Bohning's bound: it dominates every softmax Hessian, and the labels do not enter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.posteriors import Bohning, Laplace
from apm.posteriors.covariances import feature_covariance
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


def test_what_a_pool_keeps_from_label_to_label(rng: np.random.Generator) -> None:
    """Leverage and cross terms follow from the last update alone; logits come from the mean."""
    X, y = rng.standard_normal((30, 5)), rng.integers(0, 3, 30)
    posterior = Bohning(3, prior_precision=0.1, intercept=True, classes=[0, 1, 2]).fit(X[:3], y[:3])
    assert posterior.last_update is None
    leverage, cross = posterior.leverage(X), posterior.cross_leverage(X, X[:4])
    for row, label in zip(X[3:20], y[3:20], strict=True):
        posterior = posterior.update(row, label)
        change: Any = posterior.last_update
        along = change.along(X)
        leverage -= change.shrink * along**2
        cross -= change.shrink * np.outer(along, along[:4])
    np.testing.assert_allclose(leverage, posterior.leverage(X), rtol=1e-9)
    np.testing.assert_allclose(cross, posterior.cross_leverage(X, X[:4]), rtol=1e-8, atol=1e-10)
    constant = np.column_stack((X, np.ones(30)))
    inner = posterior.covariance.inner
    np.testing.assert_allclose(cross, constant @ inner @ constant[:4].T, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(posterior.mean_inputs(X), constant @ posterior.mean.T, atol=1e-12)
    top = np.linalg.eigvalsh(posterior.summed_covariance)[-1]
    assert posterior.top_eigenvalue == pytest.approx(top)
    assert posterior.update(X[:2], y[:2]).last_update is None  # two labels: no single change


def test_wide_features_are_the_same_posterior(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rng.standard_normal((12, 20)), rng.integers(0, 3, 12)
    X[5] = X[2]
    pool = rng.standard_normal((9, 20))
    options: dict[str, Any] = {"intercept": True, "intercept_precision": 0.7, "classes": [0, 1, 2]}

    def grown() -> Bohning:
        posterior = Bohning(3, prior_precision=0.2, **options).fit(X[:4], y[:4])
        for row, label in zip(X[4:9], y[4:9], strict=True):
            posterior = posterior.update(row, label)
        return posterior.update(X[9:], y[9:])

    dense = grown()
    monkeypatch.setattr(feature_covariance, "WIDE", 1)
    for wide in (grown(), Bohning(3, prior_precision=0.2, **options).fit(X, y)):
        assert wide.covariance.features.basis is not None
        np.testing.assert_allclose(wide.mean, dense.mean, rtol=1e-9, atol=1e-10)
        inner = dense.covariance.inner
        np.testing.assert_allclose(wide.covariance.inner, inner, rtol=1e-9, atol=1e-11)
        for left, right in zip(wide.project(pool), dense.project(pool), strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-10)
        assert wide.top_eigenvalue == pytest.approx(dense.top_eigenvalue)
    refitted = grown().fit(X[3:], y[3:])
    fresh = Bohning(3, prior_precision=0.2, **options).fit(X[3:], y[3:])
    np.testing.assert_allclose(refitted.mean, fresh.mean, rtol=1e-9, atol=1e-10)


def test_draws_have_the_moments(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((8, 2)), rng.integers(0, 3, 8)
    posterior = Bohning(3, prior_precision=0.5).fit(X, y)
    draws = posterior.sample(20_000, rng=0)
    np.testing.assert_allclose(draws.sum(axis=1), 0, atol=1e-12)
    # six standard errors of 20,000 draws
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mean, atol=0.06)
    covariance = np.cov(draws.reshape(len(draws), -1).T)
    np.testing.assert_allclose(covariance, np.asarray(posterior.covariance), atol=0.08)


def test_many_classes_cost_little(rng: np.random.Generator) -> None:
    """A thousand classes: nothing of size (1000 q)^2 or n x 1000^3 is made."""
    X, y = rng.standard_normal((6, 4)), np.array([0, 5, 999, 3, 5, 7])
    posterior = Bohning(1000, prior_precision=1.0).fit(X, y)
    p = posterior.channel.prob(X @ posterior.mean.T)
    p[np.arange(6), y] -= 1.0
    np.testing.assert_allclose(p.T @ X + posterior.mean, 0, atol=1e-8)  # the gradient


def test_refused() -> None:
    for bad in (1, 2.0, True):
        with pytest.raises(InvalidArgument, match="num_classes"):
            Bohning(bad)  # type: ignore[arg-type]
