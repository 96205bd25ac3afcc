"""The identity, and the identity with a constant."""

from __future__ import annotations

import numpy as np
import pytest

from apm.belief import Belief
from apm.encoders import Affine, Linear
from apm.posteriors import VariationalLogistic
from channelcode.errors import InvalidArgument

X = np.array([[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]])


def test_values() -> None:
    np.testing.assert_array_equal(Linear().encode(X), X)
    np.testing.assert_array_equal(Affine().encode(X), np.hstack([X, np.ones((3, 1))]))
    assert Linear() == Linear()


def test_no_copy_is_made_of_a_float_matrix() -> None:
    assert Linear().encode(X) is X
    assert not np.shares_memory(Affine().encode(X), X)


def test_integers_become_floats_before_the_constant_is_added() -> None:
    features = Affine().encode(np.array([[1, 2]]))
    assert features.dtype == np.float64
    assert features.tolist() == [[1.0, 2.0, 1.0]]


def test_channel_inputs_are_inner_products_with_the_features() -> None:
    """l = <theta, phi(x)>: the mean of the induced law is linear, or affine, in the example."""
    y = [1, 0, 1]
    for encoder, features in ((Linear(), X), (Affine(), np.column_stack([X, np.ones(3)]))):
        belief = Belief(VariationalLogistic(0.5), encoder).fit(X, y)
        plain = VariationalLogistic(0.5).fit(features, y)
        np.testing.assert_allclose(belief.push(X).mean, features @ plain.mean, rtol=1e-12)


@pytest.mark.parametrize("encoder", [Linear(), Affine()])
def test_infinity_is_found_where_the_features_are_used(encoder: Linear | Affine) -> None:
    bad = X.copy()
    bad[1, 0] = np.inf
    with pytest.raises(InvalidArgument, match="row 1, column 0"):
        Belief(VariationalLogistic(), encoder).push(bad)
