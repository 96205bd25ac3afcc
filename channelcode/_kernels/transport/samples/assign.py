"""Exact plans from weighted points to few atoms, one candidate of a pool after the other."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.samples.flow import CELL, POINT, settle
from channelcode._kernels.transport.samples.semidual import (
    FEWEST_ATOMS,
    MOST_AXES,
    approach,
    first_potential,
    lead_of,
    moment_potential,
    sample_moments,
)

FIRST_POINTS = 20  # for each atom, that Newton's method looks at before all
POINTS_EACH = 1.5  # the masses may differ by so many points for each atom when paths take over,
POINTS_PAIR = 1 / 16  # and by so many for each pair: a step costs the cube, a path the square
LOST = 4.0  # times that: then the first points are solved exactly
NEAR_POINTS = 32  # near the edges that may move at first, or this part of all if it is less,
NEAR_SHARE = 1 / 16
NEAR_EACH = 8  # and for each atom,
NEAR_ERROR = 3.0  # and for each that is too much;
NEAR_PART = 0.6  # but all, if this part of them would
SOME, NEAR, ALL = 0, 1, 2  # stages: some points, then all, of which those near edges move, or all
GAP_TOLERANCE = 3e-13  # of the scores that count: primal and dual agree to rounding
MASS_TOLERANCE = 4e-15  # of the largest score: masses are rounded


@kernel
def centre_pool(
    samples: np.ndarray,
    mass: np.ndarray,
    centre: np.ndarray,
    offset: np.ndarray,
    away: np.ndarray,
    unit: np.ndarray,
    spread: np.ndarray,
) -> None:
    """Rows of `samples (n, s, k)` about the centre, each in a power of two of its own.

    `away (n, s, k)` has the coordinates in units of `unit (n,)`, so that no threshold sees the
    scale; `spread (n,)` is `sum_i mass_i |x_i - centre - offset|^2` in given units.
    """
    candidates, n, dim = samples.shape
    sums = np.empty(dim)
    for c in range(candidates):
        largest = 0.0
        for d in range(dim):
            sums[d] = 0.0
        for i in range(n):
            for d in range(dim):
                gap = (samples[c, i, d] - centre[d]) - offset[d]
                away[c, i, d] = gap
                sums[d] += mass[i] * gap * gap
                largest = max(largest, abs(gap))
        unit[c] = math.ldexp(1.0, math.frexp(largest)[1]) if largest > 0.0 else 1.0
        down = 1.0 / unit[c]
        spread[c] = 0.0
        for d in range(dim):
            spread[c] += sums[d]
        for i in range(n):
            for d in range(dim):
                away[c, i, d] *= down


@kernel
def judge(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    cells: np.ndarray,
    near: np.ndarray,
    count: int,
    links: np.ndarray,
    part: np.ndarray,
    size: int,
    points: np.ndarray,
) -> tuple[float, float, float]:
    """What a plan and a potential prove: `primal <= max E<X,T> <= dual` for `scores (m, n)`.

    `dual = E max_j (score_j - v_j) + w'v`, whatever `v (m,)`. The plan takes each point to its
    cell, but the first `count` of `near` as the `size` entries say; what its marginals lack or
    exceed is charged with twice the largest score. The third number is what rounding may
    add to the difference of the two. `points (2, n)` is room.
    """
    m, n = scores.shape
    best, left = points[0], points[1]
    level = v[0]
    for i in range(n):
        best[i] = scores[0, i] - level
        left[i] = mass[i]
    for j in range(1, m):
        level = v[j]
        for i in range(n):
            best[i] = max(best[i], scores[j, i] - level)
    even = 0.0
    odd = 0.0
    for i in range(0, n - 1, 2):
        even += mass[i] * best[i]
        odd += mass[i + 1] * best[i + 1]
    if n % 2 == 1:
        even += mass[n - 1] * best[n - 1]
    terms = 0.0
    filled, lost = np.zeros(m), np.zeros(m)
    for j in range(m):
        even += weights[j] * v[j]
        terms += weights[j] * abs(v[j])
    for q in range(count):
        left[near[q]] = 0.0
    value = 0.0
    largest = 0.0
    for i in range(n):
        j = cells[i]
        value += left[i] * scores[j, i]
        total = filled[j] + left[i]
        lost[j] += (filled[j] - total) + left[i]  # what the sum of many rounds off
        filled[j] = total
        terms += mass[i] * abs(scores[j, i])
        largest = max(largest, abs(scores[j, i]))
        left[i] = 0.0
    for q in range(count):
        left[near[q]] = mass[near[q]]
    for e in range(size):
        j = links[CELL, e]
        if j >= 0:
            i = near[links[POINT, e]]
            value += part[e] * scores[j, i]
            total = filled[j] + part[e]
            lost[j] += (filled[j] - total) + part[e]
            filled[j] = total
            left[i] -= part[e]
    wrong = 0.0
    for j in range(m):
        wrong += abs((filled[j] - weights[j]) + lost[j])
    for i in range(n):
        wrong += abs(left[i])
    return (
        value - 2.0 * wrong * largest,
        even + odd,
        GAP_TOLERANCE * terms + MASS_TOLERANCE * largest,
    )


@kernel
def assign_pool(
    scores: np.ndarray,
    samples: np.ndarray,
    mass: np.ndarray,
    atoms: np.ndarray,
    weights: np.ndarray,
    later: np.ndarray,
    bits: int,
    v: np.ndarray,
    bounds: np.ndarray,
    cells: np.ndarray,
    near: np.ndarray,
    links: np.ndarray,
    part: np.ndarray,
    closed: np.ndarray,
) -> tuple[int, int]:
    """Potentials `v (n, m)` and `bounds (n, 2)` on max E<X,T> for each of `scores (n, m, s)`.

    `scores[c, j, i]` is <x_i, y_j> for `samples (n, s, k)` and `atoms (m, k)`, m > 1. First comes a
    start, then Newton's method on some points and on all, then shortest paths: between the points
    near the edges of the cells, and where bounds over all points do not meet, between all.
    `closed (n,)` is one where they meet to rounding.

    The plan of the last candidate is left behind: `cells (s,)` has the points' cells, and `near
    (s,)` those that may have moved, to where `links (4, room)` and `part (room,)` say; returns how
    many of the points may have, and how many entries there are.
    """
    candidates, m, n = scores.shape
    dim = atoms.shape[1]
    stride = max(1, n // (FIRST_POINTS * m))
    first = (n - 1) // stride + 1
    few = np.empty((m, first))
    some = np.empty(first)
    prices = np.empty((n, m))
    points = np.empty((2, n))
    pair = np.empty(n, dtype=np.int64)
    squares = np.empty((2, m, m))
    rows = np.empty((3, m))
    filled = rows[2]
    entry = np.empty((m + 6, m), dtype=np.int64)
    moments = dim <= MOST_AXES and m >= FEWEST_ATOMS
    small = np.zeros((6, dim, dim)) if moments else np.zeros((6, 1, 1))
    if moments:
        for j in range(m):
            for d in range(dim):
                for e in range(dim):
                    small[5, d, e] += weights[j] * atoms[j, d] * atoms[j, e]
    if stride > 1:
        whole = 0.0
        for i in range(first):
            some[i] = mass[i * stride]
            whole += some[i]
        for i in range(first):
            some[i] /= whole
    centre = np.empty(dim)
    unequal = np.full(m, math.nan)
    count = 0
    size = 0
    for c in range(candidates):
        at = v[c]
        if moments:
            sample_moments(samples[c], centre, small[4])
            scale = moment_potential(small[4], centre, atoms, small[5], small, at)
        else:
            scale = first_potential(scores[c], weights, at)
        stage = SOME if stride > 1 else NEAR
        while True:
            table, load, total, whole_points = scores[c], mass, n, later
            enough = m * (POINTS_EACH + m * POINTS_PAIR) / n
            if stage == SOME:
                table, load, total, whole_points = few, some, first, unequal
                enough *= n / first
                for j in range(m):
                    for i in range(first):
                        few[j, i] = scores[c, j, i * stride]
            elif stage == ALL:
                enough = math.inf
            best, lead = points[0, :total], points[1, :total]
            error = approach(
                table, load, weights, bits, enough, scale, at, best, lead, pair, filled, squares,
                rows,
            )  # fmt: skip
            if stage == SOME and error <= LOST * enough:
                stage = NEAR
                continue
            wanted = int(min(NEAR_POINTS, NEAR_SHARE * n) + NEAR_EACH * m + NEAR_ERROR * error * n)
            everyone = stage != NEAR or wanted >= NEAR_PART * n
            margin = math.inf if everyone else lead_of(lead, wanted)
            count = 0
            for i in range(total):
                cells[i] = pair[i] >> bits
                near[count] = i
                count += 1 if lead[i] <= margin else 0
            for start in range(0, count, 64):
                stop = min(start + 64, count)
                for j in range(m):
                    for q in range(start, stop):
                        prices[q, j] = table[j, near[q]]
            for q in range(count):
                links[POINT, q] = q
                links[CELL, q] = cells[near[q]]
                part[q] = load[near[q]]
            size = settle(
                prices[:count],
                weights,
                whole_points,
                total,
                filled,
                at,
                links,
                part,
                squares,
                entry,
            )
            if stage == SOME:
                stage = NEAR
                continue
            primal, dual, rounding = judge(
                table, load, weights, at, cells, near, count, links, part, size, points
            )
            bounds[c, 0] = primal
            bounds[c, 1] = dual
            closed[c] = 1 if dual - primal <= max(GAP_TOLERANCE * scale, rounding) else 0
            if closed[c] == 1 or everyone:
                break
            stage = ALL
    return count, size
