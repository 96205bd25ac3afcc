"""From a nearly balanced assignment to the exact plan, by shortest paths between few cells."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import borrowing

ROUNDING = 2e-15  # of a mass or a weight: parts of it below are the rounding of sums
COUNTED = 2.5e-16  # of a weight, where masses are numbers of points: no sums are rounded
MOST_ALONE = 2  # cells that are searched one by one for the cheapest move to them,
FEW_CELLS = 32  # among so many: to look which of more are to be searched costs what it saves
POINT, CELL, NEXT, LAST = 0, 1, 2, 3  # rows of `links`; cell -1: an entry not in use


@borrowing
def cheapest_moves(
    prices: np.ndarray,
    j: int,
    links: np.ndarray,
    head: np.ndarray,
    least: np.ndarray,
    entry: np.ndarray,
) -> None:
    """The least price `(m,)` of a move from cell j to each cell, and the entry that moves.

    `entry (m,)` has those of the last search, or -1. One that still is in cell j still is the best
    (the caller has compared those that came since); few that left are searched for one by one.
    """
    m = least.shape[0]
    gone = 0 if m <= FEW_CELLS else m
    for k in range(m if gone == 0 else 0):
        e = entry[k]
        gone += 1 if k != j and (e < 0 or links[CELL, e] != j) else 0
    if gone <= MOST_ALONE:
        for k in range(m):
            e = entry[k]
            if k == j or (e >= 0 and links[CELL, e] == j):
                continue
            low, mover = math.inf, -1
            e = head[j]
            while e >= 0:
                price = prices[links[POINT, e]]
                extra = price[j] - price[k]
                mover = e if extra < low else mover
                low = min(low, extra)
                e = links[NEXT, e]
            least[k] = low
            entry[k] = mover
        least[j] = math.inf
        return
    for k in range(m):
        least[k] = math.inf
        entry[k] = -1
    e = head[j]
    while e >= 0:
        price = prices[links[POINT, e]]
        here = price[j]
        for k in range(m):
            entry[k] = e if here - price[k] < least[k] else entry[k]
            least[k] = min(least[k], here - price[k])
        e = links[NEXT, e]
    least[j] = math.inf


@borrowing
def shortest_paths(
    least: np.ndarray,
    v: np.ndarray,
    sinks: int,
    excess: np.ndarray,
    enough: np.ndarray,
    distance: np.ndarray,
    parent: np.ndarray,
    order: np.ndarray,
    rows: np.ndarray,
) -> int:
    """Dijkstra between the cells, from those at distance zero until all `sinks` are reached.

    `least (m, m)` has the prices, `v` makes them non-negative but for rounding. Lowers v by the
    distances, so that the paths cost nothing then; the cells reached go to `order`, their number is
    returned. A sink lacks more than `enough (m,)`.
    """
    m = v.shape[0]
    key, level = rows[0], rows[1]
    for j in range(m):
        key[j] = distance[j]
        level[j] = v[j]
        parent[j] = -1
    count = 0
    far = 0.0
    while sinks > 0:
        # Four minima at once: none waits for another.
        first, second, third, fourth = math.inf, math.inf, math.inf, math.inf
        for k in range(0, m - 3, 4):
            first = min(first, key[k])
            second = min(second, key[k + 1])
            third = min(third, key[k + 2])
            fourth = min(fourth, key[k + 3])
        for k in range(m - m % 4, m):
            first = min(first, key[k])
        nearest = min(first, second, third, fourth)
        if nearest == math.inf:
            break
        far = nearest
        j = 0
        while key[j] != far:
            j += 1
        distance[j] = far
        order[count] = j
        count += 1
        key[j] = math.inf
        level[j] = math.inf  # done: no path to it is better
        sinks -= 1 if excess[j] < -enough[j] else 0
        base = far - v[j]
        row = least[j]
        for k in range(m):
            longer = max(row[k] + (level[k] + base), far)
            parent[k] = j if longer < key[k] else parent[k]
            key[k] = min(longer, key[k])
    for j in range(m):
        v[j] -= distance[j] if level[j] == math.inf else far
    return count


@borrowing
def settle(
    prices: np.ndarray,
    weights: np.ndarray,
    later: np.ndarray,
    total: int,
    filled: np.ndarray,
    v: np.ndarray,
    links: np.ndarray,
    part: np.ndarray,
    squares: np.ndarray,
    entry: np.ndarray,
    rows: np.ndarray,
) -> int:
    """Move mass along shortest paths between cells until no cell has an excess or a lack.

    The points `(q, m)` may move; entry e < q of `links (4, room)` and `part (room,)` is a point,
    its cell and its mass. The assignment must be optimal for its own masses, `filled (m,)` with the
    points that stay (each point in its best cell for `v`). Shortest paths keep it optimal, so the
    end is the exact plan, unless moves or room run out (`judge` will tell). Returns how many
    entries there are.

    Equal masses, one of `total` each, go first in whole points, to the weights rounded to whole
    points, so that only the last moves split a point: `later (m,)` is that rounding, NaN for
    unequal masses. A search serves all cells that lack mass, as far as their paths do not share
    points. `squares (1, m, m)`, `entry (m + 6, m)` and `rows (5, m)` are
    room.
    """
    size, m = prices.shape
    room = part.shape[0]
    least = squares[0]
    parent, order, head, stale = entry[m], entry[m + 1], entry[m + 2], entry[m + 3]
    mover, place = entry[m + 4], entry[m + 5]
    excess, distance, enough = rows[0], rows[1], rows[2]
    even = later[0] == later[0]
    heaviest = 0
    for j in range(m):
        head[j] = -1
        stale[j] = 1
        for k in range(m):
            entry[j, k] = -1
        excess[j] = filled[j] - weights[j]
        enough[j] = ROUNDING * weights[j]
        if even:
            # Counted in points, exactly, so that no rounding is moved about.
            excess[j] = math.floor((excess[j] - later[j]) * total + 0.5)
            enough[j] = 0.5
        if weights[j] > weights[heaviest]:
            heaviest = j
    for e in range(size):
        add_entry(links, head, e, links[CELL, e])
    whole_points = even
    unused = -1  # chains of entries that were merged away: of this search, and of earlier ones
    spent = -1
    for _ in range(64 * (total + m)):
        sinks = 0
        surplus = False
        for j in range(m):
            distance[j] = math.inf
            if excess[j] > enough[j]:
                distance[j] = 0.0
                surplus = True
            sinks += 1 if excess[j] < -enough[j] else 0
        spare = excess[heaviest] + enough[heaviest]
        if sinks > 0 and not surplus and not whole_points and spare > 0.0:
            # What a light cell lacks is the rounding of a heavy one.
            distance[heaviest] = 0.0
            surplus = True
        if sinks == 0 or not surplus:
            if not whole_points:
                break
            whole_points = False
            for j in range(m):
                excess[j] = excess[j] / total + later[j]
                enough[j] = COUNTED * weights[j]
            continue
        if unused < 0:
            unused, spent = spent, -1
        for j in range(m):
            if stale[j] == 1:
                cheapest_moves(prices, j, links, head, least[j], entry[j])
                stale[j] = 0
        reached = shortest_paths(least, v, sinks, excess, enough, distance, parent, order, rows[3:])
        progress = False
        for c in range(reached):
            sink = order[c]
            moved = -excess[sink]
            if moved <= enough[sink]:
                continue
            k = sink
            steps = 0
            while parent[k] >= 0:
                j = parent[k]
                e = entry[j, k]
                moved = moved if links[CELL, e] == j else 0.0
                # A point that would come and go at once passes by: a light cell would hold it up.
                while parent[j] >= 0 and links[POINT, entry[parent[j], j]] == links[POINT, e]:
                    e = entry[parent[j], j]
                    j = parent[j]
                    moved = moved if links[CELL, e] == j else 0.0
                moved = min(moved, 1.0 if whole_points else part[e])
                mover[steps] = e
                place[steps] = k
                steps += 1
                k = j
            if excess[k] > enough[k]:
                moved = min(moved, excess[k])
            else:
                borrowed = k == heaviest and not whole_points
                moved = min(moved, excess[k] + enough[k]) if borrowed else 0.0
            if moved <= 0.0:
                continue
            if size + m > room:
                return size
            progress = True
            excess[k] -= moved
            excess[sink] += moved
            for t in range(steps):
                e, k = int(mover[t]), int(place[t])
                j = int(links[CELL, e])
                twin = -1
                if not whole_points:
                    other = head[k]
                    while other >= 0:
                        twin = other if links[POINT, other] == links[POINT, e] else twin
                        other = links[NEXT, other]
                amount = moved
                if not whole_points and part[e] - moved > ROUNDING * part[e]:
                    part[e] -= moved
                    if twin < 0:
                        point = links[POINT, e]
                        if unused >= 0:
                            e = unused
                            unused = links[NEXT, e]
                        else:
                            e = size
                            size += 1
                        links[POINT, e] = point
                        part[e] = moved
                else:
                    remove_entry(links, head, e, j)
                    stale[j] = 1
                    amount = part[e]
                    if twin >= 0:
                        links[CELL, e] = -1
                        links[NEXT, e] = spent
                        spent = e
                if twin >= 0:
                    part[twin] += amount
                else:
                    add_entry(links, head, e, k)
                    price = prices[links[POINT, e]]
                    here = price[k]
                    for l in range(m):
                        better = here - price[l] < least[k, l] and l != k
                        entry[k, l] = e if better else entry[k, l]
                        least[k, l] = here - price[l] if better else least[k, l]
        if not progress:
            break
    return size


@borrowing
def add_entry(links: np.ndarray, head: np.ndarray, e: int, j: int) -> None:
    """Put entry e first in the list of cell j."""
    links[CELL, e] = j
    links[NEXT, e] = head[j]
    links[LAST, e] = -1
    if head[j] >= 0:
        links[LAST, head[j]] = e
    head[j] = e


@borrowing
def remove_entry(links: np.ndarray, head: np.ndarray, e: int, j: int) -> None:
    """Take entry e out of the list of cell j."""
    after, before = links[NEXT, e], links[LAST, e]
    if before >= 0:
        links[NEXT, before] = after
    else:
        head[j] = after
    if after >= 0:
        links[LAST, after] = before
