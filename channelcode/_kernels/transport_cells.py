"""Laguerre cells of a Gaussian in R^r, and damped Newton on the semi-dual over them."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport_owen import upper_tail
from channelcode._kernels.transport_plane import (
    residual_of,
    smallest,
    solve_laplacian,
)
from channelcode._kernels.transport_slabs import slab_cells

MAX_STEPS = 100


@kernel
def line_cells(
    atoms: np.ndarray,
    v: np.ndarray,
    nodes: np.ndarray,
    first: int,
    last: int,
    mass: np.ndarray,
    hessian: np.ndarray,
) -> float:
    """Masses and mass derivatives of the cells, over the nodes `first <= i < last`; returns E max.

    For the node u the maximum over j of `x a_j0 + <u, a_j1..> - v_j` is a convex piecewise linear
    function of x ~ N(0,1), integrated in closed form. Atoms come sorted by their first coordinate.
    """
    m, r = atoms.shape
    stack = np.empty(m, dtype=np.int64)
    cuts = np.empty(m)
    levels = np.empty(m)
    for j in range(m):
        mass[j] = 0.0
        for k in range(m):
            hessian[j, k] = 0.0
    total = 0.0
    for i in range(first, last):
        size = 0
        for j in range(m):
            level = -v[j]
            for d in range(1, r):
                level += nodes[i, d - 1] * atoms[j, d]
            levels[j] = level
            cut = -math.inf
            keep = True
            while size > 0:
                top = stack[size - 1]
                rise = atoms[j, 0] - atoms[top, 0]
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
            if keep:
                stack[size] = j
                cuts[size] = cut if size > 0 else -math.inf
                size += 1
        below = 0.0
        for place in range(size):
            j = stack[place]
            if place + 1 < size:
                z = cuts[place + 1]
                upto = upper_tail(-z)
                k = stack[place + 1]
                rise = atoms[k, 0] - atoms[j, 0]
                line = 0.3989422804014327 * math.exp(-0.5 * z * z)
                total += rise * line
                rate = line / rise
                hessian[j, k] += rate
            else:
                upto = 1.0
            share = upto - below
            below = upto
            mass[j] += share
            total += share * levels[j]
    count = last - first
    for j in range(m):
        mass[j] /= count
        for k in range(j):
            rate = (hessian[j, k] + hessian[k, j]) / count
            hessian[j, k] = -rate
            hessian[k, j] = -rate
    for j in range(m):
        degree = 0.0
        for k in range(m):
            if k != j:
                degree -= hessian[j, k]
        hessian[j, j] = degree
    return float(total) / count


@kernel
def cells(
    atoms: np.ndarray,
    v: np.ndarray,
    nodes: np.ndarray,
    last: int,
    step: float,
    mass: np.ndarray,
    hessian: np.ndarray,
) -> float:
    """`slab_cells` for a positive step, `line_cells` over the first nodes otherwise."""
    if step > 0.0:
        return slab_cells(atoms, v, step, mass, hessian)
    return line_cells(atoms, v, nodes, 0, last, mass, hessian)


@kernel
def damped_newton(
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    nodes: np.ndarray,
    last: int,
    tolerance: float,
    mass: np.ndarray,
    step_size: float,
) -> tuple[float, float, int]:
    """Damped Newton on the semi-dual over the first `last` nodes; returns rho, residual and steps.

    With a positive `step_size` the cells are those of `slab_cells` (see `slab_nodes`), and `nodes`
    is not read.
    """
    m = atoms.shape[0]
    hessian = np.empty((m, m))
    work = np.empty((m, m))
    step = np.empty(m)
    trial = np.empty(m)
    total = cells(atoms, v, nodes, last, step_size, mass, hessian)
    lowest = smallest(weights)
    for _ in range(2 * m):
        # A starved cell has no edge to move by: lower its v until it has at least half its mass.
        starved = -1
        for j in range(m):
            if mass[j] < 0.01 * weights[j]:
                starved = j
        if starved < 0:
            break
        low = v[starved]
        high = low
        reach = 0.05
        for _ in range(60):
            if mass[starved] >= 0.5 * weights[starved]:
                break
            high = low
            low -= reach
            reach *= 2.0
            v[starved] = low
            cells(atoms, v, nodes, last, step_size, mass, hessian)
        for _ in range(12):
            if mass[starved] <= weights[starved]:
                break
            v[starved] = 0.5 * (low + high)
            cells(atoms, v, nodes, last, step_size, mass, hessian)
            if mass[starved] >= 0.5 * weights[starved]:
                low = v[starved]
            else:
                high = v[starved]
                mass[starved] = 1.0
        v[starved] = low
        total = cells(atoms, v, nodes, last, step_size, mass, hessian)
    residual = residual_of(mass, weights)
    floor = 0.5 * min(smallest(mass), lowest)
    steps = 0
    while residual > tolerance and steps < MAX_STEPS:
        steps += 1
        for j in range(m):
            step[j] = mass[j] - weights[j]
        if not solve_laplacian(hessian, step, work):
            break
        size = 1.0
        moved = False
        for _ in range(30):
            for j in range(m):
                trial[j] = v[j] + size * step[j]
            total = cells(atoms, trial, nodes, last, step_size, mass, hessian)
            worst = residual_of(mass, weights)
            if smallest(mass) > floor and worst <= (1.0 - 0.5 * size) * residual:
                moved = True
                break
            size *= 0.5
        if not moved:
            total = cells(atoms, v, nodes, last, step_size, mass, hessian)
            break
        residual = worst
        for j in range(m):
            v[j] = trial[j]
    rho = total
    for j in range(m):
        rho += v[j] * weights[j]
    return rho, residual, steps


@kernel
def merge_atoms(atoms: np.ndarray, weights: np.ndarray, group: np.ndarray) -> int:
    """Move the atoms that differ to the front, with their weights; coinciding ones are merged."""
    m, r = atoms.shape
    kept = 0
    for j in range(m):
        group[j] = -1
        for k in range(kept):
            apart = 0.0
            for d in range(r):
                apart += (atoms[j, d] - atoms[k, d]) ** 2
            if apart <= 1e-20:
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
