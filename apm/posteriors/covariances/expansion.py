"""The Gaussian of a posterior expanded at one point, in units of the prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array, read_only


class Spread(NamedTuple):
    """(I + G'G)^-1 = I - V (1 - d^2) V': `basis` V `(q, r)` orthonormal, `shrink` d `(r,)`."""

    basis: Array
    shrink: Array

    @classmethod
    def of(cls, rows: Array) -> Spread:
        """From the rows G `(m, q)` of the labels."""
        if len(rows) == 0:
            return cls(read_only(np.empty((rows.shape[1], 0))), read_only(np.empty(0)))
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        return cls(read_only(basis.T), read_only(1.0 / np.sqrt(1.0 + sizes**2)))

    def image(self, slopes: Array) -> Array:
        """A (I + G'G)^-1/2 for slopes A `(..., q)`, up to a rotation: `(..., r)` or `(..., q + r)`.

        Inner products of images are covariances; nothing cancels where labels say much.
        """
        along = slopes @ self.basis
        kept = along * self.shrink
        if len(self.shrink) == len(self.basis):
            return kept
        return np.concatenate((slopes - along @ self.basis.T, kept), axis=-1)

    def draw(self, noise: Array) -> Array:
        """(I + G'G)^-1/2 z for z `(..., q)`."""
        return noise - ((noise @ self.basis) * (1.0 - self.shrink)) @ self.basis.T


class Expansion(NamedTuple):
    """Where the posterior was expanded, and what it is there.

    `u` `(q,)` in units of the prior, the gradient of -ln p `(q,)` in theta, the distance from the
    maximum in posterior deviations, ln p(labels) by Laplace's formula, draws `(s, q)` or None.
    """

    u: Array
    gradient: Array
    decrement: float
    log_evidence: float
    spread: Spread
    steps: int
    draws: Array | None
