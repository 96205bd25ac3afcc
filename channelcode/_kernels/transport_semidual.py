"""Weighted points to few atoms: Newton on the semi-dual, then shortest paths to the exact plan."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport_flow import plan_value, settle
from channelcode._kernels.transport_plane import solve_laplacian

MAX_PASSES = 14
QUANTILE_BITS = 16  # of the range of leads: finer than the points for any sample in use
NEAR_POINTS = 20  # points near the edges that may move at first; more, then all, if that fails
GAP_TOLERANCE = 1e-13  # of the scores' scale: primal and dual agree to rounding
FIRST_POINTS = 128  # of a sample that the first potential looks at
STRIP = 0.25  # half width of the strip around an edge, in deviations across it


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
def count_cells(
    mass: np.ndarray,
    reach: np.ndarray,
    best: np.ndarray,
    second: np.ndarray,
    cell: np.ndarray,
    rival: np.ndarray,
    filled: np.ndarray,
    hessian: np.ndarray,
    banks: np.ndarray,
) -> None:
    """Masses of the cells, and densities of points at their edges, from the ranks of the points.

    Neighbours often fall in one cell: four sets of counters keep their additions from waiting.
    """
    n = mass.shape[0]
    m = filled.shape[0]
    for bank in range(4):
        for j in range(m):
            for k in range(m + 1):
                banks[bank, j, k] = 0.0
    for i in range(n):
        bank = i & 3
        j = cell[i]
        k = rival[i]
        narrow = reach[j, k]
        banks[bank, j, m] += mass[i]
        banks[bank, j, k] += mass[i] * narrow * max(1.0 - (best[i] - second[i]) * narrow, 0.0)
    for j in range(m):
        filled[j] = (banks[0, j, m] + banks[1, j, m]) + (banks[2, j, m] + banks[3, j, m])
        for k in range(m):
            hessian[j, k] = (banks[0, j, k] + banks[1, j, k]) + (banks[2, j, k] + banks[3, j, k])


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
    banks = np.empty((4, m, m + 1))
    base = v.copy()
    least = math.inf
    density = 0.0
    size = 1.0
    passes = 0
    fed = 0
    while passes < MAX_PASSES:
        passes += 1
        rank_cells(scores, v, best, second, cell, rival)
        count_cells(mass, reach, best, second, cell, rival, filled, hessian, banks)
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
        if error <= 2 * m * grain:
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
def start_from(
    scores: np.ndarray, v: np.ndarray, reach: np.ndarray, gram: np.ndarray, centre: np.ndarray
) -> float:
    """A first potential and the strips' inverse half widths, from some of the points.

    The potential is that of the Voronoi cells of the whitened atoms, scaled into the bulk of the
    points. Returns the scale of the scores.
    """
    m, n = scores.shape
    stride = max(1, n // FIRST_POINTS)
    count = (n + stride - 1) // stride
    for j in range(m):
        total = 0.0
        for i in range(0, n, stride):
            total += scores[j, i]
        centre[j] = total / count
    power = 0.0
    for j in range(m):
        for k in range(j + 1):
            even = 0.0
            odd = 0.0
            for i in range(0, n - stride, 2 * stride):
                even += (scores[j, i] - centre[j]) * (scores[k, i] - centre[k])
                odd += (scores[j, i + stride] - centre[j]) * (scores[k, i + stride] - centre[k])
            gram[j, k] = (even + odd) / count
            gram[k, j] = gram[j, k]
        power += gram[j, j]
    scale = math.sqrt(power / m)
    if scale == 0.0:
        scale = 1.0
    for j in range(m):
        v[j] = 0.5 * gram[j, j] / scale + centre[j]
        for k in range(m):
            apart = gram[j, j] + gram[k, k] - 2.0 * gram[j, k]
            reach[j, k] = 1.0 / max(STRIP * math.sqrt(max(apart, 0.0)), 1e-12 * scale)
    return scale


@kernel
def solve_scores(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    owner: np.ndarray,
    place: np.ndarray,
    amount: np.ndarray,
    even: bool,
) -> tuple[int, float, float]:
    """The exact plan for scores `(m, n)`.

    Fills `v` and the entries; returns their number (or -1), the value of the plan, and of `v`.
    """
    m, n = scores.shape
    best = np.empty(n)
    second = np.empty(n)
    cell = np.empty(n, dtype=np.int64)
    rival = np.empty(n, dtype=np.int64)
    live = np.empty(amount.shape[0], dtype=np.int64)
    reach = np.empty((m, m))
    filled = np.empty(m)
    start = np.empty(m)
    scale = start_from(scores, v, reach, np.empty((m, m)), start)
    density = approach(scores, mass, weights, reach, v, best, second, cell, rival, filled, 1.0 / n)
    for j in range(m):
        start[j] = v[j]
    primal = -math.inf
    dual = math.inf
    count = -1
    for attempt in range(3):
        near = (NEAR_POINTS + 4.0 * m) * (8.0 if attempt == 1 else 1.0)
        margin = near / (n * density) if density > 0.0 and attempt < 2 else math.inf
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
        rank_cells(scores, start, best, second, cell, rival)
    return count, primal, dual


@kernel
def samples_pool(scores: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest correlation of each candidate's equally weighted samples with the atoms.

    `scores (n, m, s)` are <x_i, y_j>. Returns the value of the exact plan and of the dual
    potential, `(n,)` each, equal up to rounding; an infinite gap marks one that ran out of moves.
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
            scores[c], mass, weights, v, owner, place, amount, True
        )
    return primal, dual


@kernel
def spread_about(samples: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """E|X - c|^2 over the samples of each candidate: `(n, s, k)` and `(k,)` to `(n,)`."""
    candidates, size, k = samples.shape
    out = np.empty(candidates)
    for c in range(candidates):
        even = 0.0
        odd = 0.0
        for i in range(0, size - 1, 2):
            for d in range(k):
                first = samples[c, i, d] - centre[d]
                second = samples[c, i + 1, d] - centre[d]
                even += first * first
                odd += second * second
        if size % 2:
            for d in range(k):
                first = samples[c, size - 1, d] - centre[d]
                even += first * first
        out[c] = (even + odd) / size
    return out
