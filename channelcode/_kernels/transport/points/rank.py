"""Which cells points belong to, and what is near an edge; again after a small change."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.samples.semidual import rank_row

BLOCK = 256  # points whose scores stay in the cache
FEW = 0.7  # of all points: fewer are ranked apart


class Room(NamedTuple):
    """What is known of n points and m atoms, and memory for finding out."""

    best: np.ndarray  # (n,) the largest `<x, a_j> - v_j`
    lead: np.ndarray  # (n,) over the second largest; not above the truth where it is large
    pair: np.ndarray  # (n,) both cells, `(j << bits) + k`
    filled: np.ndarray  # (m,) masses of the cells
    index: np.ndarray  # (n,)
    cells: np.ndarray  # (n,)
    table: np.ndarray  # (2, n)
    some: np.ndarray  # (n * r,)
    rates: np.ndarray  # (m, m)
    rows: np.ndarray  # (8, m)


@kernel
def make_room(n: int, m: int, r: int) -> Room:
    """Memory for n points in R^r and m atoms."""
    return Room(
        np.empty(n),
        np.empty(n),
        np.empty(n, dtype=np.int64),
        np.empty(m),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty((2, n)),
        np.empty(n * r),
        np.empty((m, m)),
        np.empty((8, m)),
    )


@kernel
def rank_points(
    nodes: np.ndarray,
    atoms: np.ndarray,
    v: np.ndarray,
    bits: int,
    best: np.ndarray,
    lead: np.ndarray,
    pair: np.ndarray,
) -> None:
    """For each of `nodes (r, n)` the largest `<x, a_j> - v_j`, its lead and both cells; m > 1."""
    r, n = nodes.shape
    m = atoms.shape[0]
    value = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        stop = start + size
        top, second, code = best[start:stop], lead[start:stop], pair[start:stop]
        for i in range(size):
            top[i] = -math.inf
            second[i] = -math.inf
            code[i] = 0
        for j in range(m):
            a, row = atoms[j, 0], nodes[0, start:stop]
            done = 4 if r >= 4 else 1
            if r >= 4:  # four coordinates at once: one store instead of four
                b, row_b = atoms[j, 1], nodes[1, start:stop]
                c, row_c = atoms[j, 2], nodes[2, start:stop]
                d, row_d = atoms[j, 3], nodes[3, start:stop]
                for i in range(size):
                    value[i] = (a * row[i] + b * row_b[i]) + (c * row_c[i] + d * row_d[i])
            else:
                for i in range(size):
                    value[i] = a * row[i]
            for e in range(done, r):
                a, row = atoms[j, e], nodes[e, start:stop]
                for i in range(size):
                    value[i] += a * row[i]
            rank_row(value[:size], v[j], j, bits, top, second, code)
    for i in range(n):
        lead[i] = best[i] - lead[i]


@kernel
def rank_again(
    nodes: np.ndarray,
    atoms: np.ndarray,
    v: np.ndarray,
    bits: int,
    change: np.ndarray,
    margin: float,
    room: Room,
) -> None:
    """As `rank_points` after a `change (m,)` of potentials to v, where it matters.

    A lead shrinks by no more than the change of its cell lies above the least, so a point whose
    lead was larger keeps its cell. Leads up to `margin` are right, and larger ones are not above
    the truth.
    """
    best, lead, pair, index = room.best, room.lead, room.pair, room.index
    r, n = nodes.shape
    low = math.inf
    for j in range(change.shape[0]):
        low = min(low, change[j])
    count = 0
    for i in range(n):
        index[count] = i
        count += 1 if not lead[i] > change[pair[i] >> bits] - low + margin else 0
    if count > FEW * n:
        rank_points(nodes, atoms, v, bits, best, lead, pair)
        return
    for i in range(n):
        moved = change[pair[i] >> bits]
        best[i] -= moved
        lead[i] -= moved - low
    some = room.some[: r * count].reshape((r, count))
    for d in range(r):
        for q in range(count):
            some[d, q] = nodes[d, index[q]]
    above, ahead, cells = room.table[0, :count], room.table[1, :count], room.cells[:count]
    rank_points(some, atoms, v, bits, above, ahead, cells)
    for q in range(count):
        i = index[q]
        best[i] = above[q]
        lead[i] = ahead[q]
        pair[i] = cells[q]
