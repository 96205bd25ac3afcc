"""Encoders that leave the example as it is, with or without a constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders.base import Encoder
from apm.pools.inputs import Matrix, as_matrix, is_sparse


@dataclass(frozen=True)
class Linear(Encoder):
    """The homogeneous encoder of the paper, phi(x) = x, so that l = <theta, x> (Section 2).

    >>> Linear().encode([[1.0, 2.0]])
    array([[1., 2.]])
    """

    def encode(self, X: ArrayLike) -> Matrix:
        return as_matrix(X, finite=False)


@dataclass(frozen=True)
class Affine(Encoder):
    """The encoder phi(x) = (x, 1): a constant feature last, under the common prior.

    For an intercept with a prior of its own, use `intercept=True` of the posterior instead.

    >>> Affine().encode([[3.0, 4.0]])
    array([[3., 4., 1.]])
    """

    def encode(self, X: ArrayLike) -> Matrix:
        matrix = as_matrix(X, finite=False)
        if is_sparse(matrix):
            from scipy.sparse import csr_array, hstack

            parts: Any = csr_array(matrix), csr_array(np.ones((matrix.shape[0], 1)))
            joined: Any = hstack(parts, format="csr")
            return as_matrix(joined, finite=False)
        features = np.empty((matrix.shape[0], matrix.shape[1] + 1), dtype=matrix.dtype)
        features[:, :-1] = matrix
        features[:, -1] = 1.0
        return features
