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
    if not rows.data.all():  # a zero that is stored would make another fingerprint
        rows = rows.copy()
        rows.eliminate_zeros()
    if finite and not np.isfinite(rows.data).all():
        place = int(np.argmin(np.isfinite(rows.data)))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        value = f"{rows.data[place]} in row {row}, column {rows.indices[place]}"
        raise InvalidArgument(argument, "must be finite", value)
    return rows


def stacked_rows(above: Any, below: Any) -> SparseRows:
    """Two sparse matrices with the same columns, one below the other.

    >>> stacked_rows(SparseRows(np.eye(2)), SparseRows(np.ones((1, 2)))).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    from scipy.sparse import vstack

    joined: Any = vstack((csr_array(above), csr_array(below)), format="csr")
    return as_sparse(SparseRows(joined))


def as_arrays(rows: Any, name: str) -> dict[str, np.ndarray]:
    """Sparse rows as plain arrays under `name`, `name.indices`, `name.indptr`, `name.shape`."""
    return {
        name: rows.data,
        f"{name}.indices": rows.indices,
        f"{name}.indptr": rows.indptr,
        f"{name}.shape": np.array(rows.shape, dtype=np.int64),
    }


def from_arrays(arrays: dict[str, np.ndarray], name: str) -> SparseRows:
    """The rows that `as_arrays` came from; refused unless they are well formed in every part.

    Compiled code of SciPy takes indices on trust, so not one is left unchecked.
    """
    data, shape = arrays[name], arrays[f"{name}.shape"]
    indices, indptr = arrays[f"{name}.indices"], arrays[f"{name}.indptr"]
    whole = (
        data.dtype in (np.float32, np.float64)
        and data.ndim == indices.ndim == indptr.ndim == 1
        and indices.dtype.kind == indptr.dtype.kind == shape.dtype.kind == "i"
        and shape.shape == (2,)
        and (shape > 0).all()
        and len(indptr) == shape[0] + 1
        and len(indices) == len(data)
    )
    if whole:
        lengths = np.diff(indptr)
        whole = indptr[0] == 0 and indptr[-1] == len(data) and bool((lengths >= 0).all())
    if whole and len(data):
        row = np.repeat(np.arange(len(lengths)), lengths)
        inside = indices.min() >= 0 and indices.max() < shape[1]
        ascending = (np.diff(row) > 0) | (np.diff(indices) > 0)
        whole = bool(inside and ascending.all() and np.isfinite(data).all())
    if not whole:
        raise InvalidArgument(name, "must be rows of a sparse matrix", "none")
    return as_sparse(SparseRows((data, indices, indptr), shape=tuple(int(n) for n in shape)))
