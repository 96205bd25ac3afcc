"""Gaussian posteriors on the line: the moments of l = <theta, phi> for a whole pool."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from apm._inputs import Matrix
from apm.posteriors.base import Posterior
from apm.posteriors.covariances.feature_covariance import times
from channelcode._validation import Array, Seed, as_generator, integer
from channelcode.measures import Pool, ScalarPool


class ScalarGaussian(Posterior):
    """theta ~ N(mean, F F') with a scalar channel input, so l ~ N(<mean, phi>, |F' phi|^2)."""

    __slots__ = ()

    @property
    @abstractmethod
    def factor(self) -> Array:
        """A matrix F, `(q, q)`, with F F' = covariance."""

    @property
    def dim(self) -> int:
        return 1

    @property
    def covariance(self) -> Array:
        """Cov theta, `(q, q)`."""
        if "covariance" not in self._cache:
            factor = self.factor
            covariance = factor @ factor.T
            covariance.setflags(write=False)
            self._cache["covariance"] = covariance
        return self._cache["covariance"]

    @property
    def summed_covariance(self) -> Array:
        return self.covariance

    def leverage(self, features: Matrix) -> Any:
        """Var l = x'Sigma x of every row, `(n,)`."""
        image = times(features, self.factor)
        return np.vecdot(image, image)

    def cross_leverage(self, features: Matrix, targets: Matrix) -> Array:
        """Cov(l, l*) = x'Sigma x* of every row and target, `(n, t)`."""
        return times(features, self.factor) @ times(targets, self.factor).T

    def sample(self, count: int, *, rng: Seed = None) -> Array:
        """Draws of the weights, `(count, q)`."""
        number = integer("count", count, least=1)
        noise = as_generator(rng).standard_normal((number, len(self.mean)))
        return self.mean + noise @ self.factor.T

    def project(self, features: Matrix) -> tuple[Array, ...]:
        """The means `(n,)` and the variances `(n,)`, in the precision of the features."""
        count = features.shape[1]
        self.require_features(count)
        mean, factor = self.mean, self.factor
        if features.dtype == np.float32:
            mean, factor = mean.astype(np.float32), factor.astype(np.float32)
        centre = features @ mean[:count]
        spread = features @ factor[:count]
        if self.intercept:
            centre += mean[count]
            spread += factor[count]
        return centre, np.vecdot(spread, spread)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return ScalarPool(*arrays)
