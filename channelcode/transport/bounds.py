"""Lower bounds on W2^2 that need no solve, and the bound that any dual vector gives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, finite_array
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.discrete import squared_distances
from channelcode.transport.gaussian import bures_squared
from channelcode.transport.line import Line, correlation_bound

ORTHONORMAL_ATOL = 1e-10  # entries of basis'basis - I that are rounding


def gelbrich_bound(mu: Measure, nu: Measure) -> float:
    """Gelbrich's lower bound on W2^2 from means and covariances alone.

    `W2^2 >= |m - n|^2 + tr A + tr B - 2 tr (A^1/2 B A^1/2)^1/2`, with equality for Gaussians.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> gelbrich_bound(Gaussian(0.0, 4.0), DiscreteMeasure.symmetric(1.0))
    1.0
    """
    _check_pair(mu, nu)
    return bures_squared(Gaussian(mu.mean, mu.covariance), Gaussian(nu.mean, nu.covariance))


def projection_bound(mu: Measure, nu: Measure, *, basis: ArrayLike | None = None) -> float:
    """The sum of W2^2 on the lines of an orthonormal basis, a lower bound on W2^2.

    `W2^2(mu, nu) >= sum_k W2^2(e_k'mu, e_k'nu)`, as an optimal plan projects to plans on the lines.
    `basis` has orthonormal columns `(dim, j)`; by default the principal axes of nu.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> square = DiscreteMeasure.uniform([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> axes = [[1, 0], [0, 1]]
    >>> round(projection_bound(Gaussian([0, 0], axes), square, basis=axes), 6)
    0.808462
    """
    _check_pair(mu, nu)
    if basis is None:
        axes = np.linalg.eigh(np.atleast_2d(nu.covariance))[1]
    else:
        axes = finite_array("basis", basis, ndim=2)
        if axes.shape[0] != mu.dim:
            raise InvalidArgument("basis", f"must have {mu.dim} rows", f"shape {axes.shape}")
        excess = np.abs(axes.T @ axes - np.eye(axes.shape[1])).max()
        if excess > ORTHONORMAL_ATOL:
            raise InvalidArgument("basis", "must have orthonormal columns", f"off by {excess:.3g}")
    total = 0.0
    for axis in axes.T:
        first, second = mu.project(axis), nu.project(axis)
        if isinstance(first, Gaussian) and isinstance(second, Gaussian):
            total += bures_squared(first, second)
        elif isinstance(second, Gaussian):
            total += Line().solve(second, first).squared
        else:
            total += Line().solve(first, second).squared
    return total


def dual_bound(mu: Measure, nu: DiscreteMeasure, potential: ArrayLike) -> float:
    """The lower bound on W2^2 that any dual vector gives.

    `W2^2 >= E min_j(|X - y_j|^2 - p_j) + sum_j w_j p_j`, X ~ mu, whatever `potential` p `(m,)`;
    equal at the potential that `w2` returns. Discrete laws, and Gaussians whose target has rank
    one or two, are exact; beyond, the expectation is that of the quasi-Monte Carlo rule.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> dual_bound(Gaussian(0.0, 1.0), DiscreteMeasure.symmetric(1.0), [0.0, 0.0]) < 0.4043
    True
    """
    _check_pair(mu, nu)
    if not isinstance(nu, DiscreteMeasure):
        raise InvalidArgument("nu", "must be discrete", nu)
    p = finite_array("potential", potential, ndim=1)
    if len(p) != len(nu):
        raise InvalidArgument("potential", f"must have length {len(nu)}", len(p))
    if isinstance(mu, DiscreteMeasure):
        cost = squared_distances(mu.points, nu.points)
        return float(mu.weights @ (cost - p).min(axis=1) + nu.weights @ p)
    return _gaussian_bound(np.atleast_1d(mu.mean), np.atleast_2d(mu.covariance), nu, p)


def _gaussian_bound(mean: Array, covariance: Array, nu: DiscreteMeasure, p: Array) -> float:
    from channelcode.transport.reduction import span_of

    middle = nu.weights @ nu.points
    centred = nu.points - middle
    shift = mean - middle
    variance = float(nu.weights @ (centred**2).sum(axis=1))
    # |x - y|^2 - p = |x|^2 - 2 (<x, y> - v) about the means, with v as below.
    v = 0.5 * ((centred**2).sum(axis=1) - p) - centred @ shift
    basis = (
        span_of(centred, float(np.abs(nu.points).max())) if len(nu) > 1 else np.ones((nu.dim, 0))
    )
    compressed = basis.T @ covariance @ basis
    # Of equal atoms only the one with the least v is ever on the maximum.
    order = np.lexsort((v, *nu.points.T[::-1]))
    first = np.ones(len(v), dtype=bool)
    first[1:] = (np.diff(nu.points[order], axis=0) != 0).any(axis=1)
    kept = order[first]
    bound = float(nu.weights @ v) + _expected_maximum(centred[kept] @ basis, v[kept], compressed)
    return float(shift @ shift + np.trace(covariance) + variance - 2 * bound)


def _expected_maximum(points: Array, v: Array, covariance: Array) -> float:
    """E max_j(<Z, y_j> - v_j) for Z ~ N(0, S) on the span of the atoms `(m, r)`."""
    m, rank = points.shape
    if rank == 0:
        return float(-v.min())
    if rank == 1:
        deviation = float(np.sqrt(max(covariance[0, 0], 0.0)))
        return correlation_bound(points[:, 0], np.zeros(m), v, deviation)
    if rank == 2:
        from channelcode._kernels.transport_plane import cell_edges

        values, vectors = np.linalg.eigh(covariance)
        atoms = np.ascontiguousarray(points @ (vectors * np.sqrt(np.maximum(values, 0.0))))
        mass, moment, hessian = np.zeros(m), np.zeros((m, 2)), np.zeros((m, m))
        return cell_edges(atoms, v, mass, moment, hessian) - float(mass @ v)
    from channelcode.transport.quasi import QuasiMonteCarlo, statistical_maximum

    return statistical_maximum(covariance, points, v, QuasiMonteCarlo())[0]


def _check_pair(mu: Measure, nu: Measure) -> None:
    for name, law in (("mu", mu), ("nu", nu)):
        if not isinstance(law, DiscreteMeasure | Gaussian):
            raise InvalidArgument(name, "must be a discrete, empirical or Gaussian law", law)
    if mu.dim != nu.dim:
        raise InvalidArgument("nu", f"must have dimension {mu.dim}", f"dimension {nu.dim}")
