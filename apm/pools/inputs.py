"""The one place where feature matrices, row numbers, lists and sample weights are checked."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from channelcode._validation import Array
from channelcode.errors import InvalidArgument

SMALL = 4096  # entries whose check costs less than the care against overflow
Matrix = NDArray[np.floating[Any]]
_RESHAPE = "must have two axes: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one example"


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array; SciPy's module is not imported for it."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def is_streamed(X: Any) -> bool:
    """Whether X are rows that are read tile by tile (`apm.pools.streamed`)."""
    return not isinstance(X, np.ndarray) and hasattr(X, "tile_rows")


def as_matrix(X: ArrayLike, argument: str = "X", *, finite: bool = True) -> Matrix:
    """Return X as an `(n, d)` matrix of float32 (kept) or float64 (everything else).

    No copy is made of float arrays, whatever their order; pandas frames and memory maps are read by
    position. Complex, object and text input is refused, and so is a masked entry. With
    `finite=False` the caller vouches for NaN and infinity (see `require_finite`). A SciPy sparse
    matrix becomes sparse rows (`apm.pools.sparse`); streamed rows stay what they are.

    >>> as_matrix([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    if is_sparse(X):
        from apm.pools.sparse import as_sparse

        return as_sparse(X, argument, finite=finite)  # type: ignore[return-value]
    if is_streamed(X):  # which were looked at when they were first read
        return X  # type: ignore[return-value]
    require_unmasked(X, argument)
    try:
        matrix = np.asarray(X)
    except ValueError:
        raise InvalidArgument(argument, "must be a regular matrix of numbers", X) from None
    if matrix.dtype.kind not in "buif":
        raise InvalidArgument(argument, "must hold real numbers", f"dtype {matrix.dtype}")
    if matrix.ndim != 2:
        raise InvalidArgument(argument, _RESHAPE, f"shape {matrix.shape}")
    if matrix.shape[1] == 0:
        raise InvalidArgument(argument, "must have at least one column", f"shape {matrix.shape}")
    if matrix.dtype != np.float32 and matrix.dtype != np.float64:
        matrix = matrix.astype(np.float64)
    if finite:
        require_finite(matrix, argument)
    return matrix


def require_unmasked(X: Any, argument: str, where: str = "") -> None:
    """Refuse masked entries, whose numbers mean nothing and would be read as any others."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        rule = f"must have no masked entries{where}"
        raise InvalidArgument(argument, rule, f"{X.mask.sum()} masked")


def as_dense(X: ArrayLike, argument: str = "X") -> Matrix:
    """As `as_matrix`, for a few rows that are needed in full: sparse ones are filled in."""
    return as_matrix(X.toarray() if is_sparse(X) else X, argument)  # type: ignore[union-attr]


def as_row(x: ArrayLike, argument: str = "x", *, finite: bool = True) -> Array:
    """Return one example `(d,)` or several `(b, d)` as a finite float64 matrix `(b, d)`.

    `finite=False` is for a caller that looks for NaN and infinity itself.
    """
    if is_sparse(x):
        return np.atleast_2d(as_dense(np.atleast_2d(x.toarray()), argument)).astype(np.float64)  # type: ignore[union-attr]
    try:
        row = np.asarray(x)
    except ValueError:
        raise InvalidArgument(argument, "must be a regular matrix of numbers", x) from None
    if row.ndim == 1:
        row = row[None, :]
    if type(x) is np.ndarray and row.dtype == np.float64 and row.ndim == 2 and row.size:
        if finite:
            require_finite(row, argument)
        return row
    return as_matrix(row, argument, finite=finite).astype(np.float64, copy=False)


def require_finite(matrix: Matrix, argument: str = "X", *, first_row: int = 0) -> None:
    """Raise an error that names row and column of the first NaN or infinity."""
    if is_sparse(matrix):
        as_matrix(matrix, argument)
        return
    if matrix.size <= SMALL:
        if np.isfinite(matrix).all():
            return
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(matrix.sum()):  # no temporary; an overflow only costs the search
                return
    finite = np.isfinite(matrix)
    if finite.all():
        return
    row, column = np.unravel_index(int(np.argmin(finite)), matrix.shape)
    raise InvalidArgument(
        argument,
        "must be finite",
        f"{matrix[row, column]} in row {first_row + int(row)}, column {int(column)}",
    )


def as_weights(sample_weight: ArrayLike | None, rows: int) -> Array:
    """Return sample weights as `(rows,)`, non-negative and finite; None means ones."""
    if sample_weight is None:
        return np.ones(rows)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "buif":
        raise InvalidArgument("sample_weight", "must hold real numbers", f"dtype {weights.dtype}")
    weights = np.broadcast_to(weights.astype(np.float64), (rows,)) if weights.ndim == 0 else weights
    if weights.shape != (rows,):
        raise InvalidArgument(
            "sample_weight", f"must have shape ({rows},)", f"shape {weights.shape}"
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = int(np.argmax(~np.isfinite(weights) | (weights < 0)))
        value = f"{float(weights[bad])!r} for row {bad}"
        raise InvalidArgument("sample_weight", "must be finite and non-negative", value)
    return np.array(weights, dtype=np.float64)


def as_row_number(position: Any, rows: int, argument: str = "index") -> int:
    """Return a row number in 0..rows-1 as an integer; booleans are none."""
    try:
        row = operator.index(position)
    except TypeError:
        raise InvalidArgument(argument, "must be a row number", position) from None
    if isinstance(position, bool | np.bool_) or not 0 <= row < rows:
        raise InvalidArgument(argument, f"must be a row number in 0..{rows - 1}", position)
    return row


def as_list(values: Any, argument: str) -> list[Any]:
    """Return one value or a flat sequence of them as a list; text is one value."""
    if isinstance(values, int | float | str):
        return [values]
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise InvalidArgument(argument, "must have at most one axis", values) from None
    if array.ndim > 1:
        raise InvalidArgument(argument, "must have at most one axis", f"shape {array.shape}")
    if array.ndim == 0 or isinstance(values, str | bytes):
        return [values]
    return list(values)


def read_only_view(matrix: Any) -> Any:
    """Return the same numbers, not to be written to."""
    if is_streamed(matrix):
        return matrix
    if is_sparse(matrix):
        view = type(matrix)(matrix, copy=False)
        for part in ("data", "indices", "indptr"):
            own = getattr(view, part).view()
            own.setflags(write=False)
            setattr(view, part, own)
        return view
    view = np.asarray(matrix).view()
    view.setflags(write=False)
    return view


def in_form_of(matrix: Any, rows: Any) -> Any:
    """Return the rows as sparse ones if `matrix` is sparse, and in full if it is not."""
    if is_sparse(matrix):
        from apm.pools.sparse import SparseRows

        return rows if is_sparse(rows) else SparseRows(rows)
    return rows.toarray() if is_sparse(rows) else rows


def stacked(above: Any, below: Any) -> Any:
    """Return the rows of two matrices, both sparse or both in full, one below the other."""
    if is_sparse(above):
        from apm.pools.sparse import stacked_rows

        return stacked_rows(above, below)
    return np.concatenate((above, below))


def column_names(X: Any) -> list[str] | None:
    """Return the names of a frame's columns, if it is a frame and all of them are text."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    return [str(name) for name in names] if all(isinstance(n, str) for n in names) else None


def matching_columns(
    X: ArrayLike, names: list[str] | None, count: int, argument: str = "X"
) -> Matrix:
    """Return X as a matrix with `count` columns; a frame must have these names in this order."""
    own = column_names(X)
    if own is not None and names is not None and own != names:
        if sorted(own) == sorted(names):
            raise InvalidArgument(argument, "must have its columns in the order of the pool", own)
        unknown = [name for name in own if name not in names]
        missing = [name for name in names if name not in own]
        value = f"unknown columns {unknown}, missing columns {missing}"
        raise InvalidArgument(argument, "must have the columns of the pool", value)
    matrix = as_matrix(X, argument, finite=False)
    if matrix.shape[1] != count:
        raise InvalidArgument(argument, f"must have {count} columns", f"shape {matrix.shape}")
    return matrix
