"""The same for the same numbers, another for others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from apm.storage import fingerprint
from apm.storage.fingerprint import CHUNK


def test_layout_and_byte_order_do_not_matter(rng):
    X = rng.normal(size=(7, 3))
    for same in (np.asfortranarray(X), X[::1], np.repeat(X, 2, axis=0)[::2], X.astype(">f8")):
        assert fingerprint(same) == fingerprint(X)


def test_type_shape_and_every_value_matter(rng):
    X = rng.normal(size=(7, 3))
    others = [X.astype("f4"), X.T, X[:6], X.reshape(3, 7), X[::-1], X.astype("f4").astype("f8")]
    nudged = X.copy()
    nudged[6, 2] = np.nextafter(nudged[6, 2], 9)
    marks = [fingerprint(other) for other in (X, *others, nudged)]
    assert len(set(marks)) == len(marks)


def test_pieces_are_hashed_as_the_whole():
    X = np.arange(3 * CHUNK // 8, dtype=np.float64).reshape(-1, 1)
    assert fingerprint(X) == fingerprint(np.asfortranarray(X))
    changed = X.copy()
    changed[-1] = 0
    assert fingerprint(changed) != fingerprint(X)


@pytest.mark.parametrize("value", [np.array(3.0), np.empty((0, 2)), np.array(["a", "b"])])
def test_scalars_empty_arrays_and_text(value):
    assert len(fingerprint(value)) == 64


def test_sparse_matrices():
    X = sparse.csr_matrix(np.eye(3))
    other = sparse.csr_matrix(np.eye(3)[::-1])
    assert fingerprint(X) == fingerprint(X.copy()) != fingerprint(other)
