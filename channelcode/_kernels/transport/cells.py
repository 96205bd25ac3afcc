"""Laguerre cells of a Gaussian in R^r, one coordinate exact and the others by a rule."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.owen import upper_tail

OUTSIDE = 12.0  # deviations: a normal variable beyond has a probability of 2e-33
SAME = 1e-26  # the squared distance below which atoms of size one are one: 1e-13 apart


@kernel
def line_cells(
    atoms: np.ndarray,
    v: np.ndarray,
    nodes: np.ndarray,
    shares: np.ndarray,
    mass: np.ndarray,
    hessian: np.ndarray,
    moment: np.ndarray,
) -> float:
    """Masses and mass derivatives of the cells over `nodes (n, r - 1)`; returns E max.

    For the node u the maximum over j of `x a_j0 + <u, a_j1..> - v_j` is a convex piecewise linear
    function of x ~ N(0,1), integrated in closed form. Atoms come sorted by their first coordinate;
    only the ratios of the `shares (n,)` count. `moment (m, r)` is filled with E[X; cell], unless it
    has no rows.
    """
    m, r = atoms.shape
    moments = moment.shape[0]
    stack = np.empty(m, dtype=np.int64)
    rows = np.empty((r + 2, m))  # coordinates of the atoms, one after the other
    slopes, cuts, levels = rows[0], rows[r], rows[r + 1]
    for j in range(m):
        mass[j] = 0.0
        for d in range(r):
            rows[d, j] = atoms[j, d]
        for k in range(m):
            hessian[j, k] = 0.0
    for j in range(moments):
        for d in range(r):
            moment[j, d] = 0.0
    total = 0.0
    whole = 0.0
    for i in range(nodes.shape[0]):
        size = 0
        weight = shares[i]
        whole += weight
        for j in range(m):
            levels[j] = -v[j]
        for d in range(1, r):
            along = nodes[i, d - 1]
            row = rows[d]
            for j in range(m):
                levels[j] += along * row[j]
        for j in range(m):
            level = levels[j]
            slope = slopes[j]
            cut = -math.inf
            keep = True
            while size > 0:
                top = stack[size - 1]
                rise = slope - slopes[top]
                if rise <= 0.0:
                    if level <= levels[top]:
                        keep = False
                        break
                    size -= 1
                    continue
                cut = (levels[top] - level) / rise
                if size > 1 and cut <= cuts[size - 1]:
                    size -= 1
                    continue
                break
            if keep and cut < OUTSIDE:
                stack[size] = j
                cuts[size] = cut if size > 0 else -math.inf
                size += 1
        # Masses from the nearer end: a far atom's potential multiplies what is rounded.
        below, above = 0.0, 1.0
        for place in range(size):
            j = stack[place]
            upto, beyond = 1.0, 0.0
            if place + 1 < size:
                z = cuts[place + 1]
                if z < -OUTSIDE:
                    continue
                near = upper_tail(abs(z))
                upto, beyond = (1.0 - near, near) if z > 0.0 else (near, 1.0 - near)
                k = stack[place + 1]
                rise = slopes[k] - slopes[j]
                line = weight * 0.3989422804014327 * math.exp(-0.5 * z * z)
                total += rise * line
                hessian[j, k] += line / rise
                if moments > 0:
                    moment[j, 0] -= line
                    moment[k, 0] += line
            share = weight * (upto - below if below < above else above - beyond)
            below, above = upto, beyond
            mass[j] += share
            total += share * levels[j]
            if moments > 0:
                for d in range(1, r):
                    moment[j, d] += share * nodes[i, d - 1]
    for j in range(moments):
        for d in range(r):
            moment[j, d] /= whole
    for j in range(m):
        mass[j] /= whole
        for k in range(j):
            rate = (hessian[j, k] + hessian[k, j]) / whole
            hessian[j, k] = -rate
            hessian[k, j] = -rate
    for j in range(m):
        degree = 0.0
        for k in range(m):
            if k != j:
                degree -= hessian[j, k]
        hessian[j, j] = degree
    return float(total) / whole


@kernel
def merge_atoms(atoms: np.ndarray, weights: np.ndarray, group: np.ndarray, same: float) -> int:
    """Move the atoms that differ to the front, with their weights; coinciding ones are merged.

    Those whose squared distance is at most `same` coincide.
    """
    m, r = atoms.shape
    kept = 0
    for j in range(m):
        group[j] = -1
        for k in range(kept):
            apart = 0.0
            for d in range(r):
                apart += (atoms[j, d] - atoms[k, d]) ** 2
            if apart <= same:
                group[j] = k
                weights[k] += weights[j]
                break
        if group[j] < 0:
            group[j] = kept
            for d in range(r):
                atoms[kept, d] = atoms[j, d]
            weights[kept] = weights[j]
            kept += 1
    return kept


@kernel
def distinct_atoms(
    row: np.ndarray, weights: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The atoms of a `row (m, r)` that differ, and their weights; see `merge_atoms`."""
    atoms = row.copy()
    shares = weights.copy()
    kept = merge_atoms(atoms, shares, group, SAME)
    return atoms[:kept].copy(), shares[:kept].copy()


@kernel
def spread_potential(v: np.ndarray, group: np.ndarray, potential: np.ndarray) -> None:
    """Give every atom of a row the potential of the distinct atom that it was merged with."""
    for j in range(len(group)):
        potential[j] = v[group[j]]


@kernel
def rough_quantile(tail: float) -> float:
    """z with P(X > z) = tail for a tail of at most a half, within 5e-4.

    Abramowitz and Stegun, 26.2.23.
    """
    t = math.sqrt(-2.0 * math.log(max(tail, 1e-300)))
    below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) / below


@kernel
def axis_potential(atoms: np.ndarray, weights: np.ndarray, v: np.ndarray) -> None:
    """The sum over the axes of the potentials of the atoms' projections, each nearly exact.

    Were all points of the grid of coordinates atoms, their cells would be boxes with the products
    of the projected weights as masses. A cell only grows where some are missing: none is empty,
    and each holds at least the product of its weights along the axes, whatever the atoms' shape.
    """
    m, r = atoms.shape
    order = np.empty(m, dtype=np.int64)
    above = np.empty(m)
    for j in range(m):
        v[j] = 0.0
        order[j] = j
    for d in range(r):
        for i in range(1, m):
            j = order[i]
            place = i
            while place > 0 and atoms[order[place - 1], d] > atoms[j, d]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = j
        rest = 0.0
        for i in range(m - 1, 0, -1):
            rest += weights[order[i]]
            above[i] = rest
        below = 0.0
        height = 0.0
        for i in range(1, m):
            j, last = order[i], order[i - 1]
            below += float(weights[last])
            rise = atoms[j, d] - atoms[last, d]
            if rise > 0.0:
                # From the nearer end, so that light atoms keep their digits.
                near = min(below, float(above[i]))
                z = rough_quantile(near)
                height += -rise * z if below <= above[i] else rise * z
            v[j] += height


@kernel
def first_potential(atoms: np.ndarray, quantile: np.ndarray, v: np.ndarray) -> None:
    """Voronoi cells for atoms in the bulk of the mass, half-spaces of the right mass beyond.

    The Voronoi cell of an atom holds the atom itself, so within the bulk none is empty;
    `quantile (m,)` is that of each weight, from above.
    """
    for j in range(atoms.shape[0]):
        square = 0.0
        for d in range(atoms.shape[1]):
            square += atoms[j, d] * atoms[j, d]
        v[j] = 0.5 * square
        if square > 4.0:
            v[j] = min(v[j], math.sqrt(square) * quantile[j])


@kernel
def repair_loss(
    atoms: np.ndarray, weights: np.ndarray, v: np.ndarray, mass: np.ndarray, moment: np.ndarray
) -> float:
    """Dual value minus the value of a coupling near the cells: the gap of `v` in rho.

    A cell with too much mass gives a random part of it to the atoms that lack mass, first to the
    one where that costs least: `<E[X|cell j], a_j - a_k> - (v_j - v_k)` for each unit, never
    negative but for rounding, which is counted as loss. `moment (m, r)` is E[X; cell].
    """
    m, r = atoms.shape
    short = np.empty(m)
    for j in range(m):
        short[j] = weights[j] - mass[j]
    gap = 0.0
    for j in range(m):
        while short[j] < 0.0:
            chosen = -1
            least = math.inf
            for k in range(m):
                if short[k] > 0.0:
                    loss = 0.0
                    for d in range(r):
                        loss += moment[j, d] * (atoms[j, d] - atoms[k, d])
                    loss = abs(loss / mass[j] - (v[j] - v[k]))
                    if loss < least:
                        least = loss
                        chosen = k
            if chosen < 0:
                break  # what is left is the rounding of the sums
            part = min(-short[j], short[chosen])
            gap += part * least
            short[j] += part
            short[chosen] -= part
    return gap
