"""A discrete target in its own span: centred, scaled, merged, and of least dimension."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import frexp, ldexp, sqrt

import numpy as np
from scipy.special import ndtri

from channelcode._numerics.doubled import two_sum
from channelcode._validation import Array
from channelcode.measures import DiscreteMeasure
from channelcode.transport.monotone import line_constant

EPSILON = float(np.finfo(float).eps)
# Directions in which the target's standard deviation is below this part of the whole are rounding:
# leaving one out changes rho by at most this part of sqrt(tr S tr Cov T).
RANK_RTOL = 1e-14
# Atoms so light that all together they change the correlation with a Gaussian by less than this
# part of sqrt(tr S tr Cov T) are left out: their masses are beyond double precision.
LIGHT = 1e-13
LIGHTEST = 1e-290  # mass: products with less may be subnormal,
SUBNORMAL = 2.0**-1068  # and each lose so much of the largest square
NARROWEST = 2.0**-400  # of the largest distance: the least unit
MOST_KEPT = 256  # atoms of a target whose reduced form is kept: laws do not change


@dataclass(frozen=True)
class Reduced:
    """The atoms of a target in orthonormal coordinates of span{y_j - m_T}, in units of `unit`.

    `W2^2(p, T)` needs the law p only through its mean, its total variance and its projection on
    this span (theory, section 3, "Rank reduction"). Weights decide what spans: an atom that is far
    away but nearly without mass adds no direction.

    - `points` `(m, r)`: coordinates of the distinct atoms that carry mass, about the mean;
    - `weights` `(m,)`; `basis` `(k, r)` with orthonormal columns; `unit`: a power of two;
    - `centre` and `offset` `(k,)`: the mean is their sum, to twice the usual digits;
    - `variance`: tr Cov T in units of `unit^2`;
    - `lost`: what leaving out directions and atoms changes at most in rho, as a part of
      `sqrt(tr S tr Cov T)`;
    - `groups` `(m_0,)`: for each given atom its row in `points`, -1 where it is left out.
    """

    points: Array
    weights: Array
    basis: Array
    unit: float
    centre: Array
    offset: Array
    variance: float
    lost: float
    groups: np.ndarray

    @property
    def rank(self) -> int:
        """The dimension r of the span."""
        return self.points.shape[1]

    @property
    def mean(self) -> Array:
        """The mean of the target, `(k,)`."""
        return self.centre + self.offset

    @property
    def deviation(self) -> float:
        """sqrt(tr Cov T) in units of `unit`."""
        return sqrt(self.variance)

    @cached_property
    def constant(self) -> float:
        """The correlation with a standard normal of a target on a line; zero for a single atom."""
        return line_constant(self.points[:, 0], self.weights) if self.rank else 0.0

    def shift_from(self, mean: Array) -> Array:
        """`mean - m_T` for means `(..., k)`, also where the two nearly agree."""
        return (mean - self.centre) - self.offset


def power_of_two(size: float) -> float:
    """The power of two next below `size`; one for zero."""
    return ldexp(1.0, frexp(size)[1] - 1) if size > 0 else 1.0


def centre_of(points: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Points about their mean `(n, k)`, and the mean as an unevaluated sum of two vectors.

    Where the heaviest point is the mean but for rounding, nothing of it is rounded: two laws that
    have it in common and differ in atoms of hardly any mass are exactly so far apart.
    """
    middle = weights @ points
    away = points - middle
    heaviest, near = int(weights.argmax()), 64 * EPSILON
    # One coordinate first: it nearly always says no.
    if abs(away[heaviest, 0]) <= near * abs(middle[0]) and (
        (np.abs(away[heaviest]) <= near * np.abs(middle)).all()
    ):
        middle = points[heaviest]
        away = points - middle
    offset = weights @ away
    return away - offset, *two_sum(middle, offset)


def reduce_target(target: DiscreteMeasure, *, to_gaussian: bool) -> Reduced:
    """Merge equal atoms, drop those without mass, centre, scale, and rotate into their span.

    `to_gaussian` says that the other law is Gaussian, so that light atoms may be left out. Those of
    the last few small targets are kept.
    """
    if len(target) <= MOST_KEPT:
        return _kept(target, to_gaussian)
    return _reduce(target, to_gaussian)


@lru_cache(maxsize=16)
def _kept(target: DiscreteMeasure, to_gaussian: bool) -> Reduced:
    return _reduce(target, to_gaussian)


def _reduce(target: DiscreteMeasure, to_gaussian: bool) -> Reduced:
    carried: np.ndarray | None = None
    atoms, given = target.points, target.weights
    lightest = float(given.min())
    if not lightest > 0:
        carried = given > 0
        atoms, given = atoms[carried], given[carried]
        lightest = float(given.min())
    distinct, inverse = _distinct(atoms)
    weights = np.asarray(np.bincount(inverse, given, len(distinct)), dtype=np.float64)
    away, centre, offset = centre_of(distinct, weights)
    largest = power_of_two(float(np.abs(away).max()))
    away = away / largest  # squares neither overflow nor vanish
    squares = (away**2).sum(axis=1)
    # Of a law that is one point but for subnormal weights the deviation has no use as a unit.
    inner = max(power_of_two(float(np.sqrt(weights @ squares))), NARROWEST)
    away, squares, unit = away / inner, squares / inner**2, largest * inner
    variance = float(weights @ squares)
    lost = 0.0
    if to_gaussian and variance > 0 and lightest <= 2 * LIGHT:
        keep, lost = _heavy(squares, weights, variance)
        order = np.cumsum(keep) - 1
        inverse = np.where(keep[inverse], order[inverse], -1)
        away, weights = away[keep], weights[keep] / weights[keep].sum()
    groups = inverse
    if carried is not None:
        groups = np.full(len(carried), -1)
        groups[carried] = inverse
    basis, dropped = _span_of(away, weights)
    points = away if basis is None else away @ basis
    frame = np.eye(away.shape[1]) if basis is None else basis
    if variance > 0:
        lost += dropped / float(np.sqrt(variance))
    return Reduced(
        np.ascontiguousarray(points), weights, frame, unit, centre, offset, variance, lost, groups
    )


def _distinct(atoms: Array) -> tuple[Array, np.ndarray]:
    if atoms.shape[1] == 1:
        order = atoms[:, 0].argsort()
        distinct = atoms[order]
        if (distinct[1:] > distinct[:-1]).all():
            inverse = np.empty(len(order), dtype=np.int64)
            inverse[order] = np.arange(len(order))
            return distinct, inverse
        distinct, inverse = np.unique(atoms[:, 0], return_inverse=True)
        return distinct[:, None], inverse.reshape(-1)
    distinct, inverse = np.unique(atoms, axis=0, return_inverse=True)
    return distinct, inverse.reshape(-1)


def _heavy(squares: Array, weights: Array, variance: float) -> tuple[np.ndarray, float]:
    """Which atoms matter to a Gaussian, and what the others may change.

    (Only asked if one is lighter than `2 LIGHT`: the density below is at least .79 of a weight.)
    An event of probability w holds at most `phi(Phi^{-1}(w))` of a standard normal variable: a
    light atom at y adds at most `|y| phi` to rho, and the lack of its mass elsewhere as much as an
    atom at the edge of the bulk.
    """
    worth = tail_moments(weights) * (1 + np.sqrt(squares / variance))
    if worth.min() > LIGHT:
        return np.ones(len(weights), dtype=bool), 0.0
    order = np.argsort(worth, kind="stable")
    total = np.cumsum(worth[order])
    count = int((total <= LIGHT).sum())
    keep = np.ones(len(weights), dtype=bool)
    keep[order[:count]] = False
    return keep, float(total[count - 1]) if count else 0.0


def tail_moments(weights: Array) -> Array:
    """What an event of each probability holds at most of a standard normal variable."""
    return np.exp(-0.5 * ndtri(np.minimum(weights, 0.5)) ** 2) / np.sqrt(2 * np.pi)


def _span_of(away: Array, weights: Array) -> tuple[Array | None, float]:
    """Orthonormal columns `(k, r)` that span the weighted atoms, and the deviation off them.

    None stands for the axes themselves, where the atoms span the whole space: no change of basis,
    no rounding.
    """
    dim = away.shape[1]
    if dim == 1:
        return (None if len(away) > 1 else np.ones((1, 0))), 0.0
    _, values, rows = np.linalg.svd(np.sqrt(weights)[:, None] * away, full_matrices=False)
    kept = values > RANK_RTOL * max(values[0], np.finfo(float).tiny) * np.sqrt(away.size)
    rank = int(kept.sum())
    if rank == dim:
        return None, 0.0
    basis = rows[:rank].T
    # The sign of a singular vector is arbitrary; fix it so that equal targets reduce equally.
    lead = np.argmax(np.abs(basis), axis=0)
    signs = np.sign(basis[lead, np.arange(rank)])
    return np.ascontiguousarray(basis * signs), float(np.sqrt((values[rank:] ** 2).sum()))
