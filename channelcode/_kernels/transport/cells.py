"""Laguerre cells of a Gaussian in R^r, one coordinate exact and the others by a rule."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.owen import upper_tail

SAME = 1e-26  # the squared distance below which atoms of size one are one: 1e-13 apart


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
            if apart <= SAME:
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
