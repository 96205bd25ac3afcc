"""Lower bounds on W2^2 that need no solve, and the bound that any dual vector gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, finite_array
from channelcode.certificate import Certificate
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.certify import certify, discrete_lower
from channelcode.transport.problem import Problem, Proposal
from channelcode.transport.solve import Auto, solve
from channelcode.transport.solvers.bures import Bures

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
    pair = Problem(Gaussian(mu.mean, mu.covariance), Gaussian(nu.mean, nu.covariance))
    bounds = certify(pair, Bures().propose(pair, tol=1.0))
    return LowerBound(bounds.lower, "moments (Gelbrich)")


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
        excess = np.abs(axes.T @ axes - np.eye(axes.shape[1])).max()
        if excess > ORTHONORMAL_ATOL:
            raise InvalidArgument("basis", "must have orthonormal columns", f"off by {excess:.3g}")
    lines = (Problem(mu.project(axis), nu.project(axis)) for axis in axes.T)
    total = sum(solve(line, Auto(), tol=None, throw=True).lower for line in lines)
    return LowerBound(total, "sum over an orthonormal basis")


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
            p = _transform(problem, p)
        target = problem.reduced
        points = problem.points
        unit = points.unit * points.unit
        v = _inner(problem, p / unit, target.groups, points.unit, points.shift)
        return LowerBound(discrete_lower(points, v), method)
    sketch = problem.sketch
    v = _inner(problem, p / sketch.unit, sketch.groups, np.sqrt(sketch.unit), None)
    bounds = certify(problem, Proposal(method, potential=v))
    return LowerBound(bounds.lower, method, bounds.statistical)


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
