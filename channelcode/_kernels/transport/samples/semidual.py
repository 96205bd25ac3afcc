"""Weighted points to few atoms: damped Newton on the semi-dual.

A point's best cell j and its second best k are kept as one number, `(j << bits) + k`: one select
fewer in the innermost loop. `bits` is the least number with room for all atoms (`bits_for`).
"""

from __future__ import annotations

import numpy as np

from channelcode._kernels.jit import borrowing
from channelcode._kernels.transport.newton import solve_laplacian

MAX_PASSES = 10  # over the points
STRIP_POINTS = 12  # for each atom, that count as near the edges,
STRIP_PART = 0.5  # but no more than this part of all;
STRIP_SAMPLE = 64  # about so many points tell how far these are from the edges
ABOUT = 1.25  # times as many as are wanted are near enough to that
SHORTEST = 0.2  # step, as a part of Newton's
LONGEST = 0.3  # step, in scales of the scores: an empty cell's edges say nothing


def bits_for(atoms: int) -> int:
    """The number of bits that hold the number of any of `atoms` cells; at least one."""
    return max(1, (atoms - 1).bit_length())


@borrowing
def rank_row(
    row: np.ndarray,
    level: float,
    cell: int,
    bits: int,
    best: np.ndarray,
    second: np.ndarray,
    pair: np.ndarray,
) -> None:
    """Take one more cell with scores `row (n,)`, less `level`, into the best and second best."""
    slots = 1 << bits
    for i in range(row.shape[0]):
        value = row[i] - level
        top = best[i]
        next_best = second[i]
        old = pair[i]
        placed = ((old & -slots) | cell) if value > next_best else old
        pair[i] = slots * cell + (old >> bits) if value > top else placed
        best[i] = max(value, top)
        second[i] = max(next_best, min(top, value))


@borrowing
def rank_cells(
    scores: np.ndarray,
    bits: int,
    v: np.ndarray,
    best: np.ndarray,
    second: np.ndarray,
    pair: np.ndarray,
) -> None:
    """For all points of `scores (m, n)` the best and second best of `score_j - v_j`, the pair."""
    m, size = scores.shape
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
        rank_row(scores[j], v[j], j, bits, best, second, pair)


@borrowing
def lead_of(lead: np.ndarray, count: int) -> float:
    """A number that about `count` of the leads `(n,)`, none of them negative, do not exceed."""
    size = lead.shape[0]
    high = 0.0
    for i in range(size):
        high = max(high, lead[i])
    if count >= size:
        return high
    low = 0.0
    fewer, more = 0, size  # so many leads are up to low and up to high
    for _ in range(64):
        part = (count - fewer) / (more - fewer)
        middle = low + max(0.0625, part) * (high - low)
        below = 0
        for i in range(size):
            below += 1 if lead[i] <= middle else 0
        if below >= count:
            high, more = middle, below
        else:
            low, fewer = middle, below
        if more <= ABOUT * count or high - low <= 0.25 * high:
            break
    return high


@borrowing
def add_masses(
    mass: np.ndarray, pair: np.ndarray, bits: int, filled: np.ndarray, room: np.ndarray
) -> None:
    """Add the masses `(n,)` of the points to their cells, `filled (m,)`; `room (m,)` is room.

    The second half by way of the room: fewer points wait for the one before them.
    """
    for j in range(filled.shape[0]):
        room[j] = 0.0
    n = mass.shape[0]
    half = n // 2
    for i in range(half):
        filled[pair[i] >> bits] += mass[i]
        room[pair[half + i] >> bits] += mass[half + i]
    for i in range(2 * half, n):
        filled[pair[i] >> bits] += mass[i]
    for j in range(filled.shape[0]):
        filled[j] += room[j]


@borrowing
def measure(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    held: np.ndarray,
    bits: int,
    v: np.ndarray,
    best: np.ndarray,
    lead: np.ndarray,
    pair: np.ndarray,
    filled: np.ndarray,
    room: np.ndarray,
) -> float:
    """Rank the points `(m, n)` at v, sum the cells' masses; how far these are off, all together.

    Points that are not in the table and stay where they are have the masses `held (m,)`.
    `room (m,)` is room.
    """
    m, n = scores.shape
    rank_cells(scores, bits, v, best, lead, pair)
    for j in range(m):
        filled[j] = held[j]
    for i in range(n):
        lead[i] = best[i] - lead[i]
    add_masses(mass, pair, bits, filled, room)
    error = 0.0
    for j in range(m):
        error += abs(filled[j] - weights[j])
    return error


@borrowing
def newton_step(
    mass: np.ndarray,
    weights: np.ndarray,
    bits: int,
    scale: float,
    room: np.ndarray,
    lead: np.ndarray,
    pair: np.ndarray,
    filled: np.ndarray,
    squares: np.ndarray,
    step: np.ndarray,
) -> float:
    """Newton's `step (m,)` for the potentials; returns the width of the strip that it looked at.

    The points within a strip at the edge of two cells give the rate at which mass moves across.
    Some of the leads tell how wide it is. `squares (2, m, m)` and `room (n,)` are room.
    """
    m, n = weights.shape[0], lead.shape[0]
    hessian, work = squares[0], squares[1]
    mask = (1 << bits) - 1
    stride = max(1, n // STRIP_SAMPLE)
    count = (n - 1) // stride + 1
    for i in range(count):
        room[i] = lead[i * stride]
    near = int(min(STRIP_POINTS * m, STRIP_PART * n) / stride) + 1
    width = max(lead_of(room[:count], near), 1e-12 * scale)
    reach = 1.0 / width
    for j in range(m):
        step[j] = filled[j] - weights[j]
        for k in range(m):
            hessian[j, k] = 0.0
    for i in range(n):
        share = mass[i] * max(1.0 - lead[i] * reach, 0.0)
        hessian[pair[i] >> bits, pair[i] & mask] -= share * reach
    # A weak link between all cells keeps the system regular.
    weak = 1e-3 * reach / n
    for j in range(m):
        for k in range(j):
            rate = hessian[j, k] + hessian[k, j] - weak
            hessian[j, k] = rate
            hessian[k, j] = rate
    solve_laplacian(hessian, step, work, m - 1)
    longest = 0.0
    for j in range(m):
        longest = max(longest, abs(step[j]))
    if longest > LONGEST * scale:
        shorter = LONGEST * scale / longest
        for j in range(m):
            step[j] *= shorter
    return width


@borrowing
def approach(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    held: np.ndarray,
    bits: int,
    enough: float,
    scale: float,
    smallest: float,
    v: np.ndarray,
    best: np.ndarray,
    lead: np.ndarray,
    pair: np.ndarray,
    filled: np.ndarray,
    squares: np.ndarray,
    base: np.ndarray,
    step: np.ndarray,
) -> float:
    """Damped Newton until the cells' masses differ from the weights by `enough`, all together.

    `v (m,)` begins one `step (m,)` from `base (m,)`, where the masses differed by `smallest`, or
    that is infinite. It receives the best potential seen; `best`, `lead` (over the second best),
    `pair` `(n,)` and `filled (m,)` belong to it. Returns the difference; see `measure` for `held`.
    """
    m = scores.shape[0]
    length = 1.0
    back = False
    for passes in range(MAX_PASSES + 2):
        error = measure(
            scores, mass, weights, held, bits, v, best, lead, pair, filled, squares[0, 0]
        )
        if back:
            break
        if error >= smallest:
            length *= 0.5
            back = length < SHORTEST or passes >= MAX_PASSES
            for j in range(m):
                v[j] = base[j] + (0.0 if back else length * step[j])
            continue
        smallest = error
        if error <= enough or passes >= MAX_PASSES:
            break
        newton_step(mass, weights, bits, scale, best, lead, pair, filled, squares, step)
        length = 1.0
        for j in range(m):
            base[j] = v[j]
            v[j] = base[j] + step[j]
    return smallest
