"""Measures of a run against direct computations."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from apm.studies.paper.exploration import (
    gram_log_determinants,
    hyperplane_distance,
    maximin_distances,
)

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_maximin_is_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3))
    order = rng.permutation(12)
    start, picks = order[:2], order[2:10]
    found = maximin_distances(X, start, picks)
    table = cdist(X, X)
    for step in range(len(picks)):
        labelled = np.concatenate([start, picks[: step + 1]])
        free = np.setdiff1d(np.arange(12), labelled)
        np.testing.assert_allclose(found[step], table[free][:, labelled].min(axis=1).max())
    assert (np.diff(found) <= 1e-12).all()  # labels never isolate anybody more


def test_maximin_of_an_exhausted_pool_is_nan() -> None:
    found = maximin_distances(np.array([[0.0], [1.0]]), np.array([0]), np.array([1]))
    assert np.isnan(found).all()


@given(seeds)
def test_gram_determinant_is_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 3))
    picks = rng.permutation(10)[:7]
    found = gram_log_determinants(X, picks)
    assert np.isnan(found[:2]).all()
    for step in range(2, 7):
        window = X[picks[step - 2 : step + 1]]
        sign, log = np.linalg.slogdet(window @ window.T)
        assert sign > 0
        # the Gram matrix squares the condition number; 1e-6 covers condition numbers to 1e5
        np.testing.assert_allclose(found[step], log, rtol=1e-6, atol=1e-6)


def test_gram_determinant_of_few_or_repeated_directions() -> None:
    assert np.isnan(gram_log_determinants(np.eye(3), np.array([0, 1]))).all()
    same = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert np.isnan(gram_log_determinants(same, np.array([0, 1]))).all()


@given(seeds)
def test_distance_is_to_the_nearest_point_of_the_hyperplane(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, theta = rng.normal(size=(2, 4))
    foot = x - (x @ theta) / (theta @ theta) * theta
    np.testing.assert_allclose(hyperplane_distance(x, theta), np.linalg.norm(x - foot))
    np.testing.assert_allclose(hyperplane_distance(x, 7 * theta), np.linalg.norm(x - foot))
