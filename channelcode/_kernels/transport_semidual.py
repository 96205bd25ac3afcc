"""Weighted points to few atoms: Newton on the semi-dual, then shortest paths to the exact plan."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport_flow import settle
from channelcode._kernels.transport_plane import solve_laplacian

MAX_PASSES = 14
QUANTILE_BITS = 16  # of the range of leads: finer than the points for any sample in use
NEAR_POINTS = 24  # points near the edges that may move at first; all may if that fails
GAP_TOLERANCE = 1e-13  # of the scores' scale: primal and dual agree to rounding
THINNING = 4
STRIP = 0.35  # half width of the strip around an edge, in deviations across it


@kernel
def rank_cells(
    scores: np.ndarray,
    v: np.ndarray,
    best: np.ndarray,
    second: np.ndarray,
    cell: np.ndarray,
    rival: np.ndarray,
) -> None:
    """For each point the best and second best of `scores[j] - v[j]` and their cells."""
    m, n = scores.shape
    for i in range(n):
        best[i] = scores[0, i] - v[0]
        second[i] = -math.inf
        cell[i] = 0
        rival[i] = 0
    for j in range(1, m):
        level = v[j]
        for i in range(n):
            value = scores[j, i] - level
            top = best[i]
            next_best = second[i]
            wins = value > top
            places = value > next_best
            rival[i] = cell[i] if wins else (j if places else rival[i])
            second[i] = top if wins else (value if places else next_best)
            cell[i] = j if wins else cell[i]
            best[i] = value if wins else top


@kernel
def semidual_value(
    scores: np.ndarray, mass: np.ndarray, weights: np.ndarray, v: np.ndarray, best: np.ndarray
) -> float:
    """E max_j (score_j - v_j) + w'v: at least the largest correlation, whatever v."""
    m, n = scores.shape
    for i in range(n):
        best[i] = scores[0, i] - v[0]
    for j in range(1, m):
        level = v[j]
        for i in range(n):
            value = scores[j, i] - level
            best[i] = value if value > best[i] else best[i]
    even = n - n % 4
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for i in range(0, even, 4):
        s0 += mass[i] * best[i]
        s1 += mass[i + 1] * best[i + 1]
        s2 += mass[i + 2] * best[i + 2]
        s3 += mass[i + 3] * best[i + 3]
    for i in range(even, n):
        s0 += mass[i] * best[i]
    total = (s0 + s1) + (s2 + s3)
    for j in range(m):
        total += weights[j] * v[j]
    return total


@kernel
def plan_value(
    scores: np.ndarray, owner: np.ndarray, place: np.ndarray, amount: np.ndarray, count: int
) -> float:
    """The correlation of a plan, sum_e amount_e score[place_e, owner_e]."""
    even = count - count % 4
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for e in range(0, even, 4):
        s0 += amount[e] * scores[place[e], owner[e]]
        s1 += amount[e + 1] * scores[place[e + 1], owner[e + 1]]
        s2 += amount[e + 2] * scores[place[e + 2], owner[e + 2]]
        s3 += amount[e + 3] * scores[place[e + 3], owner[e + 3]]
    for e in range(even, count):
        s0 += amount[e] * scores[place[e], owner[e]]
    return (s0 + s1) + (s2 + s3)


@kernel
def quantile_step(
    scores: np.ndarray, mass: np.ndarray, weight: float, v: np.ndarray, j: int, lead: np.ndarray
) -> None:
    """Set v_j so that cell j takes exactly its mass from the others, as they stand."""
    m, n = scores.shape
    for i in range(n):
        top = -math.inf
        for k in range(m):
            if k != j:
                top = max(top, scores[k, i] - v[k])
        lead[i] = top - scores[j, i]
    low = lead[0]
    high = lead[0]
    for i in range(1, n):
        low = min(low, lead[i])
        high = max(high, lead[i])
    for _ in range(QUANTILE_BITS):
        middle = 0.5 * (low + high)
        filled = 0.0
        for i in range(n):
            if lead[i] <= middle:
                filled += mass[i]
        if filled >= weight:
            high = middle
        else:
            low = middle
    v[j] = -high


@kernel
def approach(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    reach: np.ndarray,
    v: np.ndarray,
    best: np.ndarray,
    second: np.ndarray,
    cell: np.ndarray,
    rival: np.ndarray,
    filled: np.ndarray,
    grain: float,
) -> float:
    """Damped Newton until the cells' masses are within a few points of the weights.

    The density of points near an edge is counted in a strip of half width `1 / reach[j, k]`, with
    a triangular window. On return `v` is the best potential seen and `cell`, `best`, `second` and
    the masses `filled` belong to it; returns the mass of points per unit of `best - second` near
    the edges.
    """
    m, n = scores.shape
    hessian = np.empty((m, m))
    work = np.empty((m, m))
    step = np.empty(m)
    base = v.copy()
    least = math.inf
    density = 0.0
    size = 1.0
    passes = 0
    fed = 0
    while passes < MAX_PASSES:
        passes += 1
        rank_cells(scores, v, best, second, cell, rival)
        for j in range(m):
            filled[j] = 0.0
            for k in range(m):
                hessian[j, k] = 0.0
        for i in range(n):
            j = cell[i]
            k = rival[i]
            filled[j] += mass[i]
            narrow = reach[j, k]
            hessian[j, k] += mass[i] * narrow * max(1.0 - (best[i] - second[i]) * narrow, 0.0)
        error = 0.0
        for j in range(m):
            error += abs(filled[j] - weights[j])
        if fed < m:
            starved = -1
            for j in range(m):
                if filled[j] == 0.0 and weights[j] > 2.0 * grain:
                    starved = j
            if starved >= 0:
                fed += 1
                passes -= 1
                quantile_step(scores, mass, weights[starved], v, starved, best)
                size = 1.0
                continue
        if error >= least:
            size *= 0.5
            if size < 0.1 or least <= 6 * m * grain:
                break
            for j in range(m):
                v[j] = base[j] + size * step[j]
            continue
        least = error
        density = 0.0
        for j in range(m):
            base[j] = v[j]
            for k in range(m):
                density += hessian[j, k]
        if error <= 3 * m * grain:
            return density
        for j in range(m):
            for k in range(j):
                # A weak link between all cells keeps the system regular.
                rate = hessian[j, k] + hessian[k, j] + 1e-3 * grain * reach[j, k]
                hessian[j, k] = -rate
                hessian[k, j] = -rate
        for j in range(m):
            total = 0.0
            for k in range(m):
                if k != j:
                    total -= hessian[j, k]
            hessian[j, j] = total
            step[j] = filled[j] - weights[j]
        if not solve_laplacian(hessian, step, work):
            break
        size = 1.0
        for j in range(m):
            v[j] = base[j] + step[j]
    for j in range(m):
        v[j] = base[j]
        filled[j] = 0.0
    rank_cells(scores, v, best, second, cell, rival)
    for i in range(n):
        filled[cell[i]] += mass[i]
    return density


@kernel
def solve_scores(
    scores: np.ndarray,
    gram: np.ndarray,
    centre: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    owner: np.ndarray,
    place: np.ndarray,
    amount: np.ndarray,
    even: bool,
) -> tuple[int, float, float]:
    """The exact plan for scores `(m, n)` with means `centre (m,)` and covariances `gram (m, m)`.

    Fills `v` and the entries; returns their number (or -1), the value of the plan, and of `v`.
    """
    m, n = scores.shape
    best = np.empty(n)
    second = np.empty(n)
    cell = np.empty(n, dtype=np.int64)
    rival = np.empty(n, dtype=np.int64)
    live = np.empty(amount.shape[0], dtype=np.int64)
    reach = np.empty((m, m))
    power = 0.0
    for j in range(m):
        power += gram[j, j]
    scale = math.sqrt(power / m)
    if scale == 0.0:
        scale = 1.0
    for j in range(m):
        # Voronoi cells of the whitened atoms, scaled into the bulk of the points.
        v[j] = 0.5 * gram[j, j] / scale + centre[j]
        for k in range(m):
            apart = gram[j, j] + gram[k, k] - 2.0 * gram[j, k]
            reach[j, k] = 1.0 / max(STRIP * math.sqrt(max(apart, 0.0)), 1e-12 * scale)
    filled = np.empty(m)
    if even and n >= 8 * THINNING:
        # A first approach on every fourth point costs a quarter.
        few = n // THINNING
        thinned = np.empty((m, few))
        for j in range(m):
            for i in range(few):
                thinned[j, i] = scores[j, i * THINNING]
        shares = np.full(few, 1.0 / few)
        approach(thinned, shares, weights, reach, v, best, second, cell, rival, filled, 1.0 / few)
    density = approach(scores, mass, weights, reach, v, best, second, cell, rival, filled, 1.0 / n)
    start = v.copy()
    margin = (NEAR_POINTS + 8.0 * m) / (n * density) if density > 0.0 else math.inf
    primal = -math.inf
    dual = math.inf
    count = -1
    for _ in range(2):
        for j in range(m):
            v[j] = start[j]
        count = settle(
            scores,
            mass,
            weights,
            margin,
            v,
            best,
            second,
            cell,
            filled,
            owner,
            place,
            amount,
            live,
            even,
        )
        if count >= 0:
            primal = plan_value(scores, owner, place, amount, count)
            dual = semidual_value(scores, mass, weights, v, second)
            # The bounds over all points judge the shortcut.
            if dual - primal <= GAP_TOLERANCE * scale:
                return count, primal, dual
        if margin == math.inf:
            break
        margin = math.inf
        rank_cells(scores, start, best, second, cell, rival)
    return count, primal, dual


@kernel
def samples_pool(
    scores: np.ndarray, gram: np.ndarray, centre: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The largest correlation of each candidate's equally weighted samples with the atoms.

    `scores (n, m, s)` are <x_i, y_j>, `gram (n, m, m)` and `centre (n, m)` their covariances and
    means over the samples, which only guide the start. Returns the value of the exact plan and of
    the dual potential, `(n,)` each: equal up to rounding; an infinite gap marks a candidate that
    ran out of moves.
    """
    candidates, m, size = scores.shape
    primal = np.empty(candidates)
    dual = np.empty(candidates)
    mass = np.full(size, 1.0 / size)
    room = size + 64 * m
    owner = np.empty(room, dtype=np.int64)
    place = np.empty(room, dtype=np.int64)
    amount = np.empty(room)
    v = np.empty(m)
    for c in range(candidates):
        _, primal[c], dual[c] = solve_scores(
            scores[c], gram[c], centre[c], mass, weights, v, owner, place, amount, True
        )
    return primal, dual
