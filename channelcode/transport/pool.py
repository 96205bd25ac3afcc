"""`w2_squared`: one target, a whole pool of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from channelcode._validation import Array, positive
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
from channelcode.transport.pools.gaussians import (
    ClosedForm,
    ExactBounds,
    Judged,
    Terms,
    correlations,
    gaussians_squared,
    judged,
)
from channelcode.transport.pools.samples import samples_squared
from channelcode.transport.pools.table import TABLE_SIZE, table_correlations
from channelcode.transport.problem import LARGEST, Problem, Solver, check_dimension, check_law
from channelcode.transport.solve import Auto, solve
from channelcode.transport.solvers import plane
from channelcode.transport.target import Reduced, reduce_target


def w2_squared(
    pool: Pool | Sequence[Measure],
    target: Measure,
    *,
    solver: Solver | None = None,
    tol: float | None = None,
) -> Array:
    """W2^2 of every candidate of a pool to one target, `(n,)`.

    The pool is a `GaussianPool` (scalar, scaled or full), an `EmpiricalPool`, or a sequence of
    laws. `W2^2(N(m,S),T) = |m - m_T|^2 + tr S + tr Cov T - 2 rho(S)` (theory, section 3); only rho
    needs a solve, on the span of the atoms. Planar pools of 10,000 and more start from a table of
    potentials; each value is proved to 1e-9 of the scale like that of a single pair. Gaussians and
    a target of rank four or more use the fixed rule of `QuasiMonteCarlo()`, the same points for
    every candidate. `solver` and `tol` are those of `w2`; a solver is asked for each candidate in
    turn.

    >>> from channelcode.measures import DiscreteMeasure, ScalarPool
    >>> w2_squared(ScalarPool([0.0, 1.0], [0.0, 4.0]), DiscreteMeasure.symmetric(1.0)).round(6)
    array([1.      , 2.808462])
    """
    candidates = checked_pool(pool, target)
    return judged_pool(candidates, target, solver=solver, tol=tol).squared


def judged_pool(
    candidates: Pool | list[Measure],
    target: Measure,
    *,
    solver: Solver | None = None,
    tol: float | None = None,
) -> Judged | ClosedForm:
    """W2^2 of every candidate with its bounds: the one place that chooses how."""
    allowed = None if tol is None else positive("tol", tol)
    if solver is None and isinstance(candidates, Pool) and isinstance(target, DiscreteMeasure):
        if isinstance(candidates, EmpiricalPool):
            reduced = reduce_target(target, to_gaussian=False)
            return samples_squared(candidates, target, reduced, tol=allowed)
        if isinstance(candidates, GaussianPool):
            reduced = reduce_target(target, to_gaussian=True)
            if candidates.dim == 1:
                return _line_gaussians(candidates, reduced)
            planar = reduced.rank == 2 and len(reduced.weights) <= plane.MOST_ATOMS
            if planar and len(candidates) >= TABLE_SIZE and not isinstance(candidates, ScaledPool):
                return _by_table(candidates, target, reduced, tol=allowed)
            return gaussians_squared(candidates, target, reduced, tol=allowed)
    method = Auto() if solver is None else solver
    if not hasattr(method, "propose"):
        raise InvalidArgument("solver", "must be a transport solver or None", solver)
    found = [solve(Problem(law, target), method, tol=allowed, throw=True) for law in candidates]
    return Judged(
        np.array([result.squared for result in found]),
        np.array([result.lower for result in found]),
        np.array([result.upper for result in found]),
    )


def checked_pool(pool: Any, target: Any) -> Pool | list[Measure]:
    """A pool as it is; a sequence of Gaussians as a pool; other laws as a list."""
    check_law("target", target)
    if isinstance(pool, Pool):
        check_dimension("target", target, pool.dim)
        # The squares of others are looked at when they are there.
        if not isinstance(pool, ScalarPool | EmpiricalPool):
            _check_size(pool)
        return pool
    if isinstance(pool, Measure) or not isinstance(pool, Sequence):
        raise InvalidArgument("pool", "must be a pool or a sequence of laws", pool)
    laws = list(pool)
    if not laws:
        raise InvalidArgument("pool", "must not be empty", pool)
    for law in laws:
        check_law("pool", law)
        check_dimension("pool", law, laws[0].dim)
    check_dimension("target", target, laws[0].dim)
    if not all(isinstance(law, Gaussian) for law in laws):
        return laws
    mean = np.array([law.mean for law in laws])
    covariance = np.array([law.covariance for law in laws])
    return ScalarPool(mean, covariance) if mean.ndim == 1 else FullPool(mean, covariance)


def _check_size(pool: Pool) -> None:
    """Refuse a pool whose largest mean or deviation has no square."""
    mean = max(float(pool.mean.max()), -float(pool.mean.min()))
    # a covariance may be a rounding below zero
    largest = max(mean, float(np.sqrt(max(pool.total_variance.max(), 0.0))))
    if not largest <= LARGEST:
        raise InvalidArgument("pool", "must have squared distances that are finite", largest)


def _line_gaussians(pool: GaussianPool, target: Reduced) -> ClosedForm:
    """(m - m_T)^2 + (sigma - rho_1)^2 + (Var T - rho_1^2): one constant, then one pass."""
    from channelcode._kernels.transport.line import gaussian_line

    constant = target.constant
    rest = max(target.variance - constant**2, 0.0) * target.unit**2
    constant *= target.unit
    centre, offset = float(target.centre[0]), float(target.offset[0])
    mean, variance = np.ascontiguousarray(pool.mean), np.ascontiguousarray(pool.covariance)
    squared = gaussian_line(mean, variance, centre, offset, constant, rest)
    if not squared.max() <= LARGEST * LARGEST:
        _check_size(pool)
    return ClosedForm(squared, 2 * constant**2 + 2 * rest)


def _by_table(
    pool: GaussianPool, law: DiscreteMeasure, target: Reduced, *, tol: float | None
) -> Judged:
    """W2^2 from potentials in a table, judged one by one; what they do not settle is solved."""
    covariance = pool.covariance
    turn = np.kron(target.basis, target.basis)
    spread = (covariance.reshape(len(pool), -1) @ turn).reshape(-1, 2, 2)
    bounds = table_correlations(spread, target) * target.unit
    open_ = np.flatnonzero(np.isnan(bounds[:, 0]))
    if len(open_):
        found = correlations(covariance[open_], target)
        bounds[open_] = np.column_stack((found.value, found.below, found.above))
    return judged(pool, law, Terms.of(pool, target), ExactBounds(*bounds.T), tol=tol)
