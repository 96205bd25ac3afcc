"""Covariances of the weights of K classes, each with its own push to a pool.

theta is `(k, q)`; as a vector it runs over classes first, so a matrix is `(k q, k q)` with blocks
Sigma_ab of shape `(q, q)`. The input for features x has covariance S_x[a, b] = x' Sigma_ab x.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from apm.pools.inputs import Matrix
from apm.posteriors.covariances.feature_covariance import FeatureCovariance, require_room
from channelcode._validation import Array, read_only
from channelcode.measures import FullPool, Pool, ScaledPool
from channelcode.measures.base import Immutable


class Covariance(Immutable):
    """A covariance with structure; `np.asarray` makes the matrix."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix, `(k q, k q)`."""

    @property
    @abstractmethod
    def summed(self) -> Array:
        """sum_a Sigma_aa, `(q, q)`: the form of tr S_x."""

    @abstractmethod
    def dense(self) -> Array:
        """The whole matrix."""

    @abstractmethod
    def spread(self, features: Matrix) -> Any:
        """What is peculiar to each candidate, first axis n; features `(n, q)`."""

    @abstractmethod
    def pool(self, mean: Array, spread: Array) -> Pool:
        """The pool of laws with these means `(n, k)` and spreads."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """The parts, by the names of the constructor's arguments."""

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The covariance that `arrays` came from."""
        return cls(**arrays)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.dense() if dtype is None else self.dense().astype(dtype)


class BlockCovariance(Covariance):
    """Any covariance: `matrix` of shape `(k q, k q)`; pushes to a `FullPool`."""

    __slots__ = ("_classes", "_matrix")
    _matrix: Array
    _classes: int

    def __init__(self, matrix: Array, num_classes: int) -> None:
        self._set(_matrix=read_only(matrix), _classes=int(num_classes))

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self._matrix), len(self._matrix))

    @property
    def blocks(self) -> Array:
        """The blocks, `(k, q, k, q)`."""
        width = len(self._matrix) // self._classes
        return self._matrix.reshape(self._classes, width, self._classes, width)

    @property
    def summed(self) -> Array:
        return np.einsum("aiaj->ij", self.blocks)

    def dense(self) -> Array:
        return self._matrix.copy()

    def spread(self, features: Matrix) -> Any:
        blocks = self.blocks.astype(features.dtype, copy=False)
        k = self._classes
        require_room((len(features), k * k), "one covariance for each candidate", "X")
        result = np.empty((len(features), k, k), dtype=features.dtype)
        for a in range(k):
            for b in range(a, k):
                image = features @ blocks[a, :, b, :]
                result[:, a, b] = result[:, b, a] = np.einsum("ij,ij->i", image, features)
        return result

    def pool(self, mean: Array, spread: Array) -> Pool:
        return FullPool(mean, rounded_up(spread))

    def arrays(self) -> dict[str, np.ndarray]:
        return {"matrix": self._matrix, "num_classes": np.array(self._classes)}


class KroneckerCovariance(Covariance):
    """outer (x) inner, `(k, k)` and `(q, q)`: S_x = (x' inner x) outer, a `ScaledPool`."""

    __slots__ = ("_features", "_outer")
    _outer: Array
    _features: FeatureCovariance

    def __init__(self, outer: Array, inner: Array | FeatureCovariance) -> None:
        self._set(_outer=read_only(outer), _features=FeatureCovariance.of(inner))

    @property
    def outer(self) -> Array:
        """The factor between classes, `(k, k)`."""
        return self._outer

    @property
    def features(self) -> FeatureCovariance:
        """The factor between features, in the span of the examples."""
        return self._features

    @property
    def inner(self) -> Array:
        """The factor between features as a matrix, `(q, q)`."""
        return self._features.dense()

    @property
    def shape(self) -> tuple[int, int]:
        size = len(self._outer) * self._features.shape[0]
        return (size, size)

    @property
    def summed(self) -> Array:
        return np.trace(self._outer) * self.inner

    def dense(self) -> Array:
        require_room(self.shape, "the covariance of all weights")
        return np.asarray(np.kron(self._outer, self.inner), dtype=np.float64)

    def spread(self, features: Matrix) -> Any:
        return self._features.quadratic(features)

    def pool(self, mean: Array, spread: Array) -> Pool:
        return ScaledPool(mean, spread, self._outer)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"outer": self._outer, **self._features.arrays()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        return cls(arrays["outer"], FeatureCovariance.from_arrays(arrays))


class DiagonalCovariance(Covariance):
    """Independent weights with `variances (k, q)`, seen through the projection `centre (k, k)`.

    The matrix is diagonal; S_x = C diag(sum_j x_j^2 v_aj) C, as the channel does not see what C
    takes out.
    """

    __slots__ = ("_centre", "_variances")
    _variances: Array
    _centre: Array

    def __init__(self, variances: Array, centre: Array) -> None:
        self._set(_variances=read_only(variances), _centre=read_only(centre))

    @property
    def variances(self) -> Array:
        """The variance of each weight, `(k, q)`."""
        return self._variances

    @property
    def centre(self) -> Array:
        """The projection onto what the channel sees, `(k, k)`."""
        return self._centre

    @property
    def shape(self) -> tuple[int, int]:
        return (self._variances.size, self._variances.size)

    @property
    def summed(self) -> Array:
        return np.diag(np.diag(self._centre) @ self._variances)

    def dense(self) -> Array:
        return np.diag(self._variances.ravel())

    def spread(self, features: Matrix) -> Any:
        variances = (features * features) @ self._variances.T.astype(features.dtype, copy=False)
        centre = self._centre.astype(features.dtype, copy=False)
        require_room((len(features), centre.size), "one covariance for each candidate", "X")
        return np.einsum("ab,nb,cb->nac", centre, variances, centre, optimize=True)

    def pool(self, mean: Array, spread: Array) -> Pool:
        return FullPool(mean, spread)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"variances": self._variances, "centre": self._centre}


def rounded_up(spread: Array) -> Array:
    """Single-precision covariances `(n, k, k)` in double, raised by what rounding may have taken.

    They are singular along the direction that a softmax ignores, so rounding alone makes them
    indefinite; a few parts in 1e7 of the trace on the diagonal repair that.
    """
    if spread.dtype != np.float32:
        return spread
    wide = spread.astype(np.float64)
    slack = 8 * float(np.finfo(np.float32).eps) * np.trace(wide, axis1=1, axis2=2)
    wide += slack[:, None, None] * np.eye(wide.shape[1])
    return wide
