"""Sparse feature matrices: rows of a SciPy CSR array, with what the library asks of any matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from channelcode.errors import InvalidArgument


class SparseRows(csr_array):
    """A CSR array of floats that knows its length, so that loops over pieces of rows need not care.

    >>> rows = SparseRows(np.eye(3))
    >>> len(rows), rows[1:].shape, (rows @ np.ones(3)).tolist()
    (3, (2, 3), [1.0, 1.0, 1.0])
    """

    def __len__(self) -> int:
        rows, _ = self.shape  # type: ignore[misc]
        return int(rows)

    @property
    def nbytes(self) -> int:
        """The bytes of the stored entries."""
        return int(self.data.nbytes + self.indices.nbytes + self.indptr.nbytes)

    @property
    def itemsize(self) -> int:
        """The bytes of one number."""
        return int(self.dtype.itemsize)


def as_sparse(X: Any, argument: str = "X", *, finite: bool = True) -> SparseRows:
    """X as sparse rows of float32 (kept) or float64; complex and boolean-object data is refused."""
    if X.ndim != 2 or X.shape[1] == 0:
        rule = "must have two axes and at least one column"
        raise InvalidArgument(argument, rule, f"shape {X.shape}")
    if X.dtype.kind not in "buif":
        raise InvalidArgument(argument, "must hold real numbers", f"dtype {X.dtype}")
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    rows = X if isinstance(X, SparseRows) else SparseRows(X, dtype=dtype)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if finite and not np.isfinite(rows.data).all():
        place = int(np.argmin(np.isfinite(rows.data)))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        value = f"{rows.data[place]} in row {row}, column {rows.indices[place]}"
        raise InvalidArgument(argument, "must be finite", value)
    return rows
