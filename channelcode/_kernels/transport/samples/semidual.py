"""Weighted points to few atoms: a start from two moments, then damped Newton on the semi-dual.

A point's best cell j and its second best k are kept as one number, `(j << bits) + k`: one select
fewer in the innermost loop. `bits` is the least number with room for all atoms (`bits_for`).
"""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.newton import solve_laplacian

MAX_PASSES = 10  # over the points
STRIP_POINTS = 6  # for each atom, that count as near the edges,
STRIP_PART = 0.5  # but no more than this part of all
SHORTEST = 0.2  # step, as a part of Newton's
LONGEST = 0.3  # step, in scales of the scores: an empty cell's edges say nothing
FARTHEST = 3.0  # deviations of an atom's score: a higher start only costs digits
MOST_AXES = 8  # dimensions in which covariances are worth their cube
FEWEST_ATOMS = 12  # for which they are
MOMENT_POINTS = 160  # at most about so many points give the moments
ROOT_STEPS = 12  # of the square root: eigenvalues beyond 1e-4 of the trace are found


def bits_for(atoms: int) -> int:
    """The number of bits that hold the number of any of `atoms` cells; at least one."""
    return max(1, (atoms - 1).bit_length())


@kernel
def first_potential(scores: np.ndarray, weights: np.ndarray, v: np.ndarray) -> float:
    """Start in any dimension: Voronoi cells, scaled into the bulk; returns the scores' scale.

    Half the variance of the scores `(m, n)` over their scale, beside their mean.
    """
    m, n = scores.shape
    stride = max(1, n // MOMENT_POINTS)
    count = (n - 1) // stride + 1
    power = 0.0
    for j in range(m):
        total = 0.0
        for i in range(0, n, stride):
            total += scores[j, i]
        centre = total / count
        square = 0.0
        for i in range(0, n, stride):
            square += (scores[j, i] - centre) ** 2
        v[j] = 0.5 * square / count
        power += weights[j] * square / count
    scale = math.sqrt(power) if power > 0.0 else 1.0
    for j in range(m):
        total = 0.0
        for i in range(0, n, stride):
            total += scores[j, i]
        v[j] = min(v[j] / scale, FARTHEST * math.sqrt(2.0 * v[j])) + total / count
    return scale


@kernel
def multiply(left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """The product of two small square matrices."""
    dim = out.shape[0]
    for d in range(dim):
        for e in range(dim):
            total = 0.0
            for f in range(dim):
                total += left[d, f] * right[f, e]
            out[d, e] = total


@kernel
def sample_moments(points: np.ndarray, centre: np.ndarray, source: np.ndarray) -> None:
    """Mean `(k,)` and covariance `(k, k)` of some of the points `(n, k)`."""
    n, dim = points.shape
    stride = max(1, n // MOMENT_POINTS)
    count = (n - 1) // stride + 1
    for d in range(dim):
        centre[d] = 0.0
        for e in range(dim):
            source[d, e] = 0.0
    for i in range(0, n, stride):
        for d in range(dim):
            centre[d] += points[i, d] / count
    for i in range(0, n, stride):
        for d in range(dim):
            away = (points[i, d] - centre[d]) / count
            for e in range(d + 1):
                source[d, e] += away * (points[i, e] - centre[e])
    for d in range(dim):
        for e in range(d):
            source[e, d] = source[d, e]


@kernel
def moment_potential(
    source: np.ndarray,
    centre: np.ndarray,
    atoms: np.ndarray,
    spread: np.ndarray,
    squares: np.ndarray,
    v: np.ndarray,
) -> float:
    """Start in few dimensions: exact for two normal laws; returns the scores' scale.

    The best map between laws with covariances S and C has the potential `u(x) = x'Ax / 2` with
    ASA = C, and v is its conjugate, `y'My / 2` with `M = S (CS)^{-1/2}`; the inverse root comes
    from the iteration of Newton and Schulz. `source (k, k)` is S, `centre (k,)` the mean, `spread
    (k, k)` is C, that of the atoms `(m, k)`; `squares (4, k, k)` is room.
    """
    m, dim = atoms.shape
    product, root, inverse, step = squares[0], squares[1], squares[2], squares[3]
    trace = 0.0
    for d in range(dim):
        for e in range(dim):
            trace += spread[d, e] * source[e, d]
    scale = math.sqrt(trace) if trace > 0.0 else 1.0
    multiply(spread, source, root)
    for d in range(dim):
        for e in range(dim):
            root[d, e] /= scale * scale
            inverse[d, e] = 1.0 if d == e else 0.0
    for _ in range(ROOT_STEPS):
        multiply(inverse, root, step)
        for d in range(dim):
            for e in range(dim):
                step[d, e] = (1.5 if d == e else 0.0) - 0.5 * step[d, e]
        multiply(root, step, product)
        root, product = product, root
        multiply(step, inverse, product)
        inverse, product = product, inverse
    multiply(source, inverse, product)
    for j in range(m):
        level = 0.0
        along = 0.0
        square = 0.0
        for d in range(dim):
            along += centre[d] * atoms[j, d]
            for e in range(dim):
                square += atoms[j, d] * source[d, e] * atoms[j, e]
                level += atoms[j, d] * product[d, e] * atoms[j, e]
        level = min(0.5 * level / scale, FARTHEST * math.sqrt(max(square, 0.0)))
        v[j] = along + (level if 0.0 < level < math.inf else 0.0)
    return scale


@kernel
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


@kernel
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


@kernel
def lead_of(lead: np.ndarray, count: int) -> float:
    """A number that about `count` of the leads `(n,)`, none of them negative, do not exceed."""
    size = lead.shape[0]
    high = 0.0
    for i in range(size):
        high = max(high, lead[i])
    if count >= size:
        return high
    low = 0.0
    shrink = True
    for _ in range(64):
        middle = 0.125 * high if shrink else 0.5 * (low + high)
        below = 0
        for i in range(size):
            below += 1 if lead[i] <= middle else 0
        if below >= count:
            high = middle
        else:
            low = middle
            if shrink:
                shrink = False
            elif high - low < 0.25 * high:
                break
    return high


@kernel
def approach(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    bits: int,
    enough: float,
    scale: float,
    v: np.ndarray,
    best: np.ndarray,
    lead: np.ndarray,
    pair: np.ndarray,
    filled: np.ndarray,
    squares: np.ndarray,
    rows: np.ndarray,
) -> float:
    """Damped Newton until the cells' masses differ from the weights by `enough`, all together.

    The points `(m, n)` within a strip at the edge of two cells give the rate at which mass moves
    across. `v (m,)` receives the best potential seen; `best`, `lead` (over the second best), `pair`
    `(n,)` and `filled (m,)` belong to it. Returns the difference; `squares (2, m, m)` and `rows (2,
    m)` are room.
    """
    m, n = scores.shape
    hessian, work = squares[0], squares[1]
    base, step = rows[0], rows[1]
    mask = (1 << bits) - 1
    smallest = math.inf
    length = 1.0
    back = False
    for passes in range(MAX_PASSES + 2):
        rank_cells(scores, bits, v, best, lead, pair)
        for j in range(m):
            filled[j] = 0.0
        for i in range(n):
            lead[i] = best[i] - lead[i]
            filled[pair[i] >> bits] += mass[i]
        if back:
            break
        error = 0.0
        for j in range(m):
            error += abs(filled[j] - weights[j])
        if error >= smallest:
            length *= 0.5
            back = length < SHORTEST or passes >= MAX_PASSES
            for j in range(m):
                v[j] = base[j] + (0.0 if back else length * step[j])
            continue
        smallest = error
        if error <= enough or passes >= MAX_PASSES:
            break
        near = int(min(STRIP_POINTS * m, STRIP_PART * n)) + 1
        reach = 1.0 / max(lead_of(lead, near), 1e-12 * scale)
        for j in range(m):
            base[j] = v[j]
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
        solve_laplacian(hessian, step, work)
        length = 1.0
        longest = 0.0
        for j in range(m):
            longest = max(longest, abs(step[j]))
        shorter = min(1.0, LONGEST * scale / longest) if longest > 0.0 else 1.0
        for j in range(m):
            step[j] *= shorter
            v[j] = base[j] + step[j]
    return smallest
