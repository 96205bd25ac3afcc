"""Gaussians in R^r by quasi-Monte Carlo, one coordinate integrated exactly."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.cells import first_potential, line_cells, merge_atoms
from channelcode._kernels.transport.newton import STATE, STEPS, newton_move

FIRST_GOAL = 1e-5  # decrement on the first nodes: they err by more


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
                if apart > 0.0 and along * along < least * apart:
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
def quasi_newton(
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    nodes: np.ndarray,
    last: int,
    goal: float,
) -> int:
    """Newton on the semi-dual over the first `last` nodes, for sorted atoms; returns the steps."""
    m = atoms.shape[0]
    mass = np.empty(m)
    hessian = np.empty((m, m))
    work = np.empty((m, m))
    rows = np.empty((3, m))
    state = np.zeros(STATE)
    while True:
        value = line_cells(atoms, v, nodes, 0, last, mass, hessian)
        for j in range(m):
            value += v[j] * weights[j]
        if newton_move(weights, v, mass, hessian, value, goal, rows, work, state):
            return int(state[STEPS])


@kernel
def quasi_pool(
    stack: np.ndarray,
    weights: np.ndarray,
    quantile: np.ndarray,
    nodes: np.ndarray,
    directions: np.ndarray,
    part: int,
    goal: float,
    potentials: np.ndarray,
) -> np.ndarray:
    """Potentials `(n, m)` for each row of `stack (n, m, r)`, of weighted size about one; the steps.

    Newton starts on the first `part` nodes and ends on all.
    """
    n, m, r = stack.shape
    steps = np.zeros(n, dtype=np.int64)
    all_atoms = np.empty((m, r))
    all_weights = np.empty(m)
    group = np.empty(m, dtype=np.int64)
    order = np.empty(m, dtype=np.int64)
    place = np.empty(m, dtype=np.int64)
    for c in range(n):
        for j in range(m):
            all_weights[j] = weights[j]
            for d in range(r):
                all_atoms[j, d] = stack[c, j, d]
        kept = merge_atoms(all_atoms, all_weights, group)
        if kept == 1:
            for j in range(m):
                potentials[c, j] = 0.0
            continue
        atoms = all_atoms[:kept].copy()
        turn_apart(atoms, directions)
        sort_atoms(atoms, order)
        shares = np.empty(kept)
        tails = np.empty(kept)
        v = np.empty(kept)
        for j in range(kept):
            shares[j] = all_weights[order[j]]
            tails[j] = quantile[order[j]]
            place[order[j]] = j
        first_potential(atoms, tails, v)
        if part < nodes.shape[0]:
            quasi_newton(atoms, shares, v, nodes, part, FIRST_GOAL)
        steps[c] = quasi_newton(atoms, shares, v, nodes, nodes.shape[0], goal)
        for j in range(m):
            potentials[c, j] = v[place[group[j]]]
    return steps


@kernel
def quasi_judge(
    stack: np.ndarray,
    weights: np.ndarray,
    potentials: np.ndarray,
    nodes: np.ndarray,
    directions: np.ndarray,
    goal: float,
    values: np.ndarray,
) -> np.ndarray:
    """Independent estimates of the dual values, `values (n, replicates)`, and losses `(n,)`.

    Each replicate is an equal stretch of the nodes, which the potentials have not seen. The loss
    is what the mean of the replicates exceeds the least dual value on the same nodes, that of a
    coupling whose cells there have their masses.
    """
    n, m, r = stack.shape
    loss = np.empty(n)
    atoms = np.empty((m, r))
    order = np.empty(m, dtype=np.int64)
    shares = np.empty(m)
    v = np.empty(m)
    mass = np.empty(m)
    hessian = np.empty((m, m))
    replicates = values.shape[1]
    length = nodes.shape[0] // replicates
    for c in range(n):
        for j in range(m):
            for d in range(r):
                atoms[j, d] = stack[c, j, d]
        turn_apart(atoms, directions)
        sort_atoms(atoms, order)
        constant = 0.0
        for j in range(m):
            shares[j] = weights[order[j]]
            v[j] = potentials[c, order[j]]
            constant += shares[j] * v[j]
        mean = 0.0
        for t in range(replicates):
            begin = t * length
            total = line_cells(atoms, v, nodes, begin, begin + length, mass, hessian)
            values[c, t] = total + constant
            mean += values[c, t] / replicates
        quasi_newton(atoms, shares, v, nodes, nodes.shape[0], goal)
        least = line_cells(atoms, v, nodes, 0, nodes.shape[0], mass, hessian)
        for j in range(m):
            least += shares[j] * v[j]
        loss[c] = abs(mean - least)
    return loss
