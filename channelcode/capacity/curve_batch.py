"""Many powers of a curve at once: one Newton iteration and one bound for all of them.

Between solved powers with equally many atoms, atoms, weights and ln s are interpolated in ln P and
polished together; the KKT function of every power is bounded on shared probes and on a halo around
each of its atoms by its divided differences (see `line_bound`). A power that is not certified this
way is left to the caller.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.certify import ROUNDING
from channelcode.capacity.information import information, safe_log_prob
from channelcode.capacity.line import HALO, probes, reach
from channelcode.capacity.line_bound import bend_bound
from channelcode.capacity.problem import Problem
from channelcode.capacity.result import CapacityResult
from channelcode.certificate import Certificate, SolveStats, Status
from channelcode.channels import Channel
from channelcode.constraints import Power
from channelcode.measures import DiscreteMeasure

NEWTON_STEPS = 3
OFFSETS = np.concatenate([-HALO, [0.0], HALO[::-1]])


def between(
    channel: Channel,
    anchors: list[tuple[float, CapacityResult]],
    powers: Array,
    tol: float,
    cache: dict[Any, Any],
) -> list[CapacityResult | None]:
    """Results at `powers`, all within the range of the anchors; None where nothing is proved."""
    started = perf_counter()
    points, weights, price = _interpolated(anchors, powers)
    for _ in range(NEWTON_STEPS):
        points, weights, price = _newton(channel, points, weights, price, powers)
    fine = np.isfinite(points).all(axis=1) & (weights > 1e-9).all(axis=1) & (price > 0)
    spent = (weights * points**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        over = np.where(spent > powers, np.sqrt(powers / spent), 1.0)
    points = points * over[:, None]
    results: list[CapacityResult | None] = [None] * len(powers)
    index = np.flatnonzero(fine)
    if len(index) == 0:
        return results
    points, weights, price = points[index], weights[index], price[index]
    log_prob = safe_log_prob(channel, points)
    found = [information(log_prob[i], weights[i]) for i in range(len(index))]
    output = np.array([f.output for f in found])
    nats = np.array([f.nats for f in found])
    upper, count, radius = _upper(channel, powers[index], points, output, nats, price, cache)
    seconds = (perf_counter() - started) / len(index)
    for i, place in enumerate(index):
        slack = ROUNDING * max(1.0, nats[i]) + 1e-16 * price[i] * powers[place]
        high = min(float(upper[i]) + slack, float(np.log(channel.num_outputs)))
        low = max(float(nats[i]) - slack, 0.0)
        if not high - low <= tol * LOG_TWO:
            continue
        results[place] = CapacityResult(
            problem=Problem(channel, Power(float(powers[place])), cache=cache),
            input=DiscreteMeasure(points[i], weights[i]),
            output=found[i].output,
            nats=found[i].nats,
            deficit_nats=found[i].deficit,
            certificate=Certificate(low / LOG_TWO, high / LOG_TWO),
            multiplier=float(price[i]) / LOG_TWO,
            scope=(
                f"the real line: bounds between {count} probes on [{-radius:.4g}, {radius:.4g}], "
                "tails by the multiplier"
            ),
            status=Status.OPTIMAL,
            stats=SolveStats("Continuous, between neighbours", NEWTON_STEPS, seconds),
        )
    return results


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
    for i, goal in enumerate(np.log(powers)):
        first = int(np.clip(np.searchsorted(places, goal) - size // 2, 0, len(places) - size))
        for j in range(first, first + size):
            others = [k for k in range(first, first + size) if k != j]
            share[i, j] = np.prod((goal - places[others]) / (places[j] - places[others]))
    weights = np.abs(share @ masses)
    return share @ atoms, weights / weights.sum(axis=1, keepdims=True), np.exp(share @ prices)


def _newton(
    channel: Channel, points: Array, weights: Array, price: Array, powers: Array
) -> tuple[Array, Array, Array]:
    """One step of `newton` for each row: points and weights `(n, m)`, price `(n,)`."""
    rows, count = points.shape
    with np.errstate(all="ignore"):
        log_prob = safe_log_prob(channel, points)
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
    good = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(right).all(axis=1)
    matrix[~good], right[~good] = np.eye(size), np.nan
    try:
        change = np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.full_like(points, np.nan), weights, price
    masses_now = np.maximum(weights + change[:, masses], 0.0)
    return points + change[:, atoms], masses_now, price + change[:, -2]


def _upper(
    channel: Channel,
    powers: Array,
    points: Array,
    output: Array,
    nats: Array,
    price: Array,
    cache: dict[Any, Any],
) -> tuple[Array, int, float]:
    """Upper bounds `(n,)` in nats, the number of probes each, and their radius."""
    widest = 0.0
    problem = Problem(channel, Power(float(powers.max())), cache=cache)
    for i in range(len(powers)):
        each = Problem(channel, Power(float(powers[i])), cache=cache)
        widest = max(widest, reach(each, output[i], float(price[i]), float(nats[i]))[0])
    known = probes(problem, widest, fine=1201, wide=800)
    grid, radius = known.points, float(known.points[-1])
    if grid[0] > -widest or radius < widest or (output <= 0).any():
        return np.full(len(powers), np.inf), len(grid), radius
    logs = np.log(output)
    divergence = known.order - logs @ known.prob.T
    height = divergence - price[:, None] * (grid**2 - powers[:, None])
    bound = bend_bound(grid, height)
    inside = np.zeros(bound.shape, dtype=bool)
    for j in range(points.shape[1]):
        atom = points[:, j : j + 1]
        inside |= (grid[:-1] >= atom - HALO[0]) & (grid[1:] <= atom + HALO[0])
    outer = np.where(inside, -np.inf, bound).max(axis=1)
    near = points[..., None] + OFFSETS
    log_prob = safe_log_prob(channel, near)
    with np.errstate(under="ignore", invalid="ignore"):
        prob = np.exp(log_prob)
        order = np.where(prob > 0, prob * log_prob, 0.0).sum(axis=-1)
    close = order - np.einsum("nmhy,ny->nmh", prob, logs)
    close = close - price[:, None, None] * (near**2 - powers[:, None, None])
    halo = bend_bound(near, close).max(axis=(1, 2))
    return np.maximum(outer, halo), len(grid) + near[0].size, radius
