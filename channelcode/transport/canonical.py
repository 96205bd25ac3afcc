"""Gaussian laws and a reduced target as one question: a standard normal against given atoms.

With F F' = S on the span of the target, `rho(S) = max E<F Z, T> = max E<Z, F'T>` for Z ~ N(0, I):
only the atoms `F'y_j` matter.
"""

from __future__ import annotations

import numpy as np

from channelcode._numerics.doubled import contract, contract_doubled, factor
from channelcode._validation import Array
from channelcode.transport.target import EPSILON, Reduced, tail_moments

NEAR_SINGULAR = 1e-6  # ratio of variances on the span below which products take twice the digits
NEAR_FLAT = 1e-4  # ratio of the deviations of atoms, below which a direction may be left out
PEAK = 0.3989422804014327  # phi(0), the largest density of a standard normal
FLAT = 1e-12  # of the atoms' size: directions that change rho by no more are left out


def scale_of(covariance: Array) -> Array:
    """Powers of two `(n,)` near the largest deviation of each covariance `(n, k, k)`."""
    largest = np.einsum("nii->ni", covariance).max(axis=1)
    exponent = np.frexp(np.where(largest > 0, largest, 1.0))[1]
    return np.ldexp(1.0, exponent >> 1)


def span_atoms(covariance: Array, target: Reduced) -> tuple[Array, Array]:
    """Atoms `(n, m, r)` seen by a standard normal, and the error that rounding leaves in rho.

    `covariance (n, k, k)` in units where its largest deviation is about one. The error `(n,)` is in
    units of the target's deviation. Coordinates in which a covariance does not move are zero.
    """
    if target.rank == 0:
        return np.zeros((len(covariance), len(target.weights), 1)), np.zeros(len(covariance))
    factors, error = span_factors(covariance, target.basis)
    return np.ascontiguousarray(target.points @ factors), error


def span_factors(covariance: Array, basis: Array) -> tuple[Array, Array]:
    """F `(n, r, r)` with F F' = basis' S basis, and a bound on the error of F, `(n,)`."""
    dim, rank = basis.shape
    size = np.sqrt(np.maximum(np.trace(covariance, axis1=1, axis2=2), 0.0))
    plain = rank == dim and np.array_equal(basis, np.eye(dim))
    if plain:
        spread = covariance
    elif rank * dim <= 64:
        # One product with a Kronecker square is faster than many small ones.
        turn = np.kron(basis, basis)
        spread = (covariance.reshape(len(covariance), -1) @ turn).reshape(-1, rank, rank)
    else:
        spread = basis.T @ covariance @ basis
    if rank == 2:
        factors, least = _plane_factor(spread)
    elif rank == 1:
        factors, least = np.sqrt(np.maximum(spread, 0.0)), spread[:, 0, 0]
    else:
        values, vectors = np.linalg.eigh(spread)
        factors = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        least = values[:, 0]
    narrow = least <= NEAR_SINGULAR * size**2
    index = np.flatnonzero(narrow)
    if len(index):
        if plain:
            high, low = spread[index], np.zeros((len(index), rank, rank))
        else:
            inner = contract(covariance[index], basis)
            high, low = contract_doubled(np.ascontiguousarray(basis.T), inner)
        factors[index] = factor(high, low)
    # A plain factor errs by eps |S| / sqrt(least variance), one with twice the digits by eps |F|.
    loss = size / np.sqrt(np.where(narrow, size**2 + np.finfo(float).tiny, least))
    return factors, 4 * EPSILON * rank * loss * size


def _plane_factor(spread: Array) -> tuple[Array, Array]:
    """Plain Cholesky of `(n, 2, 2)`, larger variance first, and the variance left to the second."""
    swap = (spread[:, 1, 1] > spread[:, 0, 0]).astype(np.int64)
    row = np.arange(len(spread))
    large, small = spread[row, swap, swap], spread[row, 1 - swap, 1 - swap]
    pivot = np.sqrt(np.maximum(large, 0.0))
    slope = spread[:, 0, 1] / np.where(pivot > 0, pivot, 1.0)
    rest = small - slope**2
    factors = np.zeros_like(spread)
    factors[row, swap, 0] = pivot
    factors[row, 1 - swap, 0] = slope
    factors[row, 1 - swap, 1] = np.sqrt(np.maximum(rest, 0.0))
    return factors, np.minimum(rest, small)


def flatten(atoms: Array, weights: Array) -> tuple[Array, float]:
    """Atoms `(m, p)` without directions that hardly matter to a standard normal, and a bound.

    With a the coordinates of the atoms that are kept and b the others, `rho(a) <= rho(a, b) <=
    rho(a) + s`, where s sums over pairs `phi(0) |b_j - b_k|^2 / (2 |a_j - a_k|)` or, if less,
    `phi(0) (w_j + w_k) |b_j - b_k|`: at the best potential of a, a point x of cell j gains by atom
    k at most what <y, b_k - b_j> exceeds its lead over k, and that lead has at most the density
    `phi(0) / |a_j - a_k|`. A light atom's b may be zero instead, for |b| times its `tail_moments`.
    Edges that are nearly parallel cost the exact cells their digits.
    """
    gram = (atoms.T * weights) @ atoms
    least, largest = _extreme_values(gram)
    if not least <= NEAR_FLAT**2 * largest:
        return atoms, 0.0
    _, values, rows = np.linalg.svd(np.sqrt(weights)[:, None] * atoms, full_matrices=False)
    size = float(np.sqrt(gram.trace()))
    turned = atoms @ rows.T
    for kept in range(1, len(values)):
        if values[kept] > NEAR_FLAT * values[0]:
            continue
        change = flat_loss(turned[:, :kept], turned[:, kept:], weights, FLAT * size)
        if change <= FLAT * size:
            return np.ascontiguousarray(turned[:, :kept]), change + 8 * len(values) * EPSILON * size
    return atoms, 0.0


def flat_loss(near: Array, off: Array, weights: Array, allowed: float) -> float:
    """The bound s of `flatten` for coordinates a, `near (m, p)`, and b, `off (m, q)`."""
    alone = np.sqrt((off**2).sum(axis=1)) * tail_moments(weights)
    light = alone <= 0.1 * allowed / len(weights)
    rest = np.where(light[:, None], 0.0, off)
    first, second = np.triu_indices(len(weights), 1)
    apart = np.sqrt(((near[first] - near[second]) ** 2).sum(axis=1))
    square = ((rest[first] - rest[second]) ** 2).sum(axis=1)
    weak = (weights[first] + weights[second]) * np.sqrt(square)
    steep = 0.5 * square / np.where(apart > 0, apart, 1.0)
    pairs = np.where(apart > 0, np.minimum(steep, weak), weak)
    return PEAK * float(pairs.sum()) + float(alone[light].sum())


def _extreme_values(gram: Array) -> tuple[float, float]:
    """About the least and the largest eigenvalue; in the plane from the determinant."""
    if len(gram) > 2:
        values = np.linalg.eigvalsh(gram)
        return float(values[0]), float(values[-1])
    trace = float(gram[0, 0] + gram[1, 1])
    return float(gram[0, 0] * gram[1, 1] - gram[0, 1] * gram[1, 0]) / trace, trace
