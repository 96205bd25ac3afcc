"""Pools of Gaussians in R^k against one target: the solvers' batches, judged like one pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.measures import DiscreteMeasure, FullPool, GaussianPool, ScaledPool
from channelcode.transport.canonical import scale_of, span_atoms, span_factors
from channelcode.transport.certify import anchored, correlation_bounds, simplex_correlation
from channelcode.transport.problem import Problem
from channelcode.transport.rules import REPLICATES, coverage_factor
from channelcode.transport.solve import RTOL, Auto, solve
from channelcode.transport.solvers import CELL_SOLVERS
from channelcode.transport.target import EPSILON, Reduced

CHUNK = 1 << 20  # numbers handled at a time
BOUNDS = ("value", "below", "above", "reach")


class Correlations(NamedTuple):
    """rho of a stack of covariances: `value - below <= rho <= value + above`, all `(n,)`.

    `reach` is the statistical part of either side (99.9%), zero where the bounds are exact.
    `potentials (n, m)` belong to the atoms as a standard normal sees them, in units of `unit (n,)`.
    """

    value: Array
    below: Array
    above: Array
    reach: Array
    potentials: Array
    unit: Array


def correlations(covariance: Array, target: Reduced, *, ordered: bool = False) -> Correlations:
    """rho(S) for each covariance `(n, k, k)` and a target of rank two or more, with its bounds.

    `ordered` says that neighbours in the stack are alike.
    """
    n, m = len(covariance), len(target.weights)
    rows = max(1, CHUNK // (m * max(target.rank, m)))
    parts = [
        _correlations(covariance[start : start + rows], target, ordered=ordered)
        for start in range(0, n, rows)
    ]
    if len(parts) == 1:
        return parts[0]
    return Correlations(*(np.concatenate(columns) for columns in zip(*parts)))


def _correlations(covariance: Array, target: Reduced, *, ordered: bool) -> Correlations:
    scale = scale_of(covariance)
    unit = scale[:, None, None]
    scaled = covariance / unit / unit
    atoms, error = span_atoms(scaled, target)
    weights = target.weights
    size = np.sqrt(np.einsum("nmq,nmq,m->n", atoms, atoms, weights))
    inner = np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1] - 1)
    atoms = atoms / inner[:, None, None]
    solver = next(member for member in CELL_SOLVERS if member.fits(atoms.shape))
    potentials, _ = solver.potentials(atoms, weights, ordered=ordered)
    potentials = np.ascontiguousarray(anchored(potentials, weights))
    dual, loss, deviation, doubt = correlation_bounds(atoms, weights, potentials, exact=True)
    value = dual - np.where(deviation > 0, 0.5, 1.0) * loss
    trace = np.sqrt(np.maximum(np.trace(scaled, axis1=1, axis2=2), 0.0))
    rounding = target.deviation * (error + (target.lost + 4 * EPSILON) * trace)
    outer = inner * scale * target.unit
    slack = rounding * scale * target.unit
    slack = slack + outer * (doubt + 16 * EPSILON * (np.abs(potentials) @ weights))
    reach = coverage_factor(REPLICATES) * deviation * outer
    above = (dual - value) * outer + slack + reach
    below = (value - (dual - loss)) * outer + slack + reach
    return Correlations(value * outer, below, above, reach, potentials, outer)


class ExactBounds(NamedTuple):
    """As `Correlations`, where the bounds are exact and potentials are not wanted."""

    value: Array
    below: Array
    above: Array
    reach: float = 0.0


class Terms(NamedTuple):
    """What W2^2 of a pool is made of besides rho, all `(n,)` or numbers."""

    shift: Array  # |m - m_T|^2
    first: Array  # sqrt(tr S)
    second: float  # sqrt(tr Cov T)

    @classmethod
    def of(cls, pool: GaussianPool, target: Reduced) -> Terms:
        """The terms of each candidate."""
        shift = target.shift_from(pool.mean.reshape(len(pool), -1))
        return cls(
            np.einsum("ij,ij->i", shift, shift),
            np.sqrt(np.maximum(pool.total_variance, 0.0)),
            target.deviation * target.unit,
        )

    def squared(self, rho: Array) -> Array:
        """W2^2 from rho, as sums of squares as far as they go (see `squared_from`)."""
        rest = np.maximum(self.first * self.second - rho, 0.0)
        return self.shift + (self.first - self.second) ** 2 + 2 * rest

    def part(self, index: np.ndarray) -> Terms:
        """The terms of some candidates."""
        return Terms(self.shift[index], self.first[index], self.second)

    @property
    def scale(self) -> Array:
        """The size against which gaps are judged, `(n,)`."""
        return self.shift + self.first**2 + self.second**2


class Judged(NamedTuple):
    """W2^2 of a pool with bounds on it, all `(n,)`."""

    squared: Array
    lower: Array
    upper: Array


class ClosedForm(NamedTuple):
    """W2^2 of a pool by a formula, `(n,)`; its bounds, the rounding, are made when asked for."""

    squared: Array
    constant: float  # of the formula, beside which the squares are rounded

    @property
    def lower(self) -> Array:
        return np.maximum(self.squared - self._rounding, 0.0)

    @property
    def upper(self) -> Array:
        return self.squared + self._rounding

    @property
    def _rounding(self) -> Array:
        return 16 * EPSILON * (self.squared + self.constant)


def gaussians_squared(
    pool: GaussianPool, law: DiscreteMeasure, target: Reduced, *, tol: float | None
) -> Judged:
    """W2^2 of Gaussian candidates in R^k with bounds."""
    terms = Terms.of(pool, target)
    rounding = 16 * EPSILON * terms.scale
    if target.rank == 0:
        squared = terms.squared(np.zeros(len(pool)))
        return Judged(squared, np.maximum(squared - rounding, 0.0), squared + rounding)
    if target.rank == 1:
        constant = target.constant * target.unit
        along, error = _deviation_along(pool, target)
        squared = terms.squared(along * constant)
        rounding = rounding + 2 * (error + target.lost * terms.first) * terms.second
        return Judged(squared, np.maximum(squared - rounding, 0.0), squared + rounding)
    if isinstance(pool, ScaledPool):
        root = np.sqrt(pool.scale)
        found = shape_correlation(pool.shape, target)
        found = found._replace(**{name: root * getattr(found, name)[0] for name in BOUNDS})
    else:
        found = correlations(pool.covariance, target)
    return judged(pool, law, terms, found, tol=tol)


def judged(
    pool: GaussianPool,
    law: DiscreteMeasure,
    terms: Terms,
    found: Correlations | ExactBounds,
    *,
    tol: float | None,
) -> Judged:
    """Bounds from those of rho; candidates beyond the tolerance are solved one by one."""
    rounding = 16 * EPSILON * terms.scale
    squared = terms.squared(found.value)
    lower = np.maximum(squared - 2 * found.above - rounding, 0.0)
    upper = squared + 2 * found.below + rounding
    allowed = RTOL * terms.scale if tol is None else np.full(len(pool), tol)
    open_gap = upper - lower - 4 * found.reach
    for c in np.flatnonzero(~(open_gap <= np.maximum(allowed, 2 * found.reach))):
        # Where the batch falls short the methods of a single pair are tried.
        result = solve(Problem(pool[int(c)], law), Auto(), tol=tol, throw=True)
        squared[c], lower[c], upper[c] = result.squared, result.lower, result.upper
    return Judged(squared, lower, upper)


def shape_correlation(shape: Array, target: Reduced) -> Correlations:
    """rho(A) of the common shape of a scaled pool."""
    found = span_atoms(shape[None] / scale_of(shape[None])[0] ** 2, target)[0][0]
    closed = simplex_correlation(found, target.weights)
    if closed is None:
        return correlations(shape[None], target)
    unit = scale_of(shape[None]) * target.unit
    rounding = 16 * EPSILON * closed * unit
    nothing = np.zeros((1, len(found)))
    return Correlations(closed * unit, rounding, rounding, 0.0 * unit, nothing, unit)


def _deviation_along(pool: GaussianPool, target: Reduced) -> tuple[Array, Array]:
    """The deviation of each candidate along a target on a line, and how far it may be off."""
    if isinstance(pool, ScaledPool):
        (along,), (error,) = _deviation_along(FullPool(pool.mean[:1], pool.shape[None]), target)
        return np.sqrt(pool.scale) * along, np.sqrt(pool.scale) * error
    covariance = np.asarray(pool.covariance).reshape(len(pool), pool.dim, pool.dim)
    unit = scale_of(covariance)
    factors, error = span_factors(
        covariance / unit[:, None, None] / unit[:, None, None], target.basis
    )
    return factors[:, 0, 0] * unit, error * unit
