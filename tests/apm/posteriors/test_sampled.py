"""The Gibbs sampler against integration in one and two dimensions."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from scipy.special import log_expit

from apm.belief import Belief
from apm.posteriors import Sampled, VariationalLogistic
from channelcode.channels import Logistic, Probit
from channelcode.errors import InvalidArgument, MissingExtra
from channelcode.measures import EmpiricalPool

pytest.importorskip("polyagamma")


def moments(X: np.ndarray, y: np.ndarray, precision: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance by a fine grid over two dimensions."""
    line = np.linspace(-12, 12, 801)
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    logs = log_expit((2 * y - 1) * (grid @ X.T)).sum(axis=1) - 0.5 * precision * (grid**2).sum(
        axis=1
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    centred = grid - mean
    return mean, (centred.T * weights) @ centred


def test_moments_against_integration(rng: np.random.Generator) -> None:
    X = rng.standard_normal((10, 2))
    y = (X[:, 0] + rng.logistic(size=10) > 0).astype(int)
    mean, covariance = moments(X, y, 0.5)
    posterior = Sampled(Logistic(), 0.5, samples=6000, burn_in=500, thin=2, rng=5).fit(X, y)
    deviation = np.sqrt(np.diag(covariance))
    # 6000 draws with an autocorrelation time of a few: a standard error near 0.03 deviations
    np.testing.assert_allclose((posterior.mean - mean) / deviation, 0, atol=0.12)
    np.testing.assert_allclose(
        posterior.covariance / np.outer(deviation, deviation),
        covariance / np.outer(deviation, deviation),
        atol=0.15,
    )
    # the reference judges the approximation: the variational variance is too small
    variational = VariationalLogistic(0.5).fit(X, y)
    assert np.all(np.diag(variational.covariance) < np.diag(posterior.covariance))


def test_weights_are_repetitions_in_law(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((4, 2)), np.array([0, 1, 1, 0])
    mean, _ = moments(np.repeat(X, 3, axis=0), np.repeat(y, 3), 0.5)
    posterior = Sampled(Logistic(), 0.5, samples=4000, rng=1).fit(X, y, np.full(4, 3.0))
    np.testing.assert_allclose(
        posterior.mean, mean, atol=0.15 * np.sqrt(posterior.covariance.max())
    )


def test_same_seed_same_draws_and_pool_is_empirical(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((5, 3)), np.array([0, 1, 1, 0, 1])
    one, two = (Sampled(samples=30, burn_in=3, rng=9, intercept=True).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.samples, two.samples)
    assert not np.array_equal(
        Sampled(samples=30, burn_in=3, rng=8).fit(X, y).samples, one.samples[:, :3]
    )
    pool = one.pool(one.project(X))
    assert isinstance(pool, EmpiricalPool)
    np.testing.assert_allclose(
        pool.samples, X @ one.samples[:, :3].T + one.samples[:, 3], rtol=1e-12
    )


def test_map_is_exact() -> None:
    X, y = np.array([[1.0], [-2.0], [0.5]]), [1, 0, 0]
    sampled = Sampled(Logistic(), 0.1, samples=5, burn_in=0).fit(X, y)
    np.testing.assert_allclose(sampled.map, VariationalLogistic(0.1).fit(X, y).map, rtol=1e-9)


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidArgument, match="Logistic"):
        Sampled(Probit())
    with pytest.raises(InvalidArgument, match="samples"):
        Sampled(samples=1)
    kept = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "polyagamma":
            raise ImportError(name)
        return kept(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match="sampling"):
        Sampled(samples=5).fit([[1.0]], [1])


@pytest.mark.parametrize("precision", [0.04, 25.0])
def test_draws_before_any_label_are_the_priors(precision):
    posterior = Sampled(
        prior_precision=precision, samples=4000, intercept=True, intercept_precision=4 * precision
    )
    spread = np.asarray(
        Belief(posterior).push(np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 4.0]])).total_variance
    )
    # a variance from 4,000 draws is right to 2.2 %: four of those
    np.testing.assert_allclose(spread * precision, [0.25, 1.25, 25.25], rtol=0.09)


@pytest.mark.parametrize("thin", [1, 3])
def test_every_draw_is_kept_by_its_turn(thin: int) -> None:
    """Also without thinning each draw is one of the chain; labels at zero leave it the prior."""
    X, y = np.array([[1e-6], [1e-6]]), np.array([0, 1])
    draws = Sampled(Logistic(), 4.0, samples=4000, burn_in=10, thin=thin, rng=1).fit(X, y).samples
    assert len(np.unique(draws)) == 4000
    # the prior is N(0, 1/4): five standard errors of a mean and of a deviation of 4,000 draws
    assert abs(draws.mean()) < 5 * 0.5 / np.sqrt(4000)
    assert abs(draws.std() - 0.5) < 5 * 0.5 / np.sqrt(8000)


def test_the_most_probable_weights_cannot_be_written_to() -> None:
    posterior = Sampled(Logistic(), 1.0, samples=10, rng=1).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        posterior.map[0] = 1.0
