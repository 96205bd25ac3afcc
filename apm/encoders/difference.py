"""Pairwise comparisons: the channel input of a pair is the difference of its members'."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders.base import Encoder
from apm.encoders.linear import Linear
from apm.pools.inputs import Matrix, as_matrix, is_sparse
from channelcode._validation import Array
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class Difference(Encoder):
    """The encoder of a pair, l = h(theta, x) - h(theta, x'), for rows (x, x') side by side.

    X is `(n, 2 d)`: the first d columns are one member, the last d the other. With the logistic
    channel label 1 says that the first is preferred (Bradley and Terry, 1952). It is linear in
    theta where `encoder` is: phi(x) - phi(x').

    >>> from apm import Difference, Linear
    >>> Difference(Linear()).encode([[3.0, 1.0, 2.0, 5.0]])
    array([[ 1., -4.]])
    """

    encoder: Encoder = field(default_factory=Linear)

    def __post_init__(self) -> None:
        if not isinstance(self.encoder, Encoder):
            raise InvalidArgument("encoder", "must be an encoder", self.encoder)

    @property
    def num_parameters(self) -> int | None:  # type: ignore[override]
        """q of the encoder of one member; None if it is linear."""
        return self.encoder.num_parameters

    @property
    def has_jacobian(self) -> bool:
        return self.encoder.has_jacobian

    def encode(self, X: ArrayLike) -> Matrix:
        if not self.is_linear:
            return super().encode(X)
        first, second = _members(X)
        return self.encoder.encode(first) - self.encoder.encode(second)

    def inputs(self, theta: ArrayLike, X: ArrayLike) -> Array:
        first, second = _members(X)
        return self.encoder.inputs(theta, first) - self.encoder.inputs(theta, second)

    def jacobian(self, theta: ArrayLike, X: ArrayLike) -> Array:
        first, second = _members(X)
        return self.encoder.jacobian(theta, first) - self.encoder.jacobian(theta, second)


def _members(X: ArrayLike) -> tuple[Any, Any]:
    matrix: Any = as_matrix(X, finite=False)
    width = matrix.shape[1]
    if width % 2:
        rule = "must have an even number of columns, the two members of each pair side by side"
        raise InvalidArgument("X", rule, f"shape {matrix.shape}")
    if is_sparse(matrix):
        columns = matrix.tocsc()
        return columns[:, : width // 2].tocsr(), columns[:, width // 2 :].tocsr()
    return np.asarray(matrix[:, : width // 2]), np.asarray(matrix[:, width // 2 :])
