"""What is kept of a Hessian: all of it, the nearest product, or the diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.posteriors import DiagonalHessian, FullHessian, KroneckerHessian, Laplace
from apm.posteriors.covariances.structures import Structure, full_hessian
from apm.posteriors.input_projection import informative_projection
from channelcode.channels import Cauchit, Features, Softmax
from tests.apm.given import drawn

STRUCTURES = [FullHessian(), KroneckerHessian(), DiagonalHessian()]
CENTRE = np.eye(3) - 1 / 3


@pytest.mark.parametrize("structure", [FullHessian(), KroneckerHessian(), DiagonalHessian()])
def test_softmax_structures(structure: Any) -> None:
    X, y = drawn(Softmax(3), n=30, p=3)
    full = np.asarray(Laplace(Softmax(3), 0.2).fit(X, y).covariance)
    posterior = Laplace(Softmax(3), 0.2, structure=structure).fit(X, y)
    dense = np.asarray(posterior.covariance)
    assert dense.shape == posterior.covariance.shape == (9, 9)
    assert np.linalg.eigvalsh(dense).min() >= -1e-10
    np.testing.assert_allclose(posterior.mean.sum(axis=0), 0, atol=1e-9)
    mean, *rest = posterior.project(X)
    pool: Any = posterior.pool((mean, *rest))
    lift = np.stack([np.kron(np.eye(3), x) for x in X])
    centre = informative_projection(Softmax(3))
    expected = centre @ lift @ dense @ np.swapaxes(lift, 1, 2) @ centre
    np.testing.assert_allclose(pool.covariance, expected, atol=1e-10)
    np.testing.assert_allclose(
        pool.total_variance, np.einsum("ni,ij,nj->n", X, posterior.summed_covariance, X), rtol=1e-9
    )
    # every structure is the same size as the whole: the trace within a factor of two
    assert (
        0.5
        < np.trace(pool.covariance.sum(axis=0))
        / np.trace((centre @ lift @ full @ np.swapaxes(lift, 1, 2) @ centre).sum(axis=0))
        < 2.0
    )


def test_kronecker_is_the_nearest_product() -> None:
    """Its precision is the best rank-one fit of the rearranged Hessian (Van Loan, Pitsianis)."""
    X, y = drawn(Softmax(3), n=30, p=3)
    posterior = Laplace(Softmax(3), 0.2, structure=KroneckerHessian()).fit(X, y)
    covariance = posterior.covariance
    outer = np.linalg.pinv(covariance.outer, rcond=1e-8)
    product = np.kron(outer, np.linalg.inv(covariance.inner))
    full = np.asarray(Laplace(Softmax(3), 0.2).fit(X, y).covariance)
    hessian = np.linalg.pinv(full, rcond=1e-8)
    rearranged = hessian.reshape(3, 3, 3, 3).transpose(0, 2, 1, 3).reshape(9, 9)
    values = np.linalg.svd(rearranged, compute_uv=False)
    assert np.linalg.norm(hessian - product) == pytest.approx(np.linalg.norm(values[1:]), rel=1e-6)


def curvatures(n: int, rng: np.random.Generator) -> np.ndarray:
    """Curvatures of a softmax, `(n, 3, 3)`."""
    p = rng.dirichlet(np.ones(3), size=n)
    return np.array([np.diag(row) - np.outer(row, row) for row in p])


def test_full_hessian_is_the_sum_of_products(rng: np.random.Generator) -> None:
    W, X, precision = curvatures(5, rng), rng.normal(size=(5, 2)), np.array([0.3, 2.0])
    expected = np.kron(np.eye(3), np.diag(precision))
    expected += sum(np.kron(w, np.outer(x, x)) for w, x in zip(W, X, strict=True))
    np.testing.assert_allclose(full_hessian(W, X, precision), expected, atol=1e-14)


@pytest.mark.parametrize("structure", STRUCTURES, ids=repr)
def test_without_labels_every_structure_is_the_prior(structure: Structure) -> None:
    precision = np.array([0.3, 2.0])
    found = structure.covariance(
        np.empty((0, 3, 3)), np.empty((0, 2)), precision=precision, centre=CENTRE
    )
    expected = np.trace(CENTRE) * np.diag(1 / precision)
    np.testing.assert_allclose(found.summed, expected, rtol=1e-12)


def test_full_covariance_is_the_centred_inverse(rng: np.random.Generator) -> None:
    W, X, precision = curvatures(8, rng), rng.normal(size=(8, 2)), np.array([0.3, 2.0])
    found = FullHessian().covariance(W, X, precision=precision, centre=CENTRE)
    seen = np.kron(CENTRE, np.eye(2))
    expected = seen @ np.linalg.inv(full_hessian(W, X, precision)) @ seen
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-12)


def test_diagonal_variances_are_the_inverse_diagonal(rng: np.random.Generator) -> None:
    W, X, precision = curvatures(8, rng), rng.normal(size=(8, 2)), np.array([0.3, 2.0])
    found: Any = DiagonalHessian().covariance(W, X, precision=precision, centre=CENTRE)
    expected = 1 / np.diag(full_hessian(W, X, precision))
    np.testing.assert_allclose(found.variances.ravel(), expected, rtol=1e-12)


def test_a_hessian_that_is_a_product_is_kept_exactly(rng: np.random.Generator) -> None:
    """Equal curvatures 2C: H = C (x) (diag(precision) + 2 X'X) on the visible space."""
    X, precision = rng.normal(size=(6, 2)), np.array([0.3, 2.0])
    W = np.tile(2 * CENTRE, (6, 1, 1))
    found = KroneckerHessian().covariance(W, X, precision=precision, centre=CENTRE)
    inner = np.linalg.inv(np.diag(precision) + 2 * X.T @ X)
    np.testing.assert_allclose(np.asarray(found), np.kron(CENTRE, inner), atol=1e-12)


def test_an_indefinite_hessian_has_no_covariance() -> None:
    bent = np.array([-9.0 * CENTRE])
    with pytest.raises(np.linalg.LinAlgError):
        FullHessian().covariance(bent, np.ones((1, 1)), precision=np.ones(1), centre=CENTRE)


@pytest.mark.parametrize("structure", STRUCTURES, ids=repr)
def test_labels_curved_the_wrong_way_still_leave_a_covariance(structure: Structure) -> None:
    """A Cauchit behind a mixing of two inputs; its outliers are flat in every structure."""
    channel = Features(Cauchit(), [[1.0, 2.0]])
    X = np.array([[8.0], [8.0], [-8.0], [1.0]])
    posterior = Laplace(channel, 0.1, structure=structure).fit(X, [1, 0, 1, 1])
    assert isinstance(structure, FullHessian) or not posterior.exact
    matrix = np.asarray(posterior.covariance)
    assert np.linalg.eigvalsh(matrix).min() >= -1e-12
    assert 0 < np.trace(matrix) <= 2 / 0.1  # never wider than the prior
