"""A law known through samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, finite_array
from channelcode.measures.base import affine_map, points_of
from channelcode.measures.discrete import DiscreteMeasure


class Empirical(DiscreteMeasure):
    """The law of a sample: equal weights unless others are given.

    `samples` has shape `(n,)` on the line and `(n, k)` in R^k; `weights` has shape `(n,)`.

    >>> Empirical([1.0, 2.0, 6.0]).mean
    3.0
    """

    __slots__ = ()

    def __init__(self, samples: ArrayLike, weights: ArrayLike | None = None) -> None:
        points = points_of("samples", samples)
        if weights is None:
            masses = np.full(points.shape[0], 1.0 / points.shape[0])
        else:
            masses = finite_array("weights", weights, ndim=1)
        super().__init__(points, masses)

    @property
    def samples(self) -> Array:
        """The sample points: `(n,)` on the line, `(n, k)` in R^k."""
        return self.atoms

    def transform(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> Empirical:
        linear, shift = affine_map(self.dim, matrix, offset)
        return Empirical(self._points @ linear.T + shift, self._weights)

    def __repr__(self) -> str:
        return f"Empirical({len(self)} samples in R^{self.dim})"
