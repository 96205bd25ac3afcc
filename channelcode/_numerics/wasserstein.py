"""Distances W1 and W2 between laws on the line, and upper bounds on W2 in R^k."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from channelcode._validation import Array

_INV_SQRT_TWO_PI = 1.0 / np.sqrt(2.0 * np.pi)


def _density(z: Array) -> Array:
    with np.errstate(under="ignore"):
        return _INV_SQRT_TWO_PI * np.exp(-0.5 * z * z)


def _cells(weights: Array) -> tuple[Array, Array]:
    """Ends in z of the standard normal law's cells of the given masses."""
    cumulative = np.concatenate([[0.0], np.cumsum(weights)])
    # quantiles from the nearer side, so that upper cells are as exact as lower ones
    reverse = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
    with np.errstate(divide="ignore"):
        ends = np.where(cumulative <= 0.5, ndtri(np.minimum(cumulative, 1.0)), -ndtri(reverse))
    ends[0], ends[-1] = -np.inf, np.inf
    return ends[:-1], ends[1:]


def gaussian_to_atoms(
    mean: float, sigma: float, atoms: Array, weights: Array
) -> tuple[float, float]:
    """(W1, W2) between N(mean, sigma^2) and atoms on the line, in closed form.

    The optimal map is monotone: atom j takes the cell (z_{j-1}, z_j) of its mass. Per cell,
    W1 integrates |mean + sigma z - y_j|, and W2 needs E[Z; cell] = phi(z_{j-1}) - phi(z_j) only.
    """
    order = np.argsort(atoms, kind="stable")
    y, w = atoms[order], weights[order]
    if sigma == 0:
        return float(w @ np.abs(y - mean)), float(np.sqrt(w @ (y - mean) ** 2))
    left, right = _cells(w)
    turn = np.clip((y - mean) / sigma, left, right)  # where the integrand changes sign
    below = _signed(left, turn, mean, sigma, y)
    above = _signed(turn, right, mean, sigma, y)
    first = float(np.sum(np.abs(below) + np.abs(above)))
    centred = y - w @ y
    correlation = float(centred @ (_density(left) - _density(right)))
    shape = sigma**2 + w @ centred**2 - 2.0 * sigma * correlation
    return first, float(np.sqrt((mean - w @ y) ** 2 + max(shape, 0.0)))


def _signed(left: Array, right: Array, mean: float, sigma: float, y: Array) -> Array:
    """The integral of mean + sigma z - y over the cell (left, right) of the normal law."""
    mass = np.where(left > 0, ndtr(-left) - ndtr(-right), ndtr(right) - ndtr(left))
    return sigma * (_density(left) - _density(right)) + (mean - y) * mass


def atoms_to_atoms(
    atoms: Array, weights: Array, others: Array, other_weights: Array
) -> tuple[float, float]:
    """(W1, W2) between two discrete laws on the line, by matching quantiles."""
    i, j = np.argsort(atoms, kind="stable"), np.argsort(others, kind="stable")
    x, y = atoms[i], others[j]
    up, vp = np.cumsum(weights[i]), np.cumsum(other_weights[j])
    levels = np.union1d(up, vp)
    levels = levels[levels <= min(up[-1], vp[-1])]
    mass = np.diff(np.concatenate([[0.0], levels]))
    gaps = np.abs(
        x[np.minimum(np.searchsorted(up, levels), len(x) - 1)]
        - y[np.minimum(np.searchsorted(vp, levels), len(y) - 1)]
    )
    return float(mass @ gaps), float(np.sqrt(mass @ gaps**2))


def gaussian_upper_bound(mean: Array, covariance: Array, atoms: Array, weights: Array) -> float:
    """An upper bound on W2 between N(mean, covariance) and atoms in R^k.

    The cost of a coupling: cells of a Gaussian cut across one direction, in the order of the atoms
    along it; the best of the directions of the atoms' spread, and the independent coupling.
    """
    centre = weights @ atoms
    spread = (atoms - centre).T * weights @ (atoms - centre)
    directions = np.linalg.eigh(spread)[1].T
    best = 0.0
    for u in directions:
        size = float(u @ covariance @ u)
        if size <= 0:
            continue
        order = np.argsort((atoms - centre) @ u, kind="stable")
        left, right = _cells(weights[order])
        moved = (atoms - centre)[order].T @ (_density(left) - _density(right))
        best = max(best, float(moved @ (covariance @ u)) / np.sqrt(size))
    shape = float(np.trace(covariance) + np.trace(spread)) - 2.0 * best
    return float(np.sqrt((mean - centre) @ (mean - centre) + max(shape, 0.0)))
