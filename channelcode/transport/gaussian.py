"""Gaussian to Gaussian: the Bures metric."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from channelcode._validation import Array
from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument
from channelcode.measures import Gaussian, Measure
from channelcode.transport.result import Potentials, TransportResult, cell_plan
from channelcode.transport.solver import Solver


def root(covariance: Array) -> Array:
    """The symmetric square root of `(..., k, k)` positive semidefinite matrices."""
    values, vectors = np.linalg.eigh(covariance)
    scaled = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    return scaled @ np.swapaxes(vectors, -1, -2)


def correlation(first: Array, second: Array) -> Array:
    """tr (A^1/2 B A^1/2)^1/2, the largest E<X,Y> over couplings with these covariances.

    It is the nuclear norm of A^1/2 B^1/2, whose singular values do not lose half the digits to a
    square root. Shapes `(..., k, k)` to `(...)`.
    """
    product = root(first) @ root(second)
    return np.linalg.svd(product, compute_uv=False).sum(axis=-1)


def bures_squared(mu: Gaussian, nu: Gaussian) -> float:
    """W2^2 of two Gaussians: `|m - n|^2 + tr A + tr B - 2 tr (A^1/2 B A^1/2)^1/2`.

    >>> bures_squared(Gaussian(0.0, 1.0), Gaussian(3.0, 4.0))
    10.0
    """
    for name, law in (("mu", mu), ("nu", nu)):
        if not isinstance(law, Gaussian):
            raise InvalidArgument(name, "must be Gaussian", law)
    if mu.dim != nu.dim:
        raise InvalidArgument("nu", f"must have dimension {mu.dim}", nu.dim)
    shift = np.atleast_1d(mu.mean) - np.atleast_1d(nu.mean)
    first, second = np.atleast_2d(mu.covariance), np.atleast_2d(nu.covariance)
    if mu.dim == 1:
        spread = (np.sqrt(first[0, 0]) - np.sqrt(second[0, 0])) ** 2
    else:
        # min over rotations U of |A^1/2 - B^1/2 U|_F^2, a sum of squares: nothing cancels.
        left, right = root(first), root(second)
        u, _, v = np.linalg.svd(right @ left)
        spread = ((left - right @ (u @ v)) ** 2).sum()
    return float(shift @ shift + spread)


class Bures(Solver):
    """The closed form for two Gaussians."""

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return isinstance(mu, Gaussian) and isinstance(nu, Gaussian)

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        if not isinstance(mu, Gaussian) or not isinstance(nu, Gaussian):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        started = perf_counter()
        squared = bures_squared(mu, nu)
        return TransportResult(
            squared=squared,
            lower=squared,
            upper=squared,
            plan=cell_plan(np.ones(1)),
            potentials=Potentials(None, None),
            method="Gaussian, Bures closed form",
            status=Status.OPTIMAL,
            stats=SolveStats("Bures", 1, perf_counter() - started),
        )
