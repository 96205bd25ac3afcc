"""A digest of an array: the same for the same numbers, whatever their layout in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

CHUNK = 1 << 22  # bytes hashed at once


def fingerprint(array: Any) -> str:
    """The SHA-256 of type, shape and values of an array, or of the parts of a sparse matrix.

    >>> fingerprint([[1.0, 2.0]]) == fingerprint(np.array([[1.0, 2.0]], order="F"))
    True
    >>> fingerprint([[1.0, 2.0]]) == fingerprint([[1.0], [2.0]])
    False
    """
    hasher = hashlib.sha256()
    if hasattr(array, "indptr"):  # compressed rows
        hasher.update(repr(("sparse", array.format, array.shape)).encode())
        small = max(*array.shape, len(array.data)) < 2**31  # as SciPy itself chooses
        for part in (array.indptr, array.indices):
            _add(hasher, np.asarray(part).astype(np.int32 if small else np.int64, copy=False))
        _add(hasher, np.asarray(array.data))
    else:
        _add(hasher, np.asarray(array))
    return hasher.hexdigest()


def streamed_fingerprint(dtype: Any, shape: tuple[int, int], pieces: Iterable[Any]) -> str:
    """The `fingerprint` of the matrix whose rows come in these pieces.

    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> streamed_fingerprint(X.dtype, X.shape, [X[:1], X[1:]]) == fingerprint(X)
    True
    """
    hasher = hashlib.sha256()
    plain = np.dtype(dtype).newbyteorder("<")
    hasher.update(repr((plain.str, shape)).encode())
    for piece in pieces:
        hasher.update(np.ascontiguousarray(piece.astype(plain, copy=False)).data)
    return hasher.hexdigest()


def _add(hasher: Any, array: np.ndarray) -> None:
    plain = array.dtype.newbyteorder("<")
    hasher.update(repr((plain.str, array.shape)).encode())
    if array.ndim == 0:
        array = array.reshape(1)
    width = max(1, array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64)))
    rows = max(1, CHUNK // width)
    for start in range(0, len(array), rows):
        piece = np.ascontiguousarray(array[start : start + rows].astype(plain, copy=False))
        hasher.update(piece.tobytes())
