"""A coupling of points with atoms near the cells, for the least dual value over the points."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.points.rank import Room, rank_again
from channelcode._kernels.transport.samples.semidual import lead_of

NEAR_PART = 0.3  # of the points, that may go to their second best cell
ROUNDS = 8  # of moving points along shortest paths,
SWEEPS = 4  # each with so many looks at all of them, to find the paths,
DETOUR = 64  # and a path may be longer than the shortest by a third of the lead that one point in
WIDER = 1.6  # so many has, and by so many times more in each round
LEFT_OVER = 1e-12  # of the mass: below, it is rounding
PICKED = 8  # for each atom, points that may go anywhere after that


@kernel
def shortest_ways(
    short: np.ndarray, left: np.ndarray, bits: int, room: Room, count: int, far: np.ndarray
) -> float:
    """Fill `far (m,)`: what moving a unit from each cell to one that lacks mass costs at least.

    Returns the largest excess of a cell.
    """
    lead, pair, index = room.lead, room.pair, room.index
    mask = (1 << bits) - 1
    excess = 0.0
    for j in range(short.shape[0]):
        far[j] = 0.0 if short[j] > 0.0 else math.inf
        excess = max(excess, -short[j])
    for _ in range(SWEEPS):
        better = False
        for q in range(count):
            i = index[q]
            length = lead[i] + far[pair[i] & mask]
            if length < far[pair[i] >> bits] and left[i] > 0.0:
                far[pair[i] >> bits] = length
                better = True
        if not better:
            break
    return excess


@kernel
def move_along(short: np.ndarray, left: np.ndarray, bits: int, room: Room, count: int) -> float:
    """Move points to their second best cells along short ways to where mass lacks; the loss."""
    lead, pair, index = room.lead, room.pair, room.index
    m = short.shape[0]
    mask = (1 << bits) - 1
    far, own = np.empty(m), np.zeros(m)
    loss = 0.0
    for i in range(lead.shape[0]):
        own[pair[i] >> bits] += left[i]
    slack = lead_of(lead, max(lead.shape[0] // DETOUR, 1)) / 3.0
    for _ in range(ROUNDS):
        if shortest_ways(short, left, bits, room, count, far) <= 0.0:
            break
        for q in range(count):
            i = index[q]
            j = pair[i] >> bits
            k = pair[i] & mask
            if short[j] >= 0.0 or not far[k] < far[j] or lead[i] + far[k] > far[j] + slack:
                continue
            part = min(float(left[i]), -float(short[j]))
            # no more than the other cell lacks, or can send on in points of its own
            room_there = short[k] if far[k] == 0.0 else own[k] + short[k]
            part = min(part, float(room_there))
            if part > 0.0:
                loss += part * float(lead[i])
                left[i] -= part
                own[j] -= part
                short[j] += part
                short[k] -= part
        slack *= WIDER
    return loss


@kernel
def group_points(pair: np.ndarray, bits: int, first: np.ndarray, members: np.ndarray) -> None:
    """Put the points of each cell j side by side: `members[first[j] : first[j + 1]]`."""
    m = first.shape[0] - 1
    first[:] = 0
    for i in range(pair.shape[0]):
        first[(pair[i] >> bits) + 1] += 1
    for j in range(m):
        first[j + 1] += first[j]
    for i in range(pair.shape[0]):
        cell = pair[i] >> bits
        members[first[cell]] = i
        first[cell] += 1
    for j in range(m, 0, -1):
        first[j] = first[j - 1]
    first[0] = 0


@kernel
def cheapest_cell(
    nodes: np.ndarray, atoms: np.ndarray, v: np.ndarray, short: np.ndarray, i: int, room: Room
) -> tuple[float, int]:
    """What the point i loses at least in a cell that lacks mass, and that cell, or -1."""
    m, r = atoms.shape
    point, best = room.some, room.best[i]
    for d in range(r):
        point[d] = nodes[d, i]
    least, chosen = math.inf, -1
    for k in range(m):
        if short[k] > 0.0:
            cost = best + v[k]
            for d in range(r):
                cost -= point[d] * atoms[k, d]
            if cost < least:
                least, chosen = cost, k
    return least, chosen


@kernel
def move_singly(
    nodes: np.ndarray,
    atoms: np.ndarray,
    v: np.ndarray,
    cell: int,
    members: np.ndarray,
    picks: int,
    short: np.ndarray,
    left: np.ndarray,
    room: Room,
) -> tuple[float, int]:
    """Move at most `picks` of the `members` of a cell with too much; the loss, how many went.

    A point's lead is the least that it can lose; the loss itself is computed when that is the
    smallest of all, and again after the cell where it would go has been filled.
    """
    cost, goal = room.table[0], room.cells
    for q in range(members.shape[0]):
        i = members[q]
        cost[q] = room.lead[i] if left[i] > 0.0 else math.inf
        goal[q] = -1
    loss = 0.0
    moved = 0
    while short[cell] < 0.0 and moved < picks:
        least, chosen = math.inf, -1
        for q in range(members.shape[0]):
            if cost[q] < least:
                least, chosen = cost[q], q
        if chosen < 0:
            break
        i, k = members[chosen], goal[chosen]
        if k < 0 or short[k] <= 0.0:
            found, k = cheapest_cell(nodes, atoms, v, short, i, room)
            cost[chosen], goal[chosen] = found, k
            continue
        part = min(-short[cell], short[k], left[i])
        loss += part * least
        left[i] -= part
        short[cell] += part
        short[k] -= part
        moved += 1
        if left[i] <= 0.0:
            cost[chosen] = math.inf
    return loss, moved


@kernel
def move_anywhere(
    nodes: np.ndarray,
    atoms: np.ndarray,
    v: np.ndarray,
    bits: int,
    short: np.ndarray,
    left: np.ndarray,
    room: Room,
) -> float:
    """Move single points, those that lose least, from cells with too much to any that lack mass.

    After `PICKED` points for each atom a random part of a cell goes instead. The loss of a point is
    `max_k (<x, a_k> - v_k)` less the same for its new cell. Infinite if no coupling was found.
    """
    best = room.best
    m, r = atoms.shape
    first = np.empty(m + 1, dtype=np.int64)
    group_points(room.pair, bits, first, room.index)
    loss = 0.0
    picks = PICKED * m
    for j in range(m):
        members = room.index[first[j] : first[j + 1]]
        if short[j] < 0.0:
            lost, moved = move_singly(nodes, atoms, v, j, members, picks, short, left, room)
            loss += lost
            picks -= moved
        while short[j] < 0.0:
            least = math.inf
            chosen = -1
            for k in range(m):
                if short[k] <= 0.0:
                    continue
                weight, total = 0.0, 0.0
                for q in range(members.shape[0]):
                    i = members[q]
                    cost = best[i] + v[k]
                    for d in range(r):
                        cost -= nodes[d, i] * atoms[k, d]
                    weight += left[i]
                    total += left[i] * cost
                if weight > 0.0 and total / weight < least:
                    least, chosen = total / weight, k
            if chosen < 0:
                if short[j] < -LEFT_OVER:
                    return math.inf  # mass that came from elsewhere, and no own point to send on
                break  # what is left is the rounding of the sums
            part = min(-short[j], short[chosen])
            loss += part * least
            short[j] += part
            short[chosen] -= part
    return loss


@kernel
def coupling_loss(
    nodes: np.ndarray,
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    bits: int,
    room: Room,
) -> float:
    """The dual value of v over ranked points less that of a coupling whose masses are right.

    Each point stays in its cell or goes elsewhere in parts; each part loses what its new cell is
    below the best one.
    """
    m, n = weights.shape[0], nodes.shape[1]
    short, change = np.empty(m), np.zeros(m)
    left = np.full(n, 1.0 / n)
    margin = lead_of(room.lead, int(NEAR_PART * n))
    rank_again(nodes, atoms, v, bits, change, margin, room)
    for j in range(m):
        short[j] = weights[j] - room.filled[j]
    count = 0
    for i in range(n):
        room.index[count] = i
        count += 1 if room.lead[i] <= margin else 0
    loss = move_along(short, left, bits, room, count)
    return loss + move_anywhere(nodes, atoms, v, bits, short, left, room)
