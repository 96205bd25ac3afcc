"""`w2_squared`: one target, a whole pool of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.errors import InvalidArgument
from channelcode.measures import (
    DiscreteMeasure,
    EmpiricalPool,
    FullPool,
    Gaussian,
    GaussianPool,
    Measure,
    Pool,
    ScalarPool,
    ScaledPool,
)
from channelcode.transport.facade import check_dimension, check_law, w2
from channelcode.transport.line import line_constant, monotone_plan
from channelcode.transport.plane import MOST_ATOMS, exact_correlations, plane_correlations
from channelcode.transport.reduction import Reduced, reduce_target
from channelcode.transport.semidual import samples_squared
from channelcode.transport.simplex import simplex_correlation
from channelcode.transport.space import space_correlations
from channelcode.transport.table import TABLE_SIZE, table_correlations

CHUNK = 1 << 16  # numbers sorted at a time: half a megabyte stays in the cache


def w2_squared(pool: Pool | Sequence[Measure], target: Measure) -> Array:
    """W2^2 of every candidate of a pool to one target, `(n,)`.

    The pool is a `GaussianPool` (scalar, scaled or full), an `EmpiricalPool`, or a sequence of
    laws. `W2^2(N(m,S),T) = |m - m_T|^2 + tr S + tr Cov T - 2 rho(S)` (theory, section 3); only rho
    needs a solve, on the span of the atoms. Planar pools of 10,000 and more are interpolated to
    1e-9, the best candidates solved exactly. Gaussians and a target of rank four or more use the
    fixed rule of `QuasiMonteCarlo()`, the same points for every candidate.

    >>> from channelcode.measures import DiscreteMeasure, ScalarPool
    >>> w2_squared(ScalarPool([0.0, 1.0], [0.0, 4.0]), DiscreteMeasure.symmetric(1.0)).round(6)
    array([1.      , 2.808462])
    """
    candidates = as_pool(pool)
    check_law("target", target)
    if not isinstance(candidates, Pool):
        return np.array([w2(law, target).squared for law in candidates])
    check_dimension("target", target, candidates.dim)
    if not isinstance(target, DiscreteMeasure):
        return np.array([w2(law, target).squared for law in candidates])
    if isinstance(candidates, EmpiricalPool) and candidates.equally_weighted:
        return _samples(candidates, target)
    if isinstance(candidates, GaussianPool):
        if candidates.dim == 1:
            return _line_gaussians(candidates, target)
        return gaussians_squared(candidates, reduce_target(target))
    return np.array([w2(law, target).squared for law in candidates])


def as_pool(pool: Any) -> Pool | list[Measure]:
    """A pool as it is; a sequence of Gaussians as a pool; other laws as a list."""
    if isinstance(pool, Pool):
        return pool
    if isinstance(pool, Measure) or not isinstance(pool, Sequence):
        raise InvalidArgument("pool", "must be a pool or a sequence of laws", pool)
    laws = list(pool)
    if not laws:
        raise InvalidArgument("pool", "must not be empty", pool)
    for law in laws:
        check_law("pool", law)
        check_dimension("pool", law, laws[0].dim)
    if not all(isinstance(law, Gaussian) for law in laws):
        return laws
    mean = np.array([law.mean for law in laws])
    covariance = np.array([law.covariance for law in laws])
    return ScalarPool(mean, covariance) if mean.ndim == 1 else FullPool(mean, covariance)


def gaussians_squared(pool: GaussianPool, target: Reduced) -> Array:
    """W2^2 of Gaussian candidates in R^k to a reduced target."""
    if target.rank == 1:
        # Sums of squares: (sigma - rho_1)^2 along the atoms' line, plain variance off it.
        constant = line_constant(target.points[:, 0], target.weights)
        rest = max(target.variance - constant**2, 0.0)
        along = np.maximum(_variance_along(pool, target.basis[:, 0]), 0.0)
        away = np.maximum(pool.total_variance - along, 0.0)
        return exploitation(pool, target) + (np.sqrt(along) - constant) ** 2 + away + rest
    total = exploitation(pool, target) + pool.total_variance + target.variance
    if target.rank == 0:
        return total
    planar = target.rank == 2 and len(target.weights) <= MOST_ATOMS
    if planar and len(pool) >= TABLE_SIZE and not isinstance(pool, ScaledPool):
        return _by_table(total, compress(pool, target), target)
    # W2^2 is a difference of larger numbers here: what falls below zero is their rounding.
    return np.maximum(total - 2 * correlations(pool, target), 0.0)


def _line_gaussians(pool: GaussianPool, target: DiscreteMeasure) -> Array:
    """(m - m_T)^2 + (sigma - rho_1)^2 + (Var T - rho_1^2): one constant, then one pass."""
    constant = line_constant(target.atoms - target.mean, target.weights)
    rest = max(target.covariance - constant**2, 0.0)
    if not isinstance(pool, ScalarPool):
        return (pool.mean - target.mean) ** 2 + (np.sqrt(pool.covariance) - constant) ** 2 + rest
    from channelcode._kernels.transport_line import gaussian_line

    return gaussian_line(pool.mean, pool.variance, target.mean, constant, rest)


def _by_table(total: Array, covariance: Array, target: Reduced) -> Array:
    """W2^2 by the table of rho, with every candidate that may be the least solved exactly."""
    rho, error = table_correlations(covariance, target)
    squared = total - 2 * rho
    reach = 4 * error  # twice the error of W2^2
    near = np.flatnonzero((squared - reach <= (squared + reach).min()) & (error > 0))
    if len(near):
        squared[near] = total[near] - 2 * exact_correlations(covariance[near], target)
    return np.maximum(squared, 0.0)


def exploitation(pool: GaussianPool, target: Reduced) -> Array:
    """|m_x - m_T|^2, the part of W2^2 that the means decide, in R^k."""
    shift = pool.mean - target.mean
    return np.einsum("ij,ij->i", shift, shift)


def correlations(pool: GaussianPool, target: Reduced) -> Array:
    """rho(S_x) for each candidate, for a target of rank two or more."""
    if isinstance(pool, ScaledPool):
        shape = target.basis.T @ pool.shape @ target.basis
        return np.sqrt(pool.scale) * _shape_correlation(shape, target)
    compressed = compress(pool, target)
    if target.rank == 2:
        return plane_correlations(compressed, target)
    return space_correlations(compressed, target)


def compress(pool: GaussianPool, target: Reduced) -> Array:
    """The covariances on the span of the atoms, `(n, r, r)`."""
    # One product with a Kronecker square is faster than many small ones.
    turn = np.kron(target.basis, target.basis)
    flat = pool.covariance.reshape(len(pool), -1) @ turn
    return flat.reshape(len(pool), target.rank, target.rank)


def _shape_correlation(shape: Array, target: Reduced) -> float:
    closed = simplex_correlation(shape, target)
    if closed is not None:
        return closed
    if target.rank == 2:
        return float(plane_correlations(shape[None], target)[0])
    return float(space_correlations(shape[None], target)[0])


def _variance_along(pool: GaussianPool, direction: Array) -> Array:
    if isinstance(pool, ScaledPool):
        return pool.scale * float(direction @ pool.shape @ direction)
    return pool.covariance @ direction @ direction


def _samples(pool: EmpiricalPool, target: DiscreteMeasure) -> Array:
    if pool.dim == 1:
        return _line_samples(pool.samples, target)
    reduced = reduce_target(target)
    if reduced.rank > 1:
        return samples_squared(pool.samples, reduced)
    away = pool.samples - reduced.mean
    total = np.einsum("nsk,nsk->n", away, away) / away.shape[1]
    if reduced.rank == 0:
        return total
    along = away @ reduced.basis[:, 0]
    off = np.maximum(total - np.einsum("ns,ns->n", along, along) / along.shape[1], 0.0)
    return off + _line_samples(along, DiscreteMeasure(reduced.points[:, 0], reduced.weights))


def _line_samples(samples: Array, target: DiscreteMeasure) -> Array:
    """W2^2 of equally weighted samples `(n, s)` on the line: sort, then sum along the shared plan.

    Two atoms need no more of the order than the quantile between them (Prop. 3.2 for B_t), which a
    partition finds in linear time.
    """
    from channelcode._kernels.transport_line import shared_plan_cost

    size = samples.shape[1]
    order = np.argsort(target.atoms, kind="stable")
    plan = monotone_plan(np.full(size, 1.0 / size), target.weights[order])
    index = plan.row.astype(np.int64)
    atom = np.ascontiguousarray(target.atoms[order][plan.column])
    changes = np.flatnonzero(np.diff(atom))
    # The last point below the change, or the point that is split there.
    cut = int(index[changes[0]]) if len(changes) == 1 else None
    rows = max(1, CHUNK // size)
    out = np.empty(len(samples))
    for start in range(0, len(samples), rows):
        part = samples[start : start + rows]
        ordered = np.sort(part, axis=1) if cut is None else np.partition(part, cut, axis=1)
        out[start : start + rows] = shared_plan_cost(ordered, index, atom, plan.mass)
    return out
