"""An encoder from any callable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from apm.encoders.base import Encoder
from apm.pools.inputs import Matrix, as_matrix, read_only_view
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class FeatureMap(Encoder):
    """The encoder phi(x) = function(x), for features that are non-linear in the example.

    `function` takes `(n, d)` and returns `(n, p)`, each row by itself; it must be deterministic and
    must not modify its argument.

    >>> import numpy as np
    >>> FeatureMap(lambda X: np.hstack([X, X**2])).encode([[2.0, 3.0]])
    array([[2., 3., 4., 9.]])
    """

    function: Callable[[Any], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidArgument("function", "must be callable", self.function)

    def encode(self, X: ArrayLike) -> Matrix:
        matrix = as_matrix(X)
        view = read_only_view(matrix)
        features = as_matrix(self.function(view), "function(X)", finite=False)
        if features.shape[0] != matrix.shape[0]:
            rows = f"{features.shape[0]} rows for {matrix.shape[0]}"
            raise InvalidArgument("function(X)", "must have one row for each example", rows)
        return features
