"""From a nearly balanced assignment to the exact plan, by shortest paths between few cells."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel

MASS_TOLERANCE = 1e-15  # masses below this are rounding; their cost is below 1e-15 of the scale


@kernel
def scan_cell(
    scores: np.ndarray,
    j: int,
    owner: np.ndarray,
    place: np.ndarray,
    live: np.ndarray,
    alive: int,
    cheapest: np.ndarray,
    entry: np.ndarray,
) -> None:
    """The cheapest live entry of cell j to move to each other cell."""
    m = scores.shape[0]
    for k in range(m):
        cheapest[j, k] = math.inf
        entry[j, k] = -1
    for place_in_list in range(alive):
        e = live[place_in_list]
        if place[e] == j:
            i = owner[e]
            here = scores[j, i]
            for k in range(m):
                price = here - scores[k, i]
                if price < cheapest[j, k] and k != j:
                    cheapest[j, k] = price
                    entry[j, k] = e


@kernel
def finish(
    scores: np.ndarray,
    excess: np.ndarray,
    later: np.ndarray,
    v: np.ndarray,
    owner: np.ndarray,
    place: np.ndarray,
    amount: np.ndarray,
    live: np.ndarray,
    state: np.ndarray,
    limit: int,
) -> bool:
    """Move mass along shortest paths between cells until no cell has an excess or a lack.

    When the first `excess` is gone that of `later` is moved, so that whole points can go first.

    Entry e puts `amount[e]` of point `owner[e]` in cell `place[e]`; only the entries of `live` may
    move; `state` is (entries, live entries). The assignment must be optimal for its own masses
    (each point in its best cell for `v`). Shortest paths keep it optimal, so the end is the exact
    plan. False if it runs out of moves, room or paths.
    """
    m = scores.shape[0]
    cheapest = np.empty((m, m))
    entry = np.empty((m, m), dtype=np.int64)
    for j in range(m):
        for k in range(m):
            cheapest[j, k] = math.inf
            entry[j, k] = -1
    for place_in_list in range(state[1]):
        e = live[place_in_list]
        i = owner[e]
        j = place[e]
        here = scores[j, i]
        for k in range(m):
            price = here - scores[k, i]
            if price < cheapest[j, k] and k != j:
                cheapest[j, k] = price
                entry[j, k] = e
    first_round = True
    distance = np.empty(m)
    parent = np.empty(m, dtype=np.int64)
    done = np.empty(m, dtype=np.bool_)
    for _ in range(limit):
        lack = 0.0
        surplus = 0.0
        for j in range(m):
            done[j] = False
            parent[j] = -1
            distance[j] = 0.0 if excess[j] > MASS_TOLERANCE else math.inf
            lack = max(lack, -excess[j])
            surplus = max(surplus, excess[j])
        if lack <= MASS_TOLERANCE or surplus <= MASS_TOLERANCE:
            if not first_round:
                return True
            first_round = False
            for j in range(m):
                excess[j] += later[j]
            continue
        sink = -1
        for _ in range(m):
            j = -1
            for k in range(m):
                if not done[k] and (j < 0 or distance[k] < distance[j]):
                    j = k
            if distance[j] == math.inf:
                return False
            done[j] = True
            if excess[j] < -MASS_TOLERANCE:
                sink = j
                break
            for k in range(m):
                if not done[k] and entry[j, k] >= 0:
                    longer = distance[j] + max(cheapest[j, k] + v[k] - v[j], 0.0)
                    if longer < distance[k]:
                        distance[k] = longer
                        parent[k] = j
        if sink < 0:
            return False
        far = distance[sink]
        for j in range(m):
            v[j] -= min(distance[j], far)
        moved = -excess[sink]
        k = sink
        while parent[k] >= 0:
            moved = min(moved, amount[entry[parent[k], k]])
            k = parent[k]
        moved = min(moved, excess[k])
        excess[k] -= moved
        excess[sink] += moved
        k = sink
        while parent[k] >= 0:
            j = parent[k]
            e = entry[j, k]
            i = owner[e]
            if amount[e] - moved > MASS_TOLERANCE:
                if state[0] == amount.shape[0]:
                    return False
                amount[e] -= moved
                e = state[0]
                owner[e] = i
                place[e] = k
                amount[e] = moved
                live[state[1]] = e
                state[0] += 1
                state[1] += 1
            else:
                place[e] = k
                for l in range(m):
                    if entry[j, l] == e:
                        scan_cell(scores, j, owner, place, live, state[1], cheapest, entry)
                        break
            for l in range(m):
                price = scores[k, i] - scores[l, i]
                if l != k and price < cheapest[k, l]:
                    cheapest[k, l] = price
                    entry[k, l] = e
            k = j
    return False


@kernel
def settle(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    margin: float,
    v: np.ndarray,
    best: np.ndarray,
    second: np.ndarray,
    cell: np.ndarray,
    filled: np.ndarray,
    owner: np.ndarray,
    place: np.ndarray,
    amount: np.ndarray,
    live: np.ndarray,
    even: bool,
) -> int:
    """The plan from an assignment near it, moving only points within `margin` of an edge.

    Equal masses go first in whole points, to weights rounded to whole points, so that only the last
    moves split a point. Returns the number of entries, or -1.
    """
    m, n = scores.shape
    state = np.empty(2, dtype=np.int64)
    state[0] = n
    alive = 0
    excess = np.empty(m)
    for j in range(m):
        excess[j] = filled[j] - weights[j]
    for i in range(n):
        owner[i] = i
        place[i] = cell[i]
        amount[i] = mass[i]
    for i in range(n):
        live[alive] = i
        alive += 1 if best[i] - second[i] <= margin else 0
    state[1] = alive
    later = np.zeros(m)
    if even:
        upto = 0.0
        whole = 0.0
        for j in range(m):
            upto += weights[j] * n
            count = round(upto) - whole
            whole += count
            later[j] = count / n - weights[j]
            # Whole numbers of points, exactly, so that no rounding is moved about.
            excess[j] = round((excess[j] - later[j]) * n) / n
    limit = 64 * (n + m)
    if not finish(scores, excess, later, v, owner, place, amount, live, state, limit):
        return -1
    return state[0]


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
