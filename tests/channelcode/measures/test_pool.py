"""Pools: many laws at once, with their structure kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from channelcode import (
    Empirical,
    EmpiricalPool,
    FullPool,
    Gaussian,
    InvalidArgument,
    ScalarPool,
    ScaledPool,
    gaussian_pool,
)


@pytest.fixture
def pools(rng):
    mean, factor = rng.standard_normal((4, 3)), rng.standard_normal((4, 3, 3))
    shape = np.eye(3) + 0.2
    return {
        "scalar": ScalarPool(mean[:, 0], [1.0, 2.0, 0.0, 4.0]),
        "scaled": ScaledPool(mean, [1.0, 2.0, 0.0, 0.5], shape),
        "full": FullPool(mean, factor @ np.swapaxes(factor, 1, 2)),
        "empirical": EmpiricalPool(rng.standard_normal((4, 20, 3))),
        "empirical line": EmpiricalPool(rng.standard_normal((4, 20))),
    }


NAMES = ["scalar", "scaled", "full", "empirical", "empirical line"]


@pytest.mark.parametrize("name", NAMES)
def test_a_pool_agrees_with_its_members(pools, name):
    pool = pools[name]
    assert len(pool) == len(list(pool)) == 4
    for i, law in enumerate(pool):
        np.testing.assert_allclose(pool.mean[i], law.mean)
        assert pool.second_moment[i] == pytest.approx(law.second_moment)
        assert pool.total_variance[i] == pytest.approx(np.trace(np.atleast_2d(law.covariance)))
        if name in ("scalar", "scaled", "full"):
            np.testing.assert_allclose(pool.covariance[i], law.covariance)


@pytest.mark.parametrize("name", NAMES)
def test_selection(pools, name):
    pool = pools[name]
    assert isinstance(pool[0], Gaussian if "empirical" not in name else Empirical)
    np.testing.assert_array_equal(pool[[2, 0]].mean, pool.mean[[2, 0]])
    np.testing.assert_array_equal(pool[1:3].mean, pool.mean[1:3])
    np.testing.assert_allclose(pool[-1].mean, pool.mean[-1], rtol=1e-13)  # sums in another order
    with pytest.raises(IndexError, match="candidate 4"):
        pool[4]


@pytest.mark.parametrize("name", NAMES)
def test_projection(pools, name):
    pool = pools[name]
    direction = np.array([1.0]) if pool.dim == 1 else np.array([1.0, -0.5, 2.0])
    line = pool.project(direction)
    assert line.dim == 1
    for i, law in enumerate(pool):
        alone = law.project(direction)
        assert line.mean[i] == pytest.approx(alone.mean)
        assert line.total_variance[i] == pytest.approx(alone.covariance, abs=1e-12)
    with pytest.raises(InvalidArgument, match=r"^direction must"):
        pool.project(np.ones(7))


@pytest.mark.parametrize("name", ["scalar", "scaled", "full"])
def test_transform(pools, name):
    pool = pools[name]
    matrix = np.array([[2.0]]) if pool.dim == 1 else np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]])
    moved = pool.transform(matrix, 1.0)
    for i, law in enumerate(pool):
        alone = law.transform(matrix, 1.0)
        np.testing.assert_allclose(moved[i].mean, alone.mean)
        np.testing.assert_allclose(moved[i].covariance, alone.covariance, atol=1e-12)
    assert isinstance(pools["scaled"].transform(2.0), ScaledPool)  # the structure is kept


@pytest.mark.parametrize("name", NAMES)
def test_immutable_and_copied_by_pickle(pools, name):
    pool = pools[name]
    with pytest.raises(AttributeError, match="immutable"):
        pool.anything = 1
    copy = pickle.loads(pickle.dumps(pool))
    np.testing.assert_array_equal(copy.mean, pool.mean)
    assert f"4 laws on R^{pool.dim}" in repr(pool)


def test_directions_in_which_no_law_moves(rng):
    v, w = rng.standard_normal((2, 3))
    still = np.stack([np.cross(v, w), np.cross(np.cross(v, w), v)])
    shape = 1e3 * np.outer(v, v)
    for pool in (FullPool(np.zeros((2, 3)), [shape] * 2), ScaledPool(np.eye(3)[:2], [1, 2], shape)):
        assert np.abs(pool.transform(still).total_variance).max() < 1e-10
        assert (pool.project(still[0]).variance >= 0).all()


def test_scaled_pool_has_its_parts():
    pool = ScaledPool([[0.0, 1.0]], [4.0], [[1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(pool.covariance, [[[4.0, 0.0], [0.0, 8.0]]])
    np.testing.assert_array_equal(pool.scale, [4.0])
    np.testing.assert_array_equal(pool.shape, [[1.0, 0.0], [0.0, 2.0]])


def test_gaussian_pool_takes_the_simplest_form():
    assert isinstance(gaussian_pool([0.0, 1.0], [1.0, 2.0]), ScalarPool)
    assert isinstance(gaussian_pool([[0.0], [1.0]], [[[1.0]], [[2.0]]]), ScalarPool)
    assert isinstance(gaussian_pool(np.zeros((2, 2)), np.stack([np.eye(2)] * 2)), FullPool)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ScalarPool([0.0, 1.0], [1.0]), "variance must have length 2"),
        (lambda: ScalarPool([0.0, 1.0], [1.0, -2.0]), "variance must be non-negative.*candidate 1"),
        (lambda: ScalarPool([0.0, np.nan], [1.0, 1.0]), "mean must be finite"),
        (lambda: ScalarPool([], []), "mean must not be empty"),
        (lambda: ScalarPool(np.zeros((2, 2)), [1.0, 1.0]), "mean must have shape"),
        (lambda: ScaledPool(np.zeros((2, 2)), [1.0], np.eye(2)), "scale must have length 2"),
        (lambda: ScaledPool(np.zeros((2, 2)), [1.0, -1.0], np.eye(2)), "scale must be non-neg"),
        (lambda: ScaledPool(np.zeros((2, 2)), [1.0, 1.0], np.eye(3)), "shape must be 2 x 2"),
        (lambda: ScaledPool(np.zeros((2, 2)), [1.0, 1.0], -np.eye(2)), "shape must be positive"),
        (lambda: FullPool(np.zeros((2, 2)), np.zeros((2, 3, 3))), "covariance must have shape"),
        (lambda: FullPool(np.zeros((2, 2)), np.stack([np.eye(2), -np.eye(2)])), "in matrix 1"),
        (lambda: EmpiricalPool(np.zeros(3)), "samples must have 2 or 3 axes"),
        (lambda: EmpiricalPool([[np.inf]]), "samples must be finite"),
    ],
)
def test_bad_input(build, message):
    with pytest.raises(InvalidArgument, match=message):
        build()
