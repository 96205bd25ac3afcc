"""From a nearly balanced assignment to the exact plan, by shortest paths between few cells."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel

ROUNDING = 2e-15  # of a mass or a weight: parts of it below are the rounding of sums


@kernel
def settle_pool(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    later: np.ndarray,
    margin: float,
    v: np.ndarray,
    filled: np.ndarray,
    near: np.ndarray,
    near_cell: np.ndarray,
    excess_gap: np.ndarray,
    entries: np.ndarray,
    amount: np.ndarray,
) -> None:
    """Move mass along shortest paths between cells until no cell has an excess or a lack.

    The assignment must be optimal for its own masses (each point in its best cell for `v`).
    Shortest paths keep it optimal, so the end is the exact plan, unless moves, room or paths run
    out (`judge_samples` will tell). Of the points that `approach_pool` left in `near`, those with
    an `excess_gap` of at most `margin` may move.

    Equal masses go first in whole points, to the weights rounded to whole points, so that only the
    last moves split a point: `later (m,)` is that rounding, NaN for unequal masses. The points that
    may have moved are left in the rows `1..` of `entries (n, r, 2)` (point and cell; their number
    in the first row) and in `amount (n, r)`.
    """
    candidates, m, n = scores.shape
    room = amount.shape[1]
    even = later[0] == later[0]
    prices = np.empty((room, m))
    squares = np.empty((m, m))
    entry = np.empty((m + 2, m), dtype=np.int64)
    parent = entry[m]
    done = entry[m + 1]
    rows = np.empty((3, m))
    excess = rows[0]
    distance = rows[1]
    least_mass = rows[2]
    heaviest = 0
    for j in range(m):
        least_mass[j] = ROUNDING * weights[j]
        if weights[j] > weights[heaviest]:
            heaviest = j
    for c in range(candidates):
        for j in range(m):
            excess[j] = filled[c, j] - weights[j]
            if even:
                # Whole numbers of points, exactly, so that no rounding is moved about.
                excess[j] = round((excess[j] - later[j]) * n) / n
            for k in range(m):
                squares[j, k] = math.inf
                entry[j, k] = -1
        size = 1
        items = entries[c]
        parts = amount[c]
        for e in range(near[c, 0]):
            i = near[c, 1 + e]
            j = near_cell[c, e]
            here = scores[c, j, i]
            if excess_gap[c, e] > margin:
                continue
            items[size, 0] = i
            items[size, 1] = j
            parts[size] = mass[i]
            for k in range(m):
                prices[size, k] = scores[c, k, i]
                if here - scores[c, k, i] < squares[j, k] and k != j:
                    squares[j, k] = here - scores[c, k, i]
                    entry[j, k] = size
            size += 1
        whole_points = even
        for _ in range(64 * (n + m)):
            lack = False
            surplus = False
            for j in range(m):
                parent[j] = -1
                done[j] = 0
                distance[j] = math.inf
                # Half a point, while only whole ones move.
                enough = 0.5 / n if whole_points else least_mass[j]
                if excess[j] > enough:
                    distance[j] = 0.0
                    surplus = True
                lack = lack or excess[j] < -enough
            spare = excess[heaviest] + least_mass[heaviest]
            if lack and not surplus and not whole_points and spare > 0.0:
                # What a light cell lacks is the rounding of a heavy one.
                distance[heaviest] = 0.0
                surplus = True
            if not lack or not surplus:
                if not whole_points:
                    break
                whole_points = False
                for j in range(m):
                    # Whole points have all been moved: what else is left is rounding.
                    excess[j] = later[j] if abs(excess[j]) < 0.5 / n else excess[j] + later[j]
                continue
            # Dijkstra over the cells.
            sink = -1
            far = 0.0
            for _ in range(m):
                j = -1
                far = math.inf
                for k in range(m):
                    if done[k] == 0 and distance[k] < far:
                        far = distance[k]
                        j = k
                if j < 0:
                    break
                if excess[j] < -(0.5 / n if whole_points else least_mass[j]):
                    sink = j
                    break
                done[j] = 1
                for k in range(m):
                    if done[k] == 0 and entry[j, k] >= 0:
                        longer = far + max(squares[j, k] + v[c, k] - v[c, j], 0.0)
                        if longer < distance[k]:
                            distance[k] = longer
                            parent[k] = j
            if sink < 0 or size + m > room:
                break
            moved = -excess[sink]
            k = sink
            while parent[k] >= 0:
                moved = min(moved, parts[entry[parent[k], k]])
                k = parent[k]
            moved = min(moved, excess[k] if excess[k] > least_mass[k] else spare)
            excess[k] -= moved
            excess[sink] += moved
            for j in range(m):
                v[c, j] -= distance[j] if done[j] == 1 else far
            k = sink
            while parent[k] >= 0:
                j = parent[k]
                e = entry[j, k]
                if parts[e] - moved > ROUNDING * parts[e]:
                    parts[e] -= moved
                    parts[size] = moved
                    items[size, 0] = items[e, 0]
                    for l in range(m):
                        prices[size, l] = prices[e, l]
                    e = size
                    size += 1
                items[e, 1] = k
                # The next cheapest of cell j where this entry was it.
                for l in range(m):
                    if entry[j, l] == e:
                        least = math.inf
                        chosen = -1
                        for other in range(1, size):
                            price = prices[other, j] - prices[other, l]
                            price = price if items[other, 1] == j else math.inf
                            chosen = other if price < least else chosen
                            least = min(price, least)
                        squares[j, l] = least
                        entry[j, l] = chosen
                for l in range(m):
                    price = prices[e, k] - prices[e, l]
                    if l != k and price < squares[k, l]:
                        squares[k, l] = price
                        entry[k, l] = e
                k = j
        items[0, 0] = size - 1


@kernel
def judge_samples(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    cells: np.ndarray,
    entries: np.ndarray,
    amount: np.ndarray,
    primal: np.ndarray,
    dual: np.ndarray,
) -> None:
    """What a plan and a potential prove: `primal <= max E<X,T> <= dual`, each `(n,)`.

    `dual = E max_j (score_j - v_j) + w'v`, whatever `v (n, m)`. The plan takes each point to its
    cell, but those in `entries` as they say; what its marginals lack or exceed is charged with
    twice the largest score.
    """
    candidates, m, n = scores.shape
    best = np.empty(n)
    open_mass = np.empty(n)
    filled = np.empty(m)
    for c in range(candidates):
        level = v[c, 0]
        for i in range(n):
            best[i] = scores[c, 0, i] - level
        for j in range(1, m):
            level = v[c, j]
            for i in range(n):
                best[i] = max(best[i], scores[c, j, i] - level)
        even = 0.0
        odd = 0.0
        for i in range(0, n - 1, 2):
            even += mass[i] * best[i]
            odd += mass[i + 1] * best[i + 1]
        if n % 2 == 1:
            even += mass[n - 1] * best[n - 1]
        for j in range(m):
            even += weights[j] * v[c, j]
            filled[j] = 0.0
        dual[c] = even + odd
        for i in range(n):
            open_mass[i] = mass[i]
        for e in range(1, 1 + entries[c, 0, 0]):
            open_mass[entries[c, e, 0]] = 0.0
        value = 0.0
        largest = 0.0
        for i in range(n):
            j = cells[c, i]
            score = scores[c, j, i]
            value += open_mass[i] * score
            filled[j] += open_mass[i]
            largest = max(largest, abs(score))
        for e in range(1, 1 + entries[c, 0, 0]):
            open_mass[entries[c, e, 0]] = mass[entries[c, e, 0]]
        for e in range(1, 1 + entries[c, 0, 0]):
            i = entries[c, e, 0]
            j = entries[c, e, 1]
            value += amount[c, e] * scores[c, j, i]
            filled[j] += amount[c, e]
            open_mass[i] -= amount[c, e]
        wrong = 0.0
        for j in range(m):
            wrong += abs(filled[j] - weights[j])
        for e in range(1, 1 + entries[c, 0, 0]):
            wrong += abs(open_mass[entries[c, e, 0]])
        primal[c] = value - 2.0 * wrong * largest
