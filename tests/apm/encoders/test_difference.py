"""Pairs: the difference of two inputs, linear where the encoder of a member is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from apm import Affine, Belief, Difference, FeatureMap, Laplace, Linear, NonLinear
from apm.testing import check_encoder
from channelcode import Logistic
from channelcode.errors import InvalidArgument

RNG = np.random.default_rng(0)
PAIRS = RNG.normal(size=(7, 6))
THETA = RNG.normal(size=(4, 3))
bent = NonLinear(lambda theta, X: np.tanh(X @ theta.T), 3)


@pytest.mark.parametrize("encoder", [Difference(), Difference(Affine()), Difference(bent)])
def test_the_contract(encoder):
    check_encoder(encoder, PAIRS)


def test_it_is_the_difference_of_the_members():
    first, second = PAIRS[:, :3], PAIRS[:, 3:]
    np.testing.assert_array_equal(Difference(Linear()).encode(PAIRS), first - second)
    np.testing.assert_allclose(Difference().inputs(THETA, PAIRS), (first - second) @ THETA.T)
    expected = bent.inputs(THETA, first) - bent.inputs(THETA, second)
    np.testing.assert_array_equal(Difference(bent).inputs(THETA, PAIRS), expected)
    swapped = np.hstack([second, first])
    np.testing.assert_array_equal(Difference(bent).inputs(THETA, swapped), -expected)
    slope = Difference(bent).jacobian(THETA[0], PAIRS)
    assert slope.shape == (7, 3)
    assert not Difference(bent).is_linear
    assert Difference(FeatureMap(np.tanh)).is_linear


def test_a_constant_cancels():
    """The scale of utilities has no origin: what all members share is not seen."""
    theta = np.array([[1.0, 2.0, 3.0, 50.0]])
    np.testing.assert_allclose(
        Difference(Affine()).inputs(theta, PAIRS), Difference().inputs(theta[:, :3], PAIRS)
    )


def test_pairs_learn_as_their_differences_do():
    labels = RNG.integers(0, 2, size=7)
    pairs = Belief(Laplace(Logistic(), 0.5), Difference()).update(PAIRS, labels)
    plain = Belief(Laplace(Logistic(), 0.5)).update(PAIRS[:, :3] - PAIRS[:, 3:], labels)
    np.testing.assert_array_equal(pairs.posterior.mean, plain.posterior.mean)


def test_sparse_pairs():
    rows: Any = csr_array(PAIRS)
    sparse: Any = Difference().encode(rows)
    np.testing.assert_allclose(np.asarray(sparse.toarray()), Difference().encode(PAIRS))


def test_bad_input():
    with pytest.raises(InvalidArgument, match="even number of columns"):
        Difference().encode(PAIRS[:, :5])
    with pytest.raises(InvalidArgument, match="must be an encoder"):
        Difference(np.tanh)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="must be linear here"):
        Difference(bent).encode(PAIRS)
