"""Many powers of a curve at once: one Newton iteration for all of them.

Between solved powers with equally many atoms, atoms, weights and ln s are interpolated in ln P and
polished together. These are proposals: each is judged like any other.
"""

from __future__ import annotations

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.law_value import quiet_log_prob
from channelcode.capacity.problem import CapacityResult, Proposal
from channelcode.channels import Channel

NEWTON_STEPS = 3


def between(
    channel: Channel, anchors: list[tuple[float, CapacityResult]], powers: Array
) -> list[Proposal | None]:
    """Proposals at `powers`, all within the range of the anchors; None where Newton went astray."""
    points, weights, price = _interpolated(anchors, powers)
    for _ in range(NEWTON_STEPS):
        points, weights, price = _newton(channel, points, weights, price, powers)
    fine = np.isfinite(points).all(axis=1) & (weights > 1e-9).all(axis=1) & (price > 0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    spent = (weights * points**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        over = np.where(spent > powers, np.sqrt(powers / spent), 1.0)
    points = points * over[:, None]
    return [
        Proposal(
            points[i], weights[i], float(price[i]), "Continuous, between neighbours", NEWTON_STEPS
        )
        if fine[i]
        else None
        for i in range(len(powers))
    ]


def _interpolated(
    anchors: list[tuple[float, CapacityResult]], powers: Array
) -> tuple[Array, Array, Array]:
    """Atoms, weights `(n, m)` and multipliers `(n,)` by Lagrange's formula on four anchors."""
    places = np.log([p for p, _ in anchors])
    atoms = np.array([r.input.atoms for _, r in anchors])
    masses = np.array([r.input.weights for _, r in anchors])
    prices = np.log([r.multiplier * LOG_TWO for _, r in anchors])
    size = min(4, len(places))
    share = np.zeros((len(powers), len(places)))
    goals, rows = np.log(powers), np.arange(len(powers))
    first = np.clip(np.searchsorted(places, goals) - size // 2, 0, len(places) - size)
    for j in range(size):
        factor = np.ones(len(powers))
        for k in range(size):
            if k != j:
                factor *= (goals - places[first + k]) / (places[first + j] - places[first + k])
        share[rows, first + j] = factor
    weights = np.abs(share @ masses)
    return share @ atoms, weights / weights.sum(axis=1, keepdims=True), np.exp(share @ prices)


def _newton(
    channel: Channel, points: Array, weights: Array, price: Array, powers: Array
) -> tuple[Array, Array, Array]:
    """One step of `newton` for each row: points and weights `(n, m)`, price `(n,)`."""
    rows, count = points.shape
    lost = ~np.isfinite(points).all(axis=1)  # by the step before
    points = np.where(np.reshape(lost, (-1, 1)), 0.0, points)
    with np.errstate(all="ignore"):
        log_prob = quiet_log_prob(channel, points)
        gradient, hessian = channel.derivatives(points)
        prob = np.exp(log_prob)
        live = prob > 0
        gradient = np.where(live & np.isfinite(gradient), gradient, 0.0)
        bend = np.where(live & np.isfinite(hessian), hessian, 0.0)
        first = prob * gradient
        second = prob * (bend + gradient**2)
        output = np.einsum("nm,nmy->ny", weights, prob)
        ratio = np.where(live, log_prob - np.log(output)[:, None], 0.0)
        inverse = np.where(output > 0, 1.0 / output, 0.0)
        excess = points**2 - powers[:, None]
        value = (prob * ratio).sum(axis=2) - price[:, None] * excess
        slope = (first * ratio).sum(axis=2) - 2.0 * price[:, None] * points
        curved = (second * ratio + first * gradient).sum(axis=2) - 2.0 * price[:, None]
        size = 2 * count + 2
        matrix, right = np.zeros((rows, size, size)), np.zeros((rows, size))
        atoms, masses = slice(0, count), slice(count, 2 * count)
        tilted = first * inverse[:, None]
        level = np.einsum("nm,nm->n", weights, value)
        matrix[:, atoms, atoms] = -np.einsum("nay,nby->nab", tilted, first) * weights[:, None]
        matrix[:, atoms, masses] = -np.einsum("nay,nby->nab", tilted, prob)
        plain = prob * inverse[:, None]
        matrix[:, masses, atoms] = -np.einsum("nay,nby->nab", plain, first) * weights[:, None]
        matrix[:, masses, masses] = -np.einsum("nay,nby->nab", plain, prob)
        diagonal = np.arange(count)
        matrix[:, diagonal, diagonal] += curved
        matrix[:, count + diagonal, diagonal] += slope
        matrix[:, atoms, -2] = -2.0 * points
        matrix[:, masses, -2] = -excess
        matrix[:, masses, -1] = -1.0
        matrix[:, -2, atoms] = 2.0 * weights * points
        matrix[:, -2, masses] = excess
        matrix[:, -1, masses] = 1.0
        right[:, atoms] = -slope
        right[:, masses] = level[:, None] - value
        right[:, -2] = -(weights * excess).sum(axis=1)
        right[:, -1] = 1.0 - weights.sum(axis=1)
    good = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(right).all(axis=1) & ~lost
    matrix[~good], right[~good] = np.eye(size), np.nan
    try:
        change = np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.full_like(points, np.nan), weights, price
    masses_now = np.maximum(weights + change[:, masses], 0.0)
    return points + change[:, atoms], masses_now, price + change[:, -2]
