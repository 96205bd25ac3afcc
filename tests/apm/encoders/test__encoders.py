"""The contract that every encoder passes: features by rows, without touching the input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.encoders import Affine, Encoder, FeatureMap, Linear
from channelcode.errors import InvalidArgument

X = np.array([[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]])
FAMILY: list[Encoder] = [Linear(), Affine(), FeatureMap(lambda Z: np.hstack([Z, Z**2]))]


@pytest.mark.parametrize("encoder", FAMILY, ids=lambda e: type(e).__name__)
def test_rows_are_encoded_by_themselves(encoder: Encoder) -> None:
    kept = X.copy()
    whole = encoder.encode(X)
    assert whole.shape[0] == 3
    np.testing.assert_array_equal(
        np.vstack([encoder.encode(X[i : i + 1]) for i in range(3)]), whole
    )
    np.testing.assert_array_equal(X, kept)
    assert encoder.encode(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(encoder.encode(np.asfortranarray(X)), whole)
    np.testing.assert_array_equal(encoder.encode(X.tolist()), whole)


@pytest.mark.parametrize("encoder", FAMILY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "bad, message",
    [
        (X[:, 0], r"X\.reshape\(-1, 1\)"),
        (X.astype(complex), "real numbers"),
        (X.astype(object), "real numbers"),
        ([["a", "b"]], "real numbers"),
        ([[1.0, 2.0], [3.0]], "regular matrix"),
        (np.empty((3, 0)), "at least one column"),
        (np.ma.masked_equal(X, 2.0), "masked"),
    ],
)
def test_bad_input(encoder: Encoder, bad: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        encoder.encode(bad)
