"""Candidates of a planar pool one by one, for those that `lanes` leaves open."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.edges import EPSILON, judged_edges
from channelcode._kernels.transport.newton import solve_laplacian
from channelcode._kernels.transport.table.guess import (
    ACROSS,
    ENOUGH,
    LANES,
    RADII,
    ROOM,
    ROUGH,
    TRACE,
    TRIES,
    UNIT,
    lay_lanes,
    size_of_target,
    write_bounds,
)


@kernel
def second_order_loss(
    weights: np.ndarray,
    mass: np.ndarray,
    low: np.ndarray,
    radius: float,
    heaviest: int,
    step: np.ndarray,
    work: np.ndarray,
) -> float:
    """How far the dual value may lie above the least one, to second order; infinite if unproved.

    With H the Laplacian of `-low` (see `judged_edges`) and g = mass - weights, the dual value at
    v + d is at least `value - g'd + d'Hd / 2` for every d within `radius`. If that exceeds the
    value at v wherever d is not within the radius, then by convexity no least value lies outside,
    and the least one is at least `value - g'H^-1 g / 2`. `H^-1_jj` is at most the sum of the
    inverse pivots, as the entries of the inverse factor are probabilities.
    """
    m = weights.shape[0]
    for j in range(m):
        step[j] = mass[j] - weights[j]
    solve_laplacian(low, step, work, heaviest)
    resistance = 0.0
    for j in range(m - 1):
        if not work[j, j] > 0.0:
            return math.inf
        resistance += 1.0 / work[j, j]
    twice = 0.0
    lowest = 0.0
    highest = 0.0
    for j in range(m):
        twice += step[j] * (mass[j] - weights[j])
        lowest = min(lowest, step[j])
        highest = max(highest, step[j])
    if not 0.5 * (highest - lowest) + math.sqrt(max(twice, 0.0) * resistance) <= radius:
        return math.inf
    return 0.5 * twice


@kernel
def table_pool(
    covariance: np.ndarray,
    rows: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    heaviest: int,
    table: np.ndarray,
    lost: float,
    bounds: np.ndarray,
) -> None:
    """rho and its bounds, `bounds (n, 3)`, for those `rows` of the covariances `(n, 2, 2)`.

    `points (m, 2)` are the atoms about their mean, of size about one, and `table` holds potentials
    for covariances of trace one (see `table_guess`). Where nothing is proved the row is NaN.
    One after the other, with all digits that a far atom needs.
    """
    n, m = rows.shape[0], points.shape[0]
    atoms = np.empty((m, 2))
    v = np.empty(m)
    room, block = np.zeros(ROOM), np.zeros((3, m, LANES))
    mass = np.empty(m)
    moment = np.empty((m, 2))
    hessian = np.empty((m, m))
    low = np.empty((m, m))
    work = np.empty((m, m))
    step = np.empty(m)
    deviation = size_of_target(points, weights)
    some = np.empty((LANES, 2, 2))
    for start in range(0, n, LANES):
        size = min(LANES, n - start)
        for i in range(size):
            some[i] = covariance[rows[start + i]]
        lay_lanes(
            some[:size], 0, points, weights, heaviest, table, room, block[0], block[1], block[2]
        )
        for i in range(size):
            c = rows[start + i]
            bounds[c, :] = math.nan
            trace, across, unit = room[TRACE + i], room[ACROSS + i], room[UNIT + i]
            if not across > 0.0:
                continue
            for j in range(m):
                atoms[j, 0] = block[0, j, i]
                atoms[j, 1] = block[1, j, i]
                v[j] = block[2, j, i]
            fine = False
            for attempt in range(TRIES):
                radius = RADII[attempt]
                total, rounding = judged_edges(atoms, v, fine, radius, mass, moment, hessian, low)
                loss = second_order_loss(weights, mass, low, radius, heaviest, step, work)
                fine = fine or rounding > ROUGH
                if loss <= ENOUGH and rounding <= ROUGH:
                    spread = 0.0
                    for j in range(m):
                        total += v[j] * (weights[j] - mass[j])
                        spread += weights[j] * abs(v[j])
                    outer = unit * math.sqrt(trace)
                    slack = deviation * (8.0 * EPSILON / across + lost + 8.0 * EPSILON) / unit
                    slack += rounding + 16.0 * EPSILON * spread
                    write_bounds(total, loss, slack, outer, bounds[c])
                    break
                for j in range(m):
                    step[j] = mass[j] - weights[j]
                solve_laplacian(hessian, step, work, heaviest)
                for j in range(m):
                    v[j] += step[j]
