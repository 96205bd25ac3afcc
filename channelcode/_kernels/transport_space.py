"""Gaussians in R^3: exact cells in parallel planes, Gauss-Legendre panels across them."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport_cells import damped_newton, merge_atoms
from channelcode._kernels.transport_slabs import slab_cells

MASS_TOLERANCE = 1e-12  # a few times the rounding of sums over the slabs
COARSE = 1.25  # slabs for each deviation in the first steps of Newton's method
BOUND_SLABS = 2.0  # for each deviation in `slab_bounds`: errs by less than 1e-4 of the scale
FINE = 0.5  # below one: panels that end at the corners of the cells, no longer than PANEL * FINE


@kernel
def lay_slabs(atoms: np.ndarray, directions: np.ndarray) -> None:
    """Rotate atoms in R^3 so that no two differ mostly along the last axis.

    An edge whose normal makes the angle b with the last axis has a mass that varies across the
    slabs like a Gaussian of deviation tan b: of the `directions`, the one with the largest least
    angle becomes the axis.
    """
    m = atoms.shape[0]
    chosen = 0
    smallest_worst = math.inf
    for t in range(directions.shape[0]):
        worst = 0.0
        for j in range(m):
            for k in range(j):
                x = atoms[j, 0] - atoms[k, 0]
                y = atoms[j, 1] - atoms[k, 1]
                z = atoms[j, 2] - atoms[k, 2]
                along = directions[t, 0] * x + directions[t, 1] * y + directions[t, 2] * z
                apart = x * x + y * y + z * z
                if along * along > worst * apart:
                    worst = along * along / apart
            if worst >= smallest_worst:
                break
        if worst < smallest_worst:
            smallest_worst = worst
            chosen = t
    mx = directions[chosen, 0]
    my = directions[chosen, 1]
    mz = directions[chosen, 2] - 1.0
    length = mx * mx + my * my + mz * mz
    if length > 1e-30:
        for j in range(m):
            inner = 2.0 * (mx * atoms[j, 0] + my * atoms[j, 1] + mz * atoms[j, 2]) / length
            atoms[j, 0] -= inner * mx
            atoms[j, 1] -= inner * my
            atoms[j, 2] -= inner * mz


@kernel
def slab_pool(
    factors: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    directions: np.ndarray,
    potentials: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """rho, residual of the masses and steps for each factor `(n, 3, 3)` of a covariance."""
    n = factors.shape[0]
    m = points.shape[0]
    rho = np.zeros(n)
    residual = np.zeros(n)
    steps = np.zeros(n, dtype=np.int64)
    all_atoms = np.empty((m, 3))
    all_weights = np.empty(m)
    group = np.empty(m, dtype=np.int64)
    nodes = np.empty((0, 2))
    for c in range(n):
        power = 0.0
        for j in range(m):
            all_weights[j] = weights[j]
            for d in range(3):
                total = 0.0
                for e in range(3):
                    total += factors[c, e, d] * points[j, e]
                all_atoms[j, d] = total
                power += total * total
        scale = math.sqrt(power / m)
        if scale == 0.0:
            continue
        for j in range(m):
            for d in range(3):
                all_atoms[j, d] /= scale
        kept = merge_atoms(all_atoms, all_weights, group)
        if kept == 1:
            continue
        atoms = all_atoms[:kept].copy()
        shares = all_weights[:kept].copy()
        v = np.empty(kept)
        mass = np.empty(kept)
        lay_slabs(atoms, directions)
        for j in range(kept):
            v[j] = 0.5 * (atoms[j, 0] ** 2 + atoms[j, 1] ** 2 + atoms[j, 2] ** 2)
        damped_newton(atoms, shares, v, nodes, 0, 1e-4, mass, COARSE)
        value, worst, count = damped_newton(atoms, shares, v, nodes, 0, MASS_TOLERANCE, mass, FINE)
        rho[c] = scale * value
        residual[c] = worst
        steps[c] = count
        if potentials.shape[0] > 0:
            for j in range(m):
                potentials[c, j] = scale * v[group[j]]
    return rho, residual, steps


@kernel
def slab_bounds(
    factors: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    directions: np.ndarray,
    potentials: np.ndarray,
) -> np.ndarray:
    """E max_j(<Z,y_j> - v_j) + w'v for each factor `(n, 3, 3)` and its own v, at least rho."""
    n = factors.shape[0]
    m = points.shape[0]
    out = np.empty(n)
    atoms = np.empty((m, 3))
    v = np.empty(m)
    mass = np.empty(m)
    hessian = np.empty((m, m))
    for c in range(n):
        for j in range(m):
            v[j] = potentials[c, j]
            for d in range(3):
                total = 0.0
                for e in range(3):
                    total += factors[c, e, d] * points[j, e]
                atoms[j, d] = total
        lay_slabs(atoms, directions)
        value = slab_cells(atoms, v, BOUND_SLABS, mass, hessian)
        for j in range(m):
            value += weights[j] * v[j]
        out[c] = value
    return out
