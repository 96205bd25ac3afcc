"""Lower bounds on W2^2 that need no solve, and the bound that any dual vector gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from channelcode._numerics.doubled import contract, contract_doubled
from channelcode._validation import Array, finite_array
from channelcode.certificate import Certificate
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.certify import certify, discrete_lower
from channelcode.transport.problem import Problem, Proposal
from channelcode.transport.solve import Auto, solve
from channelcode.transport.solvers.bures import factor_of, largest_correlation
from channelcode.transport.target import EPSILON, LIGHTEST, SUBNORMAL, power_of_two

MOST_POTENTIAL = 1e300
ORTHONORMAL_ATOL = 1e-10  # entries of basis'basis - I that are rounding


@dataclass(frozen=True)
class LowerBound:
    """A number that W2^2 is not below: `squared <= W2^2`, rounding counted.

    `statistical` says that it holds with probability 99.9% only (rank three and more).

    >>> bound = LowerBound(0.25, "an example")
    >>> bound.distance, bound.certificate.upper
    (0.5, inf)
    """

    squared: float
    method: str
    statistical: bool = False

    @property
    def lower(self) -> float:
        """The bound again, under the name that results use."""
        return self.squared

    @property
    def distance(self) -> float:
        """The bound on W2 itself."""
        return float(np.sqrt(self.squared))

    @property
    def certificate(self) -> Certificate:
        """The interval that is proved: from the bound to infinity."""
        return Certificate(self.squared, np.inf)

    def __float__(self) -> float:
        return self.squared


def gelbrich_bound(mu: Measure, nu: Measure) -> LowerBound:
    """Gelbrich's lower bound on W2^2 from means and covariances alone.

    `W2^2 >= |m - n|^2 + tr A + tr B - 2 tr (A^1/2 B A^1/2)^1/2`, with equality for Gaussians.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> round(gelbrich_bound(Gaussian(0.0, 4.0), DiscreteMeasure.symmetric(1.0)).squared, 9)
    1.0
    """
    Problem(mu, nu)  # checks both laws
    return LowerBound(_moments_lower(*_about(mu, nu)), "moments (Gelbrich)")


def projection_bound(mu: Measure, nu: Measure, *, basis: ArrayLike | None = None) -> LowerBound:
    """The sum of W2^2 on the lines of an orthonormal basis, a lower bound on W2^2.

    `W2^2(mu, nu) >= sum_k W2^2(e_k'mu, e_k'nu)`, as an optimal plan projects to plans on the lines.
    `basis` has orthonormal columns `(dim, j)`; by default the principal axes of nu.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> square = DiscreteMeasure.uniform([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> axes = [[1, 0], [0, 1]]
    >>> round(projection_bound(Gaussian([0, 0], axes), square, basis=axes).squared, 6)
    0.808462
    """
    dim = Problem(mu, nu).first.dim
    if basis is None:
        axes = np.linalg.eigh(np.atleast_2d(nu.covariance))[1]
    else:
        axes = finite_array("basis", basis, ndim=2)
        if axes.shape[0] != dim:
            raise InvalidArgument("basis", f"must have {dim} rows", f"shape {axes.shape}")
    # Columns that are orthonormal but for an excess project |x|^2 to at most (1 + j excess) |x|^2.
    count = axes.shape[1]
    excess = float(np.abs(axes.T @ axes - np.eye(count)).max(initial=0.0)) + 4 * dim * EPSILON
    if excess > ORTHONORMAL_ATOL:
        raise InvalidArgument("basis", "must have orthonormal columns", f"off by {excess:.3g}")
    first, second, unit = _about(mu, nu)
    lines = (Problem(_on_line(first, axis), _on_line(second, axis)) for axis in axes.T)
    total = sum(solve(line, Auto(), tol=None, throw=False).lower for line in lines)
    # Points on a line are rounded by at most dim roundings of their size.
    size = _mean_square(first) + _mean_square(second)
    rounding = 4 * dim * np.sqrt(count) * EPSILON * size
    if min(first.masses.min(), second.masses.min()) < LIGHTEST:
        rounding += SUBNORMAL * count * (len(first.masses) + len(second.masses))
    lower = max(float(total) / (1 + count * excess) - float(rounding), 0.0)
    return LowerBound(lower * unit * unit, "sum over an orthonormal basis")


def dual_bound(mu: Measure, nu: DiscreteMeasure, potential: ArrayLike) -> LowerBound:
    """The lower bound on W2^2 that any dual vector gives.

    `W2^2 >= E min_j(|X - y_j|^2 - p_j) + sum_j w_j p_j`, X ~ mu, whatever `potential` p `(m,)`;
    equal at the potential that `w2` returns. Atoms without mass are left out of the minimum, which
    only raises it. Exact for discrete laws and for Gaussians whose target has rank one or two;
    beyond, the bound is statistical.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> dual_bound(Gaussian(0.0, 1.0), DiscreteMeasure.symmetric(1.0), [0.0, 0.0]).squared < 0.4043
    True
    """
    problem = Problem(mu, nu)
    if not isinstance(nu, DiscreteMeasure):
        raise InvalidArgument("nu", "must be discrete", nu)
    p = finite_array("potential", potential, ndim=1)
    if len(p) != len(nu):
        raise InvalidArgument("potential", f"must have length {len(nu)}", len(p))
    method = "dual vector"
    if problem.is_discrete:
        if problem.swapped:
            p = _transform(problem, _in_units(p, 1.0))
        target = problem.reduced
        points = problem.points
        unit = points.unit * points.unit
        v = _inner(problem, _in_units(p, unit), target.groups, points.unit, points.shift)
        return LowerBound(discrete_lower(points, v), method)
    sketch = problem.sketch
    v = _inner(problem, _in_units(p, sketch.unit), sketch.groups, np.sqrt(sketch.unit), None)
    bounds = certify(problem, Proposal(method, potential=v))
    return LowerBound(bounds.lower, method, bounds.statistical)


def _in_units(potential: Array, unit: float) -> Array:
    """A dual vector in units of the problem, with room for a few operations."""
    largest = float(np.abs(potential).max())
    if largest > MOST_POTENTIAL * min(unit, 1.0):
        raise InvalidArgument("potential", "must be within range in units of the laws", largest)
    return potential / unit


def _inner(
    problem: Problem, p: Array, groups: np.ndarray, unit: float, shift: Array | None
) -> Array:
    """The vector v of <L, T> on the reduced atoms, in their units, for p on the given ones.

    `|x - y|^2 - p = |x|^2 - 2 (<x, y> - v)` about the means; of equal atoms only the one with the
    least v is ever on the maximum. Rounding in v changes the vector, not the truth of its bound.
    """
    target = problem.reduced
    given = problem.target
    if not isinstance(given, DiscreteMeasure):
        raise InvalidArgument("nu", "must be discrete", given)
    centred = ((given.points - target.centre) - target.offset) / unit
    step = problem.shift / unit if shift is None else shift
    v = 0.5 * ((centred**2).sum(axis=1) - p) - centred @ step
    least = np.full(int(groups.max()) + 1, np.inf)
    np.minimum.at(least, groups[groups >= 0], v[groups >= 0])
    return least


def _transform(problem: Problem, p: Array) -> Array:
    """The potential on the fewer atoms from p on the many: `min_j (|x_i - y_j|^2 - p_j)`."""
    few, many = problem.target, problem.source
    if not isinstance(few, DiscreteMeasure) or not isinstance(many, DiscreteMeasure):
        raise InvalidArgument("mu", "must be discrete", few)
    heavy = many.weights > 0
    cost = [((x - many.points[heavy]) ** 2).sum(axis=1) - p[heavy] for x in few.points]
    return np.array(cost).min(axis=1)


# --- moments and projections about a common point: a distance from zero costs no digits ----------


class _Law(NamedTuple):
    """A law about a point, in units of another number: points and masses, or a mean and a
    covariance.
    """

    points: Array  # (n, k), of a Gaussian its mean (1, k)
    masses: Array  # (n,)
    covariance: Array | None  # (k, k) of a Gaussian

    def moments(self) -> tuple[Array, Array]:
        """The mean `(k,)` and F `(k, j)` with F F' the covariance."""
        mean = self.masses @ self.points
        if self.covariance is not None:
            return mean, factor_of(self.covariance)
        rows = np.sqrt(self.masses)[:, None] * (self.points - mean)
        if len(rows) > len(mean):
            rows = np.asarray(np.linalg.qr(rows, mode="r"))
        return mean, rows.T


def _about(mu: Measure, nu: Measure) -> tuple[_Law, _Law, float]:
    """Both laws about the mean of the second, and the power of two that is their unit.

    What rounding changes is then small beside W2^2 and the variances, wherever the laws lie.
    """
    centre = np.atleast_1d(nu.mean)
    parts: list[tuple[Array, Array, Array | None]] = []
    largest = 0.0
    for law in (mu, nu):
        if isinstance(law, DiscreteMeasure):
            heavy = law.weights > 0
            points, masses, covariance = law.points[heavy], law.weights[heavy], None
        else:
            points, masses = np.atleast_2d(law.mean), np.ones(1)
            covariance = np.atleast_2d(law.covariance)
            largest = max(largest, float(np.sqrt(np.abs(covariance).max())))
        away = points - centre
        largest = max(largest, float(np.abs(away).max()))
        parts.append((away, masses, covariance))
    unit = power_of_two(largest)
    first, second = (
        _Law(points / unit, masses, None if spread is None else spread / unit / unit)
        for points, masses, spread in parts
    )
    return first, second, unit


def _moments_lower(first: _Law, second: _Law, unit: float) -> float:
    """Gelbrich's bound; factors are made of the points, as a covariance squares their rounding."""
    (mean, left), (other, right) = first.moments(), second.moments()
    shift = mean - other
    # Far atoms of hardly any mass may leave of the rest only what has no square.
    inner = power_of_two(max(float(np.abs(part).max()) for part in (left, right, shift)))
    left, right, shift, size = left / inner, right / inner, shift / inner, unit * inner
    total = float(shift @ shift) + float((left**2).sum()) + float((right**2).sum())
    away = (_mean_square(first) + _mean_square(second)) / inner**2
    count = 16 * len(shift) + 4 * float(np.sqrt(len(first.masses) + len(second.masses)))
    lower = total - 2 * largest_correlation(left, right) - count * EPSILON * (total + away)
    return max(lower, 0.0) * size * size


def _mean_square(law: _Law) -> float:
    squares = float(law.masses @ (law.points**2).sum(axis=1))
    return squares + (0.0 if law.covariance is None else float(np.trace(law.covariance)))


def _on_line(law: _Law, axis: Array) -> Measure:
    """The law of <axis, X>; a small variance of a Gaussian keeps its digits."""
    along = law.points @ axis
    if law.covariance is None:
        return DiscreteMeasure(along, law.masses / law.masses.sum())
    column = axis[:, None]
    high, low = contract_doubled(column.T.copy(), contract(law.covariance, column))
    return Gaussian(float(along[0]), max(float(high[0, 0] + low[0, 0]), 0.0))
