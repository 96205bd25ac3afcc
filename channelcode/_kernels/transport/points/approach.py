"""Damped Newton on the dual value over points, to where their number begins to show."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.cells import rough_quantile
from channelcode._kernels.transport.points.rank import Room, rank_again
from channelcode._kernels.transport.samples.semidual import lead_of

STRIP_POINTS = 6  # for each atom, that count as near the edges of the cells,
STRIP_PART = 0.5  # but no more than this part of all
SHORTEST = 0.05  # step, as a part of Newton's,
FIRST = 0.25  # and where the next one begins at least
MOST_FED = 32  # points that an empty cell is given,
SMALL_SHARE = 0.1  # unless its mass times its length is less than this part of a point's
WEAK = 1e-3  # of the rate of one point: links between all cells
SOLVE_STEPS = 20  # of conjugate gradients, at most,
SOLVE_RTOL = 0.05  # and the residual at which they end: the rates themselves are rough


@kernel
def rough_solve(rates: np.ndarray, x: np.ndarray, rows: np.ndarray) -> None:
    """Solve `L x = b` roughly, from b in place, for the Laplacian of `rates (m, m)`, all positive.

    Conjugate gradients with the diagonal as preconditioner; `rows (4, m)` is room.
    """
    m = x.shape[0]
    rest, along, image, degree = rows[0], rows[1], rows[2], rows[3]
    for j in range(m):
        degree[j] = 0.0
    for j in range(m):
        row = rates[j]
        for k in range(m):
            degree[k] += row[k]
    energy = 0.0
    for j in range(m):
        rest[j] = x[j]
        along[j] = rest[j] / degree[j]
        energy += rest[j] * along[j]
        x[j] = 0.0
    goal = SOLVE_RTOL * SOLVE_RTOL * energy
    for _ in range(SOLVE_STEPS):
        if not energy > goal:
            break
        for j in range(m):
            image[j] = degree[j] * along[j]
        for j in range(m):
            row, part = rates[j], along[j]
            for k in range(m):
                image[k] -= part * row[k]
        curve = 0.0
        for j in range(m):
            curve += along[j] * image[j]
        if not curve > 0.0:
            break
        length = energy / curve
        after = 0.0
        for j in range(m):
            x[j] += length * along[j]
            rest[j] -= length * image[j]
            after += rest[j] * rest[j] / degree[j]
        for j in range(m):
            along[j] = rest[j] / degree[j] + after / energy * along[j]
        energy = after


@kernel
def dual_value(weights: np.ndarray, v: np.ndarray, best: np.ndarray) -> float:
    """`mean max_j (<x, a_j> - v_j) + w'v` over the ranked points."""
    total = 0.0
    for i in range(best.shape[0]):
        total += best[i]
    total /= best.shape[0]
    for j in range(weights.shape[0]):
        total += weights[j] * v[j]
    return total


@kernel
def fill_cells(weights: np.ndarray, pair: np.ndarray, bits: int, filled: np.ndarray) -> float:
    """Masses of the cells of ranked points; returns how far they are from the weights, in all."""
    for j in range(filled.shape[0]):
        filled[j] = 0.0
    for i in range(pair.shape[0]):
        filled[pair[i] >> bits] += 1.0
    error = 0.0
    for j in range(filled.shape[0]):
        filled[j] /= pair.shape[0]
        error += abs(filled[j] - weights[j])
    return error


@kernel
def edge_rates(room: Room, bits: int, reach: float) -> None:
    """At which rate mass moves between each two cells: points with a lead below `reach`."""
    rates, lead, pair = room.rates, room.lead, room.pair
    m, n = rates.shape[0], lead.shape[0]
    mask = (1 << bits) - 1
    share = 1.0 / (reach * n)
    for j in range(m):
        for k in range(m):
            rates[j, k] = 0.0
    for i in range(n):
        rates[pair[i] >> bits, pair[i] & mask] += share * max(1.0 - lead[i] / reach, 0.0)
    for j in range(m):
        rates[j, j] = 0.0
        for k in range(j):
            rate = rates[j, k] + rates[k, j] + WEAK * share
            rates[j, k] = rate
            rates[k, j] = rate


@kernel
def size_of(atoms: np.ndarray, weights: np.ndarray) -> float:
    """The root of the mean square of the atoms' lengths."""
    total = 0.0
    for j in range(atoms.shape[0]):
        for d in range(atoms.shape[1]):
            total += weights[j] * atoms[j, d] * atoms[j, d]
    return math.sqrt(total)


@kernel
def step_limits(atoms: np.ndarray, weights: np.ndarray, longest: float, limits: np.ndarray) -> None:
    """How far the potential of each atom may go in one step: `longest` times its length or size."""
    size = size_of(atoms, weights)
    for j in range(limits.shape[0]):
        square = 0.0
        for d in range(atoms.shape[1]):
            square += atoms[j, d] * atoms[j, d]
        limits[j] = longest * max(size, math.sqrt(square))


@kernel
def newton_points(
    nodes: np.ndarray,
    atoms: np.ndarray,
    weights: np.ndarray,
    bits: int,
    enough: float,
    most: int,
    longest: float,
    v: np.ndarray,
    room: Room,
) -> tuple[float, int]:
    """At most `most` damped steps of v from ranked points; how far masses are off, and the steps.

    Ends where all masses together differ from the weights by `enough`. No step raises the dual
    value; its slope before and after says how long the next one should be.
    """
    m, n = weights.shape[0], nodes.shape[1]
    step, change, base, most_moved = room.rows[4], room.rows[5], room.rows[6], room.rows[7]
    step_limits(atoms, weights, longest, most_moved)
    near = int(min(STRIP_POINTS * m, STRIP_PART * n)) + 1
    filled = room.filled
    error = fill_cells(weights, room.pair, bits, filled)
    value = dual_value(weights, v, room.best)
    length = 1.0
    steps = 0
    while steps < most and error > enough:
        steps += 1
        margin = max(lead_of(room.lead, near), 1e-12)
        edge_rates(room, bits, margin)
        for j in range(m):
            base[j] = v[j]
            step[j] = filled[j] - weights[j]
        rough_solve(room.rates, step, room.rows)
        slope = 0.0
        for j in range(m):
            step[j] = min(max(step[j], -most_moved[j]), most_moved[j])
            slope += (filled[j] - weights[j]) * step[j]
        taken = 0.0
        while True:
            for j in range(m):
                change[j] = (length - taken) * step[j]
                v[j] = base[j] + length * step[j]
            taken = length
            rank_again(nodes, atoms, v, bits, change, margin, room)
            now = dual_value(weights, v, room.best)
            error = fill_cells(weights, room.pair, bits, filled)
            if length == 0.0:
                return error, steps
            after = 0.0
            for j in range(m):
                after += (filled[j] - weights[j]) * step[j]
            # where the slope would vanish if it changed evenly
            ratio = slope / (slope - after) if after < slope else 2.0
            if now <= value:
                break
            length *= min(max(ratio, 0.25), 0.5)
            if not length > SHORTEST:
                length = 0.0
        value = now
        length = min(max(length * min(ratio, 1.5), FIRST), 1.0)
    return error, steps


@kernel
def feed_starved(
    nodes: np.ndarray,
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    room: Room,
) -> int:
    """Lower the potentials of cells without points to where they have their share; how many.

    A cell of n points needs `n w` of them, and those come that lose least: no step of Newton's
    method sees a cell that is nobody's second best. Where that is less than one point, the cell is
    not made larger than the half-space of its mass beside the heaviest atom: a whole point, far too
    much for it, at a far atom would be most of the error. One after the other; only `room.best`
    follows.
    """
    best, filled, lost = room.best, room.filled, room.table[0]
    r, n = nodes.shape
    least = SMALL_SHARE * size_of(atoms, weights) / n
    nearest = np.empty(MOST_FED)
    heaviest = int(np.argmax(weights))
    fed = 0
    for k in range(weights.shape[0]):
        if filled[k] > 0.0:
            continue
        square = 0.0
        for d in range(r):
            square += atoms[k, d] * atoms[k, d]
        if weights[k] * math.sqrt(square) < least:
            continue
        for i in range(n):
            lost[i] = best[i] + v[k]
        for d in range(r):
            along, row = atoms[k, d], nodes[d]
            for i in range(n):
                lost[i] -= along * row[i]
        count = min(int(n * weights[k]) + 1, MOST_FED, n)
        nearest[:count] = math.inf
        for i in range(n):
            if lost[i] < nearest[count - 1]:
                place = count - 1
                while place > 0 and nearest[place - 1] > lost[i]:
                    nearest[place] = nearest[place - 1]
                    place -= 1
                nearest[place] = lost[i]
        lower = nearest[count - 1]
        if n * weights[k] < 1.0:
            square = 0.0
            for d in range(r):
                square += (atoms[k, d] - atoms[heaviest, d]) ** 2
            alone = v[heaviest] + math.sqrt(square) * rough_quantile(weights[k])
            lower = min(lower, v[k] - alone)
        if not 0.0 < lower < math.inf:
            continue
        v[k] -= lower
        for i in range(n):
            best[i] = max(best[i], best[i] + lower - lost[i])
        fed += 1
    return fed
