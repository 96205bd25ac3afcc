"""A Gaussian law of the channel input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, Seed, as_generator, finite_array, read_only
from channelcode.errors import InvalidArgument
from channelcode.measures.base import Measure, affine_map, sizes, squeeze_line

PSD_RTOL = 1e-10  # a Gram matrix formed in double precision is PSD to about k * 1e-16 of its norm


def positive_semidefinite(argument: str, covariance: Array) -> Array:
    """Return symmetrised `(..., k, k)` matrices, refusing asymmetric or indefinite ones.

    Eigenvalues down to `-PSD_RTOL` times the largest are rounding and pass unchanged.
    """
    if covariance.shape[-1] != covariance.shape[-2]:
        raise InvalidArgument(argument, "must be square", f"shape {covariance.shape}")
    largest = np.abs(covariance).max(axis=(-2, -1))
    transposed = np.swapaxes(covariance, -1, -2)
    if (np.abs(covariance - transposed).max(axis=(-2, -1)) > PSD_RTOL * largest).any():
        worst = float(np.abs(covariance - transposed).max())
        raise InvalidArgument(argument, "must be symmetric", f"an asymmetry of {worst!r}")
    symmetric = 0.5 * (covariance + transposed)
    least = np.linalg.eigvalsh(symmetric)[..., 0]
    if (least < -PSD_RTOL * np.maximum(largest, np.finfo(float).tiny)).any():
        where = int(np.argmin(least)) if least.ndim else 0
        place = f" in matrix {where}" if least.ndim else ""
        value = float(np.ravel(least)[where])
        raise InvalidArgument(
            argument, "must be positive semidefinite", f"the eigenvalue {value!r}{place}"
        )
    return symmetric


def factor_of(covariance: Array) -> Array:
    """F with F F' = covariance for PSD matrices `(..., k, k)` of any rank."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]


def gram(factor: Array) -> Array:
    """F F', symmetric and PSD to its own rounding, however small it is beside F's origin."""
    product = factor @ np.swapaxes(factor, -1, -2)
    return 0.5 * (product + np.swapaxes(product, -1, -2))


class Gaussian(Measure):
    """N(mean, covariance) on the line or in R^k; the covariance may be singular.

    On the line `mean` and `covariance` (the variance) are numbers; in R^k they have shapes
    `(k,)` and `(k, k)`.

    >>> Gaussian(1.0, 4.0).second_moment
    5.0
    """

    __slots__ = ("_covariance", "_mean")
    _mean: Array
    _covariance: Array

    def __init__(self, mean: ArrayLike, covariance: ArrayLike) -> None:
        centre = np.atleast_1d(finite_array("mean", mean, ndim=(0, 1)))
        spread = finite_array("covariance", covariance, ndim=(0, 1, 2))
        if centre.size == 1 and spread.size == 1:
            spread = spread.reshape(1, 1)
            if spread[0, 0] < 0:
                raise InvalidArgument("covariance", "must be non-negative", float(spread[0, 0]))
        elif spread.shape != (centre.size, centre.size):
            raise InvalidArgument(
                "covariance",
                f"must have shape {(centre.size, centre.size)}",
                f"shape {spread.shape}",
            )
        spread = positive_semidefinite("covariance", spread)
        self._set(_mean=read_only(centre), _covariance=read_only(spread))

    @property
    def dim(self) -> int:
        return self._mean.shape[0]

    @property
    def mean(self) -> Any:
        return squeeze_line(self._mean, self.dim)

    @property
    def covariance(self) -> Any:
        return squeeze_line(self._covariance, self.dim, 2)

    @property
    def factor(self) -> Array:
        """A matrix F of shape `(k, k)` with F F' = covariance (eigenvector factor, any rank)."""
        return factor_of(self._covariance)

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Seed = None) -> Array:
        noise = as_generator(rng).standard_normal((*sizes(size), self.dim))
        return squeeze_line(self._mean + noise @ self.factor.T, self.dim)

    def transform(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> Gaussian:
        linear, shift = affine_map(self.dim, matrix, offset)
        return Gaussian(linear @ self._mean + shift, gram(linear @ self.factor))

    def __repr__(self) -> str:
        return f"Gaussian(mean={self.mean!r}, covariance={self.covariance!r})"
