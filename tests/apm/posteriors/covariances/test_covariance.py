"""Structured covariances against the matrices they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.posteriors import BlockCovariance, Covariance, DiagonalCovariance, KroneckerCovariance
from apm.posteriors.covariances.covariance import rounded_up
from channelcode.measures import FullPool, ScaledPool

K, Q = 3, 4
CENTRE = np.eye(K) - 1.0 / K


def positive(size: int, seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(size, size + 1))
    return root @ root.T


def members() -> dict[str, Covariance]:
    variances = np.random.default_rng(3).random((K, Q)) + 0.1
    return {
        "block": BlockCovariance(positive(K * Q, 0), K),
        "kronecker": KroneckerCovariance(positive(K, 1), positive(Q, 2)),
        "diagonal": DiagonalCovariance(variances, np.eye(K)),
    }


@pytest.mark.parametrize("name", members())
def test_every_part_agrees_with_the_matrix(name: str, rng: np.random.Generator) -> None:
    covariance = members()[name]
    matrix = np.asarray(covariance)
    assert matrix.shape == covariance.shape == (K * Q, K * Q)
    assert np.asarray(covariance, dtype=np.float32).dtype == np.float32
    blocks = matrix.reshape(K, Q, K, Q)
    np.testing.assert_allclose(covariance.summed, sum(blocks[a, :, a] for a in range(K)))
    X, mean = rng.normal(size=(6, Q)), rng.normal(size=(6, K))
    pool: Any = covariance.pool(mean, covariance.spread(X))
    for row, law in zip(X, pool.covariance, strict=True):
        lift = np.kron(np.eye(K), row)
        np.testing.assert_allclose(law, lift @ matrix @ lift.T, atol=1e-10)
    np.testing.assert_array_equal(pool.mean, mean)
    # the trace of the induced covariance is the form of the power
    form = np.einsum("ni,ij,nj->n", X, covariance.summed, X)
    np.testing.assert_allclose(pool.total_variance, form, rtol=1e-10)


def test_known_matrices() -> None:
    block = np.arange(16.0).reshape(4, 4)
    assert BlockCovariance(block, 2).blocks[0, 1, 1, 0] == block[1, 2]
    product = KroneckerCovariance(np.array([[1.0, 2.0], [2.0, 5.0]]), np.array([[3.0]]))
    # the inner factor is kept as a root, so the last digit of its square is rounded
    np.testing.assert_allclose(np.asarray(product), [[3.0, 6.0], [6.0, 15.0]], rtol=1e-15)
    np.testing.assert_allclose(product.summed, [[18.0]], rtol=1e-15)
    diagonal = DiagonalCovariance(np.array([[1.0, 2.0], [3.0, 4.0]]), np.eye(2))
    assert np.asarray(diagonal).tolist() == np.diag([1.0, 2.0, 3.0, 4.0]).tolist()


def test_the_kind_of_pool_is_the_structures() -> None:
    X, mean = np.ones((2, Q)), np.zeros((2, K))
    kinds = {"block": FullPool, "kronecker": ScaledPool, "diagonal": FullPool}
    for name, covariance in members().items():
        assert type(covariance.pool(mean, covariance.spread(X))) is kinds[name]


def test_a_diagonal_is_seen_through_the_projection(rng: np.random.Generator) -> None:
    variances, X = rng.random((K, Q)), rng.normal(size=(5, Q))
    covariance = DiagonalCovariance(variances, CENTRE)
    for row, found in zip(X, covariance.spread(X), strict=True):
        expected = CENTRE @ np.diag(variances @ row**2) @ CENTRE
        np.testing.assert_allclose(found, expected, atol=1e-14)
    traces = np.trace(covariance.spread(X), axis1=1, axis2=2)
    np.testing.assert_allclose(traces, np.einsum("ni,ij,nj->n", X, covariance.summed, X))


@pytest.mark.parametrize("name", members())
def test_arrays_make_it_again(name: str) -> None:
    covariance = members()[name]
    again = type(covariance).from_arrays(covariance.arrays())
    np.testing.assert_array_equal(np.asarray(again), np.asarray(covariance))


def test_immutable_and_independent_of_what_it_was_made_from() -> None:
    matrix = positive(K * Q, 0)
    covariance = BlockCovariance(matrix, K)
    kept = np.asarray(covariance)
    matrix[:] = 0.0
    np.testing.assert_array_equal(np.asarray(covariance), kept)
    covariance.dense()[:] = 0.0
    np.testing.assert_array_equal(np.asarray(covariance), kept)
    with pytest.raises(ValueError, match="read-only"):
        covariance.blocks[0, 0, 0, 0] = 1.0
    with pytest.raises(AttributeError, match="immutable"):
        covariance.other = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", members())
def test_single_precision_stays_near_and_positive(name: str, rng: np.random.Generator) -> None:
    covariance = members()[name]
    X = rng.normal(size=(50, Q))
    single = covariance.spread(X.astype(np.float32))
    assert single.dtype == np.float32
    pool: Any = covariance.pool(np.zeros((50, K)), single)
    exact: Any = covariance.pool(np.zeros((50, K)), covariance.spread(X))
    scale = np.abs(exact.covariance).max()
    np.testing.assert_allclose(pool.covariance, exact.covariance, atol=1e-5 * scale)


def test_rounding_of_a_singular_covariance_is_repaired(rng: np.random.Generator) -> None:
    """Rank one in single precision: indefinite as rounded, positive once raised."""
    direction = rng.normal(size=(200, K)).astype(np.float32)
    spread: Any = direction[:, :, None] * direction[:, None, :]
    assert np.linalg.eigvalsh(spread.astype(np.float64)).min() < 0
    assert np.linalg.eigvalsh(rounded_up(spread)).min() >= 0
    double = spread.astype(np.float64)
    assert rounded_up(double) is double
