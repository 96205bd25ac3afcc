"""Many laws known through samples, with one set of weights for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, finite_array, read_only
from channelcode.errors import InvalidArgument
from channelcode.measures.empirical import Empirical
from channelcode.measures.pool import Pool


class EmpiricalPool(Pool):
    """Samples of n candidates: `(n, s)` on the line, `(n, s, k)` in R^k.

    `weights (s,)` are common to all candidates: sample i of every candidate has mass
    `weights[i] / sum(weights)`. They must not be negative; `None` means equal weights. A weight of
    zero leaves its samples out, and a weight of two counts them twice.

    >>> EmpiricalPool([[0.0, 1.0], [2.0, 6.0]], weights=[3, 1]).mean
    array([0.25, 3.  ])
    """

    __slots__ = ("_samples", "_weights")
    _samples: Array
    _weights: Array

    def __init__(self, samples: ArrayLike, weights: ArrayLike | None = None) -> None:
        draws = finite_array("samples", samples, ndim=(2, 3))
        size = draws.shape[1]
        masses = np.full(size, 1.0 / size) if weights is None else _masses(weights, size)
        self._set(
            _samples=read_only(draws[:, :, None] if draws.ndim == 2 else draws),
            _weights=read_only(masses),
        )

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def dim(self) -> int:
        return self._samples.shape[2]

    @property
    def samples(self) -> Array:
        """The samples: `(n, s)` on the line, `(n, s, k)` in R^k."""
        return self._samples[:, :, 0] if self.dim == 1 else self._samples

    @property
    def weights(self) -> Array:
        """The masses of the samples, common to all candidates, `(s,)`; they sum to one."""
        return self._weights

    @property
    def equally_weighted(self) -> bool:
        """Whether all samples have the same mass."""
        return bool((self._weights == self._weights[0]).all())

    @property
    def mean(self) -> Array:
        mean = self._averages(self._samples)
        return mean[:, 0] if self.dim == 1 else mean

    @property
    def total_variance(self) -> Array:
        centred = self._samples - self._averages(self._samples)[:, None, :]
        return self._averages(centred**2).sum(axis=1)

    def project(self, direction: ArrayLike) -> EmpiricalPool:
        """The samples on the line of <direction, L>; the direction is used as given."""
        vector = finite_array("direction", direction, ndim=(0, 1)).reshape(-1)
        if vector.shape[0] != self.dim:
            raise InvalidArgument("direction", f"must have length {self.dim}", vector.shape[0])
        return EmpiricalPool(self._samples @ vector, self._weights)

    def _averages(self, values: Array) -> Array:
        """Means over the samples of `(n, s, k)` values, `(n, k)`."""
        if self.equally_weighted:
            return values.mean(axis=1)
        return np.einsum("s,nsk->nk", self._weights, values)

    def _one(self, index: int) -> Empirical:
        return Empirical(self._samples[index], self._weights)

    def _take(self, index: Any) -> EmpiricalPool:
        return EmpiricalPool(self._samples[index], self._weights)


def _masses(weights: ArrayLike, size: int) -> Array:
    given = finite_array("weights", weights, ndim=1)
    if len(given) != size:
        raise InvalidArgument(
            "weights", f"must have one entry for each of {size} samples", len(given)
        )
    if (given < 0).any():
        raise InvalidArgument("weights", "must be non-negative", float(given.min()))
    largest = given.max()
    if largest == 0:
        raise InvalidArgument("weights", "must not all be zero", "a sum of 0.0")
    relative = given / largest  # first: a sum of huge weights may overflow
    return relative / relative.sum()
