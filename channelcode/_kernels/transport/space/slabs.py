"""Slabs of a Gaussian in R^3: heights where its cells bend, and exact cells in the planes."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.edges import cell_edges
from channelcode._kernels.transport.space.lines import two_sides

REACH = 7.5  # of the slabs, in deviations: the mass beyond is 6e-14
MOST_CORNERS = 240  # a target with more corners in reach is cut at the first of them only
MOST_CROSSINGS = 60
MOST_NODES = 14 * (MOST_CORNERS + MOST_CROSSINGS + 60)
NARROW = 0.6  # a crossing of fewer deviations gets panels of its own
PANEL = 5.5  # longest panel at step one; at a half it is the distance between marks
NODES_6, WEIGHTS_6 = np.polynomial.legendre.leggauss(6)
NODES_14, WEIGHTS_14 = np.polynomial.legendre.leggauss(14)


@kernel
def is_highest(atoms: np.ndarray, v: np.ndarray, i: int, x: float, y: float, z: float) -> bool:
    """Whether cell i holds the point (x, y, z), its boundary included."""
    level = x * atoms[i, 0] + y * atoms[i, 1] + z * atoms[i, 2] - v[i]
    for q in range(atoms.shape[0]):
        other = x * atoms[q, 0] + y * atoms[q, 1] + z * atoms[q, 2] - v[q]
        if other > level + 1e-9 * (1.0 + abs(level)):
            return False
    return True


@kernel
def insert_sorted(values: np.ndarray, count: int, value: float) -> int:
    """Put a value in its place among the first `count`; returns how many there are now."""
    place = count
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        place -= 1
    values[place] = value
    return count + 1


@kernel
def corner_heights(atoms: np.ndarray, v: np.ndarray, heights: np.ndarray) -> int:
    """Third coordinates of the points where four cells meet, sorted; returns how many."""
    m = atoms.shape[0]
    count = 0
    for i in range(m):
        for j in range(i + 1, m):
            for k in range(j + 1, m):
                ax, ay, az, bx, by, bz, nx, ny, nz = two_sides(atoms, i, j, k)
                for l in range(k + 1, m):
                    cx = atoms[l, 0] - atoms[i, 0]
                    cy = atoms[l, 1] - atoms[i, 1]
                    cz = atoms[l, 2] - atoms[i, 2]
                    volume = nx * cx + ny * cy + nz * cz
                    if abs(volume) < 1e-13 or count == heights.shape[0]:
                        continue
                    da = v[j] - v[i]
                    db = v[k] - v[i]
                    dc = v[l] - v[i]
                    x = (da * (by * cz - bz * cy) + db * (cy * az - cz * ay) + dc * nx) / volume
                    y = (da * (bz * cx - bx * cz) + db * (cz * ax - cx * az) + dc * ny) / volume
                    z = (da * (bx * cy - by * cx) + db * (cx * ay - cy * ax) + dc * nz) / volume
                    if abs(z) >= REACH:
                        continue
                    if is_highest(atoms, v, i, x, y, z):
                        count = insert_sorted(heights, count, z)
    return count


@kernel
def crossing_heights(atoms: np.ndarray, v: np.ndarray, heights: np.ndarray, count: int) -> int:
    """Add marks where a line on which three cells meet crosses the axis of the slabs at a slant.

    As the height grows by one deviation, the corner of the three cells in the slab moves by
    1 / width deviations: a line that lies flat passes the bulk of the mass within few slabs.
    """
    m = atoms.shape[0]
    added = 0
    for i in range(m):
        for j in range(i + 1, m):
            for k in range(j + 1, m):
                ax, ay, _, bx, by, _, dx, dy, dz = two_sides(atoms, i, j, k)
                across = math.sqrt(dx * dx + dy * dy)
                width = abs(dz) / across if across > 0.0 else math.inf
                if width > NARROW or width < 1e-9 or added + 5 > MOST_CROSSINGS:
                    continue
                # the line at height zero, then its point nearest to the axis
                da = v[j] - v[i]
                db = v[k] - v[i]
                x0 = (da * by - db * ay) / dz
                y0 = (ax * db - bx * da) / dz
                z0 = -(x0 * dx + y0 * dy) * dz / (across * across)
                if abs(z0) > REACH:
                    continue
                met = False
                for t in range(-4, 5):
                    z = z0 + 1.5 * t * width
                    x = x0 + z * dx / dz
                    y = y0 + z * dy / dz
                    if is_highest(atoms, v, i, x, y, z):
                        met = True
                        break
                if met:
                    for t in range(-2, 3):
                        z = z0 + 3.0 * t * width
                        if abs(z) < REACH:
                            count = insert_sorted(heights, count, z)
                            added += 1
    return count


@kernel
def slab_nodes(
    atoms: np.ndarray, v: np.ndarray, step: float, nodes: np.ndarray, shares: np.ndarray
) -> int:
    """Heights of the slabs and their shares of the mass; returns how many.

    Between corners of the cells the integrand is analytic, at a corner its third derivative jumps:
    Gauss-Legendre panels end there, none longer than PANEL times the step. `step >= 1` takes the
    trapezoid rule of that many slabs for each deviation, blind to corners, for the first steps of
    Newton's method.
    """
    count = 0
    if step >= 1.0:
        half = int(REACH * step)
        for q in range(-half, half + 1):
            nodes[count] = q / step
            shares[count] = math.exp(-0.5 * nodes[count] ** 2)
            count += 1
    else:
        heights = np.empty(MOST_CORNERS + MOST_CROSSINGS + 5)
        corners = corner_heights(atoms, v, heights[:MOST_CORNERS])
        corners = crossing_heights(atoms, v, heights, corners)
        marks = (-REACH, -2.75, 0.0, 2.75, REACH)
        for mark in marks:
            corners = insert_sorted(heights, corners, mark)
        longest = PANEL * step
        for panel in range(corners - 1):
            left = heights[panel]
            length = heights[panel + 1] - left
            if length < 2e-12:
                continue
            pieces = 1 + int(length / longest)
            if count + 14 * pieces > nodes.shape[0] - 14 * corners:
                pieces = 1
            half_length = 0.5 * length / pieces
            for piece in range(pieces):
                middle = left + (2 * piece + 1) * half_length
                if half_length < 0.25:
                    for i in range(6):
                        nodes[count] = middle + half_length * NODES_6[i]
                        shares[count] = half_length * WEIGHTS_6[i]
                        count += 1
                else:
                    for i in range(14):
                        nodes[count] = middle + half_length * NODES_14[i]
                        shares[count] = half_length * WEIGHTS_14[i]
                        count += 1
        for q in range(count):
            shares[q] *= math.exp(-0.5 * nodes[q] ** 2)
    total = 0.0
    for q in range(count):
        total += shares[q]
    for q in range(count):
        shares[q] /= total
    return count


@kernel
def slab_cells(
    atoms: np.ndarray,
    v: np.ndarray,
    step: float,
    mass: np.ndarray,
    hessian: np.ndarray,
    moment: np.ndarray,
) -> float:
    """Masses, mass derivatives and moments `(m, 3)` of the cells in R^3; returns E max.

    Exact cells in planes of constant third coordinate, a quadrature rule across them.
    """
    m = atoms.shape[0]
    level = np.empty(m)
    part = np.empty(m)
    flat = np.empty((m, 2))
    slope = np.empty((m, m))
    nodes = np.empty(MOST_NODES)
    shares = np.empty(MOST_NODES)
    count = slab_nodes(atoms, v, step, nodes, shares)
    for j in range(m):
        mass[j] = 0.0
        for d in range(3):
            moment[j, d] = 0.0
        for k in range(m):
            hessian[j, k] = 0.0
    total = 0.0
    for q in range(count):
        for j in range(m):
            level[j] = v[j] - nodes[q] * atoms[j, 2]
        value = cell_edges(atoms, level, part, flat, slope)
        for j in range(m):
            value -= part[j] * level[j]
            mass[j] += shares[q] * part[j]
            moment[j, 0] += shares[q] * flat[j, 0]
            moment[j, 1] += shares[q] * flat[j, 1]
            moment[j, 2] += shares[q] * part[j] * nodes[q]
            for k in range(m):
                hessian[j, k] += shares[q] * slope[j, k]
        total += shares[q] * value
    return total
