"""Many input laws at once, one for each candidate, with the structure kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, finite_array, read_only
from channelcode.errors import InvalidArgument
from channelcode.measures.base import Immutable, Measure, affine_map
from channelcode.measures.gaussian import Gaussian, factor_of, gram, positive_semidefinite


class Pool(Immutable, ABC):
    """n input laws on R^dim, one for each candidate.

    Index with an integer for one measure, with a slice, mask or index array for a sub-pool.
    """

    __slots__ = ()

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def dim(self) -> int:
        """The dimension of the space."""

    @property
    @abstractmethod
    def mean(self) -> Array:
        """The means: `(n,)` on the line, `(n, k)` in R^k."""

    @property
    @abstractmethod
    def total_variance(self) -> Array:
        """The traces of the covariances, `(n,)`."""

    @property
    def second_moment(self) -> Array:
        """The powers E|L|^2 of all candidates, `(n,)`."""
        mean = self.mean
        squared = mean**2 if mean.ndim == 1 else np.einsum("ij,ij->i", mean, mean)
        return squared + self.total_variance

    @abstractmethod
    def _take(self, index: Any) -> Pool: ...

    @abstractmethod
    def _one(self, index: int) -> Measure: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int | np.integer):
            if not -len(self) <= index < len(self):
                raise IndexError(f"candidate {index} of a pool of {len(self)}")
            return self._one(int(index))
        return self._take(index)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} laws on R^{self.dim})"


class GaussianPool(Pool):
    """One Gaussian for each of n candidates.

    Three structures, from cheap to general: `ScalarPool` (a mean and a variance each), `ScaledPool`
    (covariances c_x A with one shape A, as Kronecker posteriors give), `FullPool` (any at all).
    """

    __slots__ = ()

    @property
    @abstractmethod
    def covariance(self) -> Array:
        """The covariances: variances `(n,)` on the line, `(n, k, k)` in R^k."""

    def transform(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> GaussianPool:
        """The pool of laws of `matrix @ L + offset` (a scalar matrix scales)."""
        linear, shift = affine_map(self.dim, matrix, offset)
        mean = self.mean.reshape(len(self), self.dim) @ linear.T + shift
        covariance = self.covariance.reshape(len(self), self.dim, self.dim)
        return gaussian_pool(mean, gram(linear @ factor_of(covariance)))

    def project(self, direction: ArrayLike) -> ScalarPool:
        """The laws on the line of <direction, L>; the direction is used as given."""
        vector = finite_array("direction", direction, ndim=(0, 1)).reshape(-1)
        if vector.shape[0] != self.dim:
            raise InvalidArgument("direction", f"must have length {self.dim}", vector.shape[0])
        mean = self.mean.reshape(len(self), self.dim) @ vector
        return ScalarPool(mean, np.maximum(self._variance_along(vector), 0.0))

    def _variance_along(self, vector: Array) -> Array:
        covariance = self.covariance.reshape(len(self), self.dim, self.dim)
        return np.einsum("i,nij,j->n", vector, covariance, vector)


class ScalarPool(GaussianPool):
    """Gaussians on the line: `mean` and `variance` of shape `(n,)`.

    >>> ScalarPool([0.0, 1.0], [4.0, 1.0]).second_moment
    array([4., 2.])
    """

    __slots__ = ("_mean", "_variance")
    _mean: Array
    _variance: Array

    def __init__(self, mean: ArrayLike, variance: ArrayLike) -> None:
        centre = _column(finite_array("mean", mean, ndim=(1, 2)), "mean")
        spread = finite_array("variance", variance, ndim=(1, 2, 3))
        if spread.shape[0] != spread.size:
            raise InvalidArgument("variance", "must have shape (n,)", f"shape {spread.shape}")
        spread = spread.reshape(-1)
        if spread.shape != centre.shape:
            raise InvalidArgument("variance", f"must have length {len(centre)}", len(spread))
        if (spread < 0).any():
            worst = int(np.argmin(spread))
            raise InvalidArgument(
                "variance",
                "must be non-negative",
                f"{float(spread[worst])!r} for candidate {worst}",
            )
        self._set(_mean=read_only(centre), _variance=read_only(spread))

    def __len__(self) -> int:
        return len(self._mean)

    @property
    def dim(self) -> int:
        return 1

    @property
    def mean(self) -> Array:
        return self._mean

    @property
    def variance(self) -> Array:
        """The variances, `(n,)`."""
        return self._variance

    @property
    def covariance(self) -> Array:
        return self._variance

    @property
    def total_variance(self) -> Array:
        return self._variance

    def _one(self, index: int) -> Gaussian:
        return Gaussian(self._mean[index], self._variance[index])

    def _take(self, index: Any) -> ScalarPool:
        return ScalarPool(self._mean[index], self._variance[index])


class SpacePool(GaussianPool):
    """Gaussians in R^k, whose means are kept as `(n, k)` also where k is one."""

    __slots__ = ("_mean",)
    _mean: Array

    def __len__(self) -> int:
        return len(self._mean)

    @property
    def dim(self) -> int:
        return self._mean.shape[1]

    @property
    def mean(self) -> Array:
        return self._mean[:, 0] if self.dim == 1 else self._mean


class ScaledPool(SpacePool):
    """Gaussians N(m_x, c_x A) in R^k with one shape A: `mean (n, k)`, `scale (n,)`, `shape (k, k)`.

    >>> ScaledPool([[0.0, 0.0], [1.0, 0.0]], [1.0, 4.0], [[1.0, 0.0], [0.0, 2.0]]).second_moment
    array([ 3., 13.])
    """

    __slots__ = ("_scale", "_shape")
    _scale: Array
    _shape: Array

    def __init__(self, mean: ArrayLike, scale: ArrayLike, shape: ArrayLike) -> None:
        centre = finite_array("mean", mean, ndim=2)
        factor = finite_array("scale", scale, ndim=1)
        form = positive_semidefinite("shape", finite_array("shape", shape, ndim=2))
        if len(factor) != len(centre):
            raise InvalidArgument("scale", f"must have length {len(centre)}", len(factor))
        if (factor < 0).any():
            raise InvalidArgument("scale", "must be non-negative", float(factor.min()))
        if len(form) != centre.shape[1]:
            raise InvalidArgument(
                "shape", f"must be {centre.shape[1]} x {centre.shape[1]}", f"shape {form.shape}"
            )
        self._set(_mean=read_only(centre), _scale=read_only(factor), _shape=read_only(form))

    @property
    def scale(self) -> Array:
        """The factors c_x, `(n,)`."""
        return self._scale

    @property
    def shape(self) -> Array:
        """The common matrix A, `(k, k)`."""
        return self._shape

    @property
    def covariance(self) -> Array:
        if self.dim == 1:
            return self._scale * self._shape[0, 0]
        return self._scale[:, None, None] * self._shape

    @property
    def total_variance(self) -> Array:
        return self._scale * np.trace(self._shape)

    def transform(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> GaussianPool:
        linear, shift = affine_map(self.dim, matrix, offset)
        mean = self._mean @ linear.T + shift
        return ScaledPool(mean, self._scale, gram(linear @ factor_of(self._shape)))

    def _variance_along(self, vector: Array) -> Array:
        return self._scale * float(vector @ self._shape @ vector)

    def _one(self, index: int) -> Gaussian:
        return Gaussian(self._mean[index], self._scale[index] * self._shape)

    def _take(self, index: Any) -> ScaledPool:
        return ScaledPool(self._mean[index], self._scale[index], self._shape)


class FullPool(SpacePool):
    """Gaussians with a covariance each: `mean (n, k)`, `covariance (n, k, k)`.

    >>> FullPool([[0.0, 1.0]], [[[1.0, 0.0], [0.0, 2.0]]]).second_moment
    array([4.])
    """

    __slots__ = ("_covariance",)
    _covariance: Array

    def __init__(self, mean: ArrayLike, covariance: ArrayLike) -> None:
        centre = finite_array("mean", mean, ndim=2)
        spread = finite_array("covariance", covariance, ndim=3)
        n, k = centre.shape
        if spread.shape != (n, k, k):
            raise InvalidArgument(
                "covariance", f"must have shape {(n, k, k)}", f"shape {spread.shape}"
            )
        spread = positive_semidefinite("covariance", spread)
        self._set(_mean=read_only(centre), _covariance=read_only(spread))

    @property
    def covariance(self) -> Array:
        return self._covariance[:, 0, 0] if self.dim == 1 else self._covariance

    @property
    def total_variance(self) -> Array:
        return np.einsum("nii->n", self._covariance)

    def _one(self, index: int) -> Gaussian:
        return Gaussian(self._mean[index], self._covariance[index])

    def _take(self, index: Any) -> FullPool:
        return FullPool(self._mean[index], self._covariance[index])


def gaussian_pool(mean: ArrayLike, covariance: ArrayLike) -> GaussianPool:
    """The pool with the least structure that fits: `ScalarPool` on the line, else `FullPool`."""
    centre = finite_array("mean", mean, ndim=(1, 2))
    if centre.ndim == 1 or centre.shape[1] == 1:
        return ScalarPool(centre, covariance)
    return FullPool(centre, covariance)


def _column(array: Array, argument: str) -> Array:
    if array.ndim == 2 and array.shape[1] != 1:
        raise InvalidArgument(argument, "must have shape (n,) or (n, 1)", f"shape {array.shape}")
    return array.reshape(-1)
