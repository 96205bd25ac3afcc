"""The only judge of transport: bounds recomputed from the laws and a proposal, nothing clamped.

The upper bound is the cost of a coupling, the lower one a dual value; each counts its own rounding.
What a solver says about its answer is not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from channelcode._validation import Array, real_array
from channelcode.errors import InvalidArgument
from channelcode.transport.monotone import correlation_bound, line_constant
from channelcode.transport.problem import Points, Problem, Proposal, Sketch
from channelcode.transport.rules import (
    COVERAGE,
    JUDGE_POINTS,
    PLAIN_WIDENED,
    POINTS,
    REPLICATES,
    coverage_factor,
    directions_in,
    normal_columns,
    normal_nodes,
    suits_points,
    upper_quantiles,
)
from channelcode.transport.target import EPSILON

SMALLEST = 5e-324  # values below are zero: an upper bound that vanished is this
ORTHOGONAL_ATOL = 1e-12  # entries of U'U - I that are rounding
SHAVED = 32 * EPSILON  # of a plan's entries: then what is left over is no rounding
ROUNDED = 1e-12  # what the masses of a plan may lack by rounding
JUDGE_SEED = 0x5EED  # the judge's points are none of the solvers'
JUDGE_GOAL = 1e-8  # Newton decrement on them: far below their error
SHAKEN = 4 * EPSILON  # how far apart, relatively, the vectors are that the plane is judged by
MOST_PLANE_ATOMS = 64  # a cell of the plane costs m^2
MOST_SPACE_ATOMS = 12  # a cell diagram costs m^4: beyond, quasi-Monte Carlo is cheaper
# Slabs against integrals along edges: 6e-8 at worst in 10,500 hostile diagrams, 1e-10 in most.
SLAB_DOUBT = 2e-7


@dataclass(frozen=True)
class Bounds:
    """`lower <= W2^2 <= upper`, and the value in between that is reported.

    `statistical` marks an interval that holds with probability `COVERAGE`; `loss` is then the part
    of the gap that more points would not close.
    """

    squared: float
    lower: float
    upper: float
    statistical: bool = False
    loss: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)


def certify(problem: Problem, proposal: Proposal, *, points: int | None = None) -> Bounds:
    """The bounds on W2^2 that a proposal proves.

    With `points` the judge of a Gaussian against atoms uses so many of its own in each replicate,
    for an interval, also where it could do without.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> from channelcode.transport.problem import Problem, Proposal
    >>> problem = Problem(Gaussian(0.0, 1.0), DiscreteMeasure.symmetric(1.0))
    >>> bounds = certify(problem, Proposal("a guess", potential=[0.0, 0.5]))
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (0.355, 0.404)
    """
    if not isinstance(proposal, Proposal):
        raise InvalidArgument("proposal", "must be a Proposal", proposal)
    if problem.is_discrete:
        return _discrete(problem.points, proposal)
    if problem.is_semidiscrete:
        return _semidiscrete(problem, proposal, points)
    return _gaussians(problem, proposal)


def _numbers(argument: str, value: Any, shape: tuple[int, ...]) -> Array:
    """A part of a proposal as finite numbers of the given shape."""
    if value is None:
        raise InvalidArgument(argument, "must be part of the proposal", None)
    array = real_array(argument, value)
    if array.shape != shape:
        raise InvalidArgument(argument, f"must have shape {shape}", f"shape {array.shape}")
    if not np.isfinite(array).all():
        raise InvalidArgument(argument, "must be finite", array)
    return np.ascontiguousarray(array)


def _scaled_up(bound: float, unit: float) -> float:
    """An upper bound in given units; one that vanishes there is the smallest number instead."""
    return max(bound * unit, SMALLEST) if bound > 0 else 0.0


# --- two discrete laws ----------------------------------------------------------------------------


def _discrete(points: Points, proposal: Proposal) -> Bounds:
    v = _numbers("potential", proposal.potential, (len(points.atoms),))
    lower = discrete_lower(points, v)
    scale = float(points.shift @ points.shift) + points.power + points.variance
    cost, repaired = plan_cost(points, proposal.plan)
    rounding = 4 * np.sqrt(scale * repaired) + 32 * (repaired + EPSILON * scale)
    above, unit = repaired + EPSILON * float(rounding) + left_out(points), points.unit**2
    # Where the repair changes more than rounding (the mass of a far atom, to a rounding of others,
    # may be wrong by its whole, or lack so much that the plan costs less than the lower bound), the
    # plan is worth what the repaired one costs.
    near = 0 <= above - cost <= 1e-12 * scale and cost * unit >= lower
    squared = cost if near else repaired
    return Bounds(squared * unit, lower, _scaled_up(above, unit))


def discrete_lower(points: Points, v: Array) -> float:
    """The lower bound on W2^2 that a dual vector `(m,)` on the atoms gives, in given units."""
    v = anchored(v, points.weights)
    scores = points.atoms @ points.source.T
    scale = float(points.shift @ points.shift) + points.power + points.variance
    # The potential of a light atom far away is as coarse as its scores: raised by their rounding it
    # takes no point that others hold, and what that costs its own few is counted below.
    raised = 4 * EPSILON * (np.abs(scores).max(axis=1) + np.abs(v))
    v = v + np.where(points.weights * raised <= EPSILON * scale, raised, 0.0)
    best = (scores - v[:, None]).argmax(axis=0)
    score, level = scores[best, np.arange(len(best))], v[best]
    dual = float(points.masses @ (score - level) + points.weights @ v)
    # Rounding of the products, of the differences, and of sums in which potentials cancel.
    terms = points.masses @ (np.abs(score) + np.abs(level)) + points.weights @ np.abs(v)
    rounding = (8 + points.atoms.shape[1]) * EPSILON * (scale + float(terms))
    return max(points.apart - 2 * (dual + rounding) - left_out(points), 0.0) * points.unit**2


def left_out(points: Points) -> float:
    """What directions in which the target hardly extends change in W2^2, and subnormal masses.

    The atoms stand without them: `E<X, D>` for the part D that is missing, twice, and `E|D|^2`.
    """
    lost = points.lost * (points.power + (1 + points.lost) * points.variance)
    return lost + points.grain


def anchored(v: Array, weights: Array) -> Array:
    """Potentials `(..., m)` that vanish at the heaviest atom, where they would cancel most."""
    heaviest = int(np.argmax(weights))
    return v - v[..., heaviest, None]


def plan_cost(points: Points, plan: Any) -> tuple[float, float]:
    """The cost of `plan`, and a bound on that of a coupling near it with the right marginals.

    Rows and columns with too much are scaled down, all entries by a few roundings more, and what
    is left over then of either law is coupled independently. Columns that lack no more than a
    rounding are scaled up: for a light atom far away that may be all it has.
    """
    n, m = len(points.masses), len(points.weights)
    try:
        row, column, mass = plan
        row, column = np.asarray(row), np.asarray(column)
    except (TypeError, ValueError):
        raise InvalidArgument("plan", "must be rows, columns and masses", plan) from None
    if row.dtype.kind not in "iu" or column.dtype.kind not in "iu":
        raise InvalidArgument("plan", "must have integer rows and columns", (row, column))
    mass = _numbers("plan", mass, row.shape)
    if row.ndim != 1 or column.shape != row.shape or len(row) == 0:
        raise InvalidArgument("plan", "must have as many rows as columns and masses", row.shape)
    if row.min() < 0 or row.max() >= n or column.min() < 0 or column.max() >= m:
        raise InvalidArgument("plan", f"must lie within {n} rows and {m} columns", (row, column))
    if mass.min() < 0:
        raise InvalidArgument("plan", "must have non-negative masses", float(mass.min()))
    away = points.source.take(row, axis=0) - points.atoms.take(column, axis=0) + points.shift
    squares = np.einsum("ij,ij->i", away, away)
    cost = float(mass @ squares)
    kept = mass * _factors(points.weights, column, mass, lacking=ROUNDED).take(column)
    kept *= (1 - SHAVED) * _factors(points.masses, row, kept).take(row)
    left = np.maximum(points.masses - np.bincount(row, kept, n), 0.0)
    open_ = np.maximum(points.weights - np.bincount(column, kept, m), 0.0)
    amount = float(min(left.sum(), open_.sum()))  # equal, but for rounding of a sixteenth of each
    x, y = points.source + points.shift, points.atoms
    spread = left @ np.einsum("ij,ij->i", x, x) + open_ @ np.einsum("ij,ij->i", y, y)
    rest = float(spread - 2 * (left @ x) @ (open_ @ y) / amount)
    return cost, float(kept @ squares) + 1.25 * rest


def _factors(wanted: Array, place: np.ndarray, mass: Array, *, lacking: float = 0.0) -> Array:
    """Factors that bring the sums of `mass` at each place down to what is wanted there.

    Up to it where they lack no more than `lacking`; one where there is nothing, or so little that
    the factor might not be finite.
    """
    total = np.bincount(place, mass, len(wanted))
    found = np.divide(wanted, total, out=np.ones(len(wanted)), where=total > 1e-300 * wanted)
    return np.where(wanted - total <= lacking, found, 1.0)


# --- a Gaussian and atoms -------------------------------------------------------------------------


def _semidiscrete(problem: Problem, proposal: Proposal, points: int | None) -> Bounds:
    sketch, scale = problem.sketch, problem.scale
    dual, loss, error, details = _correlation(sketch, proposal, points)
    v = anchored(np.asarray(proposal.potential, dtype=float), sketch.weights)
    cancelled = 16 * EPSILON * float(sketch.weights @ np.abs(v))
    rounding = sketch.unit * (sketch.error + cancelled) + 8 * EPSILON * scale
    rho = sketch.unit * dual
    reach = sketch.unit * error * coverage_factor(REPLICATES)
    lost = sketch.unit * loss
    # Half of what a statistical or a first-order loss leaves open goes to either side.
    value = rho - (0.5 * lost if error > 0 else lost)
    squared = squared_from(problem, value)
    lower = max(squared - 2 * (rho - value + rounding + reach), 0.0)
    upper = squared + 2 * (value - (rho - lost) + rounding + reach)
    if error > 0:
        details = details | {"error": 2 * sketch.unit * error, "coverage": COVERAGE}
    upper = _scaled_up(upper, 1.0) if scale > 0 else SMALLEST
    return Bounds(squared, lower, upper, error > 0, 2 * lost, details)


def squared_from(problem: Problem, rho: float) -> float:
    """W2^2 from the correlation, as sums of squares as far as they go.

    `|m - m_T|^2 + (d - e)^2 + 2 (d e - rho)` with d^2 = tr S and e^2 = tr Cov T; the last term is
    never negative (Cauchy and Schwarz), but for rounding.
    """
    covariance, unit = problem.covariance
    target, shift = problem.reduced, problem.shift
    first = sqrt(max(covariance.trace(), 0.0)) * unit
    second = target.deviation * target.unit
    return float(shift @ shift) + (first - second) ** 2 + 2 * max(first * second - rho, 0.0)


def _correlation(
    sketch: Sketch, proposal: Proposal, points: int | None
) -> tuple[float, float, float, dict[str, Any]]:
    """Dual value, loss of a coupling, standard error and details, in units of the sketch."""
    atoms, weights = sketch.atoms, sketch.weights
    v = anchored(_numbers("potential", proposal.potential, (len(weights),)), weights)
    if sketch.dim == 0:
        return 0.0, 0.0, 0.0, {}
    if sketch.dim == 1:
        dual = correlation_bound(atoms[:, 0], weights, v)
        constant = line_constant(atoms[:, 0], weights)  # of the quantile coupling
        return dual, dual - constant, 0.0, {}
    closed = simplex_correlation(atoms, weights)
    if closed is not None and not v.any():
        return closed, 0.0, 0.0, {}
    if sketch.dim == 2 and points is None and len(weights) <= MOST_PLANE_ATOMS:
        dual, loss = _plane_correlation(atoms, weights, v)
        return dual, loss, 0.0, {"correlation": dual}
    dual, loss, error, _ = correlation_bounds(atoms[None], weights, v[None], points=points)
    return float(dual[0]), float(loss[0]), float(error[0]), {"correlation": float(dual[0])}


def _plane_correlation(atoms: Array, weights: Array, v: Array) -> tuple[float, float]:
    """Dual value and loss in the plane, from the cells of v and of two vectors a rounding away.

    Any vector gives a dual value, and these three differ by no more than the vectors do. Where
    edges are nearly parallel their ends are rounded apart, and single values err by more
    (1e-12 was seen): the largest counts, and what the others lack is counted as loss.
    """
    step = SHAKEN * (1.0 + np.abs(v)) * np.where(np.arange(len(v)) % 2, 1.0, -1.0)
    near = np.stack((v, v + step, v - step))
    dual, loss, _, _ = correlation_bounds(np.stack((atoms,) * 3), weights, near)
    return float(dual.max()), float(dual.max() - (dual - loss).min())


def correlation_bounds(
    atoms: Array, weights: Array, v: Array, *, points: int | None = None, exact: bool = False
) -> tuple[Array, Array, Array, Array]:
    """For each row of `atoms (n, m, q)`, q > 1, and potentials `(n, m)`: four arrays `(n,)`.

    Dual value, loss, standard error and doubt, `dual - loss <= rho <= dual`, exactly in the plane.
    In space the two are right but for the doubt, which is an estimate, and so the standard error of
    independent points says more; beyond, all is statistical (with `exact` that part is left out
    where there is another). Atoms are of size about one.
    """
    n, m, dim = atoms.shape
    if dim == 2 and m <= MOST_PLANE_ATOMS and points is None:
        from channelcode._kernels.transport.plane import plane_judge

        dual, loss = plane_judge(atoms, weights, v)
        return dual, loss, np.zeros(n), np.zeros(n)
    spatial = dim == 3 and m <= MOST_SPACE_ATOMS and points is None
    if spatial:
        dual, loss, doubt = space_judge(atoms, weights, v)
        if exact:
            return dual, loss, np.zeros(n), doubt
    mean, missed, error = sampled_bounds(atoms, weights, v, points or POINTS)
    if spatial:
        # The two rules are independent of each other: what they differ by is counted, too.
        error = np.maximum(error, np.abs(mean - dual) / coverage_factor(REPLICATES))
        return dual, loss, error + doubt, np.zeros(n)
    return mean, missed, np.maximum(error, EPSILON), np.zeros(n)


def sampled_bounds(
    atoms: Array, weights: Array, v: Array, points: int
) -> tuple[Array, Array, Array]:
    """Dual, loss and standard error `(n,)` from points that no solver has seen.

    Many points where they show all cells and a coupling of them is good enough; elsewhere fewer,
    one coordinate exact and light cells with nodes of their own.
    """
    n, m, dim = atoms.shape
    values, missed = np.zeros((n, REPLICATES)), np.full(n, np.inf)
    many = JUDGE_POINTS * points
    if suits_points(m, dim, many * REPLICATES):
        from channelcode._kernels.transport.points.pool import points_judge
        from channelcode._kernels.transport.samples.semidual import bits_for

        columns = normal_columns(dim, many, REPLICATES, JUDGE_SEED)
        factor = coverage_factor(REPLICATES)
        missed = points_judge(atoms, weights, v, columns, bits_for(m), factor, values)
    error = PLAIN_WIDENED * values.std(axis=1, ddof=1) / np.sqrt(REPLICATES)
    reach = coverage_factor(REPLICATES) * error
    rest = np.flatnonzero(~(missed <= reach))
    if len(rest):
        from channelcode._kernels.transport.quasi import quasi_judge

        some = np.empty((len(rest), REPLICATES))
        nodes = normal_nodes(dim - 1, points, REPLICATES, JUDGE_SEED)
        tails, axes = upper_quantiles(weights), directions_in(dim)
        given, near = np.ascontiguousarray(atoms[rest]), np.ascontiguousarray(v[rest])
        missed[rest] = quasi_judge(given, weights, tails, near, nodes, axes, JUDGE_GOAL, some)
        values[rest] = some
        error[rest] = some.std(axis=1, ddof=1) / np.sqrt(REPLICATES)
    return values.mean(axis=1), missed, error


def space_judge(atoms: Array, weights: Array, v: Array) -> tuple[Array, Array, Array]:
    """Dual, loss and doubt `(n,)` of potentials `(n, m)` for each row of `atoms (n, m, 3)`.

    Both are right but for the doubt: rounding along the edges, a measured error for slabs.
    """
    from channelcode._kernels.transport.space.face_pool import UNSURE, face_judge

    dual, loss, doubt = face_judge(atoms, weights, v)
    unsure = np.flatnonzero(~(doubt <= UNSURE))
    if len(unsure):
        from channelcode._kernels.transport.space.slab_solve import FINE, slab_judge

        axes = directions_in(3)
        for row in unsure:
            dual[row], loss[row] = slab_judge(atoms[row], weights, v[row], axes, FINE)
        doubt[unsure] = SLAB_DOUBT
    return dual, loss, doubt


SHAPE_RTOL = 1e-12  # deviations from a regular simplex that are rounding


def simplex_correlation(atoms: Array, weights: Array) -> float | None:
    """rho = a e_K for atoms `a (e_k - 1/K)` up to a rigid motion, equally weighted; else None.

    All cells are congruent then, so that a constant potential is optimal (theory, section 3,
    "Isotropic, simplex target").
    """
    from channelcode.transport.solvers.simplex import expected_maximum

    size = len(weights)
    if atoms.shape[1] != size - 1 or np.ptp(weights) > SHAPE_RTOL:
        return None
    gram = atoms @ atoms.T
    squared = np.trace(gram) / (size - 1)
    regular = squared * (np.eye(size) - 1.0 / size)
    if np.abs(gram - regular).max() > SHAPE_RTOL * squared:
        return None
    return float(np.sqrt(squared)) * expected_maximum(size)


# --- two Gaussians --------------------------------------------------------------------------------


def _gaussians(problem: Problem, proposal: Proposal) -> Bounds:
    """With F F' = A, G G' = B: X = F Z, Y = G U Z cost `|F - G U|^2`; `|F'G|_*` is the limit.

    The nuclear norm of F'G is tr (A^1/2 B A^1/2)^1/2, the largest correlation there is.
    """
    from channelcode.transport.solvers.bures import factor_of, largest_correlation

    first, second, unit = problem.covariances
    dim = len(first)
    turn = _numbers("rotation", proposal.rotation, (dim, dim))
    excess = float(np.abs(turn.T @ turn - np.eye(dim)).max())
    if excess > ORTHOGONAL_ATOL:
        raise InvalidArgument("rotation", "must be orthogonal", f"off by {excess:.3g}")
    left, right = factor_of(first), factor_of(second)
    total = float(np.trace(first) + np.trace(second))
    dual = total - 2 * largest_correlation(left, right)
    spread = float(((left - right @ turn) ** 2).sum())
    shift = problem.shift / unit
    base = float(shift @ shift)
    slack = 16 * dim * EPSILON * (total + base)
    size = unit * unit
    lower = max(base + dual - slack, 0.0) * size
    return Bounds((base + spread) * size, lower, _scaled_up(base + spread + slack, size))
