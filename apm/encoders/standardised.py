"""An encoder that brings every feature to mean zero and unit spread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders.base import Encoder
from apm.pools.inputs import Matrix, as_matrix, is_sparse, is_streamed
from channelcode._validation import finite_array, read_only
from channelcode.errors import InvalidArgument

MODERATE = 1e150  # sums of numbers below this do not overflow, and above its inverse they are exact
PIECE = 1 << 16  # entries that are looked at together


@dataclass(frozen=True, eq=False)
class Standardised(Encoder):
    """The encoder phi(x)_j = (x_j - mean_j) / scale_j, with mean and scale of a pool (`of`).

    `mean` and `scale` have shape `(d,)` and stay as they are, whatever is encoded later. A feature
    that does not vary in the pool has scale 1.

    >>> Standardised.of([[1.0, 5.0], [3.0, 5.0]]).encode([[2.0, 5.0], [4.0, 6.0]])
    array([[0., 0.],
           [2., 1.]])
    """

    mean: ArrayLike
    scale: ArrayLike

    def __post_init__(self) -> None:
        mean = finite_array("mean", self.mean, ndim=1)
        scale = finite_array("scale", self.scale, ndim=1)
        if mean.shape != scale.shape or not (scale > 0).all():
            raise InvalidArgument("scale", f"must be {len(mean)} positive numbers", scale)
        object.__setattr__(self, "mean", read_only(mean))
        object.__setattr__(self, "scale", read_only(scale))

    @classmethod
    def of(cls, X: ArrayLike) -> Standardised:
        """The encoder that standardises the rows of X, `(n, d)`."""
        matrix = _dense(as_matrix(X))
        if len(matrix) == 0:
            raise InvalidArgument("X", "must have at least one row", f"shape {matrix.shape}")
        # in pieces that stay in the cache: a large pool is read twice and never copied
        largest, total = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            for piece in _pieces(matrix):
                np.maximum(largest, np.abs(piece).max(axis=0), out=largest)
                total += piece.sum(axis=0)
        # a power of two: the division is exact, and no square overflows or vanishes
        unit = np.where(largest > 0, np.exp2(np.ceil(np.log2(np.maximum(largest, 1e-300)))), 1.0)
        count = len(matrix)
        if ((largest == 0) | ((largest > 1 / MODERATE) & (largest < MODERATE))).all():
            centre = total / unit / count
        else:  # sums that may overflow or vanish: once more
            centre = sum((piece / unit).sum(axis=0) for piece in _pieces(matrix)) / count
        squares = sum(np.square(piece / unit - centre).sum(axis=0) for piece in _pieces(matrix))
        spread = np.sqrt(squares / count)
        rounding = 64 * np.finfo(np.float64).eps * (largest / unit)
        scale = np.where(spread > rounding, spread * unit, 1.0)
        return cls(centre * unit, scale)

    def encode(self, X: ArrayLike) -> Matrix:
        matrix = _dense(as_matrix(X, finite=False))
        mean, scale = np.asarray(self.mean), np.asarray(self.scale)
        if matrix.shape[1] != len(mean):
            rule = f"must have {len(mean)} columns"
            raise InvalidArgument("X", rule, f"shape {matrix.shape}")
        found = matrix - mean
        found /= scale
        return found.astype(matrix.dtype, copy=False)


def _pieces(matrix: Any) -> Iterator[Any]:
    rows = max(1, PIECE // matrix.shape[1])
    if is_streamed(matrix):
        found = matrix.pieces(rows)
    else:
        found = (matrix[start : start + rows] for start in range(0, len(matrix), rows))
    return (piece.astype(np.float64, copy=False) for piece in found)


def _dense(matrix: Matrix) -> Matrix:
    if is_sparse(matrix):
        rule = "must be dense for Standardised: what is zero would not stay so (use Linear())"
        raise InvalidArgument("X", rule, f"sparse, shape {matrix.shape}")
    return matrix
