"""Weighted points to few atoms: damped Newton on the semi-dual, first on some points, then on all.

A point's best cell j and its second best k are kept as one number, `(j << bits) + k`: one select
fewer in the innermost loop, and the index of what is known about the edge between the two. `bits`
is the least number with room for all atoms (`bits_for`), so that any number of them fits.
"""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.newton import solve_laplacian

MAX_PASSES = 14  # over the points, in each of the three stages
QUANTILE_BITS = 16  # of the range of leads: finer than the points for any sample in use
FIRST_POINTS = 20  # for each atom, that the first stage looks at
STRIP = 0.25  # half width of the strip around an edge, in deviations across it
NARROWING = 4.0  # of the strips in the last stage, whose error is a few points
FIRST_ERROR = 3.0  # the stages end at these errors: in points for each atom,
ALL_ERROR = 0.1  # as a part of the mass,
LAST_ERROR = 1.5  # and again in points for each atom
LONGEST = 0.3  # step, in scales of the scores: an empty cell's edges say nothing
SHORTEST = 0.05  # step, as a part of Newton's
NEAR_POINTS = 8.0  # near the edges that may move at first,
NEAR_POINTS_EACH = 2.0  # and for each atom;
EDGE_POINTS = 2.0  # at least so many at each edge,
WIDEST = 10.0  # unless they lie this much farther away
RESERVE = 1.5  # the last stage sees this much farther than its points may move


def bits_for(atoms: int) -> int:
    """The number of bits that hold the number of any of `atoms` cells; at least one."""
    return max(1, (atoms - 1).bit_length())


@kernel
def start_pool(
    scores: np.ndarray,
    stride: int,
    bits: int,
    v: np.ndarray,
    reach: np.ndarray,
    scale: np.ndarray,
) -> None:
    """First potentials `v (n, m)`, inverse half widths of the strips, scales of the scores `(n,)`.

    Looks at each second of the points that the first stage sees. The potential is that of the
    Voronoi cells of the whitened atoms, scaled into the bulk of the points. `scores (n, m, s)`,
    `reach (n, m << bits)`.
    """
    candidates, m, n = scores.shape
    gram = np.empty((m, m))
    few = np.empty((m, n))
    for c in range(candidates):
        power = 0.0
        for j in range(m):
            count = 0
            total = 0.0
            for i in range(0, n, 2 * stride):
                few[j, count] = scores[c, j, i]
                total += scores[c, j, i]
                count += 1
            centre = total / count
            v[c, j] = centre
            for i in range(count):
                few[j, i] -= centre
            for k in range(j + 1):
                even = 0.0
                odd = 0.0
                for i in range(0, count - 1, 2):
                    even += few[j, i] * few[k, i]
                    odd += few[j, i + 1] * few[k, i + 1]
                if count % 2 == 1:
                    even += few[j, count - 1] * few[k, count - 1]
                gram[j, k] = (even + odd) / count
                gram[k, j] = gram[j, k]
            power += gram[j, j]
        scale[c] = math.sqrt(power / m)
        if scale[c] == 0.0:
            scale[c] = 1.0
        for j in range(m):
            v[c, j] += 0.5 * gram[j, j] / scale[c]
            for k in range(m):
                apart = math.sqrt(max(gram[j, j] + gram[k, k] - 2.0 * gram[j, k], 0.0))
                reach[c, (j << bits) + k] = 1.0 / max(STRIP * apart, 1e-12 * scale[c])


@kernel
def rank_cells(
    scores: np.ndarray,
    size: int,
    bits: int,
    v: np.ndarray,
    best: np.ndarray,
    second: np.ndarray,
    pair: np.ndarray,
) -> None:
    """For the first `size` points the best and second best of `scores[j] - v[j]`, and the pair."""
    m = scores.shape[0]
    slots = 1 << bits
    level = v[0]
    other = v[1]
    for i in range(size):
        low = scores[0, i] - level
        value = scores[1, i] - other
        pair[i] = slots if value > low else 1
        best[i] = max(low, value)
        second[i] = min(low, value)
    for j in range(2, m):
        level = v[j]
        for i in range(size):
            value = scores[j, i] - level
            top = best[i]
            next_best = second[i]
            old = pair[i]
            placed = ((old & -slots) | j) if value > next_best else old
            pair[i] = slots * j + (old >> bits) if value > top else placed
            best[i] = max(value, top)
            second[i] = max(next_best, min(top, value))


@kernel
def count_cells(
    size: int,
    bits: int,
    mass: np.ndarray,
    reach: np.ndarray,
    best: np.ndarray,
    second: np.ndarray,
    pair: np.ndarray,
    filled: np.ndarray,
    hessian: np.ndarray,
    held: np.ndarray,
    edge: np.ndarray,
) -> None:
    """Masses of the cells, and densities of points at their edges, from the ranks of the points.

    A triangular window of half width `1 / reach` counts the points at an edge. Neighbours often
    fall in one cell: four sets of counters `(4, m << bits)` keep their additions from waiting.
    """
    m = filled.shape[0]
    for j in range(m):
        for k in range(j << bits, (j << bits) + m):
            for bank in range(4):
                held[bank, k] = 0.0
                edge[bank, k] = 0.0
    for i in range(size):
        bank = i & 3
        k = pair[i]
        held[bank, k] += mass[i]
        edge[bank, k] += mass[i] * max(1.0 - (best[i] - second[i]) * reach[k], 0.0)
    for j in range(m):
        filled[j] = 0.0
        for k in range(m):
            l = (j << bits) + k
            filled[j] += (held[0, l] + held[1, l]) + (held[2, l] + held[3, l])
            hessian[j, k] = reach[l] * ((edge[0, l] + edge[1, l]) + (edge[2, l] + edge[3, l]))


@kernel
def quantile_step(
    scores: np.ndarray,
    size: int,
    mass: np.ndarray,
    weight: float,
    v: np.ndarray,
    j: int,
    lead: np.ndarray,
) -> None:
    """Set v_j so that cell j takes exactly its mass from the others, as they stand."""
    m = scores.shape[0]
    low = math.inf
    high = -math.inf
    for i in range(size):
        top = -math.inf
        for k in range(m):
            if k != j:
                top = max(top, scores[k, i] - v[k])
        lead[i] = top - scores[j, i]
        low = min(low, lead[i])
        high = max(high, lead[i])
    for _ in range(QUANTILE_BITS):
        middle = 0.5 * (low + high)
        filled = 0.0
        for i in range(size):
            filled += mass[i] if lead[i] <= middle else 0.0
        if filled >= weight:
            high = middle
        else:
            low = middle
    v[j] = -high


@kernel
def approach_pool(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    stride: int,
    bits: int,
    everywhere: bool,
    scale: np.ndarray,
    reach: np.ndarray,
    v: np.ndarray,
    filled: np.ndarray,
    near: np.ndarray,
    near_cell: np.ndarray,
    excess_gap: np.ndarray,
    cells: np.ndarray,
) -> None:
    """Damped Newton until the cells' masses are within a few points of the weights.

    The first stage looks at each `stride`-th point of `scores (n, m, s)`, the second at all, the
    last at the points that the remaining step may move (`everywhere`: all of them). `v (n, m)` is
    the start and receives the best potential seen; `filled (n, m)` its masses. Row c of `near (n,
    1 + s)` has the number of points of the last stage, then the points; their cells go to
    `near_cell (n, s)` and `best - second` less what is near an edge to `excess_gap (n, s)`.
    `cells (n, s)` has the cells of all points.
    """
    candidates, m, n = scores.shape
    few = np.empty((m, n))
    points = np.empty((3, n))
    load = points[0]
    best = points[1]
    second = points[2]
    pair = np.empty(n, dtype=np.int64)
    rows = np.empty((3, m))
    base = rows[0]
    step = rows[1]
    fixed = rows[2]
    squares = np.empty((2, m, m))
    hessian = squares[0]
    work = squares[1]
    held = np.empty((4, m << bits))
    edge = np.empty((4, m << bits))
    allowed = np.empty(m << bits)
    for c in range(candidates):
        at = v[c]
        total = filled[c]
        strips = reach[c]
        for j in range(m):
            fixed[j] = 0.0
        for stage in range(0 if stride > 1 else 1, 3):
            table = few if stage != 1 else scores[c]
            size = n
            if stage == 0:
                size = (n - 1) // stride + 1
                part = 0.0
                for i in range(size):
                    load[i] = mass[i * stride]
                    part += load[i]
                for i in range(size):
                    load[i] /= part
                for j in range(m):
                    for i in range(size):
                        few[j, i] = scores[c, j, i * stride]
            elif stage == 1:
                for i in range(n):
                    load[i] = mass[i]
            else:
                least = 0.0
                for j in range(m):
                    least = min(least, step[j])
                    fixed[j] = total[j]
                for j in range(m):
                    for k in range(j << bits, (j << bits) + m):
                        allowed[k] = step[j] - least + RESERVE * allowed[k]
                        strips[k] *= NARROWING
                size = 0
                for i in range(n):
                    cells[c, i] = pair[i] >> bits
                for i in range(n):
                    near[c, 1 + size] = i
                    size += 1 if best[i] - second[i] <= allowed[pair[i]] else 0
                near[c, 0] = size
                for e in range(size):
                    i = near[c, 1 + e]
                    load[e] = mass[i]
                    fixed[cells[c, i]] -= mass[i]
                for j in range(m):
                    for e in range(size):
                        few[j, e] = scores[c, j, near[c, 1 + e]]
            grain = 1.0 / (size if stage == 0 else n)
            enough = (FIRST_ERROR if stage == 0 else LAST_ERROR) * m * grain
            if stage == 1:
                enough = max(enough, ALL_ERROR)
            smallest = math.inf
            length = 1.0
            passes = 0
            fed = 0 if stage < 2 else m
            back = False
            while True:
                passes += 1
                rank_cells(table, size, bits, at, best, second, pair)
                count_cells(
                    size, bits, load, strips, best, second, pair, total, hessian, held, edge
                )
                error = 0.0
                starved = 0
                for j in range(m):
                    total[j] += fixed[j]
                    error += abs(total[j] - weights[j])
                    if total[j] == 0.0 and weights[j] > 2.0 * grain:
                        starved = j + 1
                if back:
                    break
                if starved > 0 and fed < m:
                    fed += 1
                    passes -= 1
                    quantile_step(table, size, load, weights[starved - 1], at, starved - 1, best)
                    length = 1.0
                    continue
                if error >= smallest:
                    length *= 0.5
                    back = length < SHORTEST or smallest <= 6 * m * grain or passes > MAX_PASSES
                    for j in range(m):
                        at[j] = base[j] + (0.0 if back else length * step[j])
                    continue
                smallest = error
                density = 0.0
                for j in range(m):
                    base[j] = at[j]
                    step[j] = total[j] - weights[j]
                    for k in range(m):
                        density += hessian[j, k]
                wide = math.inf
                if density > 0.0 and not everywhere:
                    wide = (NEAR_POINTS + NEAR_POINTS_EACH * m) / (n * density)
                for j in range(m):
                    hessian[j, j] = 0.0
                for j in range(m):
                    for k in range(j):
                        rate = hessian[j, k] + hessian[k, j]
                        reached = max(wide, min(EDGE_POINTS / (n * rate), WIDEST * wide))
                        allowed[(j << bits) + k] = reached
                        allowed[(k << bits) + j] = reached
                        # A weak link between all cells keeps the system regular.
                        rate += 1e-3 * grain * strips[(j << bits) + k]
                        hessian[j, k] = -rate
                        hessian[k, j] = -rate
                        hessian[j, j] += rate
                        hessian[k, k] += rate
                ended = error <= enough or passes > MAX_PASSES
                if stage == 2 and ended:
                    break
                length = 1.0
                solve_laplacian(hessian, step, work)
                longest = 0.0
                for j in range(m):
                    longest = max(longest, abs(step[j]))
                shorter = min(1.0, LONGEST * scale[c] / longest) if longest > 0.0 else 1.0
                for j in range(m):
                    step[j] *= shorter
                    at[j] = base[j] + step[j]
                if ended:
                    break
            if stage == 2:
                for e in range(size):
                    near_cell[c, e] = pair[e] >> bits
                    cells[c, near[c, 1 + e]] = pair[e] >> bits
                    excess_gap[c, e] = best[e] - second[e] - allowed[pair[e]]


@kernel
def spread_pool(
    samples: np.ndarray,
    mass: np.ndarray,
    centre: np.ndarray,
    offset: np.ndarray,
    spread: np.ndarray,
) -> None:
    """sum_i mass_i |x_i - centre - offset|^2 for each row of `samples (n, s, k)`."""
    candidates, n, k = samples.shape
    sums = np.empty(k)
    for c in range(candidates):
        for d in range(k):
            sums[d] = 0.0
        for i in range(n):
            for d in range(k):
                away = (samples[c, i, d] - centre[d]) - offset[d]
                sums[d] += mass[i] * away * away
        spread[c] = 0.0
        for d in range(k):
            spread[c] += sums[d]
