"""From a nearly balanced assignment to the exact plan, by shortest paths between few cells."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel

MASS_TOLERANCE = 1e-15  # masses below this are rounding; their cost is below 1e-15 of the scale


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
    value: np.ndarray,
    entries: np.ndarray,
    amount: np.ndarray,
) -> None:
    """Move mass along shortest paths between cells until no cell has an excess or a lack.

    The assignment must be optimal for its own masses (each point in its best cell for `v`).
    Shortest paths keep it optimal, so the end is the exact plan. Of the points that `approach_pool`
    left in `near`, those with an `excess_gap` of at most `margin` may move. `value (n,)` gains
    their correlation; -inf marks a candidate that ran out of moves, room or paths.

    Equal masses go first in whole points, to the weights rounded to whole points, so that only the
    last moves split a point: `later (m,)` is that rounding, NaN for unequal masses. The plan of the
    last candidate is left in the rows `1..` of `entries (r, 2)` (point and cell; their number in
    the first row) and in `amount (r,)`.
    """
    candidates, m, n = scores.shape
    room = amount.shape[0]
    even = later[0] == later[0]
    prices = np.empty((room, m))
    squares = np.empty((m, m))
    entry = np.empty((m + 1, m), dtype=np.int64)
    parent = entry[m]
    rows = np.empty((2, m))
    excess = rows[0]
    distance = rows[1]
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
        total = value[c]
        for e in range(near[c, 0]):
            i = near[c, 1 + e]
            j = near_cell[c, e]
            here = scores[c, j, i]
            if excess_gap[c, e] > margin:
                total += mass[i] * here
                continue
            entries[size, 0] = i
            entries[size, 1] = j
            amount[size] = mass[i]
            for k in range(m):
                prices[size, k] = scores[c, k, i]
                if here - scores[c, k, i] < squares[j, k] and k != j:
                    squares[j, k] = here - scores[c, k, i]
                    entry[j, k] = size
            size += 1
        whole_points = even
        solved = False
        for _ in range(64 * (n + m)):
            lack = 0.0
            surplus = 0.0
            for j in range(m):
                parent[j] = -1
                distance[j] = 0.0 if excess[j] > MASS_TOLERANCE else math.inf
                lack = max(lack, -excess[j])
                surplus = max(surplus, excess[j])
            if lack <= MASS_TOLERANCE or surplus <= MASS_TOLERANCE:
                if not whole_points:
                    solved = True
                    break
                whole_points = False
                for j in range(m):
                    excess[j] += later[j]
                continue
            # Dijkstra; a cell that is done has -1 - distance.
            sink = -1
            far = 0.0
            for _ in range(m):
                j = -1
                far = math.inf
                for k in range(m):
                    if 0.0 <= distance[k] < far:
                        far = distance[k]
                        j = k
                if j < 0:
                    break
                if excess[j] < -MASS_TOLERANCE:
                    sink = j
                    break
                distance[j] = -1.0 - far
                for k in range(m):
                    if distance[k] >= 0.0 and entry[j, k] >= 0:
                        longer = far + max(squares[j, k] + v[c, k] - v[c, j], 0.0)
                        if longer < distance[k]:
                            distance[k] = longer
                            parent[k] = j
            if sink < 0 or size + m > room:
                break
            moved = -excess[sink]
            k = sink
            while parent[k] >= 0:
                moved = min(moved, amount[entry[parent[k], k]])
                k = parent[k]
            moved = min(moved, excess[k])
            excess[k] -= moved
            excess[sink] += moved
            for j in range(m):
                v[c, j] -= far if distance[j] >= 0.0 else -1.0 - distance[j]
            k = sink
            while parent[k] >= 0:
                j = parent[k]
                e = entry[j, k]
                if amount[e] - moved > MASS_TOLERANCE:
                    amount[e] -= moved
                    amount[size] = moved
                    entries[size, 0] = entries[e, 0]
                    for l in range(m):
                        prices[size, l] = prices[e, l]
                    e = size
                    size += 1
                entries[e, 1] = k
                # The next cheapest of cell j where this entry was it.
                for l in range(m):
                    if entry[j, l] == e:
                        least = math.inf
                        chosen = -1
                        for other in range(1, size):
                            price = prices[other, j] - prices[other, l]
                            price = price if entries[other, 1] == j else math.inf
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
        for e in range(1, size):
            total += amount[e] * prices[e, entries[e, 1]]
        value[c] = total if solved else -math.inf
        entries[0, 0] = size - 1


@kernel
def semidual_pool(
    scores: np.ndarray, mass: np.ndarray, weights: np.ndarray, v: np.ndarray, value: np.ndarray
) -> None:
    """E max_j (score_j - v_j) + w'v: at least the largest correlation, whatever `v (n, m)`."""
    candidates, m, n = scores.shape
    best = np.empty(n)
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
        value[c] = even + odd
