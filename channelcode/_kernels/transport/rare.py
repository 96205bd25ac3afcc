"""Nodes where light cells lie: a mixture of normal laws, so that no cell goes unseen."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel

SWEEPS = 60  # over the edges of a cell in search of its nearest point
RARE = 1.0 / 1024.0  # cells with less mass than this get nodes of their own,
RARE_FAR = 1.0 / 128.0  # and those with less than this whose atom lies beyond FAR times the size
FAR = 3.0
FARTHEST = 9.0  # deviations: a normal law shifted beyond sees nothing of any weight


@kernel
def nearest_in_cell(atoms: np.ndarray, v: np.ndarray, cell: int, point: np.ndarray) -> None:
    """Fill `point (r,)` with, nearly, the point of `argmax_j (<x,a_j> - v_j) = cell` nearest zero.

    Each constraint `<x, a_cell - a_k> >= v_cell - v_k` in turn moves the point along its normal
    (Hildreth's method). An empty cell gives a far point, cut off at `FARTHEST`.
    """
    m, r = atoms.shape
    pulls = np.zeros(m)
    for d in range(r):
        point[d] = 0.0
    for _ in range(SWEEPS):
        moved = 0.0
        for k in range(m):
            apart = 0.0
            along = 0.0
            for d in range(r):
                gap = atoms[cell, d] - atoms[k, d]
                apart += gap * gap
                along += gap * point[d]
            if apart <= 0.0:
                continue
            pull = max(pulls[k] + (v[cell] - v[k] - along) / apart, 0.0)
            change = pull - pulls[k]
            if change != 0.0:
                pulls[k] = pull
                moved = max(moved, abs(change) * math.sqrt(apart))
                for d in range(r):
                    point[d] += change * (atoms[cell, d] - atoms[k, d])
        if moved < 1e-3:
            break
    length = 0.0
    for d in range(r):
        length += point[d] * point[d]
    if length > FARTHEST * FARTHEST:
        for d in range(r):
            point[d] *= FARTHEST / math.sqrt(length)


@kernel
def count_light(weights: np.ndarray) -> int:
    """How many cells may be rare."""
    count = 0
    for j in range(weights.shape[0]):
        if weights[j] < RARE_FAR:
            count += 1
    return count


@kernel
def rarest_cells(
    atoms: np.ndarray, weights: np.ndarray, quantile: np.ndarray, rare: np.ndarray
) -> int:
    """Put the rare cells of atoms of size about one into `rare (k,)`; returns how many.

    If there are more than k, those come first whose atoms may add most to rho, |a| phi(z).
    """
    m, r = atoms.shape
    count = 0
    worth = np.empty(m)
    for j in range(m):
        if weights[j] >= RARE_FAR:
            continue
        square = 0.0
        for d in range(r):
            square += atoms[j, d] * atoms[j, d]
        if weights[j] >= RARE and square <= FAR * FAR:
            continue
        worth[j] = math.sqrt(square) * math.exp(-0.5 * quantile[j] * quantile[j])
        place = count
        while place > 0 and worth[rare[place - 1]] < worth[j]:
            place -= 1
        if place == rare.shape[0]:
            continue
        count = min(count + 1, rare.shape[0])
        for i in range(count - 1, place, -1):
            rare[i] = rare[i - 1]
        rare[place] = j
    return count


@kernel
def mixed_nodes(
    atoms: np.ndarray,
    v: np.ndarray,
    rare: np.ndarray,
    given: np.ndarray,
    replicates: int,
    extra: int,
    nodes: np.ndarray,
    shares: np.ndarray,
) -> int:
    """Fill `nodes (n, r - 1)` and their shares of the mass `(n,)`; returns how many there are.

    Each replicate holds its stretch of the `given` nodes, a rule for N(0, I), and for each of the
    `rare` cells `extra` of them again, shifted to where the cell comes nearest to the origin. A
    node's share is the density of N(0, I) against that of the whole mixture (the balance heuristic,
    Veach and Guibas), so it is never more than that of a node of the given rule alone.
    """
    dim = given.shape[1]
    count = rare.shape[0]
    length = given.shape[0] // replicates
    size = length + count * extra
    shift = np.empty((count, dim))
    half = np.empty(count)
    point = np.empty(dim + 1)
    for i in range(count):
        nearest_in_cell(atoms, v, rare[i], point)
        half[i] = 0.0
        for d in range(dim):
            shift[i, d] = point[d + 1]
            half[i] += 0.5 * point[d + 1] * point[d + 1]
    # The extra nodes are pairs of mirror images, as all of the given ones: the second half of a
    # replicate mirrors the first.
    pairs = extra // 2
    for t in range(replicates):
        begin, source = t * size, t * length
        for q in range(length):
            for d in range(dim):
                nodes[begin + q, d] = given[source + q, d]
        for i in range(count):
            start = begin + length + i * extra
            # Every cell has its own stretch of the replicate, as far as that goes.
            first = (i * pairs) % max(length // 2 - pairs + 1, 1)
            for q in range(pairs):
                for d in range(dim):
                    step = given[source + first + q, d]
                    nodes[start + q, d] = shift[i, d] + step
                    nodes[start + pairs + q, d] = shift[i, d] - step
        for q in range(begin, begin + size):
            density = length * 1.0
            for i in range(count):
                inner = -half[i]
                for d in range(dim):
                    inner += nodes[q, d] * shift[i, d]
                density += extra * math.exp(min(inner, 700.0))
            shares[q] = 1.0 / density
    return replicates * size
