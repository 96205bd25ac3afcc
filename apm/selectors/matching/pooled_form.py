"""The average share E[rho^2] of a pooled message as a quotient of two quadratic forms.

With Sigma = F F' and unit vectors `u_t = F'x_t / |F'x_t|` for the targets,

    E[rho^2] = sum_t w_t (x'Sigma x_t)^2 / (x'Sigma x  x_t'Sigma x_t) = z' D z / z'z,   z = U'F'x,

where `sum_t w_t u_t u_t' = U D U'`. So one product of the rows with F U gives the variance z'z and
the share, however many targets there are. D has a trace of at most one: no share exceeds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.encoders import Linear
from apm.pools.inputs import as_dense, is_sparse
from apm.posteriors.covariances.products import times
from apm.posteriors.gaussian import ScalarGaussian
from apm.selectors.candidates import held, piece_rows
from apm.selectors.ranking import Indices
from channelcode._validation import Array
from channelcode.measures import ScalarPool


@dataclass(frozen=True)
class PooledForm:
    """F U `(q, q)` and the diagonal of D `(q,)`, for the posterior that they were made of."""

    posterior: ScalarGaussian
    factor: Array
    weights: Array

    @classmethod
    def of(cls, belief: Belief, X: Any, targets: Any, weights: Array) -> PooledForm | None:
        """The form for dense rows as they are and a Gaussian posterior on the line; else None."""
        posterior = belief.posterior
        if is_sparse(X) or not isinstance(belief.encoder, Linear):
            return None
        if not isinstance(posterior, ScalarGaussian) or not isinstance(posterior._root, np.ndarray):
            return None
        factor = posterior.factor
        with np.errstate(over="ignore", invalid="ignore"):
            images = times(as_dense(targets).astype(np.float64), factor)
            length = np.sqrt(np.vecdot(images, images))
            if not np.isfinite(length).all():
                return None
        images = (
            images * np.where(length > 0, 1.0 / np.where(length > 0, length, 1.0), 0.0)[:, None]
        )
        sizes, basis = np.linalg.eigh((images * weights[:, None]).T @ images)
        # rounding alone takes eigenvalues of a sum of squares out of [0, 1]
        return cls(posterior, factor @ basis, np.minimum(np.maximum(sizes, 0.0), 1.0))

    def look(self, X: Any, candidates: Indices | None) -> tuple[ScalarPool, Array] | None:
        """Laws of the candidates `(n,)` and their shares `(n,)`; None if a number overflows."""
        mean, variance, signal = (np.empty(len(X)) for _ in range(3))
        height = piece_rows(X)
        both = np.stack((np.ones(len(self.weights)), self.weights), axis=1).astype(X.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(X), height):
                part = slice(start, start + height)
                mean[part] = self.posterior.mean_inputs(X[part])
                image = times(X[part], self.factor)
                np.square(image, out=image)
                variance[part], signal[part] = (image @ both).T
        if not all(np.isfinite(each.sum()) for each in (mean, variance, signal)):
            return None
        if candidates is not None and len(candidates) != len(X):
            mean, variance, signal = mean[candidates], variance[candidates], signal[candidates]
        share = np.divide(signal, variance, out=np.zeros(len(signal)), where=variance > 0)
        return held(mean, variance), np.minimum(share, 1.0, out=share)  # one up to rounding
