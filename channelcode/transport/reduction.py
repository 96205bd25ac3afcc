"""A discrete target in its own span: centred, merged, and of least dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from channelcode._validation import Array
from channelcode.measures import DiscreteMeasure

# Directions in which the atoms spread less than this part of their largest spread are rounding:
# leaving one out changes rho by less than this part of it.
RANK_RTOL = 1e-13


@dataclass(frozen=True)
class Reduced:
    """The atoms of a target in orthonormal coordinates of span{y_j - m_T}.

    `W2^2(p, T)` needs the law p only through its mean, its total variance and its projection on
    this span (theory, section 3, "Rank reduction").

    - `points` `(m, r)`: centred coordinates of the distinct atoms that carry mass;
    - `weights` `(m,)`; `basis` `(k, r)` with orthonormal columns; `mean` `(k,)`;
    - `variance`: tr Cov T; `groups` `(m_0,)`: for each given atom its row in `points`, -1 where the
      atom has no mass.
    """

    points: Array
    weights: Array
    basis: Array
    mean: Array
    variance: float
    groups: np.ndarray

    @property
    def rank(self) -> int:
        """The dimension r of the span."""
        return self.points.shape[1]


def reduce_target(target: DiscreteMeasure) -> Reduced:
    """Merge equal atoms, drop atoms without mass, centre, and rotate into the span of the atoms."""
    carried = target.weights > 0
    atoms = target.points[carried]
    distinct, inverse = np.unique(atoms, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    weights = np.zeros(len(distinct))
    np.add.at(weights, inverse, target.weights[carried])
    groups = np.full(len(carried), -1)
    groups[carried] = inverse
    mean = weights @ distinct
    centred = distinct - mean
    variance = float(weights @ (centred**2).sum(axis=1))
    if target.dim == 1:
        basis = np.ones((1, 0 if len(distinct) == 1 else 1))
    else:
        basis = span_of(centred, np.abs(distinct).max())
    return Reduced(centred @ basis, weights, basis, mean, variance, groups)


def span_of(centred: Array, magnitude: float) -> Array:
    """Orthonormal columns `(k, r)` that span the rows of `centred`, up to rounding."""
    _, values, rows = np.linalg.svd(centred, full_matrices=False)
    rounding = 8 * np.finfo(float).eps * magnitude * np.sqrt(centred.size)
    rank = int((values > max(RANK_RTOL * values[0], rounding)).sum())
    basis = rows[:rank].T
    # The sign of a singular vector is arbitrary; fix it so that equal targets reduce equally.
    lead = np.argmax(np.abs(basis), axis=0)
    signs = np.sign(basis[lead, np.arange(rank)])
    return np.ascontiguousarray(basis * signs)
