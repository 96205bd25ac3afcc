"""Gaussians in R^r by quasi-Monte Carlo, one coordinate integrated exactly."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport_cells import damped_newton, line_cells, merge_atoms

MASS_TOLERANCE = 1e-11  # far below the error of the rule itself


@kernel
def turn_apart(atoms: np.ndarray, directions: np.ndarray) -> None:
    """Rotate the atoms so that their first coordinates differ, as far as one direction allows.

    The exact integral along the first coordinate smooths the edge between two atoms in proportion
    to the difference of their first coordinates; of the unit `directions (d, r)` the one with the
    largest least difference, relative to the distance of the two, is turned to the first axis.
    """
    m, r = atoms.shape
    chosen = 0
    largest = -1.0
    for t in range(directions.shape[0]):
        least = math.inf
        for j in range(m):
            for k in range(j):
                along = 0.0
                apart = 0.0
                for d in range(r):
                    gap = atoms[j, d] - atoms[k, d]
                    along += directions[t, d] * gap
                    apart += gap * gap
                if along * along < least * apart:
                    least = along * along / apart
            if least <= largest:
                break
        if least > largest:
            largest = least
            chosen = t
    mirror = np.empty(r)
    length = 0.0
    for d in range(r):
        mirror[d] = directions[chosen, d] - (1.0 if d == 0 else 0.0)
        length += mirror[d] ** 2
    if length < 1e-30:
        return
    for j in range(m):
        inner = 0.0
        for d in range(r):
            inner += mirror[d] * atoms[j, d]
        for d in range(r):
            atoms[j, d] -= 2.0 * inner / length * mirror[d]


@kernel
def sort_atoms(atoms: np.ndarray, order: np.ndarray) -> None:
    """Sort rows by their first entry, in place, and record where they came from."""
    m, r = atoms.shape
    for j in range(m):
        order[j] = j
    for j in range(1, m):
        for k in range(j, 0, -1):
            if atoms[k, 0] >= atoms[k - 1, 0]:
                break
            order[k], order[k - 1] = order[k - 1], order[k]
            for d in range(r):
                atoms[k, d], atoms[k - 1, d] = atoms[k - 1, d], atoms[k, d]


@kernel
def quasi_pool(
    factors: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    nodes: np.ndarray,
    directions: np.ndarray,
    part: int,
    potentials: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """rho, residual of the masses and steps for each factor `(n, r, r)` of a covariance.

    Newton starts on the first `part` nodes and ends on all. `potentials (n or 0, m)` receives the
    potentials.
    """
    n, r, _ = factors.shape
    m = points.shape[0]
    rho = np.zeros(n)
    residual = np.zeros(n)
    steps = np.zeros(n, dtype=np.int64)
    all_atoms = np.empty((m, r))
    all_weights = np.empty(m)
    group = np.empty(m, dtype=np.int64)
    order = np.empty(m, dtype=np.int64)
    for c in range(n):
        power = 0.0
        for j in range(m):
            all_weights[j] = weights[j]
            for d in range(r):
                total = 0.0
                for e in range(r):
                    total += factors[c, e, d] * points[j, e]
                all_atoms[j, d] = total
                power += total * total
        scale = math.sqrt(power / m)
        if scale == 0.0:
            continue
        for j in range(m):
            for d in range(r):
                all_atoms[j, d] /= scale
        kept = merge_atoms(all_atoms, all_weights, group)
        if kept == 1:
            continue
        atoms = all_atoms[:kept].copy()
        turn_apart(atoms, directions)
        sort_atoms(atoms, order)
        shares = np.empty(kept)
        v = np.empty(kept)
        mass = np.empty(kept)
        for j in range(kept):
            shares[j] = all_weights[order[j]]
            v[j] = 0.0
            for d in range(r):
                v[j] += 0.5 * atoms[j, d] * atoms[j, d]
        if part < nodes.shape[0]:
            damped_newton(atoms, shares, v, nodes, part, 1e-7, mass, 0.0)
        value, worst, count = damped_newton(
            atoms, shares, v, nodes, nodes.shape[0], MASS_TOLERANCE, mass, 0.0
        )
        rho[c] = scale * value
        residual[c] = worst
        steps[c] = count
        if potentials.shape[0] > 0:
            for j in range(m):
                for k in range(kept):
                    if order[k] == group[j]:
                        potentials[c, j] = scale * v[k]
    return rho, residual, steps


@kernel
def replicate_values(
    atoms: np.ndarray, v: np.ndarray, weights: np.ndarray, nodes: np.ndarray, values: np.ndarray
) -> None:
    """E max + w'v over equal stretches of the nodes: independent estimates of a bound on rho."""
    m = atoms.shape[0]
    mass = np.empty(m)
    hessian = np.empty((m, m))
    length = nodes.shape[0] // values.shape[0]
    constant = 0.0
    for j in range(m):
        constant += weights[j] * v[j]
    for t in range(values.shape[0]):
        total = line_cells(atoms, v, nodes, t * length, (t + 1) * length, mass, hessian)
        values[t] = total + constant
