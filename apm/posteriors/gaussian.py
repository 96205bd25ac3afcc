"""Gaussian posteriors on the line: the moments of l = <theta, phi> for a whole pool."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from apm.pools.inputs import Matrix, is_sparse
from apm.posteriors.base import Posterior
from apm.posteriors.covariances.feature_covariance import FeatureCovariance, times
from channelcode._validation import Array, Seed, as_generator, integer
from channelcode.measures import Pool, ScalarPool

TRIANGULAR_FROM = 32  # features from which a triangular product is faster than a full one
MANY_FEATURES = 192  # from which a posterior on the line lives in the span of its examples


class ScalarGaussian(Posterior):
    """theta ~ N(mean, F F') with a scalar channel input, so l ~ N(<mean, phi>, |F' phi|^2)."""

    __slots__ = ()

    @property
    @abstractmethod
    def _root(self) -> Array | FeatureCovariance:
        """F `(q, q)`, or for many features the covariance in the span of the examples."""

    @property
    def dim(self) -> int:
        return 1

    @property
    def factor(self) -> Array:
        """A matrix F, `(q, q)`, with F F' = covariance."""
        held = self._root
        return held.root() if isinstance(held, FeatureCovariance) else held

    @property
    def covariance(self) -> Array:
        """Cov theta, `(q, q)`."""
        if "covariance" not in self._cache:
            held = self._root
            wide = isinstance(held, FeatureCovariance)
            covariance: Any = held.dense() if wide else held @ held.T
            covariance.setflags(write=False)
            self._cache["covariance"] = covariance
        return self._cache["covariance"]

    @property
    def summed_covariance(self) -> Array:
        return self.covariance

    @property
    def top_eigenvalue(self) -> float:
        held = self._root
        return (
            held.top_eigenvalue if isinstance(held, FeatureCovariance) else super().top_eigenvalue
        )

    def leverage(self, features: Matrix) -> Any:
        """Var l = x'Sigma x of every row, `(n,)`."""
        held = self._root
        if isinstance(held, FeatureCovariance):
            return held.quadratic(features)
        if (
            features.dtype == np.float32
            and features.shape[1] >= TRIANGULAR_FROM
            and not is_sparse(features)
        ):
            return self._triangular_leverage(features)
        image = times(features, held)
        return np.vecdot(image, image)

    def _triangular_leverage(self, features: Any) -> Any:
        """The same by a triangular F, which takes half the products; dense single precision."""
        from scipy.linalg import blas

        if "triangle" not in self._cache:
            # F' = Q R: Sigma = R'R, and nothing is squared
            upper = np.linalg.qr(self.factor.T, mode="r")
            self._cache["triangle"] = np.asfortranarray(upper, dtype=np.float32)
        upper, count = self._cache["triangle"], features.shape[1]
        image = blas.strmm(1.0, upper[:count, :count], features.T).T  # type: ignore[attr-defined]
        if len(upper) > count:
            image += upper[:count, count]
        square = np.vecdot(image, image)
        return square + upper[count, count] ** 2 if len(upper) > count else square

    def cross_leverage(self, features: Matrix, targets: Matrix) -> Array:
        """Cov(l, l*) = x'Sigma x* of every row and target, `(n, t)`."""
        held = self._root
        if isinstance(held, FeatureCovariance):
            return held.cross(features, targets)
        return times(features, held) @ times(targets, held).T

    def sample(self, count: int, *, rng: Seed = None) -> Array:
        """Draws of the weights, `(count, q)`."""
        number = integer("count", count, least=1)
        noise = as_generator(rng).standard_normal((number, len(self.mean)))
        held = self._root
        wide = isinstance(held, FeatureCovariance)
        return self.mean + (held.draw(noise) if wide else noise @ held.T)

    def project(self, features: Matrix) -> tuple[Array, ...]:
        """The means `(n,)` and the variances `(n,)`, in the precision of the features."""
        return self.mean_inputs(features), self.leverage(features)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return ScalarPool(*arrays)


def span_of(
    posterior: Posterior, start: Posterior | None, held: Any, fresh: int
) -> tuple[FeatureCovariance, Array, int]:
    """The span of a posterior's examples, their coordinates `(n, r)`, and how many were known.

    `held` is the solution of `start`, with `factor` and `coordinates`, if there is one.
    """
    n = posterior.num_observations
    if start is not None and held is not None and start.num_observations + fresh == n:
        rows = posterior.design[n - fresh :]
        features = held.factor.grown(rows)
        return features, features.extended(held.coordinates, rows), n - fresh
    features, Z = FeatureCovariance.whole(posterior.design, posterior.precision, np.zeros(n))
    return features, Z, 0
