"""Gaussian to Gaussian: the Bures metric."""

from __future__ import annotations

import numpy as np

from channelcode._numerics.doubled import factor
from channelcode._validation import Array
from channelcode.errors import InvalidArgument
from channelcode.measures import Gaussian
from channelcode.transport.problem import Problem, Proposal, refuse


def factor_of(covariance: Array) -> Array:
    """F `(k, k)` with F F' = covariance, accurate also where it is nearly singular."""
    return factor(covariance[None], np.zeros((1, *covariance.shape)))[0]


def largest_correlation(first: Array, second: Array) -> float:
    """|F'G|_*: the largest E<X, Y> for centred laws of covariances F F' and G G'.

    It is tr (A^1/2 B A^1/2)^1/2, whatever the factors `(k, i)` and `(k, j)`.
    """
    return float(np.linalg.svd(first.T @ second, compute_uv=False).sum())


def best_rotation(first: Array, second: Array) -> Array:
    """The orthogonal U that makes `|first - second U|` least."""
    u, _, v = np.linalg.svd(second.T @ first)
    return u @ v


def bures_squared(mu: Gaussian, nu: Gaussian) -> float:
    """W2^2 of two Gaussians: `|m - n|^2 + tr A + tr B - 2 tr (A^1/2 B A^1/2)^1/2`.

    >>> bures_squared(Gaussian(0.0, 1.0), Gaussian(3.0, 4.0))
    10.0
    """
    from channelcode.transport.certify import certify

    for name, law in (("mu", mu), ("nu", nu)):
        if not isinstance(law, Gaussian):
            raise InvalidArgument(name, "must be Gaussian", law)
    problem = Problem(mu, nu)
    return certify(problem, Bures().propose(problem, tol=1.0)).squared


class Bures:
    """The closed form for two Gaussians: the rotation that couples their factors best."""

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not isinstance(problem.source, Gaussian) or not isinstance(problem.target, Gaussian):
            raise refuse(self)
        first, second, _ = problem.covariances
        rotation = best_rotation(factor_of(first), factor_of(second))
        return Proposal("Gaussian, Bures closed form", rotation=rotation, steps=1)
