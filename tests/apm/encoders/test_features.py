"""An encoder made of a function: what it may return, and what it may not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.belief import Belief
from apm.encoders import FeatureMap
from apm.posteriors import VariationalLogistic
from channelcode.errors import InvalidArgument

X = np.array([[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]])


def test_feature_map_is_checked() -> None:
    with pytest.raises(InvalidArgument, match="callable"):
        FeatureMap(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="one row for each example"):
        FeatureMap(lambda Z: Z[:1]).encode(X)
    with pytest.raises(InvalidArgument, match="row 1, column 0"):
        FeatureMap(lambda Z: Z).encode([[1.0], [np.inf]])

    def scribble(Z: np.ndarray) -> np.ndarray:
        Z[0, 0] = 9.0
        return Z

    with pytest.raises(ValueError, match="read-only"):
        FeatureMap(scribble).encode(X)


def test_values_are_the_functions() -> None:
    squares = FeatureMap(lambda Z: Z**2)
    np.testing.assert_array_equal(squares.encode(X), X**2)
    np.testing.assert_array_equal(squares.encode(X.tolist()), X**2)
    assert FeatureMap(lambda Z: [[1, 2]] * len(Z)).encode(X).dtype == np.float64


@pytest.mark.parametrize(
    "returned, message",
    [
        (np.zeros(3), "two axes"),
        (np.zeros((3, 0)), "at least one column"),
        (np.zeros((3, 1), dtype=complex), "real numbers"),
        ([["a"], ["b"], ["c"]], "real numbers"),
    ],
)
def test_what_the_function_returns_is_checked(returned: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message) as caught:
        FeatureMap(lambda Z: returned).encode(X)
    assert "function(X)" in str(caught.value)


def test_a_nan_of_the_function_is_named_with_its_place() -> None:
    def root(Z: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.sqrt(Z)

    with pytest.raises(InvalidArgument, match="row 1, column 1"):
        Belief(VariationalLogistic(), FeatureMap(root)).push(X)
