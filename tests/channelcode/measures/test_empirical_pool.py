"""Sample pools with weights common to all candidates."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from channelcode import EmpiricalPool, InvalidArgument


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3)])
def test_integer_weights_are_repeated_samples(rng, shape):
    draws, counts = rng.standard_normal(shape), np.array([2, 0, 1, 3, 1])
    weighted = EmpiricalPool(draws, weights=counts)
    repeated = EmpiricalPool(np.repeat(draws, counts, axis=1))
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-13)
    np.testing.assert_allclose(weighted.total_variance, repeated.total_variance, rtol=1e-13)
    np.testing.assert_allclose(weighted.second_moment, repeated.second_moment, rtol=1e-13)
    direction = np.ones(weighted.dim)
    np.testing.assert_allclose(
        weighted.project(direction).total_variance,
        repeated.project(direction).total_variance,
        rtol=1e-13,
    )
    assert not weighted.equally_weighted
    assert repeated.equally_weighted


def test_members_and_selections_keep_the_weights(rng):
    pool = EmpiricalPool(rng.standard_normal((4, 3, 2)), weights=[0.5, 0.5, 0.0])
    np.testing.assert_array_equal(pool[1].weights, pool.weights)
    np.testing.assert_array_equal(pool[[2, 0]].weights, pool.weights)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pool)).weights, pool.weights)
    np.testing.assert_allclose(pool.mean[1], pool[1].mean)


def test_only_the_ratios_count(rng):
    draws = rng.standard_normal((2, 3))
    for factor in (1e-300, 1.0, 1e300):
        pool = EmpiricalPool(draws, weights=factor * np.array([1.0, 2.0, 1.0]))
        np.testing.assert_allclose(pool.weights, [0.25, 0.5, 0.25], rtol=1e-15)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0], "weights must have one entry for each of 3"),
        ([1.0, -1.0, 1.0], "weights must be non-negative"),
        ([0.0, 0.0, 0.0], "weights must not all be zero"),
        ([1.0, np.nan, 1.0], "weights must be finite"),
        ([[1.0, 1.0, 1.0]], "weights must have 1 axes"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(InvalidArgument, match=message):
        EmpiricalPool(np.zeros((2, 3)), weights=weights)
