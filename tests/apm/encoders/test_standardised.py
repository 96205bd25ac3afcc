"""Mean zero and unit spread, whatever the scale."""

# Odd types are what these tests are about.
# pyright: reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from apm.encoders import Standardised
from channelcode.errors import InvalidArgument


def test_as_scikit_learns_scaler(rng):
    X = rng.normal(size=(50, 4)) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 5.0, 1.0, -2.0]
    new = rng.normal(size=(5, 4))
    expected = StandardScaler().fit(X).transform(new)
    # both round once or twice in each step
    np.testing.assert_allclose(Standardised.of(X).encode(new), expected, rtol=1e-9)


@pytest.mark.parametrize("power", [-400, -60, 0, 60, 400])
def test_a_scale_by_a_power_of_two_changes_nothing(power, rng):
    X = rng.normal(size=(20, 3))
    scaled = np.ldexp(X, power)
    np.testing.assert_array_equal(
        Standardised.of(scaled).encode(scaled), Standardised.of(X).encode(X)
    )


def test_constant_columns_are_centred_and_left(rng):
    X = np.full((7, 2), 0.1)
    X[:, 1] = rng.normal(size=7)
    encoder = Standardised.of(X)
    assert np.asarray(encoder.scale)[0] == 1.0
    np.testing.assert_allclose(encoder.encode(X)[:, 0], 0.0, atol=1e-16)
    assert Standardised.of(np.zeros((3, 1))).encode([[2.0]]).tolist() == [[2.0]]


def test_single_precision_is_kept():
    X = np.array([[1.0], [2.0]], dtype=np.float32)
    assert Standardised.of(X).encode(X).dtype == np.float32


def test_bad_arguments():
    with pytest.raises(InvalidArgument, match="scale"):
        Standardised([0.0, 0.0], [1.0])
    with pytest.raises(InvalidArgument, match="scale"):
        Standardised([0.0], [0.0])
    with pytest.raises(InvalidArgument, match="2 columns"):
        Standardised.of(np.eye(2)).encode(np.eye(3))
    with pytest.raises(InvalidArgument, match="row"):
        Standardised.of(np.empty((0, 2)))
