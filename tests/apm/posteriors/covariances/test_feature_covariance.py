"""The covariance in the span against the matrix that it stands for."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from apm.pools.inputs import as_matrix, read_only_view
from apm.posteriors.covariances import feature_covariance
from apm.posteriors.covariances.feature_covariance import (
    FeatureCovariance,
    require_room,
    times,
    weighted_squares,
)
from channelcode.errors import InvalidArgument


@pytest.fixture(params=["dense", "span"])
def form(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(feature_covariance, "WIDE", 1 if request.param == "span" else 10**6)
    return request.param


def exact(X: np.ndarray, precision: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.linalg.inv(np.diag(precision) + (X.T * weights) @ X)


def test_every_form_is_that_of_the_matrix(form: str, rng: np.random.Generator) -> None:
    X, w = rng.normal(size=(4, 7)), rng.random(4)
    X[3] = X[0] - 2 * X[1]  # dependent
    precision = np.append(np.full(6, 0.3), 2.0)
    found, coordinates = FeatureCovariance.whole(X, precision, w)
    matrix = exact(X, precision, w)
    assert (found.basis is None) == (form == "dense")
    assert coordinates.shape == (4, 7 if form == "dense" else 3)
    np.testing.assert_allclose(found.dense(), matrix, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.asarray(found, dtype=np.float32), matrix, rtol=1e-5, atol=1e-6)
    assert found.top_eigenvalue == pytest.approx(np.linalg.eigvalsh(matrix)[-1])
    features, others = rng.normal(size=(5, 6)), rng.normal(size=(3, 6))
    here = np.column_stack((features, np.ones(5)))
    there = np.column_stack((others, np.ones(3)))
    for turn in (np.asarray, sparse.csr_array):
        given_features, given_others = turn(features), turn(others)
        cross = found.cross(given_features, given_others)
        np.testing.assert_allclose(cross, here @ matrix @ there.T, rtol=1e-10, atol=1e-11)
        own = found.quadratic(given_features)
        np.testing.assert_allclose(own, np.diag(here @ matrix @ here.T), rtol=1e-10)
    np.testing.assert_allclose(found.image(here[0]), matrix @ here[0], rtol=1e-10, atol=1e-12)
    noise = rng.normal(size=(2, 3, 7))
    root = found.draw(np.eye(7))  # rows: images of the unit vectors
    np.testing.assert_allclose(root.T @ root, matrix, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.draw(noise), noise @ root, atol=1e-12)


def test_one_label_at_a_time(form: str, rng: np.random.Generator) -> None:
    X, w = rng.normal(size=(12, 5)), rng.random(12)
    X[4] = X[1]
    w[7] = 0.0
    precision = np.full(5, 0.01)
    found, Z = FeatureCovariance.whole(X[:0], precision, w[:0])
    pool = rng.normal(size=(6, 5))
    leverage, cross = found.quadratic(pool), found.cross(pool, pool[:2])
    for place, row in enumerate(X):
        found, change = found.shrunk(row, float(w[place]))
        Z = found.extended(Z, row[None])
        along = change.along(pool)
        leverage = leverage - change.shrink * along**2
        cross = cross - change.shrink * np.outer(along, along[:2])
    np.testing.assert_allclose(found.dense(), exact(X, precision, w), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(leverage, found.quadratic(pool), rtol=1e-8)
    np.testing.assert_allclose(cross, found.cross(pool, pool[:2]), rtol=1e-7, atol=1e-9)
    white = X / np.sqrt(precision)
    np.testing.assert_allclose(Z @ Z.T, white @ white.T, rtol=1e-10, atol=1e-9)
    lifted = Z if found.basis is None else Z @ found.basis
    np.testing.assert_allclose(lifted, white, atol=1e-10)
    weights = rng.normal(size=(3, 5))
    np.testing.assert_allclose(found.whitened(weights) @ Z.T, weights @ X.T, atol=1e-10)


@given(st.integers(-150, 150), st.integers(0, 2**32 - 1))
def test_scales(power: int, seed: int) -> None:
    """Rows of any size: the leverage of a row just seen with weight w is h / (1 + w h)."""
    rng = np.random.default_rng(seed)
    row = 2.0**power * rng.normal(size=200)
    prior = FeatureCovariance.prior(np.ones(200))
    after, _ = prior.shrunk(row, 1.0)
    before = float(prior.quadratic(row[None])[0])
    assert after.quadratic(row[None])[0] == pytest.approx(before / (1.0 + before), rel=1e-9)


def test_rows_within_the_span_keep_their_digits(rng: np.random.Generator) -> None:
    """|x|^2 less its part in the span would leave nothing of 1e-14."""
    X = rng.normal(size=(3, 200))
    found, _ = FeatureCovariance.whole(X, np.full(200, 1e-12), np.ones(3))
    # a weak prior: the hat matrix X M X' is the identity
    np.testing.assert_allclose(found.quadratic(X), 1.0, rtol=1e-4)
    np.testing.assert_allclose(found.quadratic(sparse.csr_array(X)), 1.0, rtol=1e-4)


def test_products_with_a_constant(rng: np.random.Generator) -> None:
    X, matrix = rng.normal(size=(4, 2)), rng.normal(size=(3, 5))
    whole = np.column_stack((X, np.ones(4)))
    for turn in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(times(turn(X), matrix), whole @ matrix)
        np.testing.assert_allclose(
            weighted_squares(turn(X), np.arange(3.0)), whole**2 @ np.arange(3.0)
        )
    assert times(X.astype(np.float32), matrix).dtype == np.float32


def test_a_matrix_that_is_too_large_is_refused_before_it_is_made() -> None:
    with pytest.raises(InvalidArgument, match=r"30,000 x 30,000: it would take 6\.7 GiB"):
        FeatureCovariance.prior(np.ones(30_000)).dense()


def test_of_a_singular_matrix() -> None:
    found = FeatureCovariance.of(np.array([[1.0, 1.0], [1.0, 1.0]]))
    np.testing.assert_allclose(found.dense(), 1.0, atol=1e-15)
    assert FeatureCovariance.of(found) is found


def test_a_copy_on_disk_holds_no_pool(rng: np.random.Generator) -> None:
    covariance = FeatureCovariance.prior(np.ones(200)).grown(rng.normal(size=(3, 200)))
    before = len(pickle.dumps(covariance))
    # one that cannot be written to, as a learner holds it: only of such is anything remembered
    rows: Any = sparse.csr_array(rng.normal(size=(300, 200)))
    pool = read_only_view(as_matrix(rows))
    covariance.quadratic(pool)
    assert len(pickle.dumps(covariance)) == before
    again = pickle.loads(pickle.dumps(covariance))
    np.testing.assert_allclose(again.quadratic(pool), covariance.quadratic(pool))


def test_a_gibibyte_is_allowed_and_no_more() -> None:
    """Rows and columns both count, whichever is the larger."""
    require_room((1 << 14, 1 << 13), "a matrix")
    for shape in ((1 << 14, 9000), (1 << 26, 3), (3, 1 << 26)):
        with pytest.raises(InvalidArgument, match=r"it would take 1\.[15] GiB"):
            require_room(shape, "a matrix")
