"""How much of the Hessian a Laplace posterior keeps.

Each structure turns per-label curvatures W_i `(n, k, k)` (positive semidefinite up to the whole sum
being so), the design `(n, q)` and the prior precisions `(q,)` into a covariance of theta `(k, q)`.
C `(k, k)` projects away the directions that the channel does not see.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from apm.posteriors.covariances.covariance import (
    BlockCovariance,
    Covariance,
    DiagonalCovariance,
    KroneckerCovariance,
)
from apm.posteriors.covariances.feature_covariance import require_room
from channelcode._validation import Array

ROUNDS = 500
AGREEMENT = 1e-14  # relative change of the Kronecker factors at which alternation stops


class Structure(ABC):
    """A shape of the covariance of K classes' weights."""

    needs_diagonal: ClassVar[bool] = False  # and nothing else of each label's curvature

    @abstractmethod
    def covariance(
        self, curvatures: Array, design: Array, *, precision: Array, centre: Array
    ) -> Covariance:
        """The covariance for these curvatures (weights of the labels included).

        A structure that `needs_diagonal` alone is given the diagonals, `(n, k)`.
        """


@dataclass(frozen=True)
class FullHessian(Structure):
    """The inverse of the whole Hessian, `(k q, k q)`."""

    def covariance(
        self, curvatures: Array, design: Array, *, precision: Array, centre: Array
    ) -> Covariance:
        k, size = len(centre), len(centre) * len(precision)
        require_room((size, size), f"the full Hessian of {k} classes")
        # what C takes out is filled up first: the prior alone there may be lost beside the rest
        level = np.maximum(np.einsum("naa->n", curvatures), 0.0) / k
        hidden = level[:, None, None] * (np.eye(k) - centre)
        hessian = full_hessian(curvatures + hidden, design, precision)
        inverse = np.linalg.inv(np.linalg.cholesky(hessian))
        blocks = (inverse.T @ inverse).reshape(k, len(precision), k, len(precision))
        seen = np.einsum("ab,bicj,cd->aidj", centre, blocks, centre, optimize=True)
        matrix = seen.reshape(hessian.shape)
        return BlockCovariance(0.5 * (matrix + matrix.T), k)


@dataclass(frozen=True)
class DiagonalHessian(Structure):
    """The inverse of the Hessian's diagonal: one variance for each weight."""

    needs_diagonal: ClassVar[bool] = True

    def covariance(
        self, curvatures: Array, design: Array, *, precision: Array, centre: Array
    ) -> Covariance:
        diagonal = curvatures if curvatures.ndim == 2 else np.einsum("naa->na", curvatures)
        own = np.maximum(diagonal, 0.0)
        return DiagonalCovariance(1.0 / (precision + own.T @ (design * design)), centre)


@dataclass(frozen=True)
class KroneckerHessian(Structure):
    """The inverse of the Kronecker product A (x) B nearest to the Hessian in Frobenius norm.

    Alternating least squares on the blocks P_ab (Van Loan and Pitsianis, 1993), never forming them:
    A_ab ~ <P_ab, B> and B ~ sum_ab A_ab P_ab. Without labels it is the prior, exactly.
    """

    def covariance(
        self, curvatures: Array, design: Array, *, precision: Array, centre: Array
    ) -> Covariance:
        seen = np.einsum("ab,nbc,cd->nad", centre, curvatures, centre, optimize=True)
        # products of precisions would overflow: in units of the largest, a power of four
        unit = 2.0 ** round(0.5 * np.log2(precision.max()))
        design, precision = design / unit, precision / unit / unit
        outer, inner = centre, np.diag(precision)
        for _ in range(ROUNDS):
            before = outer
            lever = np.einsum("ni,ij,nj->n", design, inner, design, optimize=True)
            outer = (precision @ np.diag(inner)) * centre + np.einsum("n,nab->ab", lever, seen)
            outer /= np.linalg.norm(outer)
            weight = np.einsum("ab,nab->n", outer, seen)
            inner = (design.T * weight) @ design + np.trace(outer @ centre) * np.diag(precision)
            if np.linalg.norm(outer - before) <= AGREEMENT:
                break
        values, vectors = np.linalg.eigh(0.5 * (outer + outer.T))
        kept = values > 1e-10 * values[-1]  # the rest is what C took out
        outer_inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        inverse = np.linalg.inv(np.linalg.cholesky(0.5 * (inner + inner.T)))
        inverse = inverse / unit
        return KroneckerCovariance(outer_inverse, inverse.T @ inverse)


def full_hessian(curvatures: Array, design: Array, precision: Array) -> Array:
    """I (x) diag(precision) + sum_i W_i (x) x_i x_i', `(k q, k q)`."""
    k, q = curvatures.shape[1], len(precision)
    hessian = np.empty((k, q, k, q))
    for a in range(k):
        for b in range(a, k):
            block = (design.T * curvatures[:, a, b]) @ design
            if a == b:
                block[np.diag_indices(q)] += precision
            hessian[a, :, b, :] = block
            hessian[b, :, a, :] = block.T
    return hessian.reshape(k * q, k * q)
